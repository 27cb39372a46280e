// Command onetable goes from a table to predictions without the program: it finds the symmetry that the data support,
// takes the model that was trained under it, and predicts at new places from the rows of one day. The table has columns
// east, north, rain and day, here of 40 days of rain at 12 stations that are made up.
//
//	go run ./examples/onetable
//	go run ./examples/onetable -csv stations.csv -steps 2000
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/recipe"
	"github.com/equivcnp/equivcnp/cnp/selection"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/cnp/weights"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("onetable: ")
	csv := flag.String("csv", "", "the table; none: one that is made up")
	steps := flag.Int("steps", 60, "steps of the last round of trainings")
	flag.Parse()
	if err := run(context.Background(), os.Stdout, *csv, *steps); err != nil {
		log.Fatal(err)
	}
}

// run is the whole way: a recipe, a selection, the chosen model, a prediction.
func run(ctx context.Context, w io.Writer, csv string, steps int) error {
	dir, err := os.MkdirTemp("", "onetable")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if csv == "" {
		csv = filepath.Join(dir, "stations.csv")
		if err := os.WriteFile(csv, madeUp(), 0o600); err != nil {
			return err
		}
	}
	r := recipe.DefaultCurves()
	r.Data.CSV = csv
	r.Data.X, r.Data.Y, r.Data.Task = []string{"east", "north"}, []string{"rain"}, "day"
	r.Channels, r.Fill, r.Data.Holdout = []int{8, 16}, 0.5, 0.25

	c := selection.Default(&r, filepath.Join(dir, "found"))
	c.Groups, c.Steps, c.Starts = []string{"none", "T2", "SE2x4"}, steps, 1
	found, err := selection.Run(ctx, c)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "chosen: %s, supported: %v\n", found.Chosen, found.Supported)

	model, err := weights.Load[float32](filepath.Join(c.Dir, found.Model), weights.Options{})
	if err != nil {
		return err
	}
	days, err := task.ReadCSV(csv, task.CSVOptions{X: r.Data.X, Y: r.Data.Y, Task: r.Data.Task})
	if err != nil {
		return err
	}
	day := days.Curves[0]
	batch := &cnp.Batch[float32]{B: 1, Nc: len(day.Y), XContext: day.X, Nt: 2, XTarget: []float64{20, 20, 60, 40}}
	for _, y := range day.Y {
		batch.YContext = append(batch.YContext, float32(y))
	}
	p, err := cnp.Standardised(model.(cnp.Regressor[float32])).Predict(ctx, batch) // in the units of the table
	if err != nil {
		return err
	}
	for i := range batch.Nt {
		fmt.Fprintf(w, "rain at %g, %g: %.2f ± %.2f\n", batch.XTarget[2*i], batch.XTarget[2*i+1], p.Mean[i], p.Std[i])
	}
	return nil
}

// madeUp is a table of showers that pass over the stations.
func madeUp() []byte {
	rng := rand.New(rand.NewPCG(1, 1))
	text := "east,north,rain,day\n"
	for day := range 40 {
		at := [2]float64{100 * rng.Float64(), 100 * rng.Float64()}
		for range 12 {
			x, y := 100*rng.Float64(), 100*rng.Float64()
			d := math.Hypot(x-at[0], y-at[1]) / 40
			text += fmt.Sprintf("%.1f,%.1f,%.2f,%d\n", x, y, 10*math.Exp(-d*d)+0.2*rng.NormFloat64(), day)
		}
	}
	return []byte(text)
}
