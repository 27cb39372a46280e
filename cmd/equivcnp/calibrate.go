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
	normals int
	nodes   int
	keep    bool
	out     string
	memory  memoryFlag
}

func (a *app) calibrateCommand() *cobra.Command {
	var f calibrateFlags
	cmd := &cobra.Command{
		Use:                   "calibrate --model M " + taskKinds.Usage() + " --out M.safetensors",
		DisableFlagsInUseLine: true,
		Short:                 "Correct the standard deviations of a model by its errors",
		Long:                  helpText("calibrate"),
		Example: `  equivcnp calibrate --model digits-T2 --digits --max-angle 0 --min-scale 1 --max-scale 1 --out t2.safetensors
  equivcnp calibrate --model stations.safetensors --csv lastyear.csv --normals 1 --out calibrated.safetensors
  equivcnp eval --model t2.safetensors --digits`,
		Args: noArguments,
	}
	cmd.RunE = a.action(func(cmd *cobra.Command, _ []string) error { return a.calibrate(cmd, &f) })
	f.model.register(a, cmd)
	f.tasks.register(a, cmd, 256, 2000)
	fl := cmd.Flags()
	fl.IntVar(&f.normals, "normals", 3, "number of normals in a mixture")
	fl.IntVar(&f.nodes, "mixtures", 0, "number of mixtures, each for a range of deviations (default: 1 for curves, 4 for images)")
	fl.BoolVar(&f.keep, "keep-observed", false,
		"images: predict the observed value at an observed pixel, with the smallest predicted deviation as its noise; =false: no longer")
	f.memory.register(cmd)
	a.jsonFlag(cmd)
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
	case f.nodes < 0 || f.nodes > maxNormals:
		return cli.Usagef("--mixtures %d: need 1 to %d, or 0 for the default", f.nodes, maxNormals)
	case f.normals < 1 || f.normals > maxNormals:
		return cli.Usagef("--normals %d: need 1 to %d", f.normals, maxNormals)
	}
	return f.tasks.check()
}

func (a *app) calibrate(cmd *cobra.Command, f *calibrateFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	ctx, r := cmd.Context(), &result{}
	outs, err := a.outputs(append(f.tasks.inputs(), f.model.path), cli.OutWhole("out", f.out, tensorFiles))
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
	about := pretrained.Provenance(state.Metadata, false)
	about["calibrated"] = res.Source
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
	r.Written(outs)
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
	n, other := f.tasks.count(size), f.tasks.seed+1
	if size > 0 {
		other = f.tasks.seed
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
	report, done := cli.Tasks(a.stderr, "calibrating", a.quiet, !a.json)
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
	calibrated, err := eval.Calibrate(ctx, model, predict(model), src, options(0, f.tasks.seed), how)
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
	r.Line("tasks", "%d with seed %d: %v", n, f.tasks.seed, src)
	return calibrated, res, nil
}
