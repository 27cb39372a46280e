package places_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/equivcnp/equivcnp/cnp/design"
	"github.com/equivcnp/equivcnp/cnp/design/places"
	"github.com/equivcnp/equivcnp/cnp/interpolate"
	"github.com/equivcnp/equivcnp/cnp/tabletask"
)

// Example chooses two of four places for new gauges on a river: first the one that is farthest from all gauges that there are.
func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	candidates := filepath.Join(dir, "sites.csv")
	if err := os.WriteFile(candidates, []byte("km\n1.5\n4.1\n9\n14\n"), 0o600); err != nil {
		log.Fatal(err)
	}
	input := tabletask.Options{CSV: "-",
		Stdin: strings.NewReader("km,level\n0,2.0\n1,2.3\n2,2.9\n3,3.1\n4,2.8\n5,2.2\n6,1.9\n7,2.1\n8,2.6\n")}
	input.X, input.Y = []string{"km"}, []string{"level"}
	d, err := places.Read(input, candidates, false)
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	if err := d.Fit(ctx, interpolate.Options{}); err != nil {
		log.Fatal(err)
	}
	if err := d.Choose(ctx, places.Options{Number: 2, Goal: design.Error, Samples: 256}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(d.Picked())
	// Output: [14 9]
}
