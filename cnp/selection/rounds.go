package selection

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/eval"
	"github.com/equivcnp/equivcnp/cnp/recipe"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/cnp/weights"
	"github.com/equivcnp/equivcnp/internal/shards"
)

// taskSeed is the seed of the tasks that candidates are compared on, far from those of trainings.
const taskSeed = 0x5e1ec7

// startsApart lies between the seeds of a candidate's starts: selections with the next seed have others.
const startsApart = 1_000_003

// start is a training of a candidate.
type start struct {
	candidate int
	seed      uint64
}

// modelFile is the chosen model in the folder of a selection.
const modelFile = "model.safetensors"

// tested is a source of the tasks that candidates are compared on.
type tested struct {
	src task.Source[float32]
	n   int
}

func (t tested) options(report func(done, total int)) eval.Options {
	return eval.Options{Tasks: t.n, Batch: 4, Seed: taskSeed, Progress: report}
}

// rounds trains and compares, round by round.
func (s *runner) rounds(ctx context.Context) (*Report, error) {
	plan := s.all[0].plan
	on := tested{plan.Source, s.Tasks}
	if plan.Test != nil {
		on.src = plan.Test
	}
	rep := &Report{Source: plan.Source.String(), Selection: s.manifest, OutDir: s.Dir, Model: modelFile, Notes: []string{},
		Rule: fmt.Sprintf("of the last round's candidates that no moved tasks rule out, and that are at most %g standard "+
			"errors behind the best of these, "+
			"or by no more than two trainings differ if the data bear what their groups add, the one whose group has "+
			"the most dimensions", s.Errors)}
	if on.src.String() != rep.Source {
		rep.ScoredOn = on.src.String()
	}
	if own := tasksOf(on.src); own > 0 {
		if on.n = min(on.n, own); !plan.HeldOut() {
			rep.Notes = append(rep.Notes, "no task is held out: candidates are compared on what they were trained on")
		} else if on.n < 8 {
			rep.Notes = append(rep.Notes, fmt.Sprintf("only %d %s held out: differences may be chance", on.n,
				map[bool]string{true: "task", false: "tasks"}[on.n == 1]))
		}
	}
	left := make([]int, len(s.all))
	for i := range left {
		left[i] = i
	}
	var models []cnp.Model[float32]
	for k := range s.manifest.Steps {
		round, trained, err := s.round(ctx, k, left, on)
		if err != nil {
			return nil, err
		}
		models, left = trained, left[:0]
		rep.Rounds = append(rep.Rounds, *round)
		for _, c := range round.Candidates {
			s.all[c.of].seed = c.Seed
			if c.Kept {
				left = append(left, c.of)
			}
		}
		slices.Sort(left)
	}
	return rep, s.conclude(ctx, rep, models, on)
}

// conclude decides by the last round, and copies the chosen model.
func (s *runner) conclude(ctx context.Context, rep *Report, models []cnp.Model[float32], on tested) error {
	last := rep.Last()
	for i := range last.Candidates {
		c := &last.Candidates[i]
		found, err := eval.Symmetries(ctx, models[c.at], on.src, on.options(s.report("moving tasks under "+c.Name)))
		if errors.Is(err, cnp.ErrRange) {
			rep.Notes = append(rep.Notes, fmt.Sprintf("moved tasks are not measured under %s: %v", c.Name, err))
		} else if err != nil {
			return err
		}
		c.Symmetries = found
	}
	rep.Luck = rep.luck()
	last.decide(s.Errors, rep.Luck)
	best, chosen := last.best(), last.chosen()
	rep.Best, rep.Chosen = best.Name, chosen.Name
	rep.Symmetries = append([]eval.Symmetry{}, best.Symmetries...)
	if err := s.compareConstant(ctx, rep, models[best.at], best, on); err != nil {
		return err
	}
	return shards.Create(filepath.Join(s.Dir, modelFile), func(w io.Writer) error {
		file, err := os.Open(filepath.Join(s.Dir, filepath.FromSlash(chosen.Model)))
		if err != nil {
			return err
		}
		defer file.Close()
		_, err = io.Copy(w, file)
		return err
	})
}

// compareConstant says whether the best candidate is better than predicting the mean and the deviation of the training values everywhere.
func (s *runner) compareConstant(ctx context.Context, rep *Report, m cnp.Model[float32], best Candidate, on tested) error {
	cfg := m.Config()
	constant, err := eval.Constant[float32](&cfg)
	if errors.Is(err, eval.ErrNoConstant) {
		rep.Supported = true
		rep.Notes = append(rep.Notes, fmt.Sprintf("not compared with a constant: %v", err))
		return nil
	} else if err != nil {
		return err
	}
	scores, err := eval.Scores(ctx, []eval.Predictor[float32]{constant}, on.src, on.options(nil))
	if err != nil {
		return err
	}
	if rep.floor(best, scores[0]); !rep.Supported {
		rep.Notes = append(rep.Notes, "no candidate predicts better than a constant, so that the comparison says "+
			"nothing of the data's symmetry: more steps or more data may help")
	}
	return nil
}

// tasksOf is how many tasks a source of a user's own has; 0 where there is no end.
func tasksOf(src task.Source[float32]) int {
	switch s := src.(type) {
	case task.CurveSetSource[float32]:
		if s.Window == nil {
			return len(s.Set.Curves)
		}
	case task.ImageSource[float32]:
		if set, ok := s.Pictures.(task.Moved); ok {
			return set.N
		}
	}
	return 0
}

// startsOf are the trainings of a round: of every candidate that is left all starts in the first one and in the last,
// the best one of the first in others.
func (s *runner) startsOf(round int, left []int) (starts []start) {
	all := round == 0 || round+1 == len(s.manifest.Steps)
	n := 1
	if all {
		n = s.Starts
	}
	for more := range n {
		for _, c := range left {
			seed := s.all[c].seed
			if all {
				seed = s.Recipe.Common().Seed + uint64(more)*startsApart
			}
			starts = append(starts, start{c, seed})
		}
	}
	return starts
}

// round trains the candidates that are left, and compares them.
func (s *runner) round(ctx context.Context, k int, left []int, on tested) (*Round, []cnp.Model[float32], error) {
	starts := s.startsOf(k, left)
	paths, err := s.train(ctx, k, starts)
	if err != nil {
		return nil, nil, err
	}
	var models []cnp.Model[float32]
	var predictors []eval.Predictor[float32]
	round := &Round{Steps: s.manifest.Steps[k], Tasks: on.n}
	for i, t := range starts {
		m, err := weights.Load[float32](filepath.Join(s.Dir, filepath.FromSlash(paths[i])), weights.Options{})
		if err != nil {
			return nil, nil, err
		}
		models, predictors = append(models, m), append(predictors, eval.Model(m))
		c := s.all[t.candidate]
		round.Candidates = append(round.Candidates, Candidate{Name: c.label, Group: c.group, Lifts: c.lifts, Dimensions: c.dims,
			Model: paths[i], Seed: t.seed,
			at: i, of: t.candidate, turns: c.turns})
	}
	scores, err := eval.Scores(ctx, predictors, on.src, on.options(s.report(fmt.Sprintf("comparing %d", len(starts)))))
	if err != nil {
		return nil, nil, err
	}
	sizes, next, last := roundSizes(len(s.all)), 2, k+1 == len(s.manifest.Steps)
	if !last {
		next = sizes[k+1]
	}
	return round, models, round.judge(scores, next, s.Errors, last)
}

// train does the trainings of a round, those that are not done yet, and returns the files of their models, relative to
// the selection's folder.
func (s *runner) train(ctx context.Context, k int, starts []start) (paths []string, err error) {
	steps, folder := s.manifest.Steps[k], fmt.Sprintf("round-%d", k+1)
	job := &shards.Job{Kind: "train", Folder: filepath.Join(s.Dir, folder)}
	for id, t := range starts {
		job.Items = append(job.Items, shards.Item{ID: id, Line: id + 1, Name: fmt.Sprintf("%s, seed %d, %d steps",
			s.all[t.candidate].label, t.seed, steps)})
	}
	name := func(it shards.Item) string {
		return shards.OutName(it.ID, s.all[starts[it.ID].candidate].label, ".safetensors")
	}
	report := s.report(fmt.Sprintf("round %d of %d, %d steps", k+1, len(s.manifest.Steps), steps))
	o, err := job.Run(ctx, shards.Shard{Count: 1}, job.Folder, name, func(ctx context.Context, it shards.Item, out string) (any, error) {
		if report != nil {
			report(it.ID, len(starts))
		}
		t := starts[it.ID]
		p, err := s.planOf(ctx, s.all[t.candidate], t.seed, steps)
		if err != nil {
			return nil, err
		}
		stem := strings.TrimSuffix(out, filepath.Ext(out))
		trained, err := p.Train(ctx, recipe.Options{Checkpoint: stem + ".checkpoint", Log: stem + ".jsonl", Resume: true})
		if err != nil {
			return nil, err
		}
		return trained.Last, trained.Save(out)
	})
	if err != nil {
		return nil, err
	}
	for _, rec := range o.Records {
		paths = append(paths, folder+"/"+rec.Out)
	}
	return paths, nil
}
