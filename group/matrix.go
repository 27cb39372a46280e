package group

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/equivcnp/equivcnp/linalg"
)

// Matrix is a user's own group of invertible real 2×2 matrices, acting on the plane by x -> M·x and described by a basis of
// its Lie algebra: a holds the coordinates of log M in that basis. Relative poses are logarithms of general matrices, so
// nothing else about the group needs to be known; without a bound its balls are found by comparing all pairs.
//
//	distance = α·|coordinates of the logarithm| + (1-α)·|q_i - q_j|
//
// A relative pose whose matrix has no real logarithm (an eigenvalue on the negative real axis) is NaN, which is at no
// distance below any radius.
type Matrix struct {
	weights
	name  string
	basis [][4]float64 // row by row
	dual  [][4]float64 // the coordinates of A are its entrywise products with these, summed
	orbit int
	lift  func(a, q, x []float64)
}

// NewMatrix returns the group whose Lie algebra the matrices of basis span (row by row, linearly independent, closed under
// commutators), with orbit orbit coordinates. lift writes the algebra coordinates of an element that takes the orbit's
// origin to x, and the orbit's coordinates. It panics if basis has not one to four independent matrices, orbit is not in
// [0, 64], lift is nil, or alpha not in (0, 1); alpha = 0 means 0.2.
func NewMatrix(name string, basis [][4]float64, orbit int, lift func(a, q, x []float64), alpha float64) *Matrix {
	if len(basis) < 1 || len(basis) > 4 || orbit < 0 || orbit > maxDim || lift == nil {
		panic(fmt.Sprintf("group: NewMatrix: %d basis matrices, need 1 to 4; orbit = %d, need 0 to %d; lift must not be nil", len(basis), orbit, maxDim))
	}
	g := &Matrix{newWeights("NewMatrix", alpha, defaultAlpha), name, append([][4]float64(nil), basis...), nil, orbit, lift}
	if !g.invert() {
		panic("group: NewMatrix: the basis is not linearly independent")
	}
	return g
}

// invert computes the dual basis: rows of (B Bᵀ)⁻¹ B, B the basis with one matrix a row, by Gauss-Jordan elimination with
// pivots.
func (g *Matrix) invert() bool {
	k := len(g.basis)
	m := make([][]float64, k) // B Bᵀ beside B
	for i := range m {
		m[i] = make([]float64, k+4)
		for j := range k {
			for e := range 4 {
				m[i][j] += g.basis[i][e] * g.basis[j][e]
			}
		}
		copy(m[i][k:], g.basis[i][:])
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
		g.dual = append(g.dual, [4]float64{})
		for e := range 4 {
			g.dual[c][e] = m[c][k+e] / m[c][c]
		}
	}
	return true
}

// Name is the name that the group was made with.
func (g *Matrix) Name() string { return g.name }

// PointDim is 2.
func (g *Matrix) PointDim() int { return 2 }

// AlgebraDim is the number of basis matrices.
func (g *Matrix) AlgebraDim() int { return len(g.basis) }

// OrbitDim is as the group was made.
func (g *Matrix) OrbitDim() int { return g.orbit }

// MaxLifts is 1.
func (g *Matrix) MaxLifts() int { return 1 }

// Lift calls the user's function, k times.
func (g *Matrix) Lift(a, q, x []float64, k int, _ *rand.Rand) {
	d := len(g.basis)
	for l := range k {
		g.lift(a[l*d:(l+1)*d], q[l*g.orbit:(l+1)*g.orbit], x[:2])
	}
}

// hat is the matrix with these coordinates, times s.
func (g *Matrix) hat(a []float64, s float64) (m [4]float64) {
	for c, b := range g.basis {
		for e, v := range b {
			m[e] += s * a[c] * v
		}
	}
	return m
}

// log writes the coordinates of log(x·y), NaN if there is none.
func (g *Matrix) log(dst []float64, x, y *[4]float64) {
	var m [4]float64
	linalg.Mul2x2(&m, x, y)
	ok := linalg.Log2x2(&m, &m)
	for c, d := range g.dual {
		if dst[c] = math.NaN(); ok {
			dst[c] = d[0]*m[0] + d[1]*m[1] + d[2]*m[2] + d[3]*m[3]
		}
	}
}

// RelativePose writes the coordinates of log(u_j⁻¹ u_i), and q_i, q_j.
func (g *Matrix) RelativePose(pose, ai, qi, aj, qj []float64) {
	d := len(g.basis)
	x, y := g.hat(aj, -1), g.hat(ai, 1)
	linalg.Exp2x2(&x, &x)
	linalg.Exp2x2(&y, &y)
	g.log(pose[:d], &x, &y)
	copy(pose[d:d+g.orbit], qi[:g.orbit])
	copy(pose[d+g.orbit:d+2*g.orbit], qj[:g.orbit])
}

// Distance is α·|coordinates of the logarithm| + (1-α)·|q_i - q_j|.
func (g *Matrix) Distance(pose []float64) float64 {
	d := len(g.basis)
	return g.mix(linalg.Norm(pose[:d]), gap(pose[d:d+g.orbit], pose[d+g.orbit:d+2*g.orbit]))
}

// Act writes exp(a)·x.
func (g *Matrix) Act(dst, a, x []float64) {
	m := g.hat(a, 1)
	linalg.Exp2x2(&m, &m)
	dst[0], dst[1] = m[0]*x[0]+m[1]*x[1], m[2]*x[0]+m[3]*x[1]
}

// Compose writes the coordinates of log(exp(a)·exp(b)), NaN if there is none.
func (g *Matrix) Compose(dst, a, b []float64) {
	x, y := g.hat(a, 1), g.hat(b, 1)
	linalg.Exp2x2(&x, &x)
	linalg.Exp2x2(&y, &y)
	g.log(dst[:len(g.basis)], &x, &y)
}

// Inverse writes -a.
func (g *Matrix) Inverse(dst, a []float64) {
	for c, v := range a[:len(g.basis)] {
		dst[c] = -v
	}
}
