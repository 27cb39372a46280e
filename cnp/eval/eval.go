package eval

import (
	"context"
	"errors"
	"fmt"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/task"
)

// Predictor predicts a batch of tasks: mean and standard deviation laid out as Tasks.Y is. What has another size is an error of Run and its
// kin.
type Predictor[T cnp.Float] func(ctx context.Context, b *task.Tasks[T]) (*cnp.Prediction[T], error)

// checked predicts a batch, and refuses a prediction that is not laid out as its values are.
func (predict Predictor[T]) checked(ctx context.Context, b *task.Tasks[T]) (*cnp.Prediction[T], error) {
	if predict == nil {
		return nil, errors.New("eval: the predictor is nil")
	}
	p, err := predict(ctx, b)
	switch {
	case err != nil:
		return nil, err
	case p == nil:
		return nil, fmt.Errorf("eval: %w: the predictor gave no prediction, and no error", cnp.ErrShape)
	case len(p.Mean) != len(b.Y) || len(p.Std) != len(b.Y):
		return nil, fmt.Errorf("eval: %w: the predictor gave %d means and %d deviations for %d values", cnp.ErrShape, len(p.Mean),
			len(p.Std), len(b.Y))
	}
	return p, nil
}

var errNoModel = fmt.Errorf("eval: %w: no model", cnp.ErrConfig)

// Model turns a model into a Predictor. One without auxiliary inputs or static fields does not see those of the tasks.
func Model[T cnp.Float](m cnp.Model[T]) Predictor[T] {
	return func(ctx context.Context, b *task.Tasks[T]) (*cnp.Prediction[T], error) {
		if m == nil {
			return nil, errNoModel
		}
		if r, ok := m.(cnp.Regressor[T]); ok && b.Curves != nil {
			c := *b.Curves
			cfg := m.Config()
			if len(cfg.Auxiliary) == 0 {
				c.AuxContext, c.AuxTarget = nil, nil
			}
			if len(cfg.Static) == 0 {
				c.Ns, c.XStatic, c.YStatic = 0, nil, nil
			}
			return r.Predict(ctx, &c)
		}
		if c, ok := m.(cnp.Completer[T]); ok && b.Images != nil {
			return c.Complete(ctx, b.Images)
		}
		kind := "images"
		if b.Curves != nil {
			kind = "curves"
		}
		return nil, fmt.Errorf("eval: the tasks are %s, which a model of architecture %s does not predict", kind, m.Config().Architecture)
	}
}

// Oracle is the best possible Predictor of the curves of a Gaussian process: the process itself, given the context. A target at
// the place of a context point is predicted as a new observation there, with a standard deviation of about the square root of the jitter.
func Oracle[T cnp.Float](g task.GP) Predictor[T] {
	return func(ctx context.Context, t *task.Tasks[T]) (*cnp.Prediction[T], error) {
		b := t.Curves
		if b == nil {
			return nil, fmt.Errorf("eval: a Gaussian process on the line predicts no images")
		}
		p := &cnp.Prediction[T]{Mean: make([]T, b.B*b.Nt), Std: make([]T, b.B*b.Nt), Likelihood: cnp.Normal}
		if len(b.XTarget) != len(p.Mean) {
			return nil, fmt.Errorf("eval: a Gaussian process on the line predicts no tasks of several coordinates")
		}
		for k := range b.B {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			var x, y []float64
			for i := k * b.Nc; i < (k+1)*b.Nc; i++ {
				if b.ContextMask == nil || b.ContextMask[i] {
					x, y = append(x, b.XContext[i]), append(y, float64(b.YContext[i]))
				}
			}
			mean, std, err := g.Predict(b.XTarget[k*b.Nt:(k+1)*b.Nt], x, y)
			if err != nil {
				return nil, err
			}
			for i := range mean {
				p.Mean[k*b.Nt+i], p.Std[k*b.Nt+i] = T(mean[i]), T(std[i])
			}
		}
		return p, nil
	}
}

// Options say what is measured.
type Options struct {
	Tasks int
	// Batch is the number of tasks that are drawn and predicted together; 0 means 16. The seed and Batch together determine which
	// tasks are drawn.
	Batch int
	Seed  uint64
	// First is the number of the first batch that is drawn.
	First int
	// Progress, if there is one, is called between batches.
	Progress func(done, total int)
}

// DefaultBatch is the number of tasks in a batch.
const DefaultBatch = 16

// Tasks calls f with batches of opt.Batch tasks and with the number n of tasks that count: only the first n tasks of the
// last batch may have been asked for. Of images, that batch has no others.
func Tasks[T cnp.Float](ctx context.Context, src task.Source[T], opt Options, f func(b *task.Tasks[T], n int) error) error {
	batch := opt.Batch
	if batch == 0 {
		batch = DefaultBatch
	}
	if src == nil {
		return errors.New("eval: the source of the tasks is nil")
	}
	if opt.Tasks < 1 || batch < 1 {
		return fmt.Errorf("eval: %d tasks in batches of %d", opt.Tasks, batch)
	}
	for done := 0; done < opt.Tasks; done += batch {
		if opt.Progress != nil {
			opt.Progress(done, opt.Tasks)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		b, err := src.Batch(batch, opt.Seed, opt.First+done/batch)
		if err != nil {
			return err
		}
		n := min(batch, opt.Tasks-done)
		if err := f(firstImages(b, n), n); err != nil {
			return err
		}
	}
	if opt.Progress != nil {
		opt.Progress(opt.Tasks, opt.Tasks)
	}
	return nil
}

// firstImages returns the first n tasks of a batch of images: predicting the others would take as long as these. Curves
// stay together, as models may lay a grid over all places of a batch.
func firstImages[T cnp.Float](b *task.Tasks[T], n int) *task.Tasks[T] {
	if b.Images == nil || n >= b.Images.B {
		return b
	}
	im, per := *b.Images, len(b.Y)/b.Images.B
	im.B, im.Pixels, im.Mask = n, im.Pixels[:n*per], im.Mask[:n*im.H*im.W]
	out := &task.Tasks[T]{Images: &im, Y: b.Y[:n*per]}
	if b.Known != nil {
		out.Known = b.Known[:n*per]
	}
	return out
}

// Run measures a predictor on the first tasks of a source.
func Run[T cnp.Float](ctx context.Context, predict Predictor[T], src task.Source[T], opt Options) (*Report, error) {
	var m Meter
	err := Tasks(ctx, src, opt, func(b *task.Tasks[T], n int) error {
		p, err := predict.checked(ctx, b)
		if err != nil {
			return err
		}
		if err := supported(b, p, n); err != nil {
			return err
		}
		AddBatch(&m, b, p, n)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return m.Report(), nil
}

// supported reports a true value, of the first n tasks, that the likelihood of their prediction cannot give. What is not finite is counted
// by the meter.
func supported[T cnp.Float](b *task.Tasks[T], p *cnp.Prediction[T], n int) error {
	per, counts := len(b.Y)/Count(b), b.Counts()
	for t := range n {
		y, mask := b.Y[t*per:(t+1)*per], make([]bool, per)
		given := ofTask(counts, t, per)
		for i, v := range y {
			mask[i] = (given == nil || given[i]) && v-v == 0
		}
		dy := 1
		if c := b.Curves; c != nil {
			dy = per / max(1, c.Nt)
		}
		if err := cnp.CheckSupport(p.Distribution(), "y", y, mask, dy); err != nil {
			return fmt.Errorf("eval: task %d of a batch: %w", t, err)
		}
	}
	return nil
}

// AddBatch adds the first n tasks of a batch to the meter.
func AddBatch[T cnp.Float](m *Meter, b *task.Tasks[T], p *cnp.Prediction[T], n int) {
	tasks := Count(b)
	per, counts := len(b.Y)/tasks, b.Counts()
	for i := range n {
		lo, hi := i*per, (i+1)*per
		AddTask(m, p.Task(i, tasks), b.Y[lo:hi], ofTask(counts, i, per))
	}
}

// Count is the number of tasks of a batch.
func Count[T cnp.Float](b *task.Tasks[T]) int {
	if b.Curves != nil {
		return b.Curves.B
	}
	return b.Images.B
}
