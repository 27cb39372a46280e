package tabletask_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/pretrained"
	"github.com/equivcnp/equivcnp/cnp/tabletask"
)

// Example predicts at five places from the points of a CSV file.
func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	o := tabletask.Options{CSV: filepath.Join(dir, "data.csv"), To: tabletask.Place{Value: 1}, Points: 5}
	if err := os.WriteFile(o.CSV, []byte("x,y\n0,0.5\n0.5,-0.1\n1,\n"), 0o600); err != nil {
		log.Fatal(err)
	}
	m, err := pretrained.Load("rbf-equivcnp")
	if err != nil {
		log.Fatal(err)
	}
	model, cfg := m.(cnp.Regressor[float32]), m.Config()
	t, err := tabletask.Read(&o)
	if err == nil {
		err = t.Fit(&o, &cfg)
	}
	if err != nil {
		log.Fatal(err)
	}
	p, err := t.Predict(context.Background(), model, tabletask.PredictOptions{Standardise: true})
	if err != nil {
		log.Fatal(err)
	}
	written, err := t.Table(&o.Columns, &p.Result, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(t.Batch.Nc, "points,", t.Incomplete, "row without a value")
	fmt.Println(written.Header, written.Rows())
	// Output:
	// 2 points, 1 row without a value
	// [x mean std] 5
}
