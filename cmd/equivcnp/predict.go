package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/predict"
	"github.com/equivcnp/equivcnp/cnp/taskfile"
	"github.com/equivcnp/equivcnp/internal/safetensors"
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
}

func (a *app) predictCommand() *cobra.Command {
	var f predictFlags
	cmd := &cobra.Command{
		Use:                   "predict --model M (--in tasks.npz|table.parquet --out FILE | --manifest list --out-dir D)",
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

If the file has y_target, of the output's shape, the log-likelihood of its unmasked values is
printed, averaged over values; NaN is a value that is missing. For images without it, that of image
itself is, of the values that are not missing, unless those are observed alone.`,
		Example: `  equivcnp predict --model rbf_equivcnp.pth --in tasks.safetensors --out pred.safetensors
  equivcnp predict --model SO2.pth --group "SO(2)" --alpha 0.3 --in images.safetensors --out pred.safetensors --json
  equivcnp predict --model m.safetensors --in stations.parquet --x lat,lon --y t2m,rain --task date \
    --grid lat=40:60:0.5,lon=-10:10:0.5 --out maps.nc
  equivcnp predict --model RxSO2.pth --group "R>0xSO(2)" --in a.safetensors --out b.safetensors --batch 16 --memory 2G
  equivcnp predict --model digits-T2 --manifest files.txt --shard 3/64 --out-dir predictions`,
		Args: cobra.NoArgs,
		RunE: a.action(func(cmd *cobra.Command, _ []string) error { return a.predict(cmd.Context(), &f) }),
	}
	f.model.register(a, cmd)
	f.model.registerLattice(cmd)
	f.plan.register(cmd)
	f.model.registerPrecision(cmd)
	f.model.registerPlans(cmd)
	f.table.register(cmd)
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
	f.shards.register(cmd, "a file of tasks a line")
	fl.BoolVar(&a.json, "json", false, "print one JSON object")
	for _, name := range []string{"in", "out"} {
		must(cmd.MarkFlagFilename(name, "safetensors"))
		cmd.MarkFlagsMutuallyExclusive(name, "manifest")
	}
	return cmd
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
	// LogLikelihoodValues is how many values those were.
	LogLikelihoodValues int    `json:"log_likelihood_values,omitempty"`
	Seconds             number `json:"seconds"`
	Out                 string `json:"out"`
	// Check says whether the model suits the data.
	Check *predict.Checked `json:"check,omitempty"`
	Notes []string         `json:"notes"`
}

// job is one file of tasks, checked and ready to run.
type job struct {
	tasks, context, targets int
	shape                   []int // of the output
	run                     func(ctx context.Context) (*cnp.Prediction[float32], error)
	sample                  func(ctx context.Context, f *chainFlags) ([]float32, error)
	truth                   []float32 // nil without
	truthName               string
	work                    cnp.Work
	counts                  []bool // which values of the output count for the likelihood; nil for all
	cautions, notes         []string
	scaled                  int                // tasks that were standardised
	model                   cnp.Model[float32] // that of images, divided as far as they need it
	check                   func(ctx context.Context, r *result) (*predict.Checked, error)
}

// leaveOut leaves out the values that do not count.
func (j *job) leaveOut(counts []bool) {
	for i := range counts {
		counts[i] = counts[i] && j.counted(i)
	}
	j.counts = counts
}

// counted reports whether value i of the output is no padding.
func (j *job) counted(i int) bool { return j.counts == nil || j.counts[i] }

func (a *app) predict(ctx context.Context, f *predictFlags) error {
	opt, err := f.plan.options(f.model.precision)
	if err == nil {
		err = f.chain.check()
	}
	if err == nil {
		err = f.model.exactly(f.chain.samples > 0, "--samples", "the chain rule")
	}
	if err == nil {
		err = checkQuantiles(f.quantiles)
	}
	if err != nil {
		return err
	}
	if f.shards.manifest != "" {
		return a.predictManifest(ctx, f, opt)
	}
	if err := required(f.flags, "in", "out"); err != nil {
		return err
	}
	if f.table.asked(f.in) {
		return a.predictTable(ctx, f)
	}
	outs, err := a.outputs([]string{f.model.path, f.in}, outFile{"out", f.out, taskFiles})
	if err != nil {
		return err
	}
	defer outs.discard()
	model, err := f.model.load(ctx)
	if err != nil {
		return err
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
	if err := outs.write("out", func(w io.Writer) error { return taskfile.Write(w, f.out, p.tensors) }); err != nil {
		return err
	}
	return a.wrotePrediction(ctx, outs, r, &p.predictResult, f.out)
}

// wrotePrediction gives what was written its names, and says what was done.
func (a *app) wrotePrediction(ctx context.Context, outs *outputs, r *result, p *predictResult, out string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := outs.commit(); err != nil {
		return err
	}
	r.line("time", "%.2f s", float64(p.Seconds))
	r.line("written", "%s", out)
	p.Out, p.Notes = out, r.allNotes()
	return a.print(r, *p)
}

// filePrediction is the prediction of one file: what is said of it, and its tensors.
type filePrediction struct {
	predictResult
	tensors []safetensors.Tensor
}

// predictFile predicts the tasks of a file of that name, and writes to r what is to be said.
func (a *app) predictFile(ctx context.Context, f *predictFlags, r *result, model cnp.Model[float32], in *taskfile.File,
	name string, opt cnp.PlanOptions) (*filePrediction, error) {
	cfg := model.Config()
	var j *job
	var err error
	switch m := model.(type) {
	case cnp.Regressor[float32]:
		j, err = curveJob(in, m, f.standardise)
	case cnp.Completer[float32]:
		if j, err = imageJob(in, m, &f.plan, opt); err == nil {
			j.notes = append(j.notes, f.model.precisionNotes(&cfg)...)
		}
	default:
		return nil, fmt.Errorf("%s: a %s model predicts nothing", f.model.path, cfg.Architecture)
	}
	if err != nil {
		return nil, err
	}
	j.work.Weights = max(0, opt.Memory)
	if j.model != nil {
		model = j.model
	}
	need, err := cnp.EstimateModel(model, j.work)
	need.Features += f.chain.samplesNeed(j.tasks, j.work.Context, j.targets/max(1, j.tasks), cfg.DimY)
	if err == nil && j.targets > 0 {
		err = need.Check(cnp.MemoryLimit())
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}

	work, done := a.withProgress(ctx, "predicting")
	start := time.Now()
	p, err := j.run(work)
	var samples []float32
	if f.chain.samples > 0 && p != nil { // what lies outside is named by the prediction's error
		var failed error
		if samples, failed = j.sample(work, &f.chain); samples == nil {
			err = failed
		}
	}
	seconds := time.Since(start).Seconds()
	done()
	r.cautions, r.notes = j.cautions, j.notes
	var checked *predict.Checked
	if j.check != nil && !f.noCheck && p != nil {
		var failed error
		if checked, failed = j.check(ctx, r); failed != nil {
			return nil, failed
		}
	}
	if len(j.shape) == 3 { // curves
		var counts []bool
		if counts, err = r.answered(p, err, j.shape[1], j.shape[2]); counts != nil {
			j.leaveOut(counts)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := p.Check(j.counted); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	r.noteStandardised(j.scaled, j.tasks)
	r.line("model", "%s", f.model.describe(cfg))
	r.line("tasks", "%d", j.tasks)
	r.line("context", "%s", plural(j.context, "point"))
	r.line("targets", "%d", j.targets)
	var likelihood *number
	values := 0
	if j.truth != nil {
		known := make([]bool, len(j.truth))
		for i, v := range j.truth {
			known[i] = j.counted(i) && v == v
		}
		if err := cnp.CheckSupport(p.Distribution(), j.truthName, j.truth, known, j.channels()); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if sum, n := p.LogDensities(j.tasks, j.truth, known); n > 0 {
			v := number(sum / float64(n))
			values = n
			likelihood = &v
			r.line("log-likelihood", "%.4f mean of the values of %s", float64(v), j.truthName)
		}
	}
	if likelihood == nil {
		j.truthName = ""
	}
	if extra := in.Unused(); len(extra) > 0 {
		r.note("tensors that this model does not read: %q", extra)
	}

	tensors, err := f.tensors(j, p, samples)
	if err != nil {
		return nil, err
	}
	return &filePrediction{predictResult{
		Model: f.model.path, Architecture: string(cfg.Architecture), Group: cfg.Group, In: name, Tasks: j.tasks,
		ContextPoints: j.context, Targets: j.targets, Shape: j.shape, LogLikelihood: likelihood, LogLikelihoodOf: j.truthName,
		LogLikelihoodValues: values, Seconds: number(seconds), Check: checked,
	}, tensors}, nil
}

// channels is the number of values of a target whose values lie together: those of images lie apart.
func (j *job) channels() int {
	if len(j.shape) == 3 {
		return max(1, j.shape[2])
	}
	return 1
}

// tensors lists the tensors of the output file, with samples if they were drawn.
func (f *predictFlags) tensors(j *job, p *cnp.Prediction[float32], samples []float32) ([]safetensors.Tensor, error) {
	result := predict.Result{Prediction: p, Shape: j.shape, Counts: j.counts, Samples: samples, Drawn: f.chain.samples,
		Quantiles: f.quantiles}
	all, err := result.Tensors(f.outputs...)
	if err == nil && f.covariance {
		var more []predict.Tensor
		more, err = result.Tensors("covariance")
		all = append(all, more...)
	}
	if err != nil {
		return nil, err
	}
	var out []safetensors.Tensor
	for _, t := range all {
		out = append(out, safetensors.FromFloat32s(t.Name, t.Shape, t.Values))
	}
	return out, nil
}

// curveJob prepares a batch of regression tasks.
func curveJob(t *taskfile.File, m cnp.Regressor[float32], standardise bool) (*job, error) {
	cfg := m.Config()
	dx, dy := cfg.DimX, cfg.DimY
	c, err := t.Curves(&cfg)
	if err != nil {
		return nil, err
	}
	b := &c.Batch
	observed := make([]bool, len(b.YContext))
	for i, v := range b.YContext {
		observed[i] = (b.ContextMask == nil || b.ContextMask[i/dy]) && v == v
	}
	if err := checkContext(&cfg, "y_context", b.YContext, observed, dy); err != nil {
		return nil, err
	}
	seen := b
	if err := unscaled(&cfg, standardise); err != nil {
		return nil, err
	}
	if standardise {
		if seen, _, err = cnp.Standardise(&cfg, b); err != nil {
			return nil, err
		}
		m = cnp.Standardised(m)
	}
	j := &job{tasks: b.B, shape: []int{b.B, b.Nt, dy}, work: seen.Work(dx), cautions: cnp.Notes(&cfg, b), truth: c.Truth,
		truthName: "y_target"}
	j.context, j.targets = counted(b.ContextMask, len(b.XContext)/dx), counted(b.TargetMask, len(b.XTarget)/dx)
	j.run = func(ctx context.Context) (*cnp.Prediction[float32], error) {
		if len(b.XTarget) == 0 { // nothing to predict, however many tasks of nothing there are
			return &cnp.Prediction[float32]{Likelihood: cnp.Normal}, nil
		}
		return m.Predict(ctx, b)
	}
	j.sample = func(ctx context.Context, f *chainFlags) ([]float32, error) {
		return cnp.SampleCurves(ctx, m, b, f.options(&cfg, b.B, b.Nc))
	}
	if standardise {
		j.scaled = cnp.OtherScale(&cfg, b)
	}
	j.check = func(ctx context.Context, r *result) (*predict.Checked, error) {
		r.noteThinned(b.Nc, seen.Nc)
		return r.check(ctx, false, m, b)
	}
	if b.TargetMask != nil {
		j.counts = make([]bool, len(b.TargetMask)*dy)
		for i := range j.counts {
			j.counts[i] = b.TargetMask[i/dy]
		}
	}
	return j, nil
}

// imageJob prepares a batch of images; plan and its options say how an EquivCNP runs them.
func imageJob(t *taskfile.File, m cnp.Completer[float32], plan *planFlags, opt cnp.PlanOptions) (*job, error) {
	c, err := t.Images(m.Config().DimY)
	if err != nil {
		return nil, err
	}
	im := &c.Batch
	limit := opt.Memory
	if opt.Soft {
		limit = cnp.MemoryLimit()
	}
	var r result
	if m, err = within(&r, m, im.Work(), limit); err != nil {
		return nil, err
	}
	j := &job{tasks: im.B, context: counted(im.Mask, len(im.Mask)), targets: len(im.Mask), shape: []int{im.B, im.C, im.H, im.W},
		work: im.Work(), model: m}
	cfg := m.Config()
	observed, n := make([]bool, len(im.Pixels)), im.H*im.W
	for i := range observed {
		observed[i] = im.Mask[i/(n*im.C)*n+i%n]
	}
	if err := checkContext(&cfg, "image", im.Pixels, observed, 1); err != nil {
		return nil, err
	}
	j.cautions, j.notes = cnp.ImageNotes(&cfg, im), r.notes
	j.run = func(ctx context.Context) (*cnp.Prediction[float32], error) {
		if im.B == 0 {
			return &cnp.Prediction[float32]{Likelihood: cnp.Normal}, nil
		}
		return plan.run(ctx, m, im, opt)
	}
	j.sample = func(ctx context.Context, f *chainFlags) ([]float32, error) {
		return cnp.SampleImages(ctx, m, im, f.options(&cfg, im.B, j.context/max(1, im.B)))
	}
	j.truth, j.truthName = c.Answer()
	if c.Missing > 0 {
		j.notes = append(j.notes, fmt.Sprintf("%s missing: not observed, whatever the mask says", plural(c.Missing, "pixel")))
	}
	return j, nil
}

// counted is the number of points that a mask keeps, n without one.
func counted(mask []bool, n int) int {
	if mask == nil {
		return n
	}
	kept := 0
	for _, m := range mask {
		if m {
			kept++
		}
	}
	return kept
}
