// Command charges shows what a symmetry is worth in space. The electric fields of upright dipoles, the positive charge
// straight above the negative one, are learned by models that differ in what they know: nothing of space; that fields
// move with their charges, T(3); and that they turn with them, too, SE(3), with random samples of the rotations and
// with an even set of them. All see the same tasks: vectors observed at 20 to 60 places in a ball, to be predicted
// anywhere. Then all predict the same new tasks twice: upright as in training, and turned anyhow.
//
//	go run ./examples/charges
//	go run ./examples/charges -steps 2000 -tests 256 -out bench/results/reproduce/charges
//
// With the defaults it takes two minutes on two cores. -out names a folder for the table and a picture.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/eval"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/cnp/train"
	"github.com/equivcnp/equivcnp/internal/picture"
)

// candidate is a model that is compared.
type candidate struct {
	name    string
	config  cnp.Config
	trained bool // it has the parameters of the one before
}

// candidates are all of them. Their likelihood is a normal distribution of a target's three components together, of any covariance.
func candidates() []candidate {
	nothing := cnp.Default(cnp.CNPCurve, "", 3)
	nothing.DimX, nothing.Likelihood, nothing.Floor = 3, "full", 1e-3
	space := func(group string, lifts int, samples cnp.LiftSamples) cnp.Config {
		c := cnp.DefaultLevels(2, 3, 3) // two lattices in space, of 1.5 points a unit and of half as many
		c.Group, c.Lifts, c.LiftSamples = group, lifts, samples
		c.PointsPerUnit, c.EncoderLength, c.Kernel, c.Channels = 1.5, 0.4, 3, []int{16, 24}
		c.Outputs, c.Likelihood, c.ChannelDensity = []cnp.FieldType{cnp.Vector}, "full", false
		return c
	}
	return []candidate{
		{"no symmetry (a CNP)", nothing, false},
		{"T(3)", space("T(3)", 1, cnp.SamplesEven), false},
		{"SE(3), K = 4 even samples", space("SE(3)", 4, cnp.SamplesEven), false},
		{"SE(3), K = 2 random samples", space("SE(3)", 2, cnp.SamplesRandom), false},
		{"the same, in use K = 12 even samples", space("SE(3)", 12, cnp.SamplesEven), true},
	}
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("charges: ")
	steps := flag.Int("steps", 600, "steps of training, 4 tasks each")
	tests := flag.Int("tests", 64, "tasks behind every number")
	out := flag.String("out", "", "folder for the table and the picture")
	flag.Parse()
	if *steps < 1 || *tests < 1 {
		log.Fatalf("-steps %d -tests %d: need at least 1 of each", *steps, *tests)
	}
	if err := run(context.Background(), *steps, *tests, *out); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, steps, tests int, out string) error {
	const seed = 1000 // of the tests, none that training uses
	sources := make([]task.ChargeSource[float32], len(task.ChargeKinds))
	for i, kind := range task.ChargeKinds {
		sources[i] = task.ChargeSource[float32]{Kind: kind}
	}
	var report strings.Builder
	print := func(format string, args ...any) {
		fmt.Printf(format, args...)
		fmt.Fprintf(&report, format, args...)
	}
	print("# Charges in space\n\nTraining: %d steps of 4 tasks, %v. Tests: %d tasks with seed %d, and the same ones "+
		"turned. The log-likelihood is per component, ± is a standard error.\n\n",
		steps, sources[0], tests, seed)
	print("| model | parameters | training | upright: log-likelihood | error | turned: log-likelihood | error " +
		"|\n|---|---:|---:|---:|---:|---:|---:|\n")
	var last cnp.Model[float32]
	for _, c := range candidates() {
		model, err := cnp.New[float32](c.config, 1)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		took := "none"
		if c.trained {
			for i, p := range model.State() {
				copy(p.Data, last.State()[i].Data)
			}
		} else {
			start := time.Now()
			if err := learn(ctx, model, sources[0], steps); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			took = fmt.Sprintf("%.0f s", time.Since(start).Seconds())
		}
		parameters := 0
		for _, p := range model.State() {
			parameters += len(p.Data)
		}
		print("| %s | %d | %s |", c.name, parameters, took)
		for _, s := range sources {
			r, err := eval.Run(ctx, eval.Model(model), s, eval.Options{Tasks: tests, Seed: seed, Batch: 1})
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			print(" %.3f ± %.3f | %.3f |", r.LogLikelihood.Mean, r.LogLikelihood.Std/math.Sqrt(float64(r.Tasks)), r.RMSE)
		}
		print("\n")
		last = model
	}
	if out == "" {
		return nil
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(out, "charges.md"), []byte(report.String()), 0o644); err != nil {
		return err
	}
	return slice(ctx, last.(cnp.Regressor[float32]), sources[1], filepath.Join(out, "charges.png"))
}

// learn trains a model.
func learn(ctx context.Context, m cnp.Model[float32], s task.Source[float32], steps int) error {
	c := train.DefaultConfig(steps)
	c.Batch, c.EvalEvery, c.Adam.Rate = 4, 0, 3e-3
	training, err := train.NewRun(m, s, c, train.Options[float32]{})
	if err != nil {
		return err
	}
	return training.Train(ctx)
}

// slice draws what a model predicts of a turned field in the plane y = 0, and what was observed near it.
func slice(ctx context.Context, m cnp.Regressor[float32], s task.ChargeSource[float32], path string) error {
	s.MinContext, s.MaxContext = 60, 60
	b, err := s.Batch(1, 1001, 0)
	if err != nil {
		return err
	}
	a := picture.Arrows{Title: "A field of charges in the plane y = 0, predicted from 60 places; dark: those near the plane",
		XLabel: "x", YLabel: "z"}
	c := *b.Curves
	for i := range c.Nc {
		if x, y := c.XContext[3*i:3*i+3], c.YContext[3*i:3*i+3]; math.Abs(x[1]) < 0.4 {
			a.ContextX, a.ContextV = append(a.ContextX, x[0], x[2]), append(a.ContextV, float64(y[0]), float64(y[2]))
		}
	}
	c.XTarget, c.TargetMask = nil, nil
	for i := -6; i <= 6; i++ {
		for j := -6; j <= 6; j++ {
			if x, z := 0.3*float64(i), 0.3*float64(j); math.Hypot(x, z) < 1.9 {
				a.X, c.XTarget = append(a.X, x, z), append(c.XTarget, x, 0, z)
			}
		}
	}
	c.Nt = len(c.XTarget) / 3
	p, err := m.Predict(ctx, &c)
	if err != nil {
		return err
	}
	for i := range c.Nt {
		a.V = append(a.V, float64(p.Mean[3*i]), float64(p.Mean[3*i+2]))
	}
	var file bytes.Buffer
	if err := picture.WriteArrows(&file, "png", &a); err != nil {
		return err
	}
	return os.WriteFile(path, file.Bytes(), 0o644)
}
