package group

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/equivcnp/equivcnp/linalg"
)

// Matrix is a group of your own, made of invertible real 2×2 or 3×3 matrices that act on the plane or on space by x -> M·x. It is
// described by a basis of its Lie algebra, and a holds the coordinates of log M in that basis. Relative poses are logarithms of
// general matrices, so nothing else about the group needs to be known. It has no bounds, so its balls are found by comparing all
// pairs.
//
//	distance = α·|coordinates of the logarithm| + (1-α)·|q_i - q_j|
//
// Where the matrix of a relative pose has no real logarithm (it has an eigenvalue on the negative real axis), the pose is NaN,
// and the two points are not neighbours at any radius.
//
// Affine maps of the plane are 3×3 matrices that keep the last coordinate of (x, y, 1).
type Matrix struct {
	weights
	name  string
	d     int         // the matrices are d×d
	basis [][]float64 // row by row
	dual  [][]float64 // the coordinates of A are its entrywise products with these, summed
	orbit int
	lift  func(a, q, x []float64)
}

// NewMatrix returns the group of 2×2 matrices whose Lie algebra is spanned by the matrices of basis, each row by row. lift
// writes, for a point x, the algebra coordinates of an element that takes the origin of x's orbit to x, and the orbit's
// coordinates, orbit numbers. It panics if basis has not one to four matrices, if they are linearly dependent or the commutator
// of two of them is not in their span, if orbit is not in [0, 64], lift is nil, or alpha not in (0, 1); alpha = 0 means 0.2.
func NewMatrix(name string, basis [][4]float64, orbit int, lift func(a, q, x []float64), alpha float64) *Matrix {
	var rows [][]float64
	for _, b := range basis {
		rows = append(rows, b[:])
	}
	return newMatrix("NewMatrix", name, 2, rows, orbit, lift, alpha)
}

// NewMatrix3 is like NewMatrix for 3×3 matrices, one to nine of them, and points of space.
func NewMatrix3(name string, basis [][9]float64, orbit int, lift func(a, q, x []float64), alpha float64) *Matrix {
	var rows [][]float64
	for _, b := range basis {
		rows = append(rows, b[:])
	}
	return newMatrix("NewMatrix3", name, 3, rows, orbit, lift, alpha)
}

// newMatrix makes the group. It keeps basis, which must be a copy.
func newMatrix(caller, name string, d int, basis [][]float64, orbit int, lift func(a, q, x []float64), alpha float64) *Matrix {
	if len(basis) < 1 || len(basis) > d*d || orbit < 0 || orbit > maxDim || lift == nil {
		panic(fmt.Sprintf("group: %s: %d basis matrices, need 1 to %d; orbit = %d, need 0 to %d; lift must not be nil",
			caller, len(basis), d*d, orbit, maxDim))
	}
	g := &Matrix{newWeights(caller, alpha, defaultAlpha), name, d, basis, nil, orbit, lift}
	if !g.invert() {
		panic("group: " + caller + ": the basis is not linearly independent")
	}
	if i, j, closed := g.closed(); !closed {
		panic(fmt.Sprintf("group: %s: the basis is not closed under commutators: that of matrices %d and %d is not in its span",
			caller, i, j))
	}
	return g
}

// invert computes the dual basis: rows of (B Bᵀ)⁻¹ B, B the basis with one matrix a row, by Gauss-Jordan elimination with
// pivots.
func (g *Matrix) invert() bool {
	k, entries := len(g.basis), g.d*g.d
	m := make([][]float64, k) // B Bᵀ beside B
	for i := range m {
		m[i] = make([]float64, k+entries)
		for j := range k {
			for e := range entries {
				m[i][j] += g.basis[i][e] * g.basis[j][e]
			}
		}
		copy(m[i][k:], g.basis[i])
	}
	for c := range k {
		p := c
		for i := c; i < k; i++ {
			if math.Abs(m[i][c]) > math.Abs(m[p][c]) {
				p = i
			}
		}
		size := 0.0
		for _, v := range g.basis[c] {
			size += v * v
		}
		if !(math.Abs(m[p][c]) > 1e-12*size) {
			return false
		}
		m[c], m[p] = m[p], m[c]
		for i := range m {
			f := m[i][c] / m[c][c]
			for e := range m[i] {
				if i == c {
					break
				}
				m[i][e] -= f * m[c][e]
			}
		}
	}
	for c := range k {
		row := make([]float64, entries)
		for e := range row {
			row[e] = m[c][k+e] / m[c][c]
		}
		g.dual = append(g.dual, row)
	}
	return true
}

// closed reports whether the basis spans a Lie algebra, that is, whether the commutators of its matrices lie in its span. If not,
// i and j name two matrices whose commutator does not. Without this, products of exponentials have logarithms that the
// coordinates cannot express.
func (g *Matrix) closed() (i, j int, ok bool) {
	norm := func(x []float64) (sum float64) {
		for _, v := range x {
			sum += v * v
		}
		return math.Sqrt(sum)
	}
	for i, x := range g.basis {
		for j, y := range g.basis[:i] {
			c := make([]float64, g.d*g.d)
			for r := range g.d {
				for s := range g.d {
					for k := range g.d {
						c[r*g.d+s] += x[r*g.d+k]*y[k*g.d+s] - y[r*g.d+k]*x[k*g.d+s]
					}
				}
			}
			for k, d := range g.dual { // subtract the part in the span
				part := 0.0
				for e, v := range d {
					part += v * c[e]
				}
				for e, v := range g.basis[k] {
					c[e] -= part * v
				}
			}
			if !(norm(c) <= 1e-9*norm(x)*norm(y)) {
				return j, i, false
			}
		}
	}
	return 0, 0, true
}

// Name returns the name that the group was made with.
func (g *Matrix) Name() string { return g.name }

// PointDim returns 2 or 3, the size of the matrices.
func (g *Matrix) PointDim() int { return g.d }

// AlgebraDim returns the number of basis matrices.
func (g *Matrix) AlgebraDim() int { return len(g.basis) }

// OrbitDim returns the number of orbit coordinates that the group was made with.
func (g *Matrix) OrbitDim() int { return g.orbit }

// MaxLifts returns 1.
func (g *Matrix) MaxLifts() int { return 1 }

// Lift calls the user's function, k times.
func (g *Matrix) Lift(a, q, x []float64, k int, _ *rand.Rand) {
	d := len(g.basis)
	for l := range k {
		g.lift(a[l*d:(l+1)*d], q[l*g.orbit:(l+1)*g.orbit], x[:g.d])
	}
}

// exp returns exp(s·A) row by row, A being the matrix with coordinates a; a 2×2 matrix takes the first four entries.
func (g *Matrix) exp(a []float64, s float64) (m [9]float64) {
	for c, b := range g.basis {
		for e, v := range b {
			m[e] += s * a[c] * v
		}
	}
	if g.d == 2 {
		linalg.Exp2x2((*[4]float64)(m[:]), (*[4]float64)(m[:]))
	} else {
		linalg.Exp3x3(&m, &m)
	}
	return m
}

// log writes the coordinates of log(x·y), NaN if there is no logarithm.
func (g *Matrix) log(dst []float64, x, y *[9]float64) {
	var m [9]float64
	var ok bool
	if g.d == 2 {
		p := (*[4]float64)(m[:])
		linalg.Mul2x2(p, (*[4]float64)(x[:]), (*[4]float64)(y[:]))
		ok = linalg.Log2x2(p, p)
	} else {
		linalg.Mul3x3(&m, x, y)
		ok = linalg.Log3x3(&m, &m)
	}
	for c, d := range g.dual {
		if dst[c] = math.NaN(); ok {
			dst[c] = 0
			for e, v := range d {
				dst[c] += v * m[e]
			}
		}
	}
}

// RelativePose writes the coordinates of log(u_j⁻¹ u_i), and q_i, q_j.
func (g *Matrix) RelativePose(pose, ai, qi, aj, qj []float64) {
	d := len(g.basis)
	x, y := g.exp(aj, -1), g.exp(ai, 1)
	g.log(pose[:d], &x, &y)
	copy(pose[d:d+g.orbit], qi[:g.orbit])
	copy(pose[d+g.orbit:d+2*g.orbit], qj[:g.orbit])
}

// Distance returns α·|coordinates of the logarithm| + (1-α)·|q_i - q_j|.
func (g *Matrix) Distance(pose []float64) float64 {
	d := len(g.basis)
	return g.mix(linalg.Norm(pose[:d]), gap(pose[d:d+g.orbit], pose[d+g.orbit:d+2*g.orbit]))
}

// Act writes exp(a)·x.
func (g *Matrix) Act(dst, a, x []float64) {
	m := g.exp(a, 1)
	var y [3]float64
	for i := range g.d {
		for c := range g.d {
			y[i] += m[g.d*i+c] * x[c]
		}
	}
	copy(dst[:g.d], y[:])
}

// Compose writes the coordinates of log(exp(a)·exp(b)), NaN if there is none.
func (g *Matrix) Compose(dst, a, b []float64) {
	x, y := g.exp(a, 1), g.exp(b, 1)
	g.log(dst[:len(g.basis)], &x, &y)
}

// Inverse writes -a.
func (g *Matrix) Inverse(dst, a []float64) {
	for c, v := range a[:len(g.basis)] {
		dst[c] = -v
	}
}
