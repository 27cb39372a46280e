package task

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/cnp"
)

// The predator-prey tasks are those of the library neuralprocesses (github.com/wesselb/neuralprocesses,
// neuralprocesses/data/predprey.py), on
// which models with several outputs are compared. We follow the code, not the papers' text, which names the parameters differently.

// PredPreyModes are the kinds of tasks:
//
//   - "interpolation", 100 values of each species at random places among the others;
//   - "forecasting", all values of both species from a random time on;
//   - "reconstruction", those of one species, of which the other is known throughout;
//   - "random", one of these for every batch.
var PredPreyModes = []string{"interpolation", "forecasting", "reconstruction", "random"}

// PredPreySource is the Source of two populations over 100 years, prey and predator. Each is seen at 150 to 250
// times of its own, uniform from
// 0 to 100, and never both at one: an output that is not seen at a context point is NaN, and Known says which of a
// target's two values counts.
// The tasks of a batch share their times and the time from which they are forecast, which is uniform from 25 to 75.
//
// The populations x and y follow, in 5000 steps of dt from time -10 to 100,
//
//	dx = x·(α - β·y)·dt + x^(1/6)·σ·dW
//	dy = y·(γ·x - δ)·dt - y^(1/6)·σ·dV
//
// of which after every step the absolute value is taken. They begin uniform from 5 to 100; α is uniform from 0.2 to 0.8, β and γ from 0.04
// to 0.08, δ from 0.8 to 1.2, σ from 0.5 to 10, and the factor of both populations, as they are seen, from 1 to 5. Of the steps, those are
// kept that come first after each of 2200 even times, and a value is that of the first kept step not before its time.
type PredPreySource[T cnp.Float] struct {
	Mode string // one of PredPreyModes; empty: random
}

const (
	predPreyFrom, predPreyTo = -10.0, 100.0
	predPreySteps            = 5000
	predPreyKept             = 2200
	predPreyLeast            = 150 // values of a species
	predPreyMost             = 250
	predPreyTargets          = 100 // of each species, in interpolation
)

// Validate reports what no task can be drawn from.
func (s PredPreySource[T]) Validate() error {
	if s.Mode != "" && !slices.Contains(PredPreyModes, s.Mode) {
		return fmt.Errorf("task: predator-prey mode %q is not one of %s", clip(s.Mode), strings.Join(PredPreyModes, ", "))
	}
	return nil
}

func (s PredPreySource[T]) mode() string { return cmp.Or(s.Mode, "random") }

// String implements Source.
func (s PredPreySource[T]) String() string {
	return "predator and prey of the neuralprocesses benchmark, " + s.mode()
}

// OwnUnits says that values and times are far from what models work in: a model of these tasks keeps units of its own.
func (PredPreySource[T]) OwnUnits() {}

// Work implements Sized, for the longest tasks.
func (s PredPreySource[T]) Work(n int) cnp.Work {
	w := cnp.Work{Batch: n, Context: 2 * predPreyMost, Targets: 2 * predPreyMost, Span: predPreyTo}
	if s.Mode == "interpolation" {
		w.Context, w.Targets = 2*(predPreyMost-predPreyTargets), 2*predPreyTargets
	}
	return w
}

// Batch implements Source.
func (s PredPreySource[T]) Batch(n int, seed uint64, step int) (*Tasks[T], error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	rng := StepRand(seed, step)
	var x [2][]float64
	for k := range x {
		x[k] = make([]float64, predPreyLeast+rng.IntN(predPreyMost-predPreyLeast+1))
		for i := range x[k] {
			x[k][i] = predPreyTo * rng.Float64()
		}
	}
	targets := splitSpecies(s.mode(), x, func() int { return predPreyTargets }, rng)
	seeds := make([][2]uint64, n)
	for t := range seeds {
		seeds[t] = [2]uint64{rng.Uint64(), rng.Uint64()}
	}
	y := make([][2][]float64, n)
	if err := eachTask(n, func(t int) error {
		own := rand.New(rand.NewPCG(seeds[t][0], seeds[t][1]))
		path := drawPredPrey(own)
		for k := range x {
			for _, at := range x[k] {
				y[t][k] = append(y[t][k], path[k][predPreyStep(at)])
			}
		}
		return nil
	}); err != nil {
		return nil, err
	}
	return speciesTasks[T](x, y, targets), nil
}

// predPreyDt is the length of a step.
const predPreyDt = (predPreyTo - predPreyFrom) / predPreySteps

// predPreyStep is the number of the step at which a value of a time is taken: the first that is kept and not before it.
func predPreyStep(at float64) int {
	spacing := (predPreyTo - predPreyFrom) / (predPreyKept - 1)
	first := func(time float64) int { return int(math.Ceil((time-predPreyFrom)/predPreyDt - 1e-9)) } // step not before a time
	// The step kept for the even time before this one comes later than it, or is too early.
	k := int(math.Floor((at - predPreyFrom) / spacing))
	for {
		if step := min(first(predPreyFrom+spacing*float64(k)), predPreySteps); step >= first(at) {
			return step
		}
		k++
	}
}

// drawPredPrey draws both populations [2, predPreySteps+1].
func drawPredPrey(rng *rand.Rand) (path [2][]float64) {
	alpha, beta := 0.2+0.6*rng.Float64(), 0.04+0.04*rng.Float64()
	delta, gamma := 0.8+0.4*rng.Float64(), 0.04+0.04*rng.Float64()
	sigma, scale := 0.5+9.5*rng.Float64(), 1+4*rng.Float64()
	x, y := 5+95*rng.Float64(), 5+95*rng.Float64()
	noise := sigma * math.Sqrt(predPreyDt)
	for k := range path {
		path[k] = make([]float64, predPreySteps+1)
	}
	for step := range predPreySteps + 1 {
		path[0][step], path[1][step] = scale*x, scale*y
		dx, dy := x*(alpha-beta*y), y*(gamma*x-delta)
		x = math.Abs(x + dx*predPreyDt + sixthRoot(x)*noise*rng.NormFloat64())
		y = math.Abs(y + dy*predPreyDt - sixthRoot(y)*noise*rng.NormFloat64())
	}
	return path
}

func sixthRoot(v float64) float64 { return math.Cbrt(math.Sqrt(v)) }

// splitSpecies says which of the values at times x of two species are targets. count is the number of those of a species in interpolation.
func splitSpecies(mode string, x [2][]float64, count func() int, rng *rand.Rand) (targets [2][]bool) {
	if mode == "random" {
		mode = PredPreyModes[rng.IntN(3)]
	}
	for k := range x {
		targets[k] = make([]bool, len(x[k]))
	}
	if mode == "interpolation" {
		for k := range x {
			for _, i := range rng.Perm(len(x[k]))[:count()] {
				targets[k][i] = true
			}
		}
		return targets
	}
	start, only := 25+50*rng.Float64(), -1
	if mode == "reconstruction" {
		only = rng.IntN(2)
	}
	for k := range x {
		for i, at := range x[k] {
			targets[k][i] = at >= start && (only < 0 || only == k)
		}
	}
	return targets
}

// speciesTasks makes a batch of values y of every task at times x of two species.
func speciesTasks[T cnp.Float](x [2][]float64, y [][2][]float64, targets [2][]bool) *Tasks[T] {
	out := &Tasks[T]{Curves: &cnp.Batch[T]{B: len(y)}}
	b, none := out.Curves, T(math.NaN())
	for t := range y {
		b.Nc, b.Nt = 0, 0
		for k := range x {
			for i, at := range x[k] {
				v := [2]T{none, none}
				if v[k] = T(y[t][k][i]); !targets[k][i] {
					b.XContext, b.YContext, b.Nc = append(b.XContext, at), append(b.YContext, v[:]...), b.Nc+1
					continue
				}
				b.XTarget, out.Y, b.Nt = append(b.XTarget, at), append(out.Y, v[:]...), b.Nt+1
				out.Known = append(out.Known, k == 0, k == 1)
			}
		}
	}
	return out
}

// PredPreyData is the Source of tasks of two observed series, as those of hare and lynx are: the same values in
// every task, split in another
// way. A user brings them; none are shipped. Interpolation asks for 1 to 20 values of each series.
type PredPreyData[T cnp.Float] struct {
	Mode string // as PredPreySource's
	// Name is that of the data, Times [n] begins at 0, Values are [n] of prey and predator.
	Name   string
	Times  []float64
	Values [2][]float64
}

// NewPredPreyData takes the series from a set of one curve with one input and two outputs. Its times count from the first.
func NewPredPreyData[T cnp.Float](set *CurveSet, mode string) (PredPreyData[T], error) {
	s := PredPreyData[T]{Mode: mode, Name: set.Name}
	if err := (PredPreySource[T]{Mode: mode}).Validate(); err != nil {
		return s, err
	}
	if set.Dx != 1 || set.Dy != 2 || len(set.Curves) != 1 || len(set.Curves[0].X) < 21 {
		return s, fmt.Errorf("task: %s: need one series of at least 21 rows with a time and two populations", set.Name)
	}
	c := set.Curves[0]
	first := slices.Min(c.X)
	for i, at := range c.X {
		s.Times = append(s.Times, at-first)
		for k := range s.Values {
			v := c.Y[2*i+k]
			if !(v > 0) || math.IsInf(v, 1) {
				return s, fmt.Errorf("task: %s: population %d of row %d is %v, need more than 0", set.Name, k+1, i+1, v)
			}
			s.Values[k] = append(s.Values[k], v)
		}
	}
	if last := slices.Max(s.Times); !(last > 75) {
		return s, fmt.Errorf("task: %s: the series is %g years long, need more than 75, from which the last forecasts begin",
			set.Name, last)
	}
	return s, nil
}

// String implements Source.
func (s PredPreyData[T]) String() string {
	return fmt.Sprintf("two populations of %s, %s", s.Name, cmp.Or(s.Mode, "random"))
}

// Batch implements Source. The tasks of a batch are n times the same split: draw batches of one.
func (s PredPreyData[T]) Batch(n int, seed uint64, step int) (*Tasks[T], error) {
	rng := StepRand(seed, step)
	x := [2][]float64{s.Times, s.Times}
	targets := splitSpecies(cmp.Or(s.Mode, "random"), x, func() int { return 1 + rng.IntN(20) }, rng)
	return speciesTasks[T](x, slices.Repeat([][2][]float64{s.Values}, n), targets), nil
}
