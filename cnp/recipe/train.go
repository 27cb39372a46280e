package recipe

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/settings"
	"github.com/equivcnp/equivcnp/cnp/train"
	"github.com/equivcnp/equivcnp/cnp/weights"
	"github.com/equivcnp/equivcnp/internal/words"
)

// ErrCheckpoint is wrapped where there is a checkpoint of an earlier run that options neither resume nor overwrite.
var ErrCheckpoint = errors.New("is the checkpoint of an earlier run")

// Options says what a training reads and writes besides its recipe. The zero value does neither.
type Options struct {
	// Checkpoint is the file of the run's whole state, Log that of its records, one JSON object a line.
	Checkpoint, Log string
	// Resume continues from the checkpoint, or begins if there is none; Overwrite begins anew even if there is one.
	Resume, Overwrite bool
	// Start is a model whose parameters the training begins with; nil: random ones.
	Start cnp.Model[float32]
	// Report is told about every step and every score.
	Report func(train.Record)
}

// Trained is the result of a training.
type Trained struct {
	Model cnp.Model[float32]
	Steps int
	// Resumed is the number of steps that were done before.
	Resumed int
	// Best is the best score, after BestStep steps; Last is that of Model. Nil without scores.
	Best     *train.Score
	BestStep int
	Last     *train.Score
	// Baselines are the scores of methods without training on the same tasks, if these are held out of the user's own data.
	Baselines []Baseline
	// Notes are those of the plan and of the training.
	Notes []string
	// About holds what the model's file says of its training.
	About map[string]string
}

// Save writes the model to a .safetensors file.
func (t *Trained) Save(path string) error { return weights.Save(path, t.Model, t.About) }

// Train trains the model. Interrupted by the context it saves its state to the checkpoint; a run that is resumed from
// there ends with the same bits.
func (p *Plan) Train(ctx context.Context, opt Options) (*Trained, error) {
	if opt.Checkpoint != "" && !opt.Resume && !opt.Overwrite {
		if _, err := os.Stat(opt.Checkpoint); err == nil {
			return nil, fmt.Errorf("%s %w", opt.Checkpoint, ErrCheckpoint)
		}
	}
	model, err := cnp.New[float32](p.Model, p.settings.Seed)
	if err != nil {
		return nil, err
	}
	if opt.Start != nil {
		if err := startFrom(model, opt.Start); err != nil {
			return nil, settings.Hintf("{Start}: %w", err)
		}
	}
	t := &Trained{Notes: append([]string{}, p.Notes...)}
	run, err := p.begin(model, opt, t)
	if err != nil {
		return nil, err
	}
	t.Resumed = run.Step()
	if err := run.Train(ctx); err != nil {
		return nil, err
	}
	return t, p.finish(ctx, run, model, t)
}

// begin prepares the run of a model, and continues an earlier one where options say so.
func (p *Plan) begin(model cnp.Model[float32], opt Options, t *Trained) (*train.Run[float32], error) {
	c := p.Config
	if opt.Resume {
		more, err := p.settings.resume(&c, opt.Checkpoint)
		if err != nil {
			return nil, err
		}
		t.Notes = append(t.Notes, more...)
		p.Config.Patience = c.Patience
	}
	run, err := train.NewRun(cnp.Learner(model), p.Source, c, train.Options[float32]{Test: p.Test, Checkpoint: opt.Checkpoint,
		Log: opt.Log, Report: func(r train.Record) {
			if r.Score != nil {
				t.Last = r.Score
			}
			if opt.Report != nil {
				opt.Report(r)
			}
		}})
	if err != nil || !opt.Resume {
		return run, err
	}
	if err := run.Resume(); errors.Is(err, fs.ErrNotExist) {
		t.Notes = append(t.Notes, "there was no checkpoint: the run began at its beginning")
	} else if err != nil {
		return nil, err
	}
	return run, nil
}

// finish makes of the trained parameters the model that its file keeps, and scores that.
func (p *Plan) finish(ctx context.Context, run *train.Run[float32], model cnp.Model[float32], t *Trained) (err error) {
	known := p.Model.Trained
	if known == nil {
		if known, err = train.Witnessed(p.Source, p.Model, p.Config.Seed); err != nil {
			return err
		}
	}
	if marks := p.trainedMarks(); len(marks) > 0 {
		own := *known
		own.Marks, known = marks, &own
	}
	if t.Model, err = finished(model, p.Config.Noise.To, known); err != nil {
		return err
	}
	if p.Config.EvalEvery > 0 && run.Step() > 0 { // also where a checkpoint at the end left nothing to train, and so to report
		s, err := run.Score(ctx, cnp.Learner(t.Model))
		if err != nil {
			return err
		}
		t.Last = &s
	}
	t.Steps = run.Step()
	t.Best, t.BestStep = run.Best()
	if t.Best != nil && t.Last != nil && p.Config.Patience == 0 && fallen(*t.Best, *t.Last) {
		t.Notes = append(t.Notes, fmt.Sprintf("the score was %.4f after step %d and has fallen to %.4f: with patience training ends "+
			"there and keeps that model", t.Best.LogLikelihood, t.BestStep, t.Last.LogLikelihood))
	}
	t.About = map[string]string{"tasks": p.Source.String(), "steps": fmt.Sprint(t.Steps), "seed": fmt.Sprint(p.settings.Seed)}
	if p.Test != nil {
		t.About["scored_on"] = p.Test.String()
	}
	if t.Last != nil {
		t.About["log_likelihood"] = fmt.Sprintf("%.4f ± %.4f", t.Last.LogLikelihood, t.Last.Std)
	}
	if err := p.baselines(ctx, run, t); err != nil {
		return err
	}
	for _, b := range t.Baselines {
		t.About["log_likelihood"] += fmt.Sprintf(", %s %.4f", b.Name, b.LogLikelihood)
	}
	return nil
}

// fallen reports whether a score is below the best one by more than two standard errors.
func fallen(best, last train.Score) bool {
	return best.LogLikelihood-last.LogLikelihood > 2*math.Hypot(best.Std, last.Std)/math.Sqrt(float64(max(1, last.Tasks)))
}

// resume prepares the continuation of a checkpoint's run to another number of steps. How rate and noise fall depends on
// the number of steps unless the recipe says otherwise: what has been done cannot be done anew, so the checkpoint's run
// decides, and its last values stay to the end.
func (s *Settings) resume(c *train.Config, checkpoint string) (notes []string, err error) {
	old, done, err := train.Saved(checkpoint)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	if c.Patience != s.Patience { // the plan's own, which the recipe does not ask for
		c.Patience = old.Patience
	}
	now, was := &c.Adam.Schedule, old.Adam.Schedule
	if now.Kind == was.Kind {
		if s.Warmup == nil {
			now.Warmup = was.Warmup
		}
		if s.Stair == 0 {
			now.Steps = was.Steps
		}
		if s.Factor == nil && old.Steps != c.Steps {
			now.Factor = was.Factor
		}
	}
	c.Noise.Steps = old.Noise.Steps
	if old.Steps == c.Steps { // the same run, which may be one that was continued before
		return nil, nil
	}
	last := c.Adam.Rate * now.At(c.Steps)
	if last == 0 && c.Steps > old.Steps {
		return nil, fmt.Errorf("%w: %s ends after %d steps with a rate of 0, and more steps change nothing; begin anew",
			train.ErrCheckpoint, checkpoint, now.Steps)
	}
	note := fmt.Sprintf("%d steps, the checkpoint's run had %d: its schedule continues, with a rate of %.3g", c.Steps, old.Steps, last)
	if c.Noise.From > 0 {
		note += fmt.Sprintf(" and a noise of %.3g", c.Noise.At(c.Steps))
	}
	notes = append(notes, note+" at the end")
	if done >= c.Steps {
		notes = append(notes, words.Plural(done, "step")+" are done already")
	}
	return notes, nil
}
