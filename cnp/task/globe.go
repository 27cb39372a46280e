package task

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/equivcnp/equivcnp/cnp"
	fastblas "github.com/equivcnp/equivcnp/linalg/blas"
)

// GlobeProcesses are the processes of GlobeSource.
var GlobeProcesses = []string{"geodesic", "rbf"}

// GlobePlaces names the places of the tasks of each of GlobeProcesses, that of training first.
var GlobePlaces = map[string][]string{
	"geodesic": {"unturned", "turned by (60, 30, 0)", "turned by (60, 30, 20)"},
	"rbf":      {"[-2, 2]²", "[8, 12]²", "[-4, 4]²"},
}

// GlobeSource is the Source of the tasks with which dl4bi (AISTATS 2026) asks whether a model knows that the world may be turned, moved
// or wider. The functions have variance 1, context values noise of deviation 0.1, and targets none.
//
//   - "geodesic", exp(-r/l) of the great circle's angle r, with points uniform in latitude and longitude up to 10 degrees from (0, 0),
//     coordinates in degrees, and the inverse of l (in degrees) gamma of shape 3 and rate 3. A task that is turned by (a, b, c) is the
//     unturned one, turned by c about the axis through (0, 0), then b degrees to the north, then a degrees to the east.
//   - "rbf", exp(-r²/2l²) with l of distribution Beta(3, 7), on [-2, 2]² along both coordinates; the same tasks, moved by 10 along both;
//     and tasks on [-4, 4]².
//
// The tasks of a batch have as many context points, from 128 to 512, and 1,024 targets.
type GlobeSource[T cnp.Float] struct {
	Process string // one of GlobeProcesses
	Place   string // one of GlobePlaces; empty: that of training
	// Context and Targets are other numbers of points; 0: those of the definition.
	Context, Targets int
}

// globeNoise is the variance of the noise of context values, globeJitter that which keeps the factors of smooth functions exact.
const globeNoise, globeJitter = 0.01, 1e-6

// Validate reports what no task can be drawn from.
func (s GlobeSource[T]) Validate() error {
	if !slices.Contains(GlobeProcesses, s.Process) {
		return fmt.Errorf("task: globe process %q is not one of %s", clip(s.Process), strings.Join(GlobeProcesses, ", "))
	}
	if s.Place != "" && !slices.Contains(GlobePlaces[s.Process], s.Place) {
		return fmt.Errorf("task: globe place %q is not one of %s", clip(s.Place), strings.Join(GlobePlaces[s.Process], "; "))
	}
	if s.Context < 0 || s.Targets < 0 || s.Context+s.Targets > 1<<12 {
		return fmt.Errorf("task: %d context points and %d targets, need 0 to %d together", s.Context, s.Targets, 1<<12)
	}
	return nil
}

// place is the number of the place in GlobePlaces.
func (s GlobeSource[T]) place() int { return max(0, slices.Index(GlobePlaces[s.Process], s.Place)) }

// sizes are the bounds of the number of context points, and the number of targets.
func (s GlobeSource[T]) sizes() (least, most, targets int) {
	least, most, targets = 128, 512, 1024
	if s.Context > 0 {
		least, most = s.Context, s.Context
	}
	if s.Targets > 0 {
		targets = s.Targets
	}
	return least, most, targets
}

// String implements Source.
func (s GlobeSource[T]) String() string {
	least, most, targets := s.sizes()
	return fmt.Sprintf("%s of the globe benchmark, %s, %d to %d context points, %d targets", s.Process, GlobePlaces[s.Process][s.place()],
		least, most, targets)
}

// Work implements Sized, for the longest tasks.
func (s GlobeSource[T]) Work(n int) cnp.Work {
	_, most, targets := s.sizes()
	span := map[string]float64{"geodesic": 20, "rbf": 4}[s.Process]
	if s.Process == "rbf" && s.place() == 2 {
		span = 8
	}
	return cnp.Work{Batch: n, Context: most, Targets: targets, Span: span}
}

// Batch implements Source.
func (s GlobeSource[T]) Batch(n int, seed uint64, step int) (*Tasks[T], error) {
	tasks, _, err := s.Known(n, seed, step)
	return tasks, err
}

// Known returns a batch with the log-densities per target of its tasks, targets taken one by one, by who knows the length. Models, which
// have to find the length out, can only come near.
func (s GlobeSource[T]) Known(n int, seed uint64, step int) (*Tasks[T], []float64, error) {
	if err := s.Validate(); err != nil {
		return nil, nil, err
	}
	rng := StepRand(seed, step)
	least, most, nt := s.sizes()
	nc := least + rng.IntN(most-least+1)
	x, y, lengths := make([]float64, n*(nc+nt)*2), make([]float64, n*(nc+nt)), make([]float64, n)
	half := map[string]float64{"geodesic": 10, "rbf": 2}[s.Process]
	if s.Process == "rbf" && s.place() == 2 {
		half = 4
	}
	for t := range lengths {
		lengths[t] = s.length(rng)
	}
	for i := range x {
		x[i] = half * (2*rng.Float64() - 1)
	}
	for i := range y {
		y[i] = rng.NormFloat64()
	}
	exact := make([]float64, n)
	err := eachTask(n, func(t int) (err error) {
		own := y[t*(nc+nt) : (t+1)*(nc+nt)]
		exact[t], err = noisyContext(own, x[t*2*(nc+nt):(t+1)*2*(nc+nt)], nc, s.Process == "geodesic", lengths[t], globeJitter)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	s.move(x)
	return split[T](x, y, n, nc, nt), exact, nil
}

// length draws the length of a task.
func (s GlobeSource[T]) length(rng *rand.Rand) float64 {
	if s.Process == "geodesic" {
		return 3 / wholeGamma(3, rng)
	}
	a, b := wholeGamma(3, rng), wholeGamma(7, rng)
	return a / (a + b)
}

// wholeGamma draws from the gamma distribution of a whole shape and rate 1.
func wholeGamma(shape int, rng *rand.Rand) (sum float64) {
	for range shape {
		sum += rng.ExpFloat64()
	}
	return sum
}

// globeTurns are the angles of GlobePlaces in degrees.
var globeTurns = [][3]float64{{}, {60, 30, 0}, {60, 30, 20}}

// move takes points [n, 2] from where training has them to the place.
func (s GlobeSource[T]) move(x []float64) {
	switch at := s.place(); {
	case s.Process == "geodesic" && at > 0:
		turn := globeTurns[at]
		for i := 0; i < len(x); i += 2 {
			x[i], x[i+1] = cnp.LatLon(turned(cnp.UnitVector(x[i], x[i+1]), turn))
		}
	case at == 1:
		for i := range x {
			x[i] += 10
		}
	}
}

// turned turns a unit vector about the axis through latitude and longitude 0, then to the north, then to the east, by degrees.
func turned(p [3]float64, by [3]float64) [3]float64 {
	east, north, spin := by[0]*degree, by[1]*degree, by[2]*degree
	s, c := math.Sincos(spin)
	p = [3]float64{p[0], c*p[1] - s*p[2], s*p[1] + c*p[2]}
	s, c = math.Sincos(north)
	p = [3]float64{c*p[0] - s*p[2], p[1], s*p[0] + c*p[2]}
	s, c = math.Sincos(east)
	return [3]float64{c*p[0] - s*p[1], s*p[0] + c*p[1], p[2]}
}

// noisyContext makes values of a function at x [n, 2] of standard normal ones y: the first nc with noise of variance globeNoise, the
// others with that of target. It returns the mean log-density of these, each alone, given the first ones.
func noisyContext(y, x []float64, nc int, geodesic bool, length, target float64) (exact float64, err error) {
	n := len(y)
	units, dx := x, 2
	if geodesic {
		units, dx = make([]float64, 0, 3*n), 3
		for i := 0; i < len(x); i += 2 {
			p := cnp.UnitVector(x[i], x[i+1])
			units = append(units, p[:]...)
		}
	}
	l, err := covariance(units, dx, nc, target, func(row []float64) {
		if !geodesic {
			exponential(row, length)
			return
		}
		for i, d2 := range row {
			row[i] = math.Exp(-2 * math.Asin(min(1, math.Sqrt(d2)/2)) / degree / length)
		}
	})
	if err != nil {
		return 0, err
	}
	z := append([]float64(nil), y[:nc]...)
	blas64.Trmv(blas.NoTrans, l, blas64.Vector{N: n, Data: y, Inc: 1})
	return alone(l, y, z, nc), nil
}

// covariance is the Cholesky factor of the covariance of values at x [n, dx]: kernel replaces squared distances by covariances of values
// of variance 1, to which noise is added, of variance globeNoise to the first nc and of variance target to the others.
func covariance(x []float64, dx, nc int, target float64, kernel func(d2 []float64)) (blas64.Triangular, error) {
	n := len(x) / dx
	cov := make([]float64, n*n)
	_ = eachTask(n, func(i int) error {
		row := cov[i*n : i*n+i+1]
		for j := range row {
			for k := range dx {
				d := x[i*dx+k] - x[j*dx+k]
				row[j] += d * d
			}
		}
		kernel(row)
		row[i] = 1 + globeNoise
		if i >= nc {
			row[i] = 1 + target
		}
		return nil
	})
	if !choleskyLarge(cov, n) {
		return blas64.Triangular{}, fmt.Errorf("task: the covariance of %d points is not positive definite", n)
	}
	return blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: n, Data: cov, Stride: max(1, n)}, nil
}

// largeBlock is how many columns choleskyLarge factors between two matrix products.
const largeBlock = 128

// choleskyLarge replaces the lower triangle of a matrix [n, n] by its Cholesky factor, block by block, with the matrix products of
// linalg/blas: of 11,000 rows gonum's own take minutes. It reports whether the matrix was positive definite.
func choleskyLarge(a []float64, n int) bool {
	var fast fastblas.Implementation
	for lo := 0; lo < n; lo += largeBlock {
		hi := min(lo+largeBlock, n)
		if lo > 0 {
			fast.Dgemm(blas.NoTrans, blas.Trans, n-lo, hi-lo, lo, -1, a[lo*n:], n, a[lo*n:], n, 1, a[lo*n+lo:], n)
		}
		if _, ok := lapack64.Potrf(blas64.Symmetric{Uplo: blas.Lower, N: hi - lo, Data: a[lo*n+lo:], Stride: n}); !ok {
			return false
		}
		if hi < n {
			fast.Dtrsm(blas.Right, blas.Lower, blas.Trans, blas.NonUnit, n-hi, hi-lo, 1, a[lo*n+lo:], n, a[hi*n+lo:], n)
		}
	}
	return true
}

// alone is the mean log-density of the values y behind the first nc, each alone given those, of which z = L⁻¹·y is known.
func alone(l blas64.Triangular, y, z []float64, nc int) float64 {
	sum := 0.0
	for i := nc; i < len(y); i++ {
		mean, std := given(l, z[:nc], i)
		e := (y[i] - mean) / std
		sum -= 0.5*e*e + math.Log(std) + 0.5*math.Log(2*math.Pi)
	}
	return sum / float64(max(1, len(y)-nc))
}

// split makes tasks of points x [n, nc+nt, 2] and values y [n, nc+nt], of every task the context first.
func split[T cnp.Float](x, y []float64, n, nc, nt int) *Tasks[T] {
	b := &cnp.Batch[T]{B: n, Nc: nc, Nt: nt, YContext: make([]T, 0, n*nc)}
	out := &Tasks[T]{Curves: b, Y: make([]T, 0, n*nt)}
	for t := range n {
		at := t * (nc + nt)
		b.XContext = append(b.XContext, x[2*at:2*(at+nc)]...)
		b.XTarget = append(b.XTarget, x[2*(at+nc):2*(at+nc+nt)]...)
		for i, v := range y[at : at+nc+nt] {
			if i < nc {
				b.YContext = append(b.YContext, T(v))
			} else {
				out.Y = append(out.Y, T(v))
			}
		}
	}
	return out
}
