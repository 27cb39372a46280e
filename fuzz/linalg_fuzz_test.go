package fuzz

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/equivcnp/equivcnp/internal/testkit"
	"github.com/equivcnp/equivcnp/linalg"
	"github.com/equivcnp/equivcnp/linalg/batch"
	"github.com/equivcnp/equivcnp/simd"
)

// floats64 reads as many float64 as the bytes hold.
func floats64(b []byte) []float64 {
	x := make([]float64, len(b)/8)
	for i := range x {
		x[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return x
}

// fill repeats x until it has n elements.
func fill(x []float64, n int) []float64 {
	y := make([]float64, n)
	for i := range y {
		if len(x) > 0 {
			y[i] = x[i%len(x)]
		}
	}
	return y
}

// tame folds any float64 into [-size, size], small ones unchanged.
func tame(x []float64, size float64) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		if v-v == 0 {
			y[i] = math.Remainder(v, 2*size)
		}
	}
	return y
}

func norm(x []float64) float64 { return linalg.Norm(x) }

func distance(x, y []float64) float64 {
	d := make([]float64, len(x))
	for i := range x {
		d[i] = x[i] - y[i]
	}
	return norm(d)
}

func seeds64() [][]byte {
	var seeds [][]byte
	edges := testkit.Edges[float64]()
	for i := 0; i < len(edges); i += 5 {
		var b []byte
		for j := range 20 {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(edges[(i+j*j)%len(edges)]))
		}
		seeds = append(seeds, b)
	}
	for _, s := range []float64{0, 1e-300, 1e-9, 0.3, 1, math.Pi, 40} {
		var b []byte
		for j := range 20 {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(s*math.Cos(float64(3*j+1))))
		}
		seeds = append(seeds, b)
	}
	return seeds
}

// general is the matrices of one size behind one set of signatures.
type general struct {
	k                 int
	exp, exp2         func(dst, a []float64)
	log, inverse      func(dst, a []float64) bool
	mul               func(dst, a, b []float64)
	exp32             func(dst, a []float32, n int)
	frechet, adjointL func(dst, a, e []float64, n int)
}

// partial calls a batch of one.
func partial(f func(dst []float64, ok []bool, a []float64, n int)) func(dst, a []float64) bool {
	return func(dst, a []float64) bool {
		ok := []bool{false}
		f(dst, ok, a, 1)
		return ok[0]
	}
}

var generals = []general{
	{4, func(d, a []float64) { linalg.Exp2x2((*[4]float64)(d), (*[4]float64)(a)) },
		func(d, a []float64) { batch.Exp2x2(d, a, 1) },
		partial(batch.Log2x2[float64]),
		partial(batch.Inverse2x2[float64]),
		func(d, a, b []float64) { batch.Mul2x2(d, a, b, 1) },
		batch.Exp2x2[float32], batch.ExpFrechet2x2[float64], batch.ExpFrechetAdjoint2x2[float64]},
	{9, func(d, a []float64) { linalg.Exp3x3((*[9]float64)(d), (*[9]float64)(a)) },
		func(d, a []float64) { batch.Exp3x3(d, a, 1) },
		partial(batch.Log3x3[float64]),
		partial(batch.Inverse3x3[float64]),
		func(d, a, b []float64) { batch.Mul3x3(d, a, b, 1) },
		batch.Exp3x3[float32], batch.ExpFrechet3x3[float64], batch.ExpFrechetAdjoint3x3[float64]},
}

// FuzzMatrices checks the laws of general matrices: exp(a)·exp(-a) = I, log(exp(a)) = a, <L(a, e), f> = <e, L(aᵀ, f)>; and
// that whatever the bits, nothing panics, and ok means finite.
func FuzzMatrices(f *testing.F) {
	for _, b := range seeds64() {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) { atLevels(t, func(simd.Level) { checkMatrices(t, b) }) })
}

func checkMatrices(t *testing.T, b []byte) {
	for _, g := range generals {
		raw := fill(floats64(b), 3*g.k)
		x, y, z := make([]float64, g.k), make([]float64, g.k), make([]float64, g.k)
		id := make([]float64, g.k)
		for i := 0; i < g.k; i += int(math.Sqrt(float64(g.k))) + 1 {
			id[i] = 1
		}

		g.exp(x, raw[:g.k])
		g.exp2(y, raw[:g.k])
		if simd.CurrentLevel() == simd.Generic && !testkit.SameBits(x, y) {
			t.Fatalf("batch and single differ for %v", raw[:g.k])
		}
		for _, op := range []func(d, a []float64) bool{g.log, g.inverse} {
			ok := op(x, raw[:g.k])
			for _, v := range x {
				if ok != (v-v == 0) {
					t.Fatalf("ok = %v with %v, of %v", ok, x, raw[:g.k])
				}
			}
		}
		g.frechet(x, raw[:g.k], raw[g.k:2*g.k], 1)

		a, e, h := tame(raw[:g.k], 1.5), tame(raw[g.k:2*g.k], 1), tame(raw[2*g.k:], 1)
		neg := make([]float64, g.k)
		for i, v := range a {
			neg[i] = -v
		}
		g.exp2(x, a)
		g.exp2(y, neg)
		g.mul(z, x, y)
		// Each exponential is right to 1e-15·‖a‖·e^‖a‖.
		n := norm(a)
		tol := 1e-14 * (1 + n) * math.Exp(2*n)
		if d := distance(z, id); !(d <= tol) {
			t.Fatalf("exp(a)·exp(-a) is off by %g > %g for %v", d, tol, a)
		}
		if n < 1.2 { // then every eigenvalue of the logarithm has an imaginary part below π
			if !g.log(z, x) {
				t.Fatalf("no logarithm of exp(%v) = %v", a, x)
			}
			if d := distance(z, a); !(d <= 1e-13) {
				t.Fatalf("log(exp(a)) is off by %g for %v", d, a)
			}
		}
		g.frechet(x, a, e, 1)
		g.adjointL(y, a, h, 1)
		p, q := 0.0, 0.0
		for i := range x {
			p, q = p+x[i]*h[i], q+y[i]*e[i]
		}
		if !(math.Abs(p-q) <= 1e-13*math.Exp(n)*(1+norm(e)*norm(h))) {
			t.Fatalf("the adjoint's product is %g, not %g, for %v", q, p, a)
		}
		a32, x32 := make([]float32, g.k), make([]float32, g.k)
		for i, v := range a {
			a32[i] = float32(v)
			a[i] = float64(a32[i])
		}
		g.exp32(x32, a32, 1)
		g.exp(x, a)
		for i, v := range x {
			if !(math.Abs(float64(x32[i])-v) <= 1e-6*(1+n)*math.Exp(n)) {
				t.Fatalf("float32 exponential of %v has %g, not %g", a, x32[i], v)
			}
		}
	}
}

// closed is one group's batches.
type closed struct {
	batch.Group
	name    string
	g, k, d int
	angles  int // leading coordinates that turn; after log r where that comes first
	scaled  bool
}

func (c *closed) exp(dst, a []float64, n int)        { batch.Exp(c.Group, dst, a, n) }
func (c *closed) log(dst, a []float64, n int)        { batch.Log(c.Group, dst, a, n) }
func (c *closed) inv(dst, a []float64, n int)        { batch.Inverse(c.Group, dst, a, n) }
func (c *closed) compose(dst, a, b []float64, n int) { batch.Compose(c.Group, dst, a, b, n) }
func (c *closed) mul(dst, a, b []float64, n int)     { batch.Mul(c.Group, dst, a, b, n) }
func (c *closed) act(dst, e, x []float64, n int)     { batch.Act(c.Group, dst, e, x, n) }
func (c *closed) jacobian(dst, a []float64, n int)   { batch.LeftJacobian(c.Group, dst, a, n) }
func (c *closed) jinv(dst, a []float64, n int)       { batch.LeftJacobianInv(c.Group, dst, a, n) }
func (c *closed) adjoint(dst, e []float64, n int)    { batch.Adjoint(c.Group, dst, e, n) }

var closedGroups = []closed{
	{batch.SO2, "SO2", 1, 2, 2, 1, false},
	{batch.RxSO2, "RxSO2", 2, 2, 2, 1, true},
	{batch.SE2, "SE2", 3, 4, 2, 1, false},
	{batch.Sim2, "Sim2", 4, 4, 2, 1, true},
	{batch.SO3, "SO3", 3, 9, 3, 3, false},
	{batch.SE3, "SE3", 6, 12, 3, 3, false},
}

// FuzzClosedForms checks the laws of every group: log(exp(a)) = a inside the injectivity radius, exp(log(e)) = e, exp(compose(a, b)) =
// exp(a)·exp(b), exp(-a) = exp(a)⁻¹, (ef)g = e(fg), (ef)x = e(fx), e·exp(b)·e⁻¹ = exp(Ad(e)·b), exp(a + d) = exp(J·d)·exp(a) to first
// order, J·J⁻¹ = I; with coordinates of ten decades, and that whatever the bits, nothing panics.
func FuzzClosedForms(f *testing.F) {
	for _, b := range seeds64() {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) { atLevels(t, func(simd.Level) { checkClosedForms(t, b) }) })
}

func checkClosedForms(t *testing.T, b []byte) {
	for _, c := range closedGroups {
		raw := fill(floats64(b), 2*c.g+c.k+c.d)
		e, h, m := make([]float64, c.k), make([]float64, c.k), make([]float64, c.k)
		u, v := make([]float64, c.g), make([]float64, c.g)
		p, q := make([]float64, c.d), make([]float64, c.d)
		j, i := make([]float64, c.g*c.g), make([]float64, c.g*c.g)
		c.exp(e, raw[:c.g], 1)
		c.log(u, raw[2*c.g:2*c.g+c.k], 1)
		c.inv(m, raw[2*c.g:2*c.g+c.k], 1)
		c.compose(u, raw[:c.g], raw[c.g:2*c.g], 1)
		c.jacobian(j, raw[:c.g], 1)
		c.jinv(j, raw[:c.g], 1)

		// Angles within ±3.1 (1.7 for each of three), log r within ±3, translations up to 100.
		x, y := tame(raw[:c.g], 100), tame(raw[c.g:2*c.g], 100)
		for i, w := range [][]float64{x, y} {
			// Ten decades of small coordinates, and those that are as large as they may be.
			scale := 1.0
			if len(b) > i {
				scale = math.Pow(10, -float64(b[i]%11))
			}
			for k := range w {
				w[k] *= scale
				switch {
				case c.angles == 3 && k < 3:
					w[k] = math.Remainder(w[k], 3.4)
				case c.scaled && k == 0:
					w[k] = math.Remainder(w[k], 6)
				case c.angles == 1 && (k == 0 || c.scaled && k == 1):
					w[k] = math.Remainder(w[k], 6.2)
				}
			}
		}
		c.exp(e, x, 1)
		c.exp(h, y, 1)
		size := (1 + norm(e)) * (1 + norm(h))
		c.log(u, e, 1)
		if !(distance(u, x) <= 1e-12*(1+norm(e))) {
			t.Fatalf("%s: log(exp(%v)) = %v", c.name, x, u)
		}
		c.exp(m, u, 1)
		if !(distance(m, e) <= 1e-12*(1+norm(e))) {
			t.Fatalf("%s: exp(log(e)) = %v, e = %v = exp(%v)", c.name, m, e, x)
		}
		checkAdjoint(t, &c, x, y, e, h, size)
		checkDifferences(t, &c, x, y, e)
		c.compose(u, x, y, 1)
		c.mul(m, e, h, 1)
		k := make([]float64, c.k)
		c.exp(k, u, 1)
		if !(distance(k, m) <= 1e-12*size) {
			t.Fatalf("%s: exp(compose) = %v, product = %v, of %v and %v", c.name, k, m, x, y)
		}
		point := tame(raw[2*c.g+c.k:], 100)
		c.act(p, m, point, 1)
		c.act(q, h, point, 1)
		c.act(q, e, q, 1)
		if !(distance(p, q) <= 1e-12*size*(1+norm(point))) {
			t.Fatalf("%s: (ef)x = %v, e(fx) = %v", c.name, p, q)
		}
		for k := range v {
			v[k] = -x[k]
		}
		c.exp(k, v, 1)
		c.inv(m, e, 1)
		if !(distance(k, m) <= 1e-12*(1+norm(m))*(1+norm(e))) {
			t.Fatalf("%s: exp(-a) = %v, inverse = %v, of %v", c.name, k, m, x)
		}
		c.jacobian(j, x, 1)
		c.jinv(i, x, 1)
		for r := range c.g {
			for s := range c.g {
				sum := 0.0
				if r == s {
					sum = -1
				}
				for l := range c.g {
					sum += j[c.g*r+l] * i[c.g*l+s]
				}
				if !(math.Abs(sum) <= 1e-12*norm(i)*norm(j)) {
					t.Fatalf("%s: J·J⁻¹ is off by %g at %v", c.name, sum, x)
				}
			}
		}
	}
}

// checkAdjoint compares (eh)e⁻¹ and e(he⁻¹), for e = exp(x) and h = exp(y), with exp(Ad(e)·y).
func checkAdjoint(t *testing.T, c *closed, x, y, e, h []float64, size float64) {
	inv, left, right, moved := make([]float64, c.k), make([]float64, c.k), make([]float64, c.k), make([]float64, c.k)
	c.inv(inv, e, 1)
	c.mul(left, e, h, 1)
	c.mul(left, left, inv, 1)
	c.mul(right, h, inv, 1)
	c.mul(right, e, right, 1)
	size *= 1 + norm(inv)
	if !(distance(left, right) <= 1e-12*size) {
		t.Fatalf("%s: (eh)e⁻¹ = %v, e(he⁻¹) = %v, of %v and %v", c.name, left, right, x, y)
	}
	ad, z := make([]float64, c.g*c.g), make([]float64, c.g)
	c.adjoint(ad, e, 1)
	for i := range z {
		for j, v := range y {
			z[i] += ad[c.g*i+j] * v
		}
	}
	c.exp(moved, z, 1)
	if !(distance(left, moved) <= 1e-11*size*(1+norm(ad))*(1+norm(z))) {
		t.Fatalf("%s: ehe⁻¹ = %v, exp(Ad(e)·y) = %v, of %v and %v", c.name, left, moved, x, y)
	}
}

// checkDifferences compares the central difference of exp at x in direction d with that of s -> exp(s·J·d)·exp(x) at 0.
func checkDifferences(t *testing.T, c *closed, x, y, e []float64) {
	const step = 1e-5
	n := norm(y)
	if !(n > 1e-290) {
		return // no direction, or one with few digits
	}
	j, jd := make([]float64, c.g*c.g), make([]float64, c.g)
	c.jacobian(j, x, 1)
	for i := range jd {
		for k, v := range y {
			jd[i] += j[c.g*i+k] * (v / n)
		}
	}
	var want, got [2][]float64
	for side, s := range []float64{step, -step} {
		a, b := make([]float64, c.g), make([]float64, c.g)
		for i := range a {
			a[i], b[i] = x[i]+s*y[i]/n, s*jd[i]
		}
		want[side], got[side] = make([]float64, c.k), make([]float64, c.k)
		c.exp(want[side], a, 1)
		c.exp(got[side], b, 1)
		c.mul(got[side], got[side], e, 1)
	}
	d, f := make([]float64, c.k), make([]float64, c.k)
	for i := range d {
		d[i], f[i] = (want[0][i]-want[1][i])/(2*step), (got[0][i]-got[1][i])/(2*step)
	}
	// Rounding of the exponentials over the step, and its square times third derivatives.
	size := (1 + norm(e)) * (1 + norm(jd)) * (1 + norm(x))
	if !(distance(d, f) <= 1e-8*size*(1+norm(jd))*(1+norm(jd))) {
		t.Fatalf("%s: derivative of exp at %v along %v is %v, by the Jacobian %v", c.name, x, y, d, f)
	}
}
