package linalg

import (
	"math"
	"math/big"
	"math/rand/v2"
)

// A compactGroup is a group as its batches see it: compact elements, coordinates, and how many of both are rotation (and
// scaling); the rest are translation.
type compactGroup struct {
	name           string
	g, k, n        int // coordinates, entries of an element, size of the matrix
	rot            int // leading coordinates that are no translation
	exp            func(e, a []float64)
	log            func(a, e []float64)
	exp32          func(e, a []float32, n int)
	log32          func(a, e []float32, n int)
	hat            func(m, a []float64)
	jacobian, jinv func(j, a []float64)
	adjoint        func(j, e []float64)
	jacobian32     func(j, a []float32, n int)
	jinv32         func(j, a []float32, n int)
	adjoint32      func(j, e []float32, n int)
}

var compactGroups = []compactGroup{
	{"SO2", 1, 2, 2, 1, func(e, a []float64) { ExpSO2F64(e, a, 1) }, func(a, e []float64) { LogSO2F64(a, e, 1) },
		ExpSO2F32, LogSO2F32, func(m, a []float64) { HatSO2F64(m, a, 1) },
		func(j, a []float64) { LeftJacobianSO2F64(j, a, 1) }, func(j, a []float64) { LeftJacobianInvSO2F64(j, a, 1) },
		func(j, e []float64) { AdjointSO2F64(j, e, 1) }, LeftJacobianSO2F32, LeftJacobianInvSO2F32, AdjointSO2F32},
	{"RxSO2", 2, 2, 2, 2, func(e, a []float64) { ExpRxSO2F64(e, a, 1) }, func(a, e []float64) { LogRxSO2F64(a, e, 1) },
		ExpRxSO2F32, LogRxSO2F32, func(m, a []float64) { HatRxSO2F64(m, a, 1) },
		func(j, a []float64) { LeftJacobianRxSO2F64(j, a, 1) }, func(j, a []float64) { LeftJacobianInvRxSO2F64(j, a, 1) },
		func(j, e []float64) { AdjointRxSO2F64(j, e, 1) }, LeftJacobianRxSO2F32, LeftJacobianInvRxSO2F32, AdjointRxSO2F32},
	{"SE2", 3, 4, 3, 1, func(e, a []float64) { ExpSE2F64(e, a, 1) }, func(a, e []float64) { LogSE2F64(a, e, 1) },
		ExpSE2F32, LogSE2F32, func(m, a []float64) { HatSE2F64(m, a, 1) },
		func(j, a []float64) { LeftJacobianSE2F64(j, a, 1) }, func(j, a []float64) { LeftJacobianInvSE2F64(j, a, 1) },
		func(j, e []float64) { AdjointSE2F64(j, e, 1) }, LeftJacobianSE2F32, LeftJacobianInvSE2F32, AdjointSE2F32},
	{"Sim2", 4, 4, 3, 2, func(e, a []float64) { ExpSim2F64(e, a, 1) }, func(a, e []float64) { LogSim2F64(a, e, 1) },
		ExpSim2F32, LogSim2F32, func(m, a []float64) { HatSim2F64(m, a, 1) },
		func(j, a []float64) { LeftJacobianSim2F64(j, a, 1) }, func(j, a []float64) { LeftJacobianInvSim2F64(j, a, 1) },
		func(j, e []float64) { AdjointSim2F64(j, e, 1) }, LeftJacobianSim2F32, LeftJacobianInvSim2F32, AdjointSim2F32},
	{"SO3", 3, 9, 3, 3, func(e, a []float64) { ExpSO3F64(e, a, 1) }, func(a, e []float64) { LogSO3F64(a, e, 1) },
		ExpSO3F32, LogSO3F32, func(m, a []float64) { HatSO3F64(m, a, 1) },
		func(j, a []float64) { LeftJacobianSO3F64(j, a, 1) }, func(j, a []float64) { LeftJacobianInvSO3F64(j, a, 1) },
		func(j, e []float64) { AdjointSO3F64(j, e, 1) }, LeftJacobianSO3F32, LeftJacobianInvSO3F32, AdjointSO3F32},
	{"SE3", 6, 12, 4, 3, func(e, a []float64) { ExpSE3F64(e, a, 1) }, func(a, e []float64) { LogSE3F64(a, e, 1) },
		ExpSE3F32, LogSE3F32, func(m, a []float64) { HatSE3F64(m, a, 1) },
		func(j, a []float64) { LeftJacobianSE3F64(j, a, 1) }, func(j, a []float64) { LeftJacobianInvSE3F64(j, a, 1) },
		func(j, e []float64) { AdjointSE3F64(j, e, 1) }, LeftJacobianSE3F32, LeftJacobianInvSE3F32, AdjointSE3F32},
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

// bigVector is bigOf for a vector.
func bigVector(a []float64) []*big.Float {
	out := make([]*big.Float, len(a))
	for i, x := range a {
		out[i] = bigNum(x)
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
		case 3, 4: // where e^λ - 1 is smaller than what a reduction of λ by ln 2 makes it the sum of
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
