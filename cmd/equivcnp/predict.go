package main

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/filetask"
	"github.com/equivcnp/equivcnp/cnp/predict"
	"github.com/equivcnp/equivcnp/cnp/taskfile"
	"github.com/equivcnp/equivcnp/internal/cli"
	"github.com/equivcnp/equivcnp/internal/safetensors"
	"github.com/equivcnp/equivcnp/internal/words"
)

// predictFlags are the flags of equivcnp predict.
type predictFlags struct {
	model   modelFlags
	plan    planFlags
	in, out string
	chain   chainFlags
	table   tableFlags
	shards  shardFlags
	flags   *pflag.FlagSet

	standardise bool
	quantiles   []float64
	covariance  bool
	outputs     []string
	oneTable    oneTableFlags
}

func (a *app) predictCommand() *cobra.Command {
	var f predictFlags
	cmd := &cobra.Command{
		Use:                   "predict [--model M] (--in tasks.npz|table.parquet --out FILE | --manifest list --out-dir D)",
		DisableFlagsInUseLine: true,
		Short:                 "Predict many tasks of a file or a table",
		Long:                  helpText("predict"),
		Example: `  equivcnp predict --model rbf_equivcnp.pth --in tasks.safetensors --out pred.safetensors
  equivcnp predict --model SO2.pth --group "SO(2)" --alpha 0.3 --in images.safetensors --out pred.safetensors --json
  equivcnp predict --model m.safetensors --in stations.parquet --x lat,lon --y t2m,rain --task date \
    --grid lat=40:60:0.5,lon=-10:10:0.5 --out maps.nc
  equivcnp predict --in days.csv --x east,north --y rain --task day --grid east=0:10:1,north=0:10:1 --out maps.csv
  equivcnp predict --model RxSO2.pth --group "R>0xSO(2)" --in a.safetensors --out b.safetensors --batch 16 --memory 2G
  equivcnp predict --model digits-T2 --manifest files.txt --shard 3/64 --out-dir predictions`,
		Args: noArguments,
		RunE: a.action(func(cmd *cobra.Command, _ []string) error { return a.predict(cmd.Context(), &f) }),
	}
	f.register(a, cmd)
	return cmd
}

// register adds the flags.
func (f *predictFlags) register(a *app, cmd *cobra.Command) {
	f.model.register(a, cmd)
	optionalModel(cmd)
	f.model.registerLattice(cmd)
	f.plan.register(cmd)
	f.model.registerPrecision(cmd)
	f.model.registerPlans(cmd)
	f.table.register(a, cmd)
	fl := cmd.Flags()
	f.flags = fl
	fl.StringVarP(&f.in, "in", "i", "", "tasks: a file of tensors, .safetensors, .npz or .nc, or a table (\"equivcnp help tables\")")
	fl.StringVarP(&f.out, "out", "o", "", "predictions: .safetensors, .npz or .nc; of a table .csv, .tsv, .parquet, .npz, .nc, .tif")
	f.chain.register(cmd, 0, false, true)
	quantilesFlag(fl, &f.quantiles)
	outputsFlag(fl, &f.outputs)
	fl.BoolVar(&f.covariance, "covariance", false, "also write the covariance [B, N, N] of the N values of each task")
	standardiseFlag(fl, &f.standardise)
	noCheckFlag(fl, &f.oneTable.NoCheck)
	f.oneTable.registerTasks(fl)
	f.shards.register(cmd, "a file of tasks a line")
	a.jsonFlag(cmd)
	for _, name := range []string{"in", "out"} {
		must(cmd.MarkFlagFilename(name, "safetensors"))
		cmd.MarkFlagsMutuallyExclusive(name, "manifest")
	}
}

// predictResult is what predict --json prints.
type predictResult struct {
	Model         string `json:"model"`
	Architecture  string `json:"architecture"`
	Group         string `json:"group,omitempty"`
	In            string `json:"in"`
	Tasks         int    `json:"tasks"`
	ContextPoints int    `json:"context_points"` // over all tasks, unmasked; pixels for images
	Targets       int    `json:"targets"`
	Shape         []int  `json:"shape"`
	// Columns are those of a table's predictions, Inputs those of its coordinates.
	Columns         []string `json:"columns,omitempty"`
	Inputs          []string `json:"inputs,omitempty"`
	LogLikelihood   *number  `json:"log_likelihood,omitempty"`    // mean over the counted values
	LogLikelihoodOf string   `json:"log_likelihood_of,omitempty"` // the tensor it belongs to
	// LogLikelihoodValues is the number of those values.
	LogLikelihoodValues int    `json:"log_likelihood_values,omitempty"`
	Seconds             number `json:"seconds"`
	Out                 string `json:"out"`
	// Check says whether the model suits the data.
	Check *predict.Checked `json:"check,omitempty"`
	Notes []string         `json:"notes"`
}

func (a *app) predict(ctx context.Context, f *predictFlags) error {
	opt, err := f.plan.options(f.model.precision)
	if err == nil {
		err = f.chain.check()
	}
	if err == nil {
		err = f.model.exactly(f.chain.samples > 0, "--samples", "the chain rule")
	}
	if err == nil {
		err = errors.Join(cli.CheckQuantiles(f.quantiles), f.oneTable.check(f.model.path))
	}
	if err != nil {
		return err
	}
	if f.shards.manifest != "" {
		return a.predictManifest(ctx, f, opt)
	}
	if err := cli.Required(f.flags, "in", "out"); err != nil {
		return err
	}
	if f.table.asked(f.in) {
		return a.predictTable(ctx, f)
	}
	outs, err := a.outputs([]string{f.model.path, f.in}, cli.Out("out", f.out, taskFiles))
	if err != nil {
		return err
	}
	defer outs.Discard()
	var model cnp.Model[float32]
	if f.model.path != "" {
		if model, err = f.model.load(ctx); err != nil {
			return err
		}
	}
	in, err := fromInput(ctx, a, f.in, taskfile.Open, taskfile.Decode)
	if err != nil {
		return err
	}
	r := &result{}
	p, err := a.predictFile(ctx, f, r, model, in, f.in, opt)
	if err != nil {
		return err
	}
	if err := outs.Write("out", func(w io.Writer) error { return taskfile.Write(w, f.out, p.tensors) }); err != nil {
		return err
	}
	return a.wrotePrediction(ctx, outs, r, &p.predictResult, f.out)
}

// wrotePrediction gives what was written its names, and says what was done.
func (a *app) wrotePrediction(ctx context.Context, outs *cli.Outputs, r *result, p *predictResult, out string) error {
	if err := outs.CommitUnlessDone(ctx); err != nil {
		return err
	}
	r.Line("time", "%.2f s", float64(p.Seconds))
	r.Written(outs)
	p.Out, p.Notes = out, r.AllNotes()
	return a.print(r, *p)
}

// filePrediction is the prediction of one file, and what is said of it.
type filePrediction struct {
	predictResult
	tensors []safetensors.Tensor
}

// predictFile predicts the tasks of a file of that name, and writes to r what is to be said. Without a model they are interpolated.
func (a *app) predictFile(ctx context.Context, f *predictFlags, r *result, model cnp.Model[float32], in *taskfile.File,
	name string, opt cnp.PlanOptions) (*filePrediction, error) {
	if model == nil {
		var err error
		if model, err = f.model.universalOfFile(in, name, f.oneTable.Options); err != nil {
			return nil, err
		}
	}
	cfg := model.Config()
	o := &filetask.Options{Name: name, Standardise: f.standardise, NoCheck: f.oneTable.NoCheck, Quantiles: f.quantiles, Outputs: f.outputs,
		Covariance: f.covariance, Plan: opt, Batch: f.plan.batch, ImageNotes: f.model.precisionNotes(&cfg)}
	if f.chain.samples > 0 {
		o.Sample = func(tasks, context int) cnp.SampleOptions { return f.chain.options(&cfg, tasks, context) }
	}
	work, done := a.withProgress(ctx, "predicting")
	defer done()
	p, err := filetask.Predict(work, model, in, o)
	if err != nil {
		return nil, flagged(err)
	}
	r.add(&p.Notes)
	out := &filePrediction{predictResult: predictResult{
		Model: f.model.path, Architecture: string(cfg.Architecture), Group: cfg.Group, In: name, Tasks: p.Tasks,
		ContextPoints: p.Context, Targets: p.Targets, Shape: p.Shape, LogLikelihood: (*number)(p.LogLikelihood), LogLikelihoodOf: p.Of,
		LogLikelihoodValues: p.Values, Seconds: number(p.Time.Seconds()), Check: p.Check,
	}}
	for _, t := range p.Tensors {
		out.tensors = append(out.tensors, safetensors.FromFloat32s(t.Name, t.Shape, t.Values))
	}
	out.lines(r, f.model.describe(cfg), "")
	return out, nil
}

// lines are the result for people.
func (p *predictResult) lines(r *result, model, known string) {
	r.Line("model", "%s", model)
	r.Line("tasks", "%d", p.Tasks)
	r.Line("context", "%s", words.Plural(p.ContextPoints, "point"))
	r.Line("targets", "%d", p.Targets)
	if p.LogLikelihood != nil {
		r.Line("log-likelihood", "%.4f mean of the values of %s%s", float64(*p.LogLikelihood), p.LogLikelihoodOf, known)
	}
}

// outputsFlag adds the flag that names what is written of a prediction.
func outputsFlag(fl *pflag.FlagSet, names *[]string) {
	fl.StringSliceVar(names, "outputs", nil, "what to write, for example mean,std,cov_target (default: all but the "+
		"covariance of a whole task; tables have what is one number per value)")
}
