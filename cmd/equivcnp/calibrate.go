package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/eval"
	"github.com/equivcnp/equivcnp/cnp/pretrained"
	"github.com/equivcnp/equivcnp/cnp/weights"
	"github.com/equivcnp/equivcnp/internal/cli"
)

// calibrateFlags are the flags of equivcnp calibrate.
type calibrateFlags struct {
	model   modelFlags
	tasks   taskFlags
	n       int
	seed    uint64
	normals int
	nodes   int
	keep    bool
	out     string
	memory  memoryFlag
}

func (a *app) calibrateCommand() *cobra.Command {
	var f calibrateFlags
	cmd := &cobra.Command{
		Use:                   "calibrate --model M (--kernel K | --benchmark P | --digits | --images DIR | --mnist FILE | --csv FILE | --in FILE) --out M.safetensors",
		DisableFlagsInUseLine: true,
		Short:                 "Make a model's deviations as wide as its errors",
		Long: `Measure by how much true values differ from a model's predictions, in the deviations that it predicts,
and write the model with deviations that are as wide. Means stay as they are. Errors are often tiny in
most places and large in a few, so that no normal fits them: each value gets a mixture of --normals
normals around its mean, whose deviations are the model's times a factor of each; the most likely
factors and shares are taken. With --normals 1 it is one factor for all deviations. Under --mixtures 4
values of small, middling and large deviations have different ones, which go over into each other: a
model may be wrong in another way where it is sure. The model file keeps them in its likelihood, and
predict, sample, eval and serve go by them. With --keep-observed the means of observed pixels become what was seen
there, too, and scores before are those of a model that keeps them already.

The tasks should be such as the model was trained on, but not the very same: of digits, which are turned
here unless flags say otherwise, those with --max-angle 0 --min-scale 1 --max-scale 1. What comes of it
is measured on tasks of another seed, or on the same ones if they are a file's.`,
		Example: `  equivcnp calibrate --model digits-T2 --digits --max-angle 0 --min-scale 1 --max-scale 1 --out t2.safetensors
  equivcnp calibrate --model stations.safetensors --csv lastyear.csv --normals 1 --out calibrated.safetensors
  equivcnp eval --model t2.safetensors --digits`,
		Args: cobra.NoArgs,
	}
	cmd.RunE = a.action(func(cmd *cobra.Command, _ []string) error { return a.calibrate(cmd, &f) })
	f.model.register(a, cmd)
	f.tasks.register(a, cmd, true)
	fl := cmd.Flags()
	fl.IntVarP(&f.n, "tasks", "n", 0, "number of tasks (default: 256, or all that a file has)")
	fl.Uint64Var(&f.seed, "seed", 2000, "seed of the tasks")
	fl.IntVar(&f.normals, "normals", 3, "normals of the mixture")
	fl.IntVar(&f.nodes, "mixtures", 0, "mixtures, each for a range of deviations (default: 1 for curves, 4 for images)")
	fl.BoolVar(&f.keep, "keep-observed", false,
		"images: from now on a pixel that was observed keeps its value, with the least deviation that the model predicts as its noise\n(=false: no longer)")
	f.memory.register(cmd)
	fl.BoolVar(&a.json, "json", false, "print one JSON object")
	registerModelOut(cmd, &f.out)
	return cmd
}

// calibrateResult is what calibrate --json prints.
type calibrateResult struct {
	Model      string       `json:"model"`
	Source     string       `json:"source"`
	Likelihood string       `json:"likelihood"`
	Before     *eval.Report `json:"before"`
	After      *eval.Report `json:"after"`
	Out        string       `json:"out"`
	Notes      []string     `json:"notes"`
}

// maxNormals is as many normals, and as many mixtures, as a likelihood takes.
const maxNormals = 16

// check refuses flags that ask for nothing, or for too much.
func (f *calibrateFlags) check() error {
	switch {
	case f.n < 0 || f.n > maxTasks:
		return cli.Usagef("--tasks %d: need 1 to %d, or 0 for all", f.n, maxTasks)
	case f.nodes < 0 || f.nodes > maxNormals:
		return cli.Usagef("--mixtures %d: need 1 to %d, or 0 for the default", f.nodes, maxNormals)
	case f.normals < 1 || f.normals > maxNormals:
		return cli.Usagef("--normals %d: need 1 to %d", f.normals, maxNormals)
	}
	return nil
}

func (a *app) calibrate(cmd *cobra.Command, f *calibrateFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	ctx, r := cmd.Context(), &result{}
	outs, err := a.outputs(append(f.tasks.inputs(), f.model.path), cli.Out("out", f.out, tensorFiles))
	if err != nil {
		return err
	}
	defer outs.Discard()
	state, err := f.model.readOne(ctx)
	if err != nil {
		return err
	}
	model, err := f.model.build(f.model.path, state)
	if err != nil {
		return err
	}
	if cmd.Flags().Changed("keep-observed") {
		if model, err = cnp.KeepObserved(model, f.keep); err != nil {
			return fmt.Errorf("%s: --keep-observed: %w", f.model.path, err)
		}
	}
	calibrated, res, err := a.calibrated(ctx, f, model, r)
	if err != nil {
		return err
	}
	about := map[string]string{"calibrated": res.Source}
	for _, key := range []string{pretrained.KeyCommand, pretrained.KeySeed, pretrained.KeySteps, pretrained.KeyTasks, pretrained.KeyNote} {
		if v, ok := state.Metadata[key]; ok { // the others are scores of the model as it was
			about[key] = v
		}
	}
	err = outs.WriteFile("out", func(path string) error { return weights.Save(path, calibrated, about) })
	if err != nil {
		return err
	}
	if err := outs.Commit(); err != nil {
		return err
	}
	r.Line("likelihood", "%s", res.Likelihood)
	r.Line("log-likelihood", "%.4f before, %.4f after", res.Before.LogLikelihood.Mean, res.After.LogLikelihood.Mean)
	r.Line("intervals' error", "%.3f before, %.3f after", res.Before.CalibrationError, res.After.CalibrationError)
	r.Line("written", "%s", f.out)
	res.Notes = r.AllNotes()
	return a.print(r, res)
}

// calibrated calibrates a model, and measures it before and after.
func (a *app) calibrated(ctx context.Context, f *calibrateFlags, model cnp.Model[float32], r *result) (cnp.Model[float32],
	*calibrateResult, error) {
	cfg := model.Config()
	src, size, err := f.tasks.source(ctx, r, &cfg)
	if err != nil {
		return nil, nil, err
	}
	n, other := f.n, f.seed+1
	if n == 0 {
		if n = size; size == 0 {
			n = 256
		}
	}
	if size > 0 {
		other = f.seed
		r.Note("measured on the tasks that it is calibrated on: the file has no others")
	}
	work := workOf(src, eval.DefaultBatch)
	work.Weights = implicitWeights
	need, err := cnp.EstimateModel(model, work)
	if err := f.memory.check(need, err, "--size, --targets or interval"); err != nil {
		return nil, nil, err
	}
	predict := func(m cnp.Model[float32]) eval.Predictor[float32] { // curves of a file come in units of their own
		if c, ok := m.(cnp.Regressor[float32]); ok && (!f.tasks.drawn() || cfg.HasUnits()) {
			return eval.Model[float32](cnp.Standardised(c))
		}
		return eval.Model(m)
	}
	report, done := a.bar("calibrating")
	defer done()
	options := func(part int, seed uint64) eval.Options {
		opt := eval.Options{Tasks: n, Seed: seed}
		if report != nil {
			opt.Progress = func(at, _ int) { report(part*n+at, 3*n) }
		}
		return opt
	}
	how := eval.Calibration{Normals: f.normals, Mixtures: f.nodes}
	if f.nodes == 0 {
		how.Mixtures = 1
		if cfg.Architecture.Image() {
			how.Mixtures = 4
		}
	}
	calibrated, err := eval.Calibrate(ctx, model, predict(model), src, options(0, f.seed), how)
	if err != nil {
		return nil, nil, err
	}
	c := calibrated.Config()
	res := &calibrateResult{Model: f.model.path, Source: src.String(), Likelihood: c.Likelihood, Out: f.out}
	if res.Before, err = eval.Run(ctx, predict(model), src, options(1, other)); err != nil {
		return nil, nil, err
	}
	if res.After, err = eval.Run(ctx, predict(calibrated), src, options(2, other)); err != nil {
		return nil, nil, err
	}
	r.Line("model", "%s", f.model.describe(cfg))
	r.Line("tasks", "%d with seed %d: %v", n, f.seed, src)
	return calibrated, res, nil
}
