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
	noCheck     bool
	sphere      bool
}

func (a *app) predictCommand() *cobra.Command {
	var f predictFlags
	cmd := &cobra.Command{
		Use:                   "predict [--model M] (--in tasks.npz|table.parquet --out FILE | --manifest list --out-dir D)",
		DisableFlagsInUseLine: true,
		Short:                 "Predict many tasks from one file into another",
		Long: `Predict all tasks of a file of tensors (safetensors, npz or classic NetCDF), or of a table.

Curve models read x_context [B, Nc, dx], y_context [B, Nc, dy], x_target [B, Nt, dx] and, if there,
context_mask [B, Nc] and target_mask [B, Nt] (1 where a point counts, 0 at padding). Nc and Nt
may be 0. NaN in y_context is a value that was not observed: a point without any is no context, and one
with some is one under models of several outputs that were trained here. Models trained here predict each
task as if it were alone; the authors' checkpoints, and others with one lattice for a batch, lay it over all
tasks of the file, as the authors' code does.

Image models read image [B, C, H, W] and mask [B, 1, H, W] or [B, H, W] (1 where a pixel is
observed). A pixel that is NaN in one of its channels, or a NetCDF file's _FillValue, is missing: it is
not observed, whatever the mask says. An image that has such pixels needs no mask: all others are
observed then. Images of one file are predicted alike, alone or together; how many go together, and how
much memory their convolution weights may take, changes the time alone (--batch, --memory). With
--precision bfloat16 predictions move by up to a thirtieth of the largest value, and the mean
log-likelihood of a pixel by less than 0.01 (equivcnp reproduce precision measures it); models under T(2),
whose channels are a multiple of 32, take two thirds of the time of one core, on a CPU that multiplies tiles of it.

Any integer or floating-point type will do; coordinates keep 64 bits. Values where a mask has 0 are
never read and may be NaN. The output holds mean and std, F32, shaped like the targets: [B, Nt, dy]
or [B, C, H, W]; std is the standard deviation of the predictive distribution of new observations.
Masked targets get zeros. Models of other likelihoods than the normal one add tensors of that shape,
with one dimension more where there are several numbers a value: std_function, the deviation without
the noise of observations; cov_factor F and cov_diag D, of the covariance F F' + diag(D) of all
values of a task, and covariance itself with --covariance; cov_target [B, Nt, dy, dy], the covariance of
the values of each target, of which vectors' turn with the places; params, the parameters of distributions
that are no normal ones. --quantiles adds quantiles. --outputs names what is written instead.

With --samples the output holds samples, too, drawn by the chain rule, F32 [S, B, Nt, dy] or [S, B, C, H,
W]; see "equivcnp sample".

A table is CSV, TSV or Parquet; npz and NetCDF are taken for one where --x, --y, --task, --targets or
--grid name its columns. Its rows are the points of the tasks that the column --task names, found as
"regress" finds columns. A row is context if its outputs are there, and the column context, if there is
one, has 1. Predicted is at the rows of --targets, on a --grid, or at the table's own rows. The output is
a table, too: task, inputs, and for an output t2m the columns t2m_mean, t2m_std and so on.

With --manifest many files of tensors or tables are predicted, each into a file of its own in --out-dir, by any
number of processes: --shard 3/64 takes every 64th of them. A line names a file, or with *, ? or [ several; paths count
from the manifest's folder, and lines that begin with # are left out. A process that is started again, after
whatever end, goes on where it was; files appear under their names when they are complete. "equivcnp merge"
checks that all is there, and says how good it was.

Without --model each task is interpolated on its own, each of its outputs too, by the number of inputs; --sphere
says that they are latitude and longitude in degrees.

If the file has y_target, of the output's shape, the log-likelihood of its unmasked values is
printed, averaged over values; NaN is a value that is missing. For images without it, that of image
itself is, of the values that are not missing, unless those are observed alone.`,
		Example: `  equivcnp predict --model rbf_equivcnp.pth --in tasks.safetensors --out pred.safetensors
  equivcnp predict --model SO2.pth --group "SO(2)" --alpha 0.3 --in images.safetensors --out pred.safetensors --json
  equivcnp predict --model m.safetensors --in stations.parquet --x lat,lon --y t2m,rain --task date \
    --grid lat=40:60:0.5,lon=-10:10:0.5 --out maps.nc
  equivcnp predict --in days.csv --x east,north --y rain --task day --grid east=0:10:1,north=0:10:1 --out maps.csv
  equivcnp predict --model RxSO2.pth --group "R>0xSO(2)" --in a.safetensors --out b.safetensors --batch 16 --memory 2G
  equivcnp predict --model digits-T2 --manifest files.txt --shard 3/64 --out-dir predictions`,
		Args: cobra.NoArgs,
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
	fl.StringVarP(&f.in, "in", "i", "", "file of the tasks: safetensors, .npz or .nc, or a table: .csv, .tsv, .parquet")
	fl.StringVarP(&f.out, "out", "o", "", "file of the predictions: .safetensors, .npz or .nc; of a table .csv, .tsv, .parquet, .npz or .nc")
	f.chain.register(cmd, 0, false, true)
	quantilesFlag(fl, &f.quantiles)
	outputsFlag(fl, &f.outputs)
	fl.BoolVar(&f.covariance, "covariance", false, "also write the covariance [B, N, N] of the N values of each task")
	standardiseFlag(fl, &f.standardise)
	noCheckFlag(fl, &f.noCheck)
	sphereFlag(cmd, &f.sphere)
	f.shards.register(cmd, "a file of tasks a line")
	fl.BoolVar(&a.json, "json", false, "print one JSON object")
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
		err = errors.Join(checkQuantiles(f.quantiles), f.model.checkSphere(f.sphere))
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
	r.Line("written", "%s", out)
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
		if model, err = f.model.universalOfFile(in, name, f.sphere); err != nil {
			return nil, err
		}
	}
	cfg := model.Config()
	o := &filetask.Options{Name: name, Standardise: f.standardise, NoCheck: f.noCheck, Quantiles: f.quantiles, Outputs: f.outputs,
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
	fl.StringSliceVar(names, "outputs", nil, "what to write, as in mean,std,cov_target (default: all but the covariance of a whole task; a table has what is one number a value)")
}
