package stations_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/pretrained"
	"github.com/equivcnp/equivcnp/cnp/stations"
	"github.com/equivcnp/equivcnp/cnp/tabletask"
)

// Example predicts at a thousand places, 256 at a time. Were it interrupted, the same call would go on where it stopped.
func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	points, places := filepath.Join(dir, "points.csv"), filepath.Join(dir, "places.csv")
	var lines strings.Builder
	lines.WriteString("x\n")
	for i := range 1000 {
		fmt.Fprintf(&lines, "%g\n", float64(i)/500-1)
	}
	if err := os.WriteFile(places, []byte(lines.String()), 0o600); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(points, []byte("x,y\n-1,0.4\n-0.6,0.9\n0,-0.2\n0.3,-0.8\n0.9,0.1\n"), 0o600); err != nil {
		log.Fatal(err)
	}
	model, err := pretrained.Load("rbf-equivcnp")
	if err != nil {
		log.Fatal(err)
	}
	report, err := stations.Run(context.Background(), model.(cnp.Regressor[float32]), stations.Options{
		Options: tabletask.Options{CSV: points, Targets: places}, Out: filepath.Join(dir, "out.csv"), Rows: 256})
	if err != nil {
		log.Fatal(err)
	}
	written, err := os.ReadFile(filepath.Join(dir, "out.csv"))
	if err != nil {
		log.Fatal(err)
	}
	header, rows, _ := strings.Cut(string(written), "\n")
	fmt.Println(report.ContextPoints, report.Targets, header, strings.Count(rows, "\n"))
	// Output:
	// 5 1000 x,mean,std 1000
}
