package task

import (
	"fmt"
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/cnp"
)

// OptimalSource is a Source whose best predictions are known: those of a forecaster who knows how the source draws its tasks and sees a
// task's context, but not what was drawn for the task. No predictions have a higher expected log-density.
type OptimalSource[T cnp.Float] interface {
	Source[T]
	// KnowsOptimal reports whether Optimal is known: it is an error where it is not.
	KnowsOptimal() bool
	// Optimal returns, for each task, the log-densities per target of the values at all targets together, and of each on its own.
	Optimal(tasks *Tasks[T]) (joint, independent []float64, err error)
}

// KnowsOptimal implements OptimalSource.
func (s JointSource[T]) KnowsOptimal() bool { return slices.Contains(JointProcesses, s.Process) }

// Optimal implements OptimalSource, by numerical integration over what is drawn for a curve.
func (s JointSource[T]) Optimal(tasks *Tasks[T]) (joint, independent []float64, err error) {
	if !s.KnowsOptimal() {
		return nil, nil, fmt.Errorf("task: the best predictions of joint process %q are not known", clip(s.Process))
	}
	b := tasks.Curves
	if b == nil || len(b.XContext) != b.B*b.Nc || len(b.YContext) != b.B*b.Nc || len(b.XTarget) != b.B*b.Nt || len(tasks.Y) != b.B*b.Nt ||
		b.ContextMask != nil || b.TargetMask != nil || tasks.Known != nil {
		return nil, nil, fmt.Errorf("task: these are no tasks of %s", s)
	}
	joint, independent = make([]float64, b.B), make([]float64, b.B)
	err = eachTask(b.B, func(t int) (err error) {
		x := slices.Concat(b.XContext[t*b.Nc:(t+1)*b.Nc], b.XTarget[t*b.Nt:(t+1)*b.Nt])
		y := make([]float64, 0, len(x))
		for _, v := range b.YContext[t*b.Nc : (t+1)*b.Nc] {
			y = append(y, float64(v))
		}
		for _, v := range tasks.Y[t*b.Nt : (t+1)*b.Nt] {
			y = append(y, float64(v))
		}
		if s.Process == "gp" {
			joint[t], independent[t], err = optimalCurve(x, y, b.Nc)
			return err
		}
		joint[t], independent[t] = optimalWave(x, y, b.Nc)
		return nil
	})
	return joint, independent, err
}

// optimalWave returns the log-densities per value of those behind the first nc values of a wave of jointWave, given the first nc:
// of all of them together, and of each on its own.
func optimalWave(x, y []float64, nc int) (joint, independent float64) {
	n := len(y) - nc
	if n == 0 {
		return 0, 0
	}
	given := newWaveIntegral(x[:nc], y[:nc])
	before := given.log()
	joint = newWaveIntegral(x, y).log() - before
	for i := nc; i < len(y); i++ {
		independent += given.with(x[i], y[i]) - before
	}
	return joint / float64(n), independent / float64(n)
}

// waveIntegral integrates the density of values over the waves that jointWave draws. A value is
//
//	frac(w·x - ψ) + s·e,  ψ = frac(|w|·φ),  e standard normal,
//
// so that for one frequency w with its sign the sum of squares is a parabola in ψ between the places where a value crosses the jump. The
// integral over ψ is a sum of normal integrals, that over s a Gauss-Legendre sum, and that over w a midpoint sum whose steps are far
// smaller than what the values tell about w. It leaves out what is below exp(-waveFar) of the greatest density.
type waveIntegral struct {
	x, y   []float64
	pieces []wavePiece
	step   float64 // of w
	noise  []quadrature
	phases []wavePhase
}

// wavePiece is an interval of phases in which no value crosses the jump, of one frequency. The sum of squares of the residuals is
// rest + n·(ψ - middle)².
type wavePiece struct {
	w, from, to  float64
	middle, rest float64
	log          float64 // of the prior's density: of w and of ψ
}

// wavePhase is where a value crosses the jump.
type wavePhase struct{ at, value float64 }

// quadrature is a node of a sum that stands for an integral.
type quadrature struct{ at, log float64 }

// The ranges that jointWave draws frequencies and deviations of the noise from.
const (
	waveSlowest, waveFastest = 3.0, 5.0
	waveQuiet, waveLoud      = 0.05, 0.1
)

// Settings of the integral.
const (
	waveFar    = 40.0 // nats below the greatest density that are left out
	waveFine   = 16   // steps of w over the change of w that moves the farthest value by 1/n periods
	waveCoarse = 4    // of these steps at first, to find the frequencies that count
)

func newWaveIntegral(x, y []float64) *waveIntegral {
	v := &waveIntegral{x: x, y: y, noise: legendre(8+len(y)/8, waveQuiet, waveLoud)}
	far := 0.5 // no step is longer than this allows
	for _, at := range x {
		far = max(far, math.Abs(at))
	}
	cells := int(math.Ceil((waveFastest - waveSlowest) * far * float64(max(8, len(y))) * waveFine / waveCoarse))
	coarse := (waveFastest - waveSlowest) / float64(cells)
	v.step = coarse / waveCoarse
	// The greatest density of a frequency, from one coarse step to the next: those near the highest are integrated.
	most := make([]float64, 2*cells)
	for i := range most {
		most[i] = math.Inf(-1)
		v.split(v.frequency(i, cells, coarse, 0.5))
		for _, p := range v.pieces {
			most[i] = max(most[i], v.bound(p))
		}
	}
	best := slices.Max(most)
	var kept []wavePiece
	for i := range most {
		side := i / cells * cells
		if around := slices.Max(most[max(i-1, side):min(i+2, side+cells)]); around < best-waveFar {
			continue
		}
		for k := range waveCoarse {
			v.split(v.frequency(i, cells, coarse, (float64(k)+0.5)/waveCoarse))
			for _, p := range v.pieces {
				if log := v.bound(p); log > best-waveFar {
					kept, best = append(kept, p), max(best, log)
				}
			}
		}
	}
	v.pieces = slices.DeleteFunc(kept, func(p wavePiece) bool { return v.bound(p) < best-waveFar })
	return v
}

// frequency is that of a cell, of which the second half has waves of the other direction.
func (v *waveIntegral) frequency(cell, cells int, step, part float64) float64 {
	if cell >= cells {
		return -(waveSlowest + (float64(cell-cells)+part)*step)
	}
	return waveSlowest + (float64(cell)+part)*step
}

// split sets the pieces of a frequency.
func (v *waveIntegral) split(w float64) {
	v.pieces, v.phases = v.pieces[:0], v.phases[:0]
	n := float64(len(v.y))
	var sum, square float64 // of y - frac(w·x - ψ) - ψ, for ψ from 0
	for i, x := range v.x {
		u := w*x - math.Floor(w*x)
		e := v.y[i] - u
		v.phases = append(v.phases, wavePhase{u, e})
		sum, square = sum+e, square+e*e
	}
	// |w|·φ goes round the circle once or, up to this phase, twice more often.
	turns := math.Floor(math.Abs(w))
	last := math.Abs(w) - turns
	v.phases = append(v.phases, wavePhase{last, math.NaN()}, wavePhase{1, math.NaN()})
	slices.SortFunc(v.phases, func(a, b wavePhase) int {
		if a.at < b.at {
			return -1
		}
		if a.at > b.at {
			return 1
		}
		return 0
	})
	direction := math.Log(0.5 / (waveFastest - waveSlowest) / math.Abs(w))
	from := 0.0
	for _, p := range v.phases {
		if p.at > from {
			prior := direction + math.Log(turns)
			if p.at <= last {
				prior = direction + math.Log(turns+1)
			}
			piece := wavePiece{w: w, from: from, to: p.at, log: prior}
			if n > 0 {
				piece.middle, piece.rest = -sum/n, max(0, square-sum*sum/n)
			}
			v.pieces, from = append(v.pieces, piece), p.at
		}
		if !math.IsNaN(p.value) { // the residual's other part falls from e to e - 1
			sum, square = sum-1, square+1-2*p.value
		}
	}
}

// bound is the greatest density of a piece, but for the prior.
func (v *waveIntegral) bound(p wavePiece) float64 {
	n := float64(len(v.y))
	d := min(max(p.middle, p.from), p.to) - p.middle
	rest := p.rest + n*d*d
	s := waveQuiet
	if n > 0 {
		s = min(max(math.Sqrt(rest/n), waveQuiet), waveLoud)
	}
	return -n*math.Log(s) - rest/(2*s*s)
}

// log is the logarithm of the integral.
func (v *waveIntegral) log() float64 {
	var sum logSum
	for _, p := range v.pieces {
		v.add(&sum, p, len(v.y))
	}
	return sum.log() + math.Log(v.step)
}

// add adds the integral of a piece, of n values.
func (v *waveIntegral) add(sum *logSum, p wavePiece, n int) {
	root := math.Sqrt(float64(n))
	for _, q := range v.noise {
		log := p.log + q.log - float64(n)*(math.Log(q.at)+0.5*math.Log(2*math.Pi)) - p.rest/(2*q.at*q.at)
		if n == 0 {
			sum.add(log + math.Log(p.to-p.from))
			continue
		}
		scale := root / q.at
		log += 0.5*math.Log(2*math.Pi) - math.Log(scale)
		sum.add(log + logBetween((p.from-p.middle)*scale, (p.to-p.middle)*scale))
	}
}

// with is the logarithm of the integral of the density of the values and of another one.
func (v *waveIntegral) with(x, y float64) float64 {
	var sum logSum
	n := float64(len(v.y))
	for _, p := range v.pieces {
		u := p.w*x - math.Floor(p.w*x)
		e := y - u
		for _, side := range [2]wavePiece{{from: p.from, to: min(p.to, u)}, {from: max(p.from, u), to: p.to}} {
			if side.to > side.from {
				// n·(ψ - middle)² + (ψ + e)² is another parabola.
				away := p.middle + e
				side.log, side.middle, side.rest = p.log, p.middle-away/(n+1), p.rest+n/(n+1)*away*away
				v.add(&sum, side, len(v.y)+1)
			}
			e--
		}
	}
	return sum.log() + math.Log(v.step)
}

// logSum adds up numbers that are given by their logarithms.
type logSum struct {
	most, sum float64 // the sum is of numbers over exp(most)
	some      bool
}

func (s *logSum) add(log float64) {
	switch {
	case math.IsInf(log, -1):
	case !s.some:
		s.most, s.sum, s.some = log, 1, true
	case log <= s.most:
		s.sum += math.Exp(log - s.most)
	default:
		s.most, s.sum = log, s.sum*math.Exp(s.most-log)+1
	}
}

func (s *logSum) log() float64 {
	if !s.some {
		return math.Inf(-1)
	}
	return s.most + math.Log(s.sum)
}

// logBetween is the logarithm of the probability that a standard normal number is between two.
func logBetween(from, to float64) float64 {
	if from > 0 {
		from, to = -to, -from
	}
	// The tails below each are accurate: from is not above 0 here.
	below := 0.5 * math.Erfc(-from/math.Sqrt2)
	if to > 0 {
		return math.Log1p(-below - 0.5*math.Erfc(to/math.Sqrt2))
	}
	return math.Log(0.5*math.Erfc(-to/math.Sqrt2) - below)
}

// legendre are the nodes of Gauss and Legendre for the mean of a function between two numbers.
func legendre(n int, from, to float64) []quadrature {
	out := make([]quadrature, n)
	for i := range out {
		z := math.Cos(math.Pi * (float64(i) + 0.75) / (float64(n) + 0.5))
		var slope float64
		for range 8 { // Newton's steps to a root of the polynomial
			a, b := 1.0, z
			for k := 2; k <= n; k++ {
				a, b = b, (float64(2*k-1)*z*b-float64(k-1)*a)/float64(k)
			}
			slope = float64(n) * (z*b - a) / (z*z - 1)
			z -= b / slope
		}
		out[i] = quadrature{from + (to-from)*(1+z)/2, -math.Log((1 - z*z) * slope * slope)}
	}
	return out
}
