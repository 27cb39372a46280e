package predict

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/krige"
)

// ErrUnits is wrapped by the error about a model that has to bring data into its own units, and is not allowed to.
var ErrUnits = errors.New("the model was trained on data in units of their own, which its file holds, and needs them")

// Options say how tasks are run. The zero value predicts in the units of the data.
type Options struct {
	// Raw passes curves as they are to a model that would otherwise bring them into the range of its training.
	Raw bool
	// Sample asks for samples beside the prediction.
	Sample    *cnp.SampleOptions
	Quantiles []float64
	// Scale is the number of places that are predicted along each side of a pixel, by Prepared.Fine; 0 means one.
	Scale int
	// Plan says how images are run, Batch how many at a time; 0 is all.
	Plan  cnp.PlanOptions
	Batch int
	// Memory bounds what the work may need; 0 is cnp.MemoryLimit. Images that would need more are completed in more and coarser parts.
	Memory int64
	// Refuse, unless nil, is asked instead of Memory whether the work may need that much, or passes on the error of its
	// estimate.
	Refuse func(need cnp.Need, err error) error
}

// Prepared is tasks with a model that is ready to run them.
type Prepared struct {
	// Tasks, Context and Targets are how many there are, of points those that count.
	Tasks, Context, Targets int
	// Shape is that of the mean.
	Shape []int
	// Cautions are reasons not to trust the prediction, of what the model was trained on.
	Cautions []string
	// Scaled is the number of tasks that are brought into the range of the model's training. Of the Given context points of a task the
	// model sees averages, Seen of them, where they are denser than those of the training.
	Scaled, Given, Seen int
	// Parts is the number of coarser images that an image is completed as.
	Parts int
	// Need is the memory that the work is estimated to need.
	Need cnp.Need

	opt    Options
	cfg    cnp.Config
	curves cnp.Regressor[float32]
	batch  *cnp.Batch[float32]
	image  cnp.Completer[float32]
	images *cnp.Images[float32]
}

// PrepareCurves checks a batch of curves for a model, brings it into the model's units, and estimates what running it
// needs. The error wraps cnp.ErrMemory where that is more than the options allow, and ErrKind where the model completes images.
func PrepareCurves(m cnp.Model[float32], b *cnp.Batch[float32], opt Options) (*Prepared, error) {
	r, err := asModel(m).Regressor()
	if err != nil {
		return nil, err
	}
	p := newPrepared(r, opt)
	return p, p.prepareCurves(r, b)
}

// PrepareImages is PrepareCurves for images. Those that would need more memory than allowed are divided.
func PrepareImages(m cnp.Model[float32], im *cnp.Images[float32], opt Options) (*Prepared, error) {
	c, err := asModel(m).Completer()
	if err != nil {
		return nil, err
	}
	p := newPrepared(c, opt)
	return p, p.prepareImages(c, im)
}

func asModel(m cnp.Model[float32]) *Model {
	if own, ok := m.(*Model); ok {
		return own
	}
	return &Model{Model: m}
}

func newPrepared(m cnp.Model[float32], opt Options) *Prepared {
	if opt.Memory == 0 {
		opt.Memory = cnp.MemoryLimit()
	}
	return &Prepared{opt: opt, cfg: m.Config(), Parts: 1}
}

func (p *Prepared) prepareCurves(m cnp.Regressor[float32], b *cnp.Batch[float32]) error {
	if err := errors.Join(b.Check(&p.cfg), CheckQuantiles(p.opt.Quantiles)); err != nil {
		return err
	}
	dx, dy := p.cfg.DimX, p.cfg.DimY
	p.curves, p.batch, p.Given, p.Seen = m, b, b.Nc, b.Nc
	observed := make([]bool, len(b.YContext))
	for i, v := range b.YContext {
		observed[i] = (b.ContextMask == nil || b.ContextMask[i/dy]) && v == v
	}
	if err := p.support("y_context", b.YContext, observed, dy); err != nil {
		return err
	}
	seen := b
	if p.opt.Raw && p.cfg.HasUnits() {
		return ErrUnits
	}
	if p.opt.Raw {
		if err := cnp.CheckDensity(&p.cfg, b, false); err != nil {
			return err
		}
	}
	if !p.opt.Raw {
		windows, err := 0, error(nil)
		if seen, windows, err = cnp.Seen(&p.cfg, b); err != nil {
			return err
		}
		p.curves, p.Scaled, p.Seen = cnp.Standardised(m), cnp.OtherScale(&p.cfg, b), seen.Nc
		if windows > 0 { // Notes says so, and that is no thinning
			p.Seen = b.Nc
		}
	}
	p.Tasks, p.Shape, p.Cautions = b.B, []int{b.B, b.Nt, dy}, differences(&p.cfg, b)
	p.Context, p.Targets = counted(b.ContextMask, len(b.XContext)/dx), counted(b.TargetMask, len(b.XTarget)/dx)
	work := seen.Work(dx)
	work.Weights = max(0, p.opt.Plan.Memory)
	return p.estimate(m, work, p.batch.Nc, p.batch.Nt)
}

func (p *Prepared) prepareImages(m cnp.Completer[float32], im *cnp.Images[float32]) error {
	if err := errors.Join(im.Check(&p.cfg), CheckQuantiles(p.opt.Quantiles)); err != nil {
		return err
	}
	limit := p.opt.Plan.Memory
	if p.opt.Plan.Soft || limit == 0 {
		limit = p.opt.Memory
	}
	work := im.Work()
	if work.Scale = p.opt.Scale; p.opt.Sample != nil {
		work.Batch = min(work.Batch*max(1, p.opt.Sample.Samples), chainBatch)
	}
	if p.opt.Plan.Soft {
		work.Weights = max(0, p.opt.Plan.Memory)
	}
	view, err := cnp.Within[float32](m, work, limit)
	if err != nil {
		return err
	}
	if view != cnp.Model[float32](m) {
		p.Parts, m = cnp.Parts(view, im.H, im.W), view.(cnp.Completer[float32])
	}
	p.cfg, p.image, p.images = m.Config(), m, im
	observed, n := make([]bool, len(im.Pixels)), im.H*im.W
	for i := range observed {
		observed[i] = im.Mask[i/(n*im.C)*n+i%n]
	}
	if err := p.support("image", im.Pixels, observed, 1); err != nil {
		return err
	}
	p.Tasks, p.Shape, p.Cautions = im.B, []int{im.B, im.C, im.H, im.W}, cnp.ImageNotes(&p.cfg, im)
	p.Context, p.Targets = counted(im.Mask, len(im.Mask)), len(im.Mask)
	work.Weights = max(0, p.opt.Plan.Memory)
	return p.estimate(m, work, 0, n)
}

// differences says how a batch differs from what a model was trained on. What Notes.Doubts says of interpolations is more than that.
func differences(c *cnp.Config, b *cnp.Batch[float32]) []string {
	if c.Architecture == krige.Architecture {
		return nil
	}
	return cnp.Notes(c, b)
}

// support refuses observed values that the model's likelihood cannot give.
func (p *Prepared) support(name string, y []float32, observed []bool, dy int) error {
	l, err := cnp.ParseLikelihood(&p.cfg)
	if err != nil {
		return err
	}
	return cnp.CheckSupport(l, name, y, observed, dy)
}

// estimate sets Need, and refuses what is more than allowed.
func (p *Prepared) estimate(m cnp.Model[float32], work cnp.Work, context, targets int) (err error) {
	p.Need, err = cnp.EstimateModel(m, work)
	if p.opt.Sample != nil {
		p.Need.Features += SamplesNeed(p.opt.Sample.Samples, p.Tasks, context, targets, p.cfg.DimY)
	}
	if p.opt.Refuse != nil {
		return p.opt.Refuse(p.Need, err)
	}
	if err != nil {
		return err
	}
	if p.Targets == 0 {
		return nil
	}
	return p.Need.Check(p.opt.Memory)
}

// chainBatch is the number of images that the chain rule predicts at a time.
const chainBatch = 16

// SamplesNeed is the memory that samples need beside the model's own work: so many of each task, with that many context
// points, targets and outputs.
func SamplesNeed(samples, tasks, context, targets, outputs int) int64 {
	total := float64(samples) * float64(tasks)
	bytes := 8*total*float64(targets)*float64(outputs) + math.Min(total, 4096)*float64(context+targets)*float64(16+8*outputs)
	return int64(math.Min(bytes, math.MaxInt64/4))
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

// Run predicts the tasks, and draws their samples. Targets out of the model's reach are an error that wraps
// cnp.OutsideError; it comes together with the result of all others, which alone count, unless there is none.
func (p *Prepared) Run(ctx context.Context) (*Result, error) {
	r := &Result{Shape: p.Shape, Quantiles: p.opt.Quantiles, Counts: p.counts()}
	var outside, err error
	if r.Prediction, err = p.Predict(ctx); err != nil {
		var out *cnp.OutsideError
		if r.Prediction == nil || !errors.As(err, &out) {
			return nil, err
		}
		if outside = err; !r.leaveOut(out) {
			return nil, err
		}
	}
	if p.opt.Sample != nil {
		if r.Samples, err = p.Sample(ctx); r.Samples == nil {
			return nil, err
		}
		if err != nil && outside == nil { // a sample has to reach from one target to another, too
			outside = fmt.Errorf("samples: %w", err)
		}
		r.Drawn = p.opt.Sample.Samples
	}
	return r, outside
}

// leaveOut leaves out the values that have no prediction, and reports whether any others have one.
func (r *Result) leaveOut(outside *cnp.OutsideError) bool {
	nt, dy := r.Shape[1], r.Shape[2]
	inside := slices.Repeat([]bool{true}, len(r.Prediction.Mean))
	for _, point := range outside.Points {
		lo, hi := point.Task*nt, (point.Task+1)*nt // a point of the context stands for all targets of its task
		if point.Tensor == "x_target" {
			lo += point.Point
			hi = lo + 1
		}
		clear(inside[lo*dy : hi*dy])
	}
	some := slices.Contains(inside, true)
	for i := range inside {
		inside[i] = inside[i] && r.Counted(i)
	}
	r.Counts = inside
	return some
}

// counts says which values have a prediction, nil for all.
func (p *Prepared) counts() []bool {
	if p.batch == nil || p.batch.TargetMask == nil {
		return nil
	}
	counts := make([]bool, 0, len(p.batch.TargetMask)*p.cfg.DimY)
	for _, ok := range p.batch.TargetMask {
		counts = append(counts, slices.Repeat([]bool{ok}, p.cfg.DimY)...)
	}
	return counts
}

// Predict is Run without samples.
func (p *Prepared) Predict(ctx context.Context) (*cnp.Prediction[float32], error) {
	switch {
	case p.batch != nil && len(p.batch.XTarget) == 0, p.images != nil && p.images.B == 0:
		return &cnp.Prediction[float32]{Likelihood: cnp.Normal}, nil // of nothing, however many tasks of nothing there are
	case p.batch != nil:
		return p.curves.Predict(ctx, p.batch)
	}
	return Complete(ctx, p.image, p.images, p.opt.Batch, p.opt.Plan)
}

// Fine completes one image at its pixels, coarse, and at Options.Scale times as many places along each side, fine. The error of
// a model that predicts at the pixels alone is one of settings.
func (p *Prepared) Fine(ctx context.Context) (coarse, fine *cnp.Prediction[float32], err error) {
	return scaled(ctx, p.image, p.images, max(1, p.opt.Scale))
}

// Sample draws the samples [S, Shape] of the options.
func (p *Prepared) Sample(ctx context.Context) ([]float32, error) {
	if p.batch != nil {
		return cnp.SampleCurves(ctx, p.curves, p.batch, *p.opt.Sample)
	}
	return cnp.SampleImages(ctx, p.image, p.images, *p.opt.Sample)
}

// Check predicts parts of the contexts from the rest; see the function Check. Of images there is none, and nothing is found.
func (p *Prepared) Check(ctx context.Context) (*Checked, error) {
	if p.batch == nil {
		return &Checked{}, nil
	}
	return Check(ctx, p.curves, p.batch)
}

// Complete completes images by a plan of the model, so many at a time; 0 is all of them.
func Complete(ctx context.Context, m cnp.Model[float32], im *cnp.Images[float32], batch int, opt cnp.PlanOptions) (*cnp.Prediction[float32],
	error) {
	if m == nil {
		return nil, errNoModel
	}
	cfg := m.Config()
	if err := im.Check(&cfg); err != nil {
		return nil, err
	}
	plan, err := m.Plan(ctx, im.Shape(), opt)
	if err != nil {
		return nil, err
	}
	n, step := im.H*im.W, batch
	if step < 1 {
		step = max(im.B, 1)
	}
	out := plan.NewPrediction(im)
	v := len(out.Mean) / max(im.B, 1)
	for lo := 0; lo < im.B; lo += step {
		hi := min(lo+step, im.B)
		part := &cnp.Images[float32]{B: hi - lo, C: im.C, H: im.H, W: im.W,
			Pixels: im.Pixels[lo*im.C*n : hi*im.C*n], Mask: im.Mask[lo*n : hi*n]}
		if err := plan.Predict(ctx, out.Slice(lo*v, hi*v), part); err != nil {
			return nil, err
		}
	}
	return out, nil
}
