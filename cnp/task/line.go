package task

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/equivcnp/equivcnp/cnp"
)

// The tasks of LineSource: numbers of points, where they lie, the covariance exp(-r²/(2·length²)) and the variance of the noise.
const (
	lineLeast, lineMost = 1, 12
	lineTargets         = 32
	lineHalf            = 2.0
	lineLength          = 0.4
	lineNoise           = 0.01
)

// LineSource is the Source of values on [-2, 2] whose translations are broken by a known amount: those of a stationary Gaussian process,
// with a curve added that is the same in all tasks, Amount times
//
//	1.2·sin(2.2·x + 0.5) + 0.8·cos(4·x - 1).
//
// So covariances move with a task, and the mean does not. With an amount of 0 nothing is broken. The tasks of a batch have as many context
// points, 1 to 12, and 32 targets each, at uniform places.
type LineSource[T cnp.Float] struct{ Amount float64 }

// LineKind is the name of LineSource's process in ParseLine.
const LineKind = "stationary"

// ParseLine returns the LineSource of a text: "stationary", or "stationary+0.5" with an amount.
func ParseLine[T cnp.Float](text string) (s LineSource[T], err error) {
	kind, amount, broken := strings.Cut(text, "+")
	if broken {
		s.Amount, err = strconv.ParseFloat(amount, 64)
	}
	if kind != LineKind || err != nil {
		return s, fmt.Errorf("task: process %q on the line: need %s, or %s+0.5", clip(text), LineKind, LineKind)
	}
	return s, s.Validate()
}

// Validate reports what no task can be drawn from.
func (s LineSource[T]) Validate() error {
	if !(s.Amount >= 0 && s.Amount <= maxLandscape) {
		return fmt.Errorf("task: an amount of %g of the curve that is added on the line: need 0 to %g", s.Amount, maxLandscape)
	}
	return nil
}

// String implements Source.
func (s LineSource[T]) String() string {
	kind := LineKind
	if s.Amount > 0 {
		kind += fmt.Sprintf("+%g", s.Amount)
	}
	return fmt.Sprintf("%s values on the line, within %g of the origin", kind, lineHalf)
}

// Work implements Sized.
func (s LineSource[T]) Work(n int) cnp.Work {
	return cnp.Work{Batch: n, Span: 2 * lineHalf, Context: lineMost, Targets: lineTargets}
}

// mean is what values are on average at x.
func (s LineSource[T]) mean(x float64) float64 {
	if s.Amount == 0 {
		return 0
	}
	return float64(s.Amount * (1.2*math.Sin(2.2*x+0.5) + 0.8*math.Cos(4*x-1)))
}

// factor returns the Cholesky factor of the covariance of values at x, noise included.
func (s LineSource[T]) factor(x []float64) (blas64.Triangular, error) {
	n := len(x)
	cov := make([]float64, n*n)
	for i := range n {
		for j := range i + 1 {
			d := (x[i] - x[j]) / lineLength
			cov[i*n+j] = math.Exp(-0.5 * d * d)
		}
		cov[i*n+i] += lineNoise
	}
	l, ok := lapack64.Potrf(blas64.Symmetric{Uplo: blas.Lower, N: n, Data: cov, Stride: max(1, n)})
	if !ok {
		return l, fmt.Errorf("task: the covariance of %d values is not positive definite", n)
	}
	return l, nil
}

// Batch implements Source.
func (s LineSource[T]) Batch(n int, seed uint64, step int) (*Tasks[T], error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	rng := StepRand(seed, step)
	nc := lineLeast + rng.IntN(lineMost-lineLeast+1)
	per := nc + lineTargets
	x, y := make([]float64, n*per), make([]float64, n*per)
	for i := range y {
		x[i], y[i] = lineHalf*(2*rng.Float64()-1), rng.NormFloat64()
	}
	if err := correlate(y, x, n, s.factor); err != nil {
		return nil, err
	}
	b := &cnp.Batch[T]{B: n, Nc: nc, Nt: lineTargets}
	out := &Tasks[T]{Curves: b}
	for i, v := range y {
		v += s.mean(x[i])
		if i%per < nc {
			b.XContext, b.YContext = append(b.XContext, x[i]), append(b.YContext, T(v))
		} else {
			b.XTarget, out.Y = append(b.XTarget, x[i]), append(out.Y, T(v))
		}
	}
	return out, nil
}

// Gaussian reports that Exact knows the process's densities.
func (s LineSource[T]) Gaussian() bool { return true }

// Exact returns how likely the targets of every task are by the process; see BenchmarkSource.Exact.
func (s LineSource[T]) Exact(tasks *Tasks[T]) (joint, diagonal []float64, err error) {
	if err := s.check(tasks); err != nil {
		return nil, nil, err
	}
	return exactDensities(s.level(tasks), 1, s.factor)
}

// level returns the tasks without the curve that all of them have in common.
func (s LineSource[T]) level(tasks *Tasks[T]) *Tasks[T] {
	return aboveMean(tasks, 1, func(x []float64) float64 { return s.mean(x[0]) })
}

// Predictive implements GaussianSource.
func (s LineSource[T]) Predictive(tasks *Tasks[T]) (mean, factor []float64, err error) {
	if err := s.check(tasks); err != nil {
		return nil, nil, err
	}
	if mean, factor, err = predictives(s.level(tasks), 1, s.factor); err != nil {
		return nil, nil, err
	}
	for i := range mean {
		mean[i] += s.mean(tasks.Curves.XTarget[i])
	}
	return mean, factor, nil
}

// check reports what is no batch of the line.
func (s LineSource[T]) check(tasks *Tasks[T]) error {
	if err := s.Validate(); err != nil {
		return err
	}
	b := tasks.Curves
	if b == nil || len(b.XContext) != len(b.YContext) || len(b.XTarget) != len(tasks.Y) {
		return fmt.Errorf("task: these are not tasks of the line")
	}
	return nil
}
