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
	var c stepCase
	var err error
	switch kind {
	case "plane":
		c, err = planeStep()
	case "curve":
		c, err = curveStep(name, which, window)
	case "image":
		c, err = imageStep(which, window)
	default:
		return fmt.Errorf("no case %q", name)
	}
	if err != nil {
		return err
	}
	params := c.model.State()
	adam, err := train.NewAdam(train.DefaultAdam(1e-4), params)
	if err != nil {
		return err
	}
	grads, steps := layers.NewGrads(params), 0
	return measure(r, "train/ours/"+name, c.batch, times, "s_per_step", func() error {
		if steps++; steps == 2 && prof != "" {
			f, err := os.Create(prof)
			if err != nil {
				return err
			}
			if err := pprof.StartCPUProfile(f); err != nil {
				return err
			}
		}
		p, err := c.pass()
		if err != nil {
			return err
		}
		grads.Zero()
		if _, err := p.Gradient(c.y, grads); err != nil {
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

// stepCase is a model, and a batch that it is trained on.
type stepCase struct {
	model cnp.Model[float32]
	pass  func() (*cnp.Pass[float32], error)
	y     []float32
	batch int
}

func newStep(c cnp.Config) (s stepCase, rng *rand.Rand, err error) {
	s.model, err = cnp.New[float32](c, 1)
	return s, rand.New(rand.NewPCG(1, 1)), err
}

// regress sets the pass to one over a batch of curves.
func (s *stepCase) regress(b *cnp.Batch[float32]) {
	model := s.model.(cnp.TrainableRegressor[float32])
	s.batch, s.pass = b.B, func() (*cnp.Pass[float32], error) { return model.Differentiate(context.Background(), b, layers.Train) }
}

func planeStep() (s stepCase, err error) {
	c := cnp.DefaultLevels(4, 2, 1)
	c.PointsPerUnit, c.EncoderLength = 8, 2./8
	for i := range c.Channels {
		c.Channels[i] = 32
	}
	s, rng, err := newStep(c)
	if err != nil {
		return s, err
	}
	b := &cnp.Batch[float32]{B: 16, Nc: 30, Nt: 100}
	b.XContext, b.YContext = randomPoints(rng, b.B*b.Nc, c.DimX)
	b.XTarget, s.y = randomPoints(rng, b.B*b.Nt, c.DimX)
	s.regress(b)
	return s, nil
}

func curveStep(name, which string, window layers.Window) (s stepCase, err error) {
	which, queries := strings.CutSuffix(which, "/queries")
	c := cnp.Default(cnp.EquivCNPCurve, "T(1)", 1)
	c.Window = window
	if !queries {
		c.Readout, c.Placement, c.FixedStep, c.RadiusRate = cnp.ReadoutTargets, cnp.PlacementBatch, false, 0.3 // the authors' models
	}
	if c.Fill = curveFills[which] / 64; c.Fill == 0 {
		return s, fmt.Errorf("no case %q", name)
	}
	s, rng, err := newStep(c)
	if err != nil {
		return s, err
	}
	const n = 50
	b := &cnp.Batch[float32]{B: 16, Nc: n, Nt: n}
	for range b.B * n {
		b.XContext, b.XTarget = append(b.XContext, 4*rng.Float64()-2), append(b.XTarget, 4*rng.Float64()-2)
		b.YContext, s.y = append(b.YContext, float32(rng.NormFloat64())), append(s.y, float32(rng.NormFloat64()))
	}
	s.regress(b)
	return s, nil
}

func imageStep(which string, window layers.Window) (s stepCase, err error) {
	which, lifts, many := strings.Cut(which, "x4")
	c := cnp.Default(cnp.EquivCNPImage, which, 1)
	c.Window = window
	if many && lifts == "" {
		c.Lifts = 4
	}
	s, rng, err := newStep(c)
	if err != nil {
		return s, err
	}
	const side = 64
	im := &cnp.Images[float32]{B: 4, C: 1, H: side, W: side}
	for range im.B * side * side {
		v := rng.Float32()
		im.Pixels, s.y = append(im.Pixels, v), append(s.y, v)
		im.Mask = append(im.Mask, rng.Float64() < 0.25)
	}
	model := s.model.(cnp.TrainableCompleter[float32])
	s.batch, s.pass = im.B, func() (*cnp.Pass[float32], error) { return model.Differentiate(context.Background(), im, layers.Train) }
	return s, nil
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
