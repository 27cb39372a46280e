package task

import (
	"cmp"
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/equivcnp/equivcnp/cnp"
)

// GriddedLengths are the lengths of GriddedSource's published tasks.
var GriddedLengths = []float64{0.1, 0.5}

// GriddedSource is the Source of the large contexts of gridded-tnp: functions with the kernel exp(-r²/2l²), variance 1, and noise of
// deviation 0.1 on every value, at points uniform on [-6, 6]²: 10,000 of them context, 1,000 targets. The tasks of a batch share their
// points, as theirs do, so that one factorisation draws them all.
type GriddedSource[T cnp.Float] struct {
	Length float64
	// Side is half the side of the square, Context and Targets are numbers of points; 0: those of the definition. Training takes a small
	// square with the same density of points.
	Side             float64
	Context, Targets int
}

// sizes are half the side, and the numbers of context points and targets.
func (s GriddedSource[T]) sizes() (side float64, context, targets int) {
	return cmp.Or(s.Side, 6), cmp.Or(s.Context, 10000), cmp.Or(s.Targets, 1000)
}

// Validate reports what no task can be drawn from.
func (s GriddedSource[T]) Validate() error {
	side, context, targets := s.sizes()
	if !(s.Length >= 1e-3 && s.Length <= 1e3) || !(side > 0 && side <= 1e3) {
		return fmt.Errorf("task: length %g on [-%g, %g]², need 0.001 to 1000 for both", s.Length, side, side)
	}
	if context < 0 || targets < 1 || context+targets > 1<<14 {
		return fmt.Errorf("task: %d context points and %d targets, need 0 to %d together", context, targets, 1<<14)
	}
	return nil
}

// String implements Source.
func (s GriddedSource[T]) String() string {
	side, context, targets := s.sizes()
	return fmt.Sprintf("rbf of length %g of the gridded benchmark, [-%g, %g]², %d context points, %d targets", s.Length, side, side,
		context, targets)
}

// Work implements Sized.
func (s GriddedSource[T]) Work(n int) cnp.Work {
	side, context, targets := s.sizes()
	return cnp.Work{Batch: n, Context: context, Targets: targets, Span: 2 * side}
}

// Batch implements Source.
func (s GriddedSource[T]) Batch(n int, seed uint64, step int) (*Tasks[T], error) {
	tasks, _, err := s.Known(n, seed, step)
	return tasks, err
}

// Known returns a batch with the exact log-densities per target of its tasks, targets taken one by one.
func (s GriddedSource[T]) Known(n int, seed uint64, step int) (*Tasks[T], []float64, error) {
	if err := s.Validate(); err != nil {
		return nil, nil, err
	}
	rng := StepRand(seed, step)
	side, nc, nt := s.sizes()
	one := make([]float64, 2*(nc+nt))
	for i := range one {
		one[i] = side * (2*rng.Float64() - 1)
	}
	l, err := covariance(one, 2, nc, globeNoise, func(row []float64) { exponential(row, s.Length) })
	if err != nil {
		return nil, nil, err
	}
	x, y, exact := make([]float64, 0, n*len(one)), make([]float64, n*(nc+nt)), make([]float64, n)
	for i := range y {
		y[i] = rng.NormFloat64()
	}
	for range n {
		x = append(x, one...)
	}
	err = eachTask(n, func(t int) error {
		own := y[t*(nc+nt) : (t+1)*(nc+nt)]
		z := append([]float64(nil), own[:nc]...)
		blas64.Trmv(blas.NoTrans, l, blas64.Vector{N: len(own), Data: own, Inc: 1})
		exact[t] = alone(l, own, z, nc)
		return nil
	})
	return split[T](x, y, n, nc, nt), exact, err
}

// Small is the source on the square on which models are trained: functions of length 0.1 on [-1, 1]², of 0.5 on [-2, 2]², with as many
// context points per area as the whole square has, and 256 targets. A model that is equivariant and local learns there what it needs.
func (s GriddedSource[T]) Small() GriddedSource[T] {
	whole, context, _ := s.sizes()
	s.Side = 1
	if s.Length > 0.2 {
		s.Side = 2
	}
	s.Context, s.Targets = int(float64(context)*s.Side*s.Side/(whole*whole)+0.5), 256
	return s
}

// Gaussian reports that Predictive knows the process.
func (s GriddedSource[T]) Gaussian() bool { return true }

// Predictive implements GaussianSource.
func (s GriddedSource[T]) Predictive(tasks *Tasks[T]) (mean, factor []float64, err error) {
	if err := s.Validate(); err != nil {
		return nil, nil, err
	}
	return predictives(tasks, 2, func(x []float64) (blas64.Triangular, error) {
		return covariance(x, 2, len(x)/2, globeNoise, func(row []float64) { exponential(row, s.Length) })
	})
}
