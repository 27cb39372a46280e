package recipe_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/recipe"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/cnp/train"
	"github.com/equivcnp/equivcnp/cnp/weights"
)

// A program trains on tasks of its own, watches, stops and resumes, and saves the model.
func ExampleCurves() {
	set := &task.CurveSet{Name: "waves", Dx: 1, Dy: 1}
	for i := range 40 {
		var c task.Curve
		for k := range 30 {
			x := float64(k) / 10
			c.X, c.Y = append(c.X, x), append(c.Y, math.Sin(3*x+float64(i)))
		}
		set.Curves = append(set.Curves, c)
	}
	r := recipe.DefaultCurves()
	r.Data.Set, r.Data.Holdout = set, 0.1
	r.Steps, r.Batch, r.Channels = 6, 4, []int{8, 8, 8} // more of everything for a model that is of use
	plan, err := r.Plan(context.Background())
	if err != nil {
		log.Fatal(err)
	}

	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx, stop := context.WithCancel(context.Background())
	opt := recipe.Options{Checkpoint: filepath.Join(dir, "waves.checkpoint"), Report: func(r train.Record) {
		if r.Step == 3 {
			stop() // as a signal may
		}
	}}
	_, err = plan.Train(ctx, opt)
	fmt.Println(errors.Is(err, train.ErrInterrupted))

	opt.Resume = true
	trained, err := plan.Train(context.Background(), opt) // has the bits of a training that nobody stopped
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(trained.Resumed, trained.Steps)
	path := filepath.Join(dir, "waves.safetensors")
	if err := trained.Save(path); err != nil {
		log.Fatal(err)
	}
	m, err := weights.Load[float32](path, weights.Options{})
	if err != nil {
		log.Fatal(err)
	}
	_, regresses := m.(cnp.Regressor[float32])
	fmt.Println(regresses)
	// Output:
	// true
	// 3 6
	// true
}
