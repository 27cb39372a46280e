package task

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/internal/parallel"
)

// The vector fields are those of V. Dutordoir et al. and E. Mathieu et al., Geometric Neural Diffusion Processes
// (2023), after P. Holderrieth et al., Equivariant Learning of Stochastic Fields (2021): Gaussian processes in the
// plane, seen at the points of a 30 x 30 grid over [-10, 10] that lie within 10 of its centre, with noise of variance
// 0.02 in each component.

// VectorKernels are the names of the processes. With d the difference of two places, and r its length, the covariance of their vectors is
//
//   - "rbf": exp(-r²/10)·1;
//   - "curl-free": exp(-r²/10)·(1 - d·dᵀ/5), of gradients of potentials;
//   - "divergence-free": exp(-r²/10)·(d·dᵀ/5 + (1 - r²/5)·1), of flows of what cannot be compressed.
//
// Both numbers of a vector are seen with noise of variance 0.02.
var VectorKernels = []string{"rbf", "curl-free", "divergence-free"}

const (
	vectorSide, vectorRadius = 30, 10.0
	vectorNoise              = 0.02
	vectorContext            = 25
)

// VectorSource is the Source of vector fields of a kernel, one of VectorKernels. A number of grid points, the same in
// all tasks of a batch, are the context: from MinContext to MaxContext, log-uniformly. With both 0 there are 25, as in
// the published table. Of the other points Targets are targets, or as many as there are; 0: all.
type VectorSource[T cnp.Float] struct {
	Kernel                 string
	MinContext, MaxContext int
	Targets                int
}

// context is the least and the greatest number of context points.
func (s VectorSource[T]) context() (least, most int) {
	if s.MinContext == 0 && s.MaxContext == 0 {
		return vectorContext, vectorContext
	}
	return s.MinContext, s.MaxContext
}

// Validate reports what no task can be drawn from.
func (s VectorSource[T]) Validate() error {
	if !slices.Contains(VectorKernels, s.Kernel) {
		return fmt.Errorf("task: vector fields of kernel %q, need one of %s", clip(s.Kernel), strings.Join(VectorKernels, ", "))
	}
	if least, most := s.context(); least < 0 || most < least || most >= len(vectorGrid())/2 {
		return fmt.Errorf("task: %d to %d context points of %d", least, most, len(vectorGrid())/2)
	}
	if s.Targets < 0 {
		return fmt.Errorf("task: %d targets, need at least 1, or 0 for all", s.Targets)
	}
	return nil
}

// String implements Source.
func (s VectorSource[T]) String() string {
	least, most := s.context()
	n := fmt.Sprint(least)
	if most > least {
		n += fmt.Sprintf(" to %d", most)
	}
	name := fmt.Sprintf("%s vector fields on the disc of radius %g, %s context points", s.Kernel, vectorRadius, n)
	if s.Targets > 0 {
		name += fmt.Sprintf(", %d targets", s.Targets)
	}
	return name
}

// Work implements Sized.
func (s VectorSource[T]) Work(n int) cnp.Work {
	least, most := s.context()
	return cnp.Work{Batch: n, Span: 2 * vectorRadius, Context: most, Targets: s.targets(least)}
}

// targets is the number of targets beside so many context points.
func (s VectorSource[T]) targets(context int) int {
	n := len(vectorGrid())/2 - context
	if s.Targets > 0 {
		n = min(n, s.Targets)
	}
	return n
}

// vectorGrid returns the places [n, 2].
var vectorGrid = sync.OnceValue(func() (x []float64) {
	at := func(i int) float64 { return vectorRadius * (2*float64(i) - (vectorSide - 1)) / (vectorSide - 1) }
	for i := range vectorSide {
		for j := range vectorSide {
			if math.Hypot(at(i), at(j)) <= vectorRadius {
				x = append(x, at(i), at(j))
			}
		}
	}
	return x
})

// vectorCovariance writes the covariance [2, 2] of the vectors at x and y, noise not included.
func vectorCovariance(dst *[4]float64, kernel string, x, y []float64) {
	d := [2]float64{x[0] - y[0], x[1] - y[1]}
	r2 := d[0]*d[0] + d[1]*d[1]
	e := math.Exp(-r2 / 10)
	one, outer := 1.0, 0.0
	switch kernel {
	case "curl-free":
		outer = -1.0 / 5
	case "divergence-free":
		one, outer = 1-r2/5, 1.0/5
	}
	for i := range 2 {
		for j := range 2 {
			dst[2*i+j] = e * outer * d[i] * d[j]
			if i == j {
				dst[2*i+j] += e * one
			}
		}
	}
}

// factorVectors returns the Cholesky factor of the covariance of the vectors at x [n, 2], with their noise.
func factorVectors(kernel string, x []float64) (blas64.Triangular, error) {
	n := len(x) // numbers, two of each place
	cov := make([]float64, n*n)
	var block [4]float64
	for i := 0; i < n; i += 2 {
		for j := 0; j <= i; j += 2 {
			vectorCovariance(&block, kernel, x[i:i+2], x[j:j+2])
			for a := range 2 {
				for b := range 2 {
					cov[(i+a)*n+j+b] = block[2*a+b]
				}
			}
		}
		cov[i*n+i] += vectorNoise
		cov[(i+1)*n+i+1] += vectorNoise
	}
	l, ok := lapack64.Potrf(blas64.Symmetric{Uplo: blas.Lower, N: n, Data: cov, Stride: max(1, n)})
	if !ok {
		return l, fmt.Errorf("task: the covariance of %d vectors is not positive definite", n/2)
	}
	return l, nil
}

// gridFactors keeps the factors of the whole grid.
var gridFactors = struct {
	sync.Mutex
	of map[string]blas64.Triangular
}{of: map[string]blas64.Triangular{}}

// gridFactor is factorVectors for the whole grid.
func gridFactor(kernel string) (blas64.Triangular, error) {
	gridFactors.Lock()
	defer gridFactors.Unlock()
	if l, ok := gridFactors.of[kernel]; ok {
		return l, nil
	}
	l, err := factorVectors(kernel, vectorGrid())
	if err == nil {
		gridFactors.of[kernel] = l
	}
	return l, err
}

// Batch implements Source.
func (s VectorSource[T]) Batch(n int, seed uint64, step int) (*Tasks[T], error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	l, err := gridFactor(s.Kernel)
	if err != nil {
		return nil, err
	}
	grid, rng := vectorGrid(), StepRand(seed, step)
	points := len(grid) / 2
	least, most := s.context()
	lo, hi := math.Log(float64(least+1)), math.Log(float64(most+2))
	nc := max(least, min(most, int(math.Exp(lo+(hi-lo)*rng.Float64()))-1))
	y, order := make([]float64, n*2*points), make([][]int, n)
	for t := range n {
		for i := range 2 * points {
			y[t*2*points+i] = rng.NormFloat64()
		}
		order[t] = rng.Perm(points)
	}
	parallel.For(n, 1, func(lo, hi int) {
		for t := lo; t < hi; t++ {
			blas64.Trmv(blas.NoTrans, l, blas64.Vector{N: 2 * points, Data: y[t*2*points : (t+1)*2*points], Inc: 1})
		}
	})
	b := &cnp.Batch[T]{B: n, Nc: nc, Nt: s.targets(nc)}
	out := &Tasks[T]{Curves: b}
	for t, order := range order {
		for k, i := range order[:nc+b.Nt] {
			x, v := grid[2*i:2*i+2], y[(t*points+i)*2:][:2]
			if k < nc {
				b.XContext, b.YContext = append(b.XContext, x...), append(b.YContext, T(v[0]), T(v[1]))
			} else {
				b.XTarget, out.Y = append(b.XTarget, x...), append(out.Y, T(v[0]), T(v[1]))
			}
		}
	}
	return out, nil
}

// Gaussian reports that the process is Gaussian, so that Exact knows its densities.
func (s VectorSource[T]) Gaussian() bool { return true }

// Exact returns how likely the targets of every task are, given its context, by the process: the log-density of all
// together, which nothing beats, and the mean of those of each target alone, both its components together, which
// nothing beats that predicts targets independently of each other. Both are divided by the number of values, two of
// each target.
func (s VectorSource[T]) Exact(tasks *Tasks[T]) (joint, diagonal []float64, err error) {
	if err := s.check(tasks); err != nil {
		return nil, nil, err
	}
	b := tasks.Curves
	joint, diagonal = make([]float64, b.B), make([]float64, b.B)
	err = eachTask(b.B, func(t int) (err error) {
		joint[t], diagonal[t], err = s.exact(b.XContext[2*t*b.Nc:2*(t+1)*b.Nc], wide(b.YContext[2*t*b.Nc:2*(t+1)*b.Nc]),
			b.XTarget[2*t*b.Nt:2*(t+1)*b.Nt], wide(tasks.Y[2*t*b.Nt:2*(t+1)*b.Nt]))
		joint[t], diagonal[t] = joint[t]/float64(2*b.Nt), diagonal[t]/float64(2*b.Nt)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	return joint, diagonal, nil
}

// Predictive implements GaussianSource. It takes the cube of the number of context points.
func (s VectorSource[T]) Predictive(tasks *Tasks[T]) (mean, factor []float64, err error) {
	if err := s.check(tasks); err != nil {
		return nil, nil, err
	}
	b := tasks.Curves
	mean, factor = make([]float64, len(tasks.Y)), make([]float64, 2*len(tasks.Y))
	err = eachTask(b.B, func(t int) error {
		l, err := factorVectors(s.Kernel, b.XContext[2*t*b.Nc:2*(t+1)*b.Nc])
		if err != nil {
			return err
		}
		z := wide(b.YContext[2*t*b.Nc : 2*(t+1)*b.Nc])
		densityOf(l, z)
		s.given(l, b.XContext[2*t*b.Nc:2*(t+1)*b.Nc], z, b.XTarget[2*t*b.Nt:2*(t+1)*b.Nt], func(i int, m [2]float64, cov [3]float64) {
			at := t*b.Nt + i
			copy(mean[2*at:], m[:])
			xx := math.Sqrt(cov[0])
			xy := cov[1] / xx
			copy(factor[4*at:], []float64{xx, 0, xy, math.Sqrt(cov[2] - xy*xy)})
		})
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	return mean, factor, nil
}

// check reports what is no batch of vector fields.
func (s VectorSource[T]) check(tasks *Tasks[T]) error {
	if err := s.Validate(); err != nil {
		return err
	}
	b := tasks.Curves
	if b == nil || len(b.XContext) != 2*b.B*b.Nc || len(b.YContext) != 2*b.B*b.Nc || len(b.XTarget) != 2*b.B*b.Nt ||
		len(tasks.Y) != 2*b.B*b.Nt ||
		b.ContextMask != nil || b.TargetMask != nil {
		return fmt.Errorf("task: these are not vector fields")
	}
	return nil
}

func wide[T cnp.Float](v []T) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = float64(x)
	}
	return out
}

// exact is Exact for one task: a density given the context is that of all less that of the context.
func (s VectorSource[T]) exact(xc, yc, xt, yt []float64) (joint, diagonal float64, err error) {
	all, err := s.together(slices.Concat(xc, xt), slices.Concat(yc, yt))
	if err != nil {
		return 0, 0, err
	}
	l, err := factorVectors(s.Kernel, xc)
	if err != nil {
		return 0, 0, err
	}
	z := slices.Clone(yc)
	joint = all - densityOf(l, z) // and z is L⁻¹·y
	s.given(l, xc, z, xt, func(i int, mean [2]float64, cov [3]float64) {
		det := cov[0]*cov[2] - cov[1]*cov[1]
		e, f := yt[2*i]-mean[0], yt[2*i+1]-mean[1]
		diagonal -= 0.5*(cov[2]*e*e-2*cov[1]*e*f+cov[0]*f*f)/det + 0.5*math.Log(det) + math.Log(2*math.Pi)
	})
	return joint, diagonal, nil
}

// given calls f with the mean and the covariance (xx, xy, yy) of every target's vector, given the context: L is the
// factor of its covariance, and z is L⁻¹·y.
func (s VectorSource[T]) given(l blas64.Triangular, xc, z, xt []float64, f func(i int, mean [2]float64, cov [3]float64)) {
	n := len(xc)
	v := make([]float64, 2*n) // of the two components of a target, L⁻¹ times their covariance with the context
	var block [4]float64
	for i := 0; i < len(xt); i += 2 {
		for j := 0; j < n; j += 2 {
			vectorCovariance(&block, s.Kernel, xc[j:j+2], xt[i:i+2])
			v[j], v[j+1], v[n+j], v[n+j+1] = block[0], block[2], block[1], block[3]
		}
		var mean [2]float64
		for a := range 2 {
			own := v[a*n : (a+1)*n]
			if n > 0 {
				blas64.Trsv(blas.NoTrans, l, blas64.Vector{N: n, Data: own, Inc: 1})
			}
			for j, w := range own {
				mean[a] += w * z[j]
			}
		}
		cov := [3]float64{1 + vectorNoise, 0, 1 + vectorNoise} // xx, xy, yy
		for j := range n {
			cov[0] -= v[j] * v[j]
			cov[1] -= v[j] * v[n+j]
			cov[2] -= v[n+j] * v[n+j]
		}
		f(i/2, mean, cov)
	}
}

// together is the log-density of vectors y at x. Those of the whole grid share its factor.
func (s VectorSource[T]) together(x, y []float64) (float64, error) {
	if grid := vectorGrid(); len(x) == len(grid) {
		at := map[[2]float64]int{}
		for i := 0; i < len(grid); i += 2 {
			at[[2]float64(grid[i:i+2])] = i
		}
		sorted := make([]float64, len(y))
		for i := 0; i < len(x); i += 2 {
			k, ok := at[[2]float64(x[i:i+2])]
			if !ok {
				break
			}
			copy(sorted[k:k+2], y[i:i+2])
			delete(at, [2]float64(x[i:i+2]))
		}
		if len(at) == 0 {
			l, err := gridFactor(s.Kernel)
			return densityOf(l, sorted), err
		}
	}
	l, err := factorVectors(s.Kernel, x)
	if err != nil {
		return 0, err
	}
	return densityOf(l, slices.Clone(y)), nil
}

// densityOf is the log-density of y with the covariance L·Lᵀ, and replaces y by L⁻¹·y.
func densityOf(l blas64.Triangular, y []float64) (sum float64) {
	if len(y) == 0 {
		return 0
	}
	blas64.Trsv(blas.NoTrans, l, blas64.Vector{N: len(y), Data: y, Inc: 1})
	for i, z := range y {
		sum -= 0.5*z*z + math.Log(l.Data[i*l.Stride+i]) + 0.5*math.Log(2*math.Pi)
	}
	return sum
}
