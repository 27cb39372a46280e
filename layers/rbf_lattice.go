package layers

import (
	"math"

	"github.com/equivcnp/equivcnp/internal/reuse"
	"github.com/equivcnp/equivcnp/layers/internal/buffers"
	"github.com/equivcnp/equivcnp/layers/internal/check"
	"github.com/equivcnp/equivcnp/simd"
)

// Lattice is the points of a lattice, or of any grid: their coordinates along each axis. The last axis runs fastest.
type Lattice [][]float64

// Points returns the number of points.
func (l Lattice) Points() int {
	n := 1
	for _, t := range l {
		n *= len(t)
	}
	return n
}

// LatticeConv evaluates set convolutions at the points of lattices. It is memory that is used again; its zero value is ready.
//
// The exponential of a distance is a product over the axes,
//
//	exp(-gamma·|t - x|²) = Π_a exp(-gamma·(t_a - x_a)²),
//
// so a point x needs exponentials along the axes alone. What they make at all points of the lattice is a product of two matrices: one
// of all axes but the last, and one of the last axis with phi,
//
//	h[(t_1, ..), (t_d, j)] = scale · Σ_n lead[n, (t_1, ..)] · last[n, (t_d, j)].
type LatticeConv[T Float] struct {
	e          [][]T // [points, len(axis)] of each axis
	lead, last []T

	far               [][]float64 // squared distances along each axis, for gradients
	leadFar, at, back []T
}

// latticePoints is how many points x are taken at a time.
const latticePoints = 128

// leastExponent is below what exponents make a factor count as 0. Half of the range of numbers: no product of two is subnormal, which
// would take a hundred times as long.
func leastExponent[T Float]() float64 {
	if buffers.SizeOf[T]() == 4 {
		return -43
	}
	return -350
}

// factors sets lead and last to those of some points; with far, it also sets leadFar to lead times the squared distance
// along the leading axes.
func (l *LatticeConv[T]) factors(axes Lattice, x []float64, phi []T, c int, gamma float64, far bool) {
	d := len(axes)
	n := len(x) / d
	for len(l.e) < d {
		l.e, l.far = append(l.e, nil), append(l.far, nil)
	}
	least := leastExponent[T]()
	for a, t := range axes {
		e := reuse.Sized(l.e[a], n*len(t))
		if far {
			l.far[a] = reuse.Sized(l.far[a], n*len(t))
		}
		for i := range n {
			xa, row := x[i*d+a], e[i*len(t):(i+1)*len(t)]
			for k, v := range t {
				dist2 := (v - xa) * (v - xa)
				if far {
					l.far[a][i*len(t)+k] = dist2
				}
				if v := -gamma * dist2; v < least {
					row[k] = T(math.Inf(-1))
				} else {
					row[k] = T(v)
				}
			}
		}
		simd.Exp(e, e)
		l.e[a] = e
	}
	lead, width := Lattice(axes[:d-1]).Points(), len(axes[d-1])
	l.lead, l.last = reuse.Sized(l.lead, n*lead), reuse.Sized(l.last, n*width*c)
	if far {
		l.leadFar = reuse.Sized(l.leadFar, n*lead)
	}
	for i := range n {
		row := l.lead[i*lead : (i+1)*lead]
		l.leadRow(row, i, axes[:d-1], math.Exp(least))
		if far {
			l.leadFarRow(l.leadFar[i*lead:(i+1)*lead], row, i, axes[:d-1])
		}
		e, p, last := l.e[d-1][i*width:(i+1)*width], phi[i*c:(i+1)*c], l.last[i*width*c:(i+1)*width*c]
		for k, v := range e {
			for j, w := range p {
				last[k*c+j] = v * w
			}
		}
	}
}

// leadRow sets row to the products of point i's factors along some axes; those below least count as 0.
func (l *LatticeConv[T]) leadRow(row []T, i int, axes Lattice, least float64) {
	row[0] = 1
	have := 1
	for a, t := range axes {
		e := l.e[a][i*len(t) : (i+1)*len(t)]
		for m := have - 1; m >= 0; m-- { // from the end: what is overwritten has been read
			v := row[m]
			for k, w := range e {
				product := v * w
				if float64(product) < least {
					product = 0
				}
				row[m*len(t)+k] = product
			}
		}
		have *= len(t)
	}
}

// leadFarRow sets dst to row, point i's, times the squared distances along its axes.
func (l *LatticeConv[T]) leadFarRow(dst, row []T, i int, axes Lattice) {
	for m, v := range row {
		rest, dist2 := m, 0.0
		for a := len(axes) - 1; a >= 0; a-- {
			n := len(axes[a])
			dist2 += l.far[a][i*n+rest%n]
			rest /= n
		}
		if dst[m] = 0; v > 0 { // where it is 0, the distance may be infinite
			dst[m] = T(float64(v) * dist2)
		}
	}
}

// checkLattice checks the lengths of x [n, d] and phi [n, c], and returns d, the number of axes.
func checkLattice(axes Lattice, lenX, lenPhi, c int) (d int) {
	check.Given("LatticeConv", "axes", len(axes) > 0)
	check.Len("LatticeConv", "x", lenX, lenX/len(axes), len(axes))
	check.Len("LatticeConv", "phi", lenPhi, lenX/len(axes), c)
	return len(axes)
}

// Forward sets h [axes.Points(), c] to scale · Σ_n phi_n · exp(-gamma·|t - x_n|²) at the lattice's points t, for x [n,
// d] and phi [n, c]: what simd.SetConv gives, but for rounding, and for factors below 1e-18, which count as 0.
func (l *LatticeConv[T]) Forward(h []T, axes Lattice, x []float64, phi []T, c int, gamma, scale float64) {
	l.ForwardUntil(nil, h, axes, x, phi, c, gamma, scale)
}

// ForwardUntil is Forward, but asks stop, if that is not nil, now and then. Once stop says true, it returns false, and h is not defined.
func (l *LatticeConv[T]) ForwardUntil(stop func() bool, h []T, axes Lattice, x []float64, phi []T, c int, gamma, scale float64) bool {
	d := checkLattice(axes, len(x), len(phi), c)
	lead, width := Lattice(axes[:d-1]).Points(), len(axes[d-1])*c
	check.Len("LatticeConv", "h", len(h), lead*width)
	clear(h)
	for lo, n := 0, len(x)/d; lo < n && len(h) > 0; lo += latticePoints {
		if stopped(stop) {
			return false
		}
		hi := min(lo+latticePoints, n)
		l.factors(axes, x[lo*d:hi*d], phi[lo*c:hi*c], c, gamma, false)
		simd.GemmTN(h, width, l.lead, lead, l.last, width, T(scale), 1, lead, width, hi-lo)
	}
	return true
}

// Grad returns the gradients to gamma and scale, given that to Forward's result, dh [axes.Points(), c].
func (l *LatticeConv[T]) Grad(dh []T, axes Lattice, x []float64, phi []T, c int, gamma, scale float64) (dgamma, dscale float64) {
	d := checkLattice(axes, len(x), len(phi), c)
	lead, width := Lattice(axes[:d-1]).Points(), len(axes[d-1])*c
	check.Len("LatticeConv", "dh", len(dh), lead*width)
	for lo, n := 0, len(x)/d; lo < n && len(dh) > 0; lo += latticePoints {
		points := min(latticePoints, n-lo)
		l.factors(axes, x[lo*d:(lo+points)*d], phi[lo*c:(lo+points)*c], c, gamma, true)
		l.back = reuse.Sized(l.back, points*width)
		simd.Gemm(l.back, width, l.lead, lead, dh, width, 1, 0, points, width, lead)
		// The last axis' part of the distance.
		l.at = reuse.Sized(l.at, points*width)
		for i, v := range l.far[d-1] {
			for j, w := range l.last[i*c : (i+1)*c] {
				if l.at[i*c+j] = 0; w != 0 {
					l.at[i*c+j] = T(float64(w) * v)
				}
			}
		}
		dscale += simd.Dot(l.back, l.last)
		dgamma -= simd.Dot(l.back, l.at)
		simd.Gemm(l.back, width, l.leadFar, lead, dh, width, 1, 0, points, width, lead)
		dgamma -= simd.Dot(l.back, l.last)
	}
	return scale * dgamma, dscale
}

// ForwardLattice is like Forward at the points of a lattice.
func (k *RBF[T]) ForwardLattice(h []T, t Lattice, x []float64, phi []T, c int) {
	var conv LatticeConv[T]
	conv.Forward(h, t, x, phi, c, k.gamma(), k.Scale())
}

// BackwardLattice is like Backward for ForwardLattice, without a gradient of phi.
func (k *RBF[T]) BackwardLattice(dh []T, t Lattice, x []float64, phi []T, c int, g *Grads[T]) {
	var conv LatticeConv[T]
	dgamma, dscale := conv.Grad(dh, t, x, phi, c, k.gamma(), k.Scale())
	k.addGrads(g, []float64{dgamma, dscale})
}
