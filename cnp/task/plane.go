package task

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/equivcnp/equivcnp/cnp"
)

// PlaneKinds are the names of Gaussian processes in the plane whose symmetry is known. Each is equally distributed when it is moved by the
// group in brackets, and by none of the others:
//
//   - "stationary" [T(2)]: nearby values are alike, over a longer distance along one direction than across it;
//   - "isotropic" [SE(2)]: nearby values are alike, whatever the direction;
//   - "radial" [SO(2)]: rings about the origin, the same in all tasks, seen with much noise;
//   - "scale-free" [R>0xSO(2)]: nearby values are alike, over a distance that grows with that from the origin;
//   - "none": a landscape, the same in all tasks, seen with as much noise.
//
// A kind with an amount, as in "stationary+0.5", has its symmetry broken by the landscape of "none", so many times as high, which is added
// to the values.
var PlaneKinds = []string{"stationary", "isotropic", "radial", "scale-free", "none"}

// The tasks of PlaneSource: numbers of points, the radius that they lie within, and the variances of the noise of a
// value, of processes and of what is the same in all tasks. With little noise a model that does not know where it is
// would find out from the context.
const (
	planeLeast, planeMost = 8, 32
	planeTargets          = 24
	planeRadius           = 2.0
	planeNoise            = 0.01
	planeMeanNoise        = 0.25
)

// PlaneSource is the Source of a process of PlaneKinds, observed at places within 2 of the origin. These lie alike in
// all kinds and evenly in all directions, densest near the origin, so that they tell nothing of the symmetry. The tasks
// of a batch have as many context points, 8 to 32, and 24 targets each.
type PlaneSource[T cnp.Float] struct{ Kind string }

// Validate reports what no task can be drawn from.
func (s PlaneSource[T]) Validate() error {
	kind, amount, err := s.parts()
	if err != nil || !(amount >= 0 && amount <= maxLandscape) {
		return fmt.Errorf("task: process %q in the plane: need an amount of the landscape from 0 to %g behind +",
			clip(s.Kind), maxLandscape)
	}
	if !slices.Contains(PlaneKinds, kind) {
		return fmt.Errorf("task: process %q in the plane is not one of %s", clip(s.Kind), strings.Join(PlaneKinds, ", "))
	}
	return nil
}

// maxLandscape bounds the amount of the landscape.
const maxLandscape = 1e3

// parts returns the kind and the amount of the landscape that is added to it.
func (s PlaneSource[T]) parts() (kind string, amount float64, err error) {
	kind, text, ok := strings.Cut(s.Kind, "+")
	if ok {
		amount, err = strconv.ParseFloat(text, 64)
	}
	return kind, amount, err
}

// kind is the kind without an amount.
func (s PlaneSource[T]) kind() string {
	kind, _, _ := s.parts()
	return kind
}

// String implements Source.
func (s PlaneSource[T]) String() string {
	return fmt.Sprintf("%s values in the plane, within %g of the origin", s.Kind, planeRadius)
}

// Work implements Sized.
func (s PlaneSource[T]) Work(n int) cnp.Work {
	return cnp.Work{Batch: n, Span: 2 * planeRadius, Context: planeMost, Targets: planeTargets}
}

// mean is what values are on average: rings, a landscape, or 0.
func (s PlaneSource[T]) mean(x []float64) float64 {
	kind, amount, _ := s.parts() // which Validate has checked
	switch kind {
	case "radial":
		return 1.5*math.Sin(4*math.Hypot(x[0], x[1])+0.5) + float64(amount*landscape(x))
	case "none":
		return float64((1 + amount) * landscape(x))
	}
	if amount == 0 {
		return 0
	}
	return float64(amount * landscape(x))
}

// landscape is the same in all tasks, and no move leaves it as it is.
func landscape(x []float64) float64 {
	return 1.5*math.Sin(1.7*x[0]+0.6*x[1]+0.5) + math.Cos(2.3*x[1]-x[0]+1)
}

// covariance is that of the values at x and y, without noise.
func (s PlaneSource[T]) covariance(x, y []float64) float64 {
	d := [2]float64{x[0] - y[0], x[1] - y[1]}
	square := func(v, length float64) float64 { return v * v / (2 * length * length) }
	switch s.kind() {
	case "stationary":
		sin, cos := math.Sincos(math.Pi / 6)
		return math.Exp(-square(cos*d[0]+sin*d[1], 2.5) - square(cos*d[1]-sin*d[0], 0.4))
	case "scale-free":
		scale := math.Log(math.Hypot(x[0], x[1]) / math.Hypot(y[0], y[1]))
		angle := math.Atan2(x[1], x[0]) - math.Atan2(y[1], y[0])
		return math.Exp(-square(scale, 0.8) - square(2*math.Sin(angle/2), 1))
	case "isotropic":
		return math.Exp(-square(math.Hypot(d[0], d[1]), 0.7))
	}
	return 0
}

// noise is its variance.
func (s PlaneSource[T]) noise() float64 {
	if kind := s.kind(); kind == "radial" || kind == "none" {
		return planeMeanNoise
	}
	return planeNoise
}

// factor returns the Cholesky factor of the covariance of values at x [n, 2], noise included.
func (s PlaneSource[T]) factor(x []float64) (blas64.Triangular, error) {
	n := len(x) / 2
	cov := make([]float64, n*n)
	for i := range n {
		for j := range i + 1 {
			cov[i*n+j] = s.covariance(x[2*i:2*i+2], x[2*j:2*j+2])
		}
		cov[i*n+i] += s.noise()
	}
	l, ok := lapack64.Potrf(blas64.Symmetric{Uplo: blas.Lower, N: n, Data: cov, Stride: max(1, n)})
	if !ok {
		return l, fmt.Errorf("task: the covariance of %d values is not positive definite", n)
	}
	return l, nil
}

// planePoint draws a place: its distance from the origin is uniform, but for a hole around it in which no angle is known.
func planePoint(rng *rand.Rand) [2]float64 {
	r, th := 0.05+(planeRadius-0.05)*rng.Float64(), 2*math.Pi*rng.Float64()
	sin, cos := math.Sincos(th)
	return [2]float64{r * cos, r * sin}
}

// Batch implements Source.
func (s PlaneSource[T]) Batch(n int, seed uint64, step int) (*Tasks[T], error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	rng := StepRand(seed, step)
	nc := planeLeast + rng.IntN(planeMost-planeLeast+1)
	per := nc + planeTargets
	x, y := make([]float64, 0, 2*n*per), make([]float64, n*per)
	for i := range y {
		p := planePoint(rng)
		x, y[i] = append(x, p[:]...), rng.NormFloat64()
	}
	if err := correlate(y, x, n, s.factor); err != nil {
		return nil, err
	}
	b := &cnp.Batch[T]{B: n, Nc: nc, Nt: planeTargets}
	out := &Tasks[T]{Curves: b}
	for i, v := range y {
		place := x[2*i : 2*i+2]
		v += s.mean(place)
		if i%per < nc {
			b.XContext, b.YContext = append(b.XContext, place...), append(b.YContext, T(v))
		} else {
			b.XTarget, out.Y = append(b.XTarget, place...), append(out.Y, T(v))
		}
	}
	return out, nil
}

// Gaussian reports that Exact knows the process's densities.
func (s PlaneSource[T]) Gaussian() bool { return true }

// Exact returns how likely the targets of every task are by the process; see BenchmarkSource.Exact.
func (s PlaneSource[T]) Exact(tasks *Tasks[T]) (joint, diagonal []float64, err error) {
	if err := s.check(tasks); err != nil {
		return nil, nil, err
	}
	return exactDensities(aboveMean(tasks, 2, s.mean), 2, s.factor)
}

// aboveMean returns the tasks without the mean that all of them have in common, a function of a point's d coordinates.
func aboveMean[T cnp.Float](tasks *Tasks[T], d int, mean func(x []float64) float64) *Tasks[T] {
	b := *tasks.Curves
	above := func(y []T, x []float64) []T {
		out := slices.Clone(y)
		for i := range out {
			out[i] -= T(mean(x[i*d : (i+1)*d]))
		}
		return out
	}
	b.YContext = above(b.YContext, b.XContext)
	return &Tasks[T]{Curves: &b, Y: above(tasks.Y, b.XTarget)}
}

// Predictive implements GaussianSource.
func (s PlaneSource[T]) Predictive(tasks *Tasks[T]) (mean, factor []float64, err error) {
	if err := s.check(tasks); err != nil {
		return nil, nil, err
	}
	if mean, factor, err = predictives(aboveMean(tasks, 2, s.mean), 2, s.factor); err != nil {
		return nil, nil, err
	}
	for i := range mean {
		mean[i] += s.mean(tasks.Curves.XTarget[2*i : 2*i+2])
	}
	return mean, factor, nil
}

// check reports what is no batch of the plane.
func (s PlaneSource[T]) check(tasks *Tasks[T]) error {
	if err := s.Validate(); err != nil {
		return err
	}
	b := tasks.Curves
	if b == nil || len(b.XContext) != 2*len(b.YContext) || len(b.XTarget) != 2*len(tasks.Y) {
		return fmt.Errorf("task: these are not tasks of the plane")
	}
	return nil
}
