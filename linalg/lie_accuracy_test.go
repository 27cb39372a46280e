package linalg

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// A planeOrSpace is a group as its batches see it: compact elements, coordinates, and how many of both are rotation (and
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
}

var compactGroups = []compactGroup{
	{"SO2", 1, 2, 2, 1, func(e, a []float64) { ExpSO2F64(e, a, 1) }, func(a, e []float64) { LogSO2F64(a, e, 1) },
		ExpSO2F32, LogSO2F32, func(m, a []float64) { HatSO2F64(m, a, 1) },
		func(j, a []float64) { LeftJacobianSO2F64(j, a, 1) }, func(j, a []float64) { LeftJacobianInvSO2F64(j, a, 1) },
		func(j, e []float64) { AdjointSO2F64(j, e, 1) }},
	{"RxSO2", 2, 2, 2, 2, func(e, a []float64) { ExpRxSO2F64(e, a, 1) }, func(a, e []float64) { LogRxSO2F64(a, e, 1) },
		ExpRxSO2F32, LogRxSO2F32, func(m, a []float64) { HatRxSO2F64(m, a, 1) },
		func(j, a []float64) { LeftJacobianRxSO2F64(j, a, 1) }, func(j, a []float64) { LeftJacobianInvRxSO2F64(j, a, 1) },
		func(j, e []float64) { AdjointRxSO2F64(j, e, 1) }},
	{"SE2", 3, 4, 3, 1, func(e, a []float64) { ExpSE2F64(e, a, 1) }, func(a, e []float64) { LogSE2F64(a, e, 1) },
		ExpSE2F32, LogSE2F32, func(m, a []float64) { HatSE2F64(m, a, 1) },
		func(j, a []float64) { LeftJacobianSE2F64(j, a, 1) }, func(j, a []float64) { LeftJacobianInvSE2F64(j, a, 1) },
		func(j, e []float64) { AdjointSE2F64(j, e, 1) }},
	{"Sim2", 4, 4, 3, 2, func(e, a []float64) { ExpSim2F64(e, a, 1) }, func(a, e []float64) { LogSim2F64(a, e, 1) },
		ExpSim2F32, LogSim2F32, func(m, a []float64) { HatSim2F64(m, a, 1) },
		func(j, a []float64) { LeftJacobianSim2F64(j, a, 1) }, func(j, a []float64) { LeftJacobianInvSim2F64(j, a, 1) },
		func(j, e []float64) { AdjointSim2F64(j, e, 1) }},
	{"SO3", 3, 9, 3, 3, func(e, a []float64) { ExpSO3F64(e, a, 1) }, func(a, e []float64) { LogSO3F64(a, e, 1) },
		ExpSO3F32, LogSO3F32, func(m, a []float64) { HatSO3F64(m, a, 1) },
		func(j, a []float64) { LeftJacobianSO3F64(j, a, 1) }, func(j, a []float64) { LeftJacobianInvSO3F64(j, a, 1) },
		func(j, e []float64) { AdjointSO3F64(j, e, 1) }},
	{"SE3", 6, 12, 4, 3, func(e, a []float64) { ExpSE3F64(e, a, 1) }, func(a, e []float64) { LogSE3F64(a, e, 1) },
		ExpSE3F32, LogSE3F32, func(m, a []float64) { HatSE3F64(m, a, 1) },
		func(j, a []float64) { LeftJacobianSE3F64(j, a, 1) }, func(j, a []float64) { LeftJacobianInvSE3F64(j, a, 1) },
		func(j, e []float64) { AdjointSE3F64(j, e, 1) }},
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

// relativeCond is the condition number of f at x with respect to relative changes of the entries of x, for the entries
// index of the result: the norm of Σ|∂f/∂xᵢ·xᵢ| over that of f, by differences.
func relativeCond(f func(y, x []float64), x []float64, size int, index []int) float64 {
	const h = 1e-6
	y, z := make([]float64, size), make([]float64, size)
	f(y, x)
	sum := make([]float64, len(index))
	for i := range x {
		p := append([]float64(nil), x...)
		p[i] *= 1 + h
		f(z, p)
		for j, k := range index {
			sum[j] += math.Abs(z[k]-y[k]) / h
		}
	}
	return Norm(sum) / Norm(pick(y, index))
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
		switch rng.IntN(4) {
		case 0:
			a[0] *= math.Pow(10, -16*rng.Float64())
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

// span returns lo .. hi-1.
func span(lo, hi int) (s []int) {
	for i := lo; i < hi; i++ {
		s = append(s, i)
	}
	return s
}

// withTranslation multiplies the entries index of v by 2ᵏ.
func withTranslation(v []float64, index []int, k int) []float64 {
	out := append([]float64(nil), v...)
	for _, i := range index {
		out[i] = math.Ldexp(out[i], k)
	}
	return out
}

// TestClosedFormExpAccuracy holds the linear part and the translation of every exponential to their bounds separately,
// each relative to its own size: translations are scaled by up to 1e±290, which a correct function does not notice.
func TestClosedFormExpAccuracy(t *testing.T) {
	count := 4000
	if testing.Short() {
		count = 400
	}
	for _, c := range compactGroups {
		rng := rand.New(rand.NewPCG(31, uint64(c.k)))
		var lin, tra, lin32, tra32 worst
		linear, translation, at := c.entries()
		for range count {
			a := c.sample(rng)
			what := func() string { return fmt.Sprint(a) }
			m := make([]float64, c.n*c.n)
			c.hat(m, a)
			want := pick(bigOf(m, c.n).exp().v, at)
			shift := rng.IntN(1921) - 960
			e := make([]float64, c.k)
			c.exp(e, withTranslation(a, span(c.rot, c.g), shift))
			e = withTranslation(e, translation, -shift)
			lin.see(relErr(pick(e, linear), pick(want, linear)), relativeCond(c.exp, a, c.k, linear), what)
			if translation != nil {
				tra.see(relErr(pick(e, translation), pick(want, translation)), relativeCond(c.exp, a, c.k, translation), what)
			}

			a32, e32 := make([]float32, c.g), make([]float32, c.k)
			narrow(a32, a)
			c.exp32(e32, a32, 1)
			widen(a, a32)
			widen(e, e32)
			c.hat(m, a)
			want = pick(bigOf(m, c.n).exp().v, at)
			lin32.see(relErr(pick(e, linear), pick(want, linear)), 1, what)
			if translation != nil {
				tra32.see(relErr(pick(e, translation), pick(want, translation)), 1, what)
			}
		}
		lin.require(t, "Exp"+c.name+" linear part", 4e-16)
		tra.require(t, "Exp"+c.name+" translation", 4e-16)
		lin32.require(t, "Exp"+c.name+" linear part, float32", 2.5e-7)
		tra32.require(t, "Exp"+c.name+" translation, float32", 2.5e-7)
	}
}

// TestClosedFormLogAccuracy compares logarithms of rounded elements with the exact logarithm of the nearest element of the
// group.
func TestClosedFormLogAccuracy(t *testing.T) {
	count := 300
	if testing.Short() {
		count = 25
	}
	for _, c := range compactGroups {
		rng := rand.New(rand.NewPCG(32, uint64(c.k)))
		var rot, tra, rot32, tra32 worst
		_, translation, at := c.entries()
		rotation, moved := span(0, c.rot), span(c.rot, c.g)
		for range count {
			a := c.sample(rng)
			m := make([]float64, c.n*c.n)
			c.hat(m, a)
			e := pick(bigOf(m, c.n).exp().float(), at)
			what := func() string { return fmt.Sprint(a) }
			see := func(rot, tra *worst, e, got []float64, shift int) {
				want := c.vee(c.matrix(e).log())
				rot.see(relErr(pick(got, rotation), pick(want, rotation)), 1, what)
				if len(moved) > 0 {
					cond := relativeCond(c.log, e, c.g, moved)
					if cond > 30 {
						cond = 1 // a difference across the cut at π
					}
					tra.see(relErr(withTranslation(pick(got, moved), span(0, len(moved)), -shift), pick(want, moved)), cond, what)
				}
			}
			shift := rng.IntN(1921) - 960
			got := make([]float64, c.g)
			c.log(got, withTranslation(e, translation, shift))
			see(&rot, &tra, e, got, shift)

			e32, got32 := make([]float32, c.k), make([]float32, c.g)
			narrow(e32, e)
			if th := Norm(a[:c.rot]); th > 3.14159 || (th != 0 && th < 1e-30) {
				continue // rounding to float32 decides the sign, or leaves its range
			}
			c.log32(got32, e32, 1)
			widen(e, e32)
			widen(got, got32)
			see(&rot32, &tra32, e, got, 0)
		}
		rot.require(t, "Log"+c.name+" rotation and scale", 4e-16)
		tra.require(t, "Log"+c.name+" translation", 4e-16)
		rot32.require(t, "Log"+c.name+" rotation and scale, float32", 2.5e-7)
		tra32.require(t, "Log"+c.name+" translation, float32", 2.5e-7)
	}
}

// TestLogSO3Everywhere goes over (0, π] densely: the rotation vector comes back from the rounded matrix within 5e-16 of its
// length, at π up to its sign.
func TestLogSO3Everywhere(t *testing.T) {
	rng := rand.New(rand.NewPCG(33, 1))
	var w worst
	count := 20000
	if testing.Short() {
		count = 2000
	}
	for i := range count {
		th := math.Pi * float64(i+1) / float64(count)
		switch i % 4 {
		case 1:
			th = math.Pi - math.Pow(10, -17*rng.Float64())
		case 2:
			th = math.Pow(10, -20*rng.Float64())
		}
		var a, got [3]float64
		for k := range a {
			a[k] = rng.NormFloat64()
			if rng.IntN(5) == 0 {
				a[k] *= 1e-9
			}
		}
		n := Norm(a[:])
		for k := range a {
			a[k] *= th / n
		}
		var m [9]float64
		HatSO3(&m, &a)
		r := bigOf(m[:], 3).exp().float()
		LogSO3(&got, (*[9]float64)(r))
		err := relErr(got[:], bigVector(a[:]))
		if th > math.Pi-1e-14 {
			neg := [3]float64{-got[0], -got[1], -got[2]}
			err = min(err, relErr(neg[:], bigVector(a[:])))
		}
		w.see(err, 1, func() string { return fmt.Sprint(a) })
	}
	w.require(t, "LogSO3 over (0, π]", 5e-16)
}

// TestJacobians compares with Σ adᵏ/(k+1)!, read off the exponential of [[ad, I], [0, 0]].
func TestJacobians(t *testing.T) {
	count := 150
	if testing.Short() {
		count = 30
	}
	for _, c := range compactGroups {
		rng := rand.New(rand.NewPCG(34, uint64(c.k)))
		var w, inv, adj worst
		for range count {
			a := c.sample(rng)
			what := func() string { return fmt.Sprint(a) }
			ad := c.ad(a)
			block := newBig(2 * c.g)
			for i := range c.g {
				for j := range c.g {
					block.v[2*c.g*i+j].SetFloat64(ad[c.g*i+j])
				}
				block.v[2*c.g*i+c.g+i].SetInt64(1)
			}
			full := block.exp()
			want, wantAd := newBig(c.g), newBig(c.g)
			for i := range c.g {
				for j := range c.g {
					want.v[c.g*i+j], wantAd.v[c.g*i+j] = full.v[2*c.g*i+c.g+j], full.v[2*c.g*i+j]
				}
			}
			j, e := make([]float64, c.g*c.g), make([]float64, c.k)
			c.jacobian(j, a)
			w.see(relErr(j, want.v), 1, what)
			exact := want.inverse()
			c.jinv(j, a)
			inv.see(relErr(j, exact.v), Norm(want.float())*Norm(exact.float()), what)
			c.exp(e, a)
			c.adjoint(j, e)
			adj.see(relErr(j, wantAd.v), 1, what)
		}
		w.require(t, "LeftJacobian"+c.name, 1e-15)
		inv.require(t, "LeftJacobianInv"+c.name, 1e-15)
		adj.require(t, "Adjoint"+c.name, 2e-15)
	}
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
