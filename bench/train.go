package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime/pprof"
	"strings"

	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/train"
	"github.com/equivcnp/equivcnp/layers"
)

// trainCases are the training steps that the authors' code was timed on: curves of 50 context points and 50 targets in
// batches of 16, and images of 64 x 64 pixels and 128 channels in batches of 4. x4 means four lifts per pixel, smooth
// the smooth window that new models have instead of the authors' ball. The plane's model is that of 2-D regression
// (--dx 2 --levels 4 --points-per-unit 8 --channels 32), with 30 context points and 100 targets in batches of 16.
var trainCases = []string{
	"curve/rbf", "curve/matern", "curve/periodic", "curve/rbf/queries", "curve/matern/queries",
	"curve/periodic/queries", "image/T(2)", "image/SE(2)", "image/RxSO(2)", "image/SO(2)",
	"image/SE(2)x4", "image/T(2)/smooth", "image/RxSO(2)/smooth", "plane/levels",
}

// curveFills are the paper's neighbourhoods of its 1D models, in lattice points of 64.
var curveFills = map[string]float64{"rbf": 4, "matern": 12, "periodic": 10}

func trainCommand() *cobra.Command {
	var (
		asJSON, one bool
		only, prof  string
		times       int
	)
	cmd := &cobra.Command{
		Use:     "train",
		Short:   "Time training steps (forward, backward, Adam): first, later ones, peak memory",
		Example: "  go run ./bench train\n  go run ./bench train --only curve/rbf --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if one {
				return timeStep(&report{w: cmd.OutOrStdout(), json: asJSON}, only, times, prof)
			}
			r := &report{w: cmd.OutOrStdout(), json: asJSON}
			if err := within("times", times, mostTimes); err != nil {
				return err
			}
			some, err := chosen(trainCases, only)
			if err != nil {
				return err
			}
			for _, c := range some {
				if err := r.child(c, "train", "--one", "--only", c, "--json", "--times", fmt.Sprint(times)); err != nil {
					return err
				}
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.BoolVar(&asJSON, "json", false, "print one object a line")
	f.StringVar(&only, "only", "", "cases that start with this")
	f.IntVar(&times, "times", 5, "later steps; the fastest counts")
	f.BoolVar(&one, "one", false, "measure the one case that --only names, in this process")
	f.StringVar(&prof, "profile", "", "with --one: write a CPU profile of the later steps")
	return cmd
}

// timeStep measures one case.
func timeStep(r *report, name string, times int, prof string) error {
	kind, which, _ := strings.Cut(name, "/")
	which, smooth := strings.CutSuffix(which, "/smooth")
	window := layers.WindowBox
	if smooth {
		window = layers.WindowSmooth
	}
	var (
		model cnp.Model[float32]
		pass  func() (*cnp.Pass[float32], error)
		y     []float32
		batch int
		err   error
	)
	rng := rand.New(rand.NewPCG(1, 1))
	switch kind {
	case "plane":
		c := cnp.DefaultLevels(4, 2, 1)
		c.PointsPerUnit, c.EncoderLength = 8, 2./8
		for i := range c.Channels {
			c.Channels[i] = 32
		}
		if model, err = cnp.New[float32](c, 1); err != nil {
			return err
		}
		batch = 16
		b := &cnp.Batch[float32]{B: batch, Nc: 30, Nt: 100}
		b.XContext, b.YContext = randomPoints(rng, batch*b.Nc, c.DimX)
		b.XTarget, y = randomPoints(rng, batch*b.Nt, c.DimX)
		pass = func() (*cnp.Pass[float32], error) {
			return model.(cnp.TrainableRegressor[float32]).Differentiate(context.Background(), b, layers.Train)
		}
	case "curve":
		which, queries := strings.CutSuffix(which, "/queries")
		c := cnp.Default(cnp.EquivCNPCurve, "T(1)", 1)
		c.Window = window
		if !queries {
			c.Readout, c.Placement, c.FixedStep, c.RadiusRate = cnp.ReadoutTargets, cnp.PlacementBatch, false, 0.3 // the authors' models
		}
		if c.Fill = curveFills[which] / 64; c.Fill == 0 {
			return fmt.Errorf("no case %q", name)
		}
		if model, err = cnp.New[float32](c, 1); err != nil {
			return err
		}
		const n = 50
		batch = 16
		b := &cnp.Batch[float32]{B: batch, Nc: n, Nt: n}
		for range batch * n {
			b.XContext, b.XTarget = append(b.XContext, 4*rng.Float64()-2), append(b.XTarget, 4*rng.Float64()-2)
			b.YContext, y = append(b.YContext, float32(rng.NormFloat64())), append(y, float32(rng.NormFloat64()))
		}
		pass = func() (*cnp.Pass[float32], error) {
			return model.(cnp.TrainableRegressor[float32]).Differentiate(context.Background(), b, layers.Train)
		}
	case "image":
		which, lifts, many := strings.Cut(which, "x4")
		c := cnp.Default(cnp.EquivCNPImage, which, 1)
		c.Window = window
		if many && lifts == "" {
			c.Lifts = 4
		}
		if model, err = cnp.New[float32](c, 1); err != nil {
			return err
		}
		const side = 64
		batch = 4
		im := &cnp.Images[float32]{B: batch, C: 1, H: side, W: side}
		for range batch * side * side {
			v := rng.Float32()
			im.Pixels, y = append(im.Pixels, v), append(y, v)
			im.Mask = append(im.Mask, rng.Float64() < 0.25)
		}
		pass = func() (*cnp.Pass[float32], error) {
			return model.(cnp.TrainableCompleter[float32]).Differentiate(context.Background(), im, layers.Train)
		}
	default:
		return fmt.Errorf("no case %q", name)
	}
	params := model.State()
	adam, err := train.NewAdam(train.DefaultAdam(1e-4), params)
	if err != nil {
		return err
	}
	grads, steps := layers.NewGrads(params), 0
	return measure(r, "train/ours/"+name, batch, times, "s_per_step", func() error {
		if steps++; steps == 2 && prof != "" {
			f, err := os.Create(prof)
			if err != nil {
				return err
			}
			if err := pprof.StartCPUProfile(f); err != nil {
				return err
			}
		}
		p, err := pass()
		if err != nil {
			return err
		}
		grads.Zero()
		if _, err := p.Gradient(y, grads); err != nil {
			return err
		}
		if err := adam.Step(grads); err != nil {
			return err
		}
		if steps == times+1 && prof != "" {
			pprof.StopCPUProfile()
		}
		return nil
	})
}

// randomPoints are n points of a square, or of a cube of other dimension, with a value each.
func randomPoints(rng *rand.Rand, n, dx int) (x []float64, y []float32) {
	for range n * dx {
		x = append(x, 4*rng.Float64()-2)
	}
	for range n {
		y = append(y, float32(rng.NormFloat64()))
	}
	return x, y
}
