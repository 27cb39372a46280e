package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/eval"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/layers"
)

// Errors that callers may want to tell apart.
var (
	// ErrDiverged means that a loss or a gradient is not finite. Nothing is saved; the last checkpoint is from before.
	ErrDiverged = errors.New("training diverged")
	// ErrInterrupted means that the context ended. The run's state is saved if it has a checkpoint.
	ErrInterrupted = errors.New("training was interrupted")
)

// Options say where a run reads and writes. The zero value does neither.
type Options[T cnp.Float] struct {
	// Test is the source of the tasks that the model is scored on; nil: the training tasks' source, under another seed.
	Test task.Source[T]
	// Checkpoint is the file of the run's whole state, Log that of its records, one JSON object a line.
	Checkpoint, Log string
	// Report is told about every step, and about every score.
	Report func(Record)
}

// Record holds what is known after some steps.
type Record struct {
	Step  int `json:"step"` // steps done
	Steps int `json:"steps"`
	// Loss is the objective, the mean over the tasks since the last logged record; LogLikelihood that of the values of
	// these tasks, each, without the noise that training adds.
	Loss          float64 `json:"loss"`
	LogLikelihood float64 `json:"log_likelihood"`
	Rate          float64 `json:"rate"`
	GradNorm      float64 `json:"grad_norm"` // before clipping
	Noise         float64 `json:"noise,omitempty"`
	// TasksPerSecond is the speed since this process began or continued the run.
	TasksPerSecond float64 `json:"tasks_per_second"`
	Score          *Score  `json:"score,omitempty"`
}

// Run trains one model.
type Run[T cnp.Float] struct {
	config Config
	model  cnp.Model[T]
	train  task.Source[T]
	opt    Options[T]

	params []layers.Param[T]
	grads  *layers.Grads[T]
	adam   *Adam[T]
	log    *logFile

	state state
	best  [][]T // parameters and buffers of the best score; nil: none yet
	ended bool  // the parameters are those of the best score, and a checkpoint needs the last ones
}

// state is what a run knows besides its arrays.
type state struct {
	Step int `json:"step"` // steps done
	// Best is the best score, BadScores the number of scores since, Over whether patience ended.
	Best      *Score `json:"best,omitempty"`
	BestStep  int    `json:"best_step,omitempty"`
	BadScores int    `json:"bad_scores,omitempty"`
	Over      bool   `json:"over,omitempty"`
	// What the next record averages.
	Loss          float64 `json:"loss_sum,omitempty"`
	LogLikelihood float64 `json:"log_likelihood_sum,omitempty"`
	Values        int     `json:"values,omitempty"`
	Since         int     `json:"since,omitempty"` // steps
}

// NewRun prepares the training of a model on a source, from the model's parameters as they are. Training changes them.
func NewRun[T cnp.Float](m cnp.Model[T], src task.Source[T], c Config, opt Options[T]) (*Run[T], error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if m == nil || src == nil {
		return nil, errors.New("train: need a model and a source of tasks")
	}
	mc := m.Config()
	l, err := cnp.ParseLikelihood(&mc)
	if err == nil {
		err = cnp.Objective{Noise: c.Noise.From, Beta: c.Beta}.Suits(l)
	}
	if err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	if opt.Test == nil {
		opt.Test = src
	}
	r := &Run[T]{config: c, model: m, train: src, opt: opt, params: m.State()}
	r.grads = layers.NewGrads(r.params)
	r.adam, err = NewAdam(c.Adam, r.params)
	return r, err
}

// Model returns the model, live.
func (r *Run[T]) Model() cnp.Model[T] { return r.model }

// Step is the number of steps done.
func (r *Run[T]) Step() int { return r.state.Step }

// Best returns the best score so far and the step after which it was taken; nil without scores.
func (r *Run[T]) Best() (*Score, int) { return r.state.Best, r.state.BestStep }

// testSeed is the seed of the tasks that scores are taken on: far from the training tasks', and the same for all runs.
const testSeed = 0x7e57

// Train takes the run to its end: the last step, or the end of its patience. If ctx ends, it finishes the step that it is
// in, saves the state, and returns an error that wraps ErrInterrupted; a run continued from there goes the same way.
func (r *Run[T]) Train(ctx context.Context) error {
	if r.ended {
		return nil
	}
	var err error
	if r.log, err = openLog(r.opt.Log, r.state.Step); err != nil {
		return err
	}
	defer r.log.close()
	begun, first := time.Now(), r.state.Step
	// A step, once begun, ends: batch normalisation has statistics of half a pass otherwise.
	work := context.WithoutCancel(ctx)
	next := r.draw(r.state.Step)
	for r.state.Step < r.config.Steps && !r.state.Over {
		if ctx.Err() != nil {
			if err := r.save(); err != nil {
				return err
			}
			return fmt.Errorf("train: %w after step %d of %d", ErrInterrupted, r.state.Step, r.config.Steps)
		}
		batches := <-next
		if r.state.Step+1 < r.config.Steps {
			next = r.draw(r.state.Step + 1) // while this one is computed
		}
		rec, err := r.step(work, batches)
		if err != nil {
			return err
		}
		if took := time.Since(begun).Seconds(); took > 0 { // a coarse clock may stand still
			rec.TasksPerSecond = float64((r.state.Step-first)*r.config.Batch*r.config.Passes) / took
		}
		if c := r.config; c.EvalEvery > 0 && (r.state.Step%c.EvalEvery == 0 || r.state.Step == c.Steps) {
			if rec.Score, err = r.score(work); err != nil {
				return err
			}
		}
		if err := r.record(rec); err != nil {
			return err
		}
		if e := r.config.CheckpointEvery; e > 0 && r.state.Step%e == 0 && r.state.Step < r.config.Steps && !r.state.Over {
			if err := r.save(); err != nil {
				return err
			}
		}
	}
	if err := r.save(); err != nil {
		return err
	}
	if r.config.Patience > 0 && r.best != nil {
		for i, p := range r.params {
			copy(p.Data, r.best[i])
		}
		r.ended = true
	}
	return nil
}

// drawn is a step's batches.
type drawn[T cnp.Float] struct {
	tasks []*task.Tasks[T]
	err   error
}

// draw draws the batches of a step in the background.
func (r *Run[T]) draw(step int) <-chan drawn[T] {
	out := make(chan drawn[T], 1) // nobody may come to fetch them
	go func() {
		var d drawn[T]
		for k := 0; k < r.config.Passes && d.err == nil; k++ {
			var b *task.Tasks[T]
			b, d.err = r.train.Batch(r.config.Batch, r.config.Seed, step*r.config.Passes+k)
			d.tasks = append(d.tasks, b)
		}
		out <- d
	}()
	return out
}

// step is one step of Adam. The passes follow each other, so that batch normalisation's statistics do; each spreads its own
// work over goroutines, in pieces that do not depend on their number.
func (r *Run[T]) step(ctx context.Context, batches drawn[T]) (Record, error) {
	at := r.state.Step + 1
	if batches.err != nil {
		return Record{}, fmt.Errorf("train: step %d: %w", at, batches.err)
	}
	r.grads.Zero()
	noise, loss := r.config.Noise.At(r.state.Step), 0.0
	for _, b := range batches.tasks {
		pass, err := differentiate(ctx, r.model, b)
		if err != nil {
			return Record{}, fmt.Errorf("train: step %d: %w", at, err)
		}
		l, err := pass.GradientOf(cnp.Objective{Noise: noise, Beta: r.config.Beta, Tasks: r.config.Batch * r.config.Passes,
			Counts: b.Known}, b.Y, r.grads)
		if err != nil {
			return Record{}, fmt.Errorf("train: step %d: %w", at, err)
		}
		if l-l != 0 {
			where := ""
			if layer := pass.NotFinite(); layer != "" {
				where = ", first in layer " + layer
			}
			return Record{}, fmt.Errorf("train: step %d: %w: the loss is %v%s", at, ErrDiverged, l, where)
		}
		loss += l
		ll, n := pass.LogLikelihood(b.Y)
		r.state.LogLikelihood += ll
		r.state.Values += n
	}
	rate := r.adam.Rate()
	if err := r.adam.Step(r.grads); errors.Is(err, ErrNotFinite) {
		// Backward passes run from the last layer to the first: what went wrong did so in the last parameter that shows it.
		return Record{}, fmt.Errorf("train: step %d: %w: the gradient of %s is not finite", at, ErrDiverged, r.lastNotFinite())
	} else if err != nil {
		return Record{}, err
	}
	r.state.Step++
	r.state.Loss += loss
	r.state.Since++
	return Record{
		Step: r.state.Step, Steps: r.config.Steps, Rate: rate, GradNorm: logNorm(r.adam.Norm), Noise: noise,
		Loss:          r.state.Loss / float64(r.state.Since),
		LogLikelihood: r.state.LogLikelihood/math.Max(1, float64(r.state.Values)) + unitDensity(r.model.Config()),
	}, nil
}

// unitDensity is what a value's log-likelihood gains on the way from the model's units to those of the data, the mean over the outputs.
func unitDensity(c cnp.Config) (gain float64) {
	if c.HasUnits() {
		for _, u := range c.Trained.Units.Y {
			gain += math.Log(u.Factor) / float64(c.DimY)
		}
	}
	return gain
}

// differentiate is the training pass of a batch.
func differentiate[T cnp.Float](ctx context.Context, m cnp.Model[T], b *task.Tasks[T]) (*cnp.Pass[T], error) {
	switch m := m.(type) {
	case cnp.TrainableRegressor[T]:
		if b.Curves != nil {
			return m.Differentiate(ctx, b.Curves, layers.Train)
		}
	case cnp.TrainableCompleter[T]:
		if b.Images != nil {
			return m.Differentiate(ctx, b.Images, layers.Train)
		}
	}
	return nil, mismatch(m)
}

// lastNotFinite names the last parameter whose gradient is not finite.
func (r *Run[T]) lastNotFinite() string {
	for i := len(r.params) - 1; i >= 0; i-- {
		if !finite(r.grads.Data[i]) {
			return r.params[i].Name
		}
	}
	return ""
}

// Score evaluates a model as the run evaluates its own.
func (r *Run[T]) Score(ctx context.Context, m cnp.Model[T]) (Score, error) {
	s, err := Evaluate(ctx, m, r.opt.Test, testSeed, r.config.EvalTasks, r.config.Batch)
	if test := r.opt.Test.String(); test != r.train.String() {
		s.Source = test
	}
	return s, err
}

// ScoreOf evaluates a predictor, in units of the tasks, on those that the run evaluates its model on.
func (r *Run[T]) ScoreOf(ctx context.Context, p eval.Predictor[T]) (Score, error) {
	return scoreOf(ctx, p, r.opt.Test, testSeed, r.config.EvalTasks, r.config.Batch)
}

// score evaluates the model, and keeps it if it is the best so far.
func (r *Run[T]) score(ctx context.Context) (*Score, error) {
	s, err := r.Score(ctx, r.model)
	if err != nil {
		return nil, fmt.Errorf("train: after step %d: %w", r.state.Step, err)
	}
	if s.LogLikelihood-s.LogLikelihood != 0 {
		return nil, fmt.Errorf("train: after step %d: %w: the test tasks' log-likelihood is %v", r.state.Step, ErrDiverged, s.LogLikelihood)
	}
	if r.state.Best != nil && s.LogLikelihood <= r.state.Best.LogLikelihood {
		r.state.BadScores++
		r.state.Over = r.config.Patience > 0 && r.state.BadScores >= r.config.Patience
		return &s, nil
	}
	r.state.Best, r.state.BestStep, r.state.BadScores = &s, r.state.Step, 0
	if r.config.Patience > 0 {
		if r.best == nil {
			r.best = make([][]T, len(r.params))
		}
		for i, p := range r.params {
			r.best[i] = append(r.best[i][:0], p.Data...)
		}
	}
	return &s, nil
}

// record reports a record, and logs it where its step or its score asks for that.
func (r *Run[T]) record(rec Record) error {
	if r.opt.Report != nil {
		r.opt.Report(rec)
	}
	e := r.config.LogEvery
	if rec.Score == nil && rec.Step != r.config.Steps && !(e > 0 && rec.Step%e == 0) {
		return nil
	}
	r.state.Loss, r.state.LogLikelihood, r.state.Values, r.state.Since = 0, 0, 0, 0
	return r.log.write(rec)
}

// logNorm is a gradient's norm as a record takes it: JSON knows no infinity.
func logNorm(x float64) float64 { return min(x, math.MaxFloat64) }
