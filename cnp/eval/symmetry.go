package eval

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/group"
)

// Scores returns the log-likelihood per value of every task under every predictor, [predictor][task], all on the same
// tasks. It is NaN where nothing of a task's prediction is finite.
func Scores[T cnp.Float](ctx context.Context, predictors []Predictor[T], src task.Source[T], opt Options) ([][]float64, error) {
	out := make([][]float64, len(predictors))
	err := Tasks(ctx, src, opt, func(b *task.Tasks[T], n int) error {
		for k, predict := range predictors {
			p, err := predict.checked(ctx, b)
			if err != nil {
				return err
			}
			if err := supported(b, p, n); err != nil {
				return err
			}
			out[k] = append(out[k], taskScores(b, p, n)...)
		}
		return nil
	})
	return out, err
}

// taskScores are the log-likelihoods per value of the first n tasks of a batch.
func taskScores[T cnp.Float](b *task.Tasks[T], p *cnp.Prediction[T], n int) (out []float64) {
	tasks := Count(b)
	per, counts := len(b.Y)/tasks, b.Counts()
	for i := range n {
		var m Meter
		AddTask(&m, p.Task(i, tasks), b.Y[i*per:(i+1)*per], ofTask(counts, i, per))
		out = append(out, m.Report().LogLikelihood.Mean)
	}
	return out
}

// PairedOf is by how much the scores a exceed the scores b of the same tasks, the mean over tasks that have both.
func PairedOf(a, b []float64) Paired {
	sum, squares, n := 0.0, 0.0, 0
	for i, v := range a {
		if d := v - b[i]; !math.IsNaN(d) && !math.IsInf(d, 0) {
			sum, squares, n = sum+d, squares+d*d, n+1
		}
	}
	s := stat(sum, squares, n)
	return Paired{s.Mean, s.Std / math.Sqrt(float64(max(1, n)))}
}

// Symmetry says how much of their likelihood tasks lose by being moved, under a model that was trained on tasks that
// were not. Data that are equally distributed after the move lose nothing.
type Symmetry struct {
	// Move is translations, rotations or scalings; By says how far tasks moved.
	Move string `json:"move"`
	By   string `json:"by"`
	// BuiltIn says that the model predicts moved tasks as it predicts others, whatever the data: their likelihood does not change.
	BuiltIn bool `json:"built_in"`
	// LogLikelihood is the change of the log-likelihood per value.
	LogLikelihood Paired `json:"log_likelihood"`
	// Broken says that it fell by more than two standard errors, and by more than LeastLoss.
	Broken bool `json:"broken"`
}

// LeastLoss is the least loss of log-likelihood per value that says anything of the data: a model that was trained well may lose that much
// where tasks leave the places that it knows.
const LeastLoss = 0.02

// Symmetries measures which moves the data of a source bear under a model, on the same tasks moved and not. Curves are
// translated, turned about the centre and scaled about it, each task by an element of its own: by up to a quarter of
// the source's extent, by any angle, and by a factor of up to 1.5. The centre is the origin of the model's coordinates.
// Values that a move takes out of the range of training's places are left out of both scores; translations and scalings
// take context away from them, too, or bring it closer, which changes some likelihood whatever the data. Images are
// shifted by 6 pixels and turned by a quarter; pixels that a shift takes out of the image are left out of both scores,
// and so the move costs a little what these knew of the others. A move after which nothing counts is not measured.
func Symmetries[T cnp.Float](ctx context.Context, m cnp.Model[T], src task.Source[T], opt Options) ([]Symmetry, error) {
	if m == nil {
		return nil, errNoModel
	}
	predict, cfg := Model(m), m.Config()
	var found []Symmetry
	var still, moved [][]float64
	err := Tasks(ctx, src, opt, func(b *task.Tasks[T], n int) error {
		moves, err := symmetryMoves(cfg, b, opt.Seed)
		if err != nil {
			return err
		}
		before, err := predict.checked(ctx, b)
		if err != nil {
			return err
		}
		for i, mv := range moves {
			if i == len(found) {
				found, still, moved = append(found, Symmetry{Move: mv.name, By: mv.by}), append(still, nil), append(moved, nil)
			}
			after, err := predict.checked(ctx, mv.tasks)
			if err != nil {
				return err
			}
			same := b
			if mv.left != nil {
				same = &task.Tasks[T]{Curves: b.Curves, Images: b.Images, Y: b.Y, Known: mv.left}
			}
			still[i], moved[i] = append(still[i], taskScores(same, before, n)...), append(moved[i], taskScores(mv.tasks, after, n)...)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	measured := found[:0]
	for i, s := range found {
		p := PairedOf(moved[i], still[i])
		if math.IsNaN(p.Mean) {
			continue
		}
		s.LogLikelihood = p
		s.BuiltIn = canBuildIn(&cfg, s.Move) && math.Abs(p.Mean) < builtIn && p.Error < builtIn
		s.Broken = p.Mean < -max(LeastLoss, 2*p.Error)
		measured = append(measured, s)
	}
	return measured, nil
}

// builtIn is the change of likelihood that rounding explains.
const builtIn = 1e-4

// canBuildIn reports whether a move is one of the model's group. A model that learned nothing predicts moved tasks as
// it predicts others, whatever its symmetry: that their likelihood stays is no proof that the move is built in.
func canBuildIn(c *cnp.Config, move string) bool {
	if c.CoordinateFeature || c.Departure != nil && !c.Departure.Off {
		return false
	}
	if c.Architecture == cnp.ConvCNPCurve || c.Architecture == cnp.ConvCNPImage {
		return move == "translations"
	}
	g, err := group.Parse(c.Group, c.Alpha)
	if err != nil {
		return false // none
	}
	dx := g.PointDim()
	for _, part := range map[string][]string{
		"translations": {fmt.Sprintf("T(%d)", dx), fmt.Sprintf("SE(%d)", dx), "Sim(2)"},
		"rotations":    {fmt.Sprintf("SO(%d)", dx), fmt.Sprintf("SE(%d)", dx), "R>0xSO(2)", "Sim(2)"},
		"scalings":     {fmt.Sprintf("R>0(%d)", dx), "R>0xSO(2)", "R>0xSqueeze", "Sim(2)"},
	}[move] {
		if strings.Contains(g.Name(), part) { // products name their parts
			return true
		}
	}
	return false
}

// symmetryMove is a moved batch. left says which values of the unmoved batch count; nil: all.
type symmetryMove[T cnp.Float] struct {
	name, by string
	tasks    *task.Tasks[T]
	left     []bool
}

func symmetryMoves[T cnp.Float](cfg cnp.Config, b *task.Tasks[T], seed uint64) (out []symmetryMove[T], err error) {
	if b.Images != nil {
		return imageMoves(cfg, b, seed)
	}
	if cfg.OnSphere() {
		return nil, nil
	}
	for _, kind := range []struct {
		name, by string
		group    string
		reach    float64
	}{
		{"translations", "up to a quarter of the extent", "T(%d)", b.Curves.Work(cfg.DimX).Span / 4},
		{"rotations", "any angle", "SO(%d)", math.Pi},
		{"scalings", "factors from 1/1.5 to 1.5", "R>0(%d)", math.Log(1.5)},
	} {
		g, err := group.Parse(fmt.Sprintf(kind.group, cfg.DimX), 0)
		if err != nil {
			continue // no rotations of the line
		}
		mv := symmetryMove[T]{name: kind.name, by: kind.by, tasks: moveAbout(cfg, b, g, kind.reach, seed)}
		if mv.left = withinRange(cfg, b, mv.tasks); mv.left != nil {
			mv.tasks.Known = mv.left // values keep their places in the batch
		}
		out = append(out, mv)
	}
	return out, nil
}

// withinRange says which values are known at places that lie within the range of training's places, moved and not; nil:
// nothing is known of training.
func withinRange[T cnp.Float](cfg cnp.Config, b, moved *task.Tasks[T]) []bool {
	if cfg.Trained == nil || len(cfg.Trained.X) != cfg.DimX {
		return nil
	}
	inside := func(x float64, k int) bool { r := cfg.Trained.X[k]; return r.Min <= x && x <= r.Max }
	left := make([]bool, len(b.Y))
	for i := range left {
		left[i] = b.Known == nil || b.Known[i]
		for k := range cfg.DimX {
			at := i/cfg.DimY*cfg.DimX + k
			left[i] = left[i] && inside(b.Curves.XTarget[at], k) && inside(moved.Curves.XTarget[at], k)
		}
	}
	return left
}

// centreOf is the origin of a model's coordinates, in those of its data.
func centreOf(cfg cnp.Config) []float64 {
	centre := make([]float64, cfg.DimX)
	if cfg.HasUnits() {
		for i, u := range cfg.Trained.Units.X {
			centre[i] = u.Offset
		}
	}
	return centre
}

// moveAbout moves every task of a batch by a random element of a group, whose coordinates are up to reach, about the centre of a model's
// coordinates. Vectors turn along.
func moveAbout[T cnp.Float](cfg cnp.Config, b *task.Tasks[T], g group.Group, reach float64, seed uint64) *task.Tasks[T] {
	c, d := b.Curves, cfg.DimX
	moved := *c
	moved.XContext, moved.XTarget, moved.XStatic = slices.Clone(c.XContext), slices.Clone(c.XTarget), slices.Clone(c.XStatic)
	moved.YContext = append([]T(nil), c.YContext...)
	out := &task.Tasks[T]{Curves: &moved, Y: append([]T(nil), b.Y...), Known: b.Known}
	centre := centreOf(cfg)
	rng := rand.New(rand.NewPCG(seed, 0x6d6f766573)) // "moves"
	a, r := make([]float64, g.AlgebraDim()), make([]float64, d*d)
	turner, turns := g.(group.Turner)
	for t := range c.B {
		for i := range a {
			a[i] = reach * (2*rng.Float64() - 1)
		}
		for _, x := range [][]float64{moved.XContext[t*c.Nc*d : (t+1)*c.Nc*d], moved.XTarget[t*c.Nt*d : (t+1)*c.Nt*d],
			moved.XStatic[t*c.Ns*d : (t+1)*c.Ns*d]} {
			for i := 0; i < len(x); i += d {
				for k := range d {
					x[i+k] -= centre[k]
				}
				g.Act(x[i:i+d], a, x[i:i+d])
				for k := range d {
					x[i+k] += centre[k]
				}
			}
		}
		if turns && cfg.Vectors() {
			turner.Turn(r, a)
			eachVector(&cfg, moved.YContext[t*c.Nc*cfg.DimY:(t+1)*c.Nc*cfg.DimY], func(v []T) { turn(v, r, false) })
			eachVector(&cfg, out.Y[t*c.Nt*cfg.DimY:(t+1)*c.Nt*cfg.DimY], func(v []T) { turn(v, r, false) })
		}
	}
	return out
}

// imageMoves are those of Equivariance.
func imageMoves[T cnp.Float](cfg cnp.Config, b *task.Tasks[T], seed uint64) (out []symmetryMove[T], err error) {
	moves, err := movesOf(cfg, b, seed)
	names := map[string][2]string{
		fmt.Sprintf("shift by %d pixels", shiftPixels): {"translations", fmt.Sprintf("%d pixels", shiftPixels)},
		"quarter turn": {"rotations", "a quarter"},
	}
	for _, mv := range moves {
		left, known, y := make([]bool, len(b.Y)), make([]bool, len(b.Y)), make([]T, len(b.Y))
		stay := false
		for k, v := range b.Y {
			if at := mv.to(k); at >= 0 {
				left[k], known[at], y[at], stay = b.Known == nil || b.Known[k], b.Known == nil || b.Known[k], v, true
			}
		}
		if !stay {
			continue
		}
		name := names[mv.name]
		out = append(out, symmetryMove[T]{name[0], name[1], &task.Tasks[T]{Images: mv.tasks.Images, Y: y, Known: known}, left})
	}
	return out, err
}
