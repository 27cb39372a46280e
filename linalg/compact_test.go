package linalg_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
	. "github.com/equivcnp/equivcnp/linalg"
	"github.com/equivcnp/equivcnp/linalg/batch"
	"github.com/equivcnp/equivcnp/simd"
)

// A compactGroup is a group as its batches see it: compact elements, coordinates, and how many of both are rotation (and
// scaling); the rest are translation.
type compactGroup struct {
	batch.Group
	name    string
	g, k, n int // coordinates, entries of an element, size of the matrix
	rot     int // leading coordinates that are no translation
	hatOf   func(a []float64) []float64
}

var compactGroups = []compactGroup{
	{batch.SO2, "SO2", 1, 2, 2, 1, func(a []float64) []float64 { return []float64{0, -a[0], a[0], 0} }},
	{batch.RxSO2, "RxSO2", 2, 2, 2, 2, func(a []float64) []float64 { return []float64{a[0], -a[1], a[1], a[0]} }},
	{batch.SE2, "SE2", 3, 4, 3, 1, func(a []float64) []float64 { return []float64{0, -a[0], a[1], a[0], 0, a[2], 0, 0, 0} }},
	{batch.Sim2, "Sim2", 4, 4, 3, 2, func(a []float64) []float64 { return []float64{a[0], -a[1], a[2], a[1], a[0], a[3], 0, 0, 0} }},
	{batch.SO3, "SO3", 3, 9, 3, 3, func(a []float64) []float64 { return []float64{0, -a[2], a[1], a[2], 0, -a[0], -a[1], a[0], 0} }},
	{batch.SE3, "SE3", 6, 12, 4, 3, func(a []float64) []float64 {
		return []float64{0, -a[2], a[1], a[3], a[2], 0, -a[0], a[4], -a[1], a[0], 0, a[5], 0, 0, 0, 0}
	}},
}

func (c *compactGroup) exp(e, a []float64)               { batch.Exp(c.Group, e, a, 1) }
func (c *compactGroup) log(a, e []float64)               { batch.Log(c.Group, a, e, 1) }
func (c *compactGroup) jacobian(j, a []float64)          { batch.LeftJacobian(c.Group, j, a, 1) }
func (c *compactGroup) jinv(j, a []float64)              { batch.LeftJacobianInv(c.Group, j, a, 1) }
func (c *compactGroup) adjoint(j, e []float64)           { batch.Adjoint(c.Group, j, e, 1) }
func (c *compactGroup) exp32(e, a []float32, n int)      { batch.Exp(c.Group, e, a, n) }
func (c *compactGroup) log32(a, e []float32, n int)      { batch.Log(c.Group, a, e, n) }
func (c *compactGroup) jacobian32(j, a []float32, n int) { batch.LeftJacobian(c.Group, j, a, n) }
func (c *compactGroup) jinv32(j, a []float32, n int)     { batch.LeftJacobianInv(c.Group, j, a, n) }
func (c *compactGroup) adjoint32(j, e []float32, n int)  { batch.Adjoint(c.Group, j, e, n) }

// hat writes the matrix of an element of the algebra.
func (c *compactGroup) hat(m, a []float64) { copy(m, c.hatOf(a)) }

// groupOf returns the group of that name.
func groupOf(name string) *compactGroup {
	for i := range compactGroups {
		if compactGroups[i].name == name {
			return &compactGroups[i]
		}
	}
	panic("no group " + name)
}

// widen copies src, converted, into dst of the same length.
func widen(dst []float64, src []float32) {
	for e, v := range src {
		dst[e] = float64(v)
	}
}

// narrow copies src, rounded, into dst of the same length.
func narrow(dst []float32, src []float64) {
	for e, v := range src {
		dst[e] = float32(v)
	}
}

func allFinite[T batch.Float](m []T) bool {
	for _, v := range m {
		if v-v != 0 {
			return false
		}
	}
	return true
}

// entries lists where a compact element's entries stand in the matrix: those of the linear part, then the translation.
func (c *compactGroup) entries() (linear, translation, inMatrix []int) {
	switch c.name {
	case "SO2", "RxSO2":
		return []int{0, 1}, nil, []int{0, 2}
	case "SE2", "Sim2":
		return []int{0, 1}, []int{2, 3}, []int{0, 3, 2, 5}
	case "SO3":
		return []int{0, 1, 2, 3, 4, 5, 6, 7, 8}, nil, []int{0, 1, 2, 3, 4, 5, 6, 7, 8}
	}
	return []int{0, 1, 2, 4, 5, 6, 8, 9, 10}, []int{3, 7, 11}, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
}

func pick[T any](a []T, index []int) []T {
	out := make([]T, len(index))
	for i, k := range index {
		out[i] = a[k]
	}
	return out
}

// matrix is the full matrix of the compact element e, its rotation made exactly orthogonal: of all rotations the nearest,
// by Newton's iteration for the polar decomposition. Where scaling belongs to the group it is kept.
func (c *compactGroup) matrix(e []float64) bigMat {
	m := newBig(c.n)
	_, _, at := c.entries()
	for i, k := range at {
		m.v[k].SetFloat64(e[i])
	}
	if c.n == 4 || (c.n == 3 && c.name != "SO3") {
		m.v[c.n*c.n-1].SetInt64(1)
	}
	if c.name != "SO3" && c.name != "SE3" {
		m.v[1].Neg(m.v[c.n])
		m.v[c.n+1].Set(m.v[0])
	}
	if c.name == "RxSO2" || c.name == "Sim2" {
		return m
	}
	d := c.n
	if c.name[:2] == "SE" {
		d--
	}
	r := newBig(d)
	for i := range d {
		for j := range d {
			r.v[d*i+j].Set(m.v[c.n*i+j])
		}
	}
	for range 9 {
		inv := r.inverse()
		t := newBig(d)
		for i := range d {
			for j := range d {
				t.v[d*i+j] = inv.v[d*j+i]
			}
		}
		r = r.combine(0.5, t, 0.5)
	}
	for i := range d {
		for j := range d {
			m.v[c.n*i+j].Set(r.v[d*i+j])
		}
	}
	return m
}

// vee reads the coordinates of a big algebra element.
func (c *compactGroup) vee(m bigMat) []*big.Float {
	return pick(m.v, map[string][]int{
		"SO2": {2}, "RxSO2": {0, 2}, "SE2": {3, 2, 5}, "Sim2": {0, 3, 2, 5}, "SO3": {7, 2, 3}, "SE3": {9, 2, 4, 3, 7, 11},
	}[c.name])
}

// sample draws coordinates: angles of every size up to π and to 1e-12 next to it, log r within ±20, translations of unit
// size.
func (c *compactGroup) sample(rng *rand.Rand) []float64 {
	a := make([]float64, c.g)
	for i := range a {
		a[i] = rng.NormFloat64()
	}
	th := math.Pi * rng.Float64()
	switch rng.IntN(8) {
	case 0:
		th = math.Pow(10, -300*rng.Float64())
	case 1:
		th = math.Pow(10, -16*rng.Float64())
	case 2, 3:
		th = math.Pi - math.Pow(10, -12*rng.Float64())
	case 4:
		if rng.IntN(4) == 0 {
			th = 0
		}
	}
	switch c.rot {
	case 1:
		a[0] = math.Copysign(th, a[0])
	case 2:
		a[1] = math.Copysign(th, a[1])
		switch rng.IntN(6) {
		case 0:
			a[0] *= math.Pow(10, -16*rng.Float64())
		case 3, 4: // where λ, reduced by ln 2, makes e^λ - 1 a sum of terms that are larger than it
			a[0] = math.Copysign(0.3+0.5*rng.Float64(), a[0])
		case 1:
			a[0] = 20 * (2*rng.Float64() - 1)
		case 2:
			a[0] = 0
		}
	case 3:
		if n := Norm(a[:3]); true {
			for i := range 3 {
				a[i] *= th / n
			}
		}
	}
	return a
}

// ad is the matrix of b -> [a, b], from products of the hat matrices.
func (c *compactGroup) ad(a []float64) []float64 {
	n, out := c.n, make([]float64, c.g*c.g)
	x := make([]float64, n*n)
	c.hat(x, a)
	for k := range c.g {
		b, y := make([]float64, c.g), make([]float64, n*n)
		b[k] = 1
		c.hat(y, b)
		z := bigOf(matmul(x, y, n), n).combine(1, bigOf(matmul(y, x, n), n), -1)
		for i, v := range c.vee(z) {
			out[c.g*i+k], _ = v.Float64()
		}
	}
	return out
}

// eachLevel runs a test at every level that exists here.
func eachLevel(t *testing.T, f func(t *testing.T)) {
	before := simd.CurrentLevel()
	defer func() { require.NoError(t, simd.SetLevel(before)) }()
	for _, l := range simd.Levels() {
		t.Run(fmt.Sprintf("level=%v", l), func(t *testing.T) {
			require.NoError(t, simd.SetLevel(l))
			f(t)
		})
	}
}

// The batches of the groups agree with the functions for one element, at the portable level to the bit.
func TestBatchesAgreeWithMatrices(t *testing.T) {
	before := simd.CurrentLevel()
	defer func() { require.NoError(t, simd.SetLevel(before)) }()
	require.NoError(t, simd.SetLevel(simd.Generic))
	rng := testkit.Rand(3)
	for _, c := range compactGroups {
		_, _, at := c.entries()
		var l *lieGroup
		for i := range lieGroups {
			if lieGroups[i].name == c.name {
				l = &lieGroups[i]
			}
		}
		require.NotNil(t, l, c.name)
		for range 300 {
			a, e, back := c.sample(rng), make([]float64, c.k), make([]float64, c.g)
			c.exp(e, a)
			m := l.exp(a)
			require.Equal(t, pick(m, at), e, "%s: exp of %v", c.name, a)
			c.log(back, e)
			require.Equal(t, l.log(m), back, "%s: log of %v", c.name, m)
		}
	}
}
