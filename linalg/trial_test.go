package linalg_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
	. "github.com/equivcnp/equivcnp/linalg"
	"github.com/equivcnp/equivcnp/linalg/batch"
	"github.com/equivcnp/equivcnp/simd"
)

type dd = testkit.DD

var wide = testkit.Wide

// A linTrial is a function of many matrices, its reference in 106 bits and its documented bound.
type linTrial struct {
	name             string
	in, out          int
	f64              func(dst, a []float64, n int)
	f32              func(dst, a []float32, n int)
	bound64, bound32 float64
	parts            [][]int // entries whose error is relative to their own size
	draw             func(rng *rand.Rand) []float64
	// want is the exact result; it may start from the computed one, whose error is then found to first order. It is nil where there is no
	// result, or where the error per condition is certainly below enough.
	want func(x, got []float64, enough float64) []dd
	near bool // want uses got
	cond func(x, got []float64, part []int) float64
}

// A ddMat is an n×n matrix of DD.
type ddMat []dd

func ddIdentity(n int) ddMat {
	m := make(ddMat, n*n)
	for i := range n {
		m[i*n+i] = wide(1)
	}
	return m
}

func ddOf(a []float64) ddMat {
	m := make(ddMat, len(a))
	for i, v := range a {
		m[i] = wide(v)
	}
	return m
}

func (m ddMat) mul(b ddMat, n int) ddMat {
	c := make(ddMat, n*n)
	for i := range n {
		for j := range n {
			for k := range n {
				c[i*n+j] = c[i*n+j].Add(m[i*n+k].Mul(b[k*n+j]))
			}
		}
	}
	return c
}

func (m ddMat) sub(b ddMat) ddMat {
	c := make(ddMat, len(m))
	for i := range c {
		c[i] = m[i].Sub(b[i])
	}
	return c
}

func (m ddMat) times(s dd) ddMat {
	c := make(ddMat, len(m))
	for i := range c {
		c[i] = m[i].Mul(s)
	}
	return c
}

func (m ddMat) float() []float64 {
	f := make([]float64, len(m))
	for i, v := range m {
		f[i] = v.Hi
	}
	return f
}

var ddReciprocals = func() (r [40]dd) {
	for k := 1; k < len(r); k++ {
		r[k] = wide(1).Div(wide(float64(k)))
	}
	return r
}()

// ddExp is exp(a): the trace apart, the series of the rest over 2^s, squared s times.
func ddExp(a []float64, n int) ddMat {
	var trace dd
	for i := range n {
		trace = trace.Add(wide(a[i*n+i]))
	}
	mu := trace.Hi / float64(n)
	x := ddOf(a)
	for i := range n {
		x[i*n+i] = x[i*n+i].Sub(wide(mu))
	}
	s := max(0, math.Ilogb(max(Norm(x.float()), 0x1p-900))+4)
	for i := range x {
		x[i] = x[i].Ldexp(-s)
	}
	sum, term := ddIdentity(n), ddIdentity(n)
	for k := 1; k < 17; k++ {
		term = term.mul(x, n).times(ddReciprocals[k])
		for i, v := range term {
			sum[i] = sum[i].Add(v)
		}
	}
	for range s {
		sum = sum.mul(sum, n)
	}
	e := testkit.ExpDD(wide(mu))
	for i, v := range sum.times(e.DD) {
		sum[i] = v.Ldexp(e.E)
	}
	return sum
}

// angleTerms are sin θ/θ, (1 - cos θ)/θ² and (θ - sin θ)/θ³.
func angleTerms(th dd) (a, b, c dd) {
	z := th.Mul(th)
	if th.Hi < 1 {
		series := func(first int) dd { // Σ (-z)ᵏ/(2k+first)!·(first)!, over first!
			sum, term := dd{}, wide(1)
			for k := 2; k <= first; k++ {
				term = term.Mul(ddReciprocals[k])
			}
			for k := first + 1; k < 34; k += 2 {
				sum = sum.Add(term)
				term = term.Mul(z).Mul(ddReciprocals[k]).Mul(ddReciprocals[k+1]).Neg()
			}
			return sum
		}
		return series(1), series(2), series(3)
	}
	s, cs := testkit.SinCosDD(th.Hi)
	// The tail of the angle, by the derivative.
	s, cs = s.Add(cs.Mul(wide(th.Lo))), cs.Sub(s.Mul(wide(th.Lo)))
	a = s.Div(th)
	return a, wide(1).Sub(cs).Div(z), wide(1).Sub(a).Div(z)
}

// skewSeries is p·I + q·W + r·W², W = [w]×.
func skewSeries(w [3]dd, p, q, r dd) ddMat {
	z := wide(0)
	m := ddMat{z, w[2].Neg(), w[1], w[2], z, w[0].Neg(), w[1].Neg(), w[0], z}
	sq := m.mul(m, 3)
	out := make(ddMat, 9)
	for i := range out {
		out[i] = m[i].Mul(q).Add(sq[i].Mul(r))
		if i%4 == 0 {
			out[i] = out[i].Add(p)
		}
	}
	return out
}

// rotation is exp([w]×) and the matrix V of the translation.
func rotation(w [3]dd) (r, v ddMat) {
	// Scaled, so that tiny angles do not underflow when squared; they matter to first order only.
	th := w[0].Mul(w[0]).Add(w[1].Mul(w[1])).Add(w[2].Mul(w[2])).Sqrt()
	a, b, c := angleTerms(th)
	return skewSeries(w, wide(1), a, b), skewSeries(w, wide(1), b, c)
}

func (m ddMat) apply(x []dd) []dd {
	n := len(x)
	y := make([]dd, n)
	for i := range y {
		for j, v := range x {
			y[i] = y[i].Add(m[i*n+j].Mul(v))
		}
	}
	return y
}

// solve3 is the solution of m·x = y, by Cramer's rule.
func (m ddMat) solve3(y []dd) []dd {
	minor := func(a, b, c, d int) dd { return m[a].Mul(m[b]).Sub(m[c].Mul(m[d])) }
	adj := ddMat{
		minor(4, 8, 5, 7), minor(2, 7, 1, 8), minor(1, 5, 2, 4),
		minor(5, 6, 3, 8), minor(0, 8, 2, 6), minor(2, 3, 0, 5),
		minor(3, 7, 4, 6), minor(1, 6, 0, 7), minor(0, 4, 1, 3),
	}
	det := m[0].Mul(adj[0]).Add(m[1].Mul(adj[3])).Add(m[2].Mul(adj[6]))
	x := adj.apply(y)
	for i := range x {
		x[i] = x[i].Div(det)
	}
	return x
}

// planar is exp of (λ, θ): the linear part (re, im), and V = (exp(z) - 1)/z, both as complex numbers.
func planar(l, th float64) (e, v [2]dd) {
	s, c := testkit.SinCosDD(th)
	sh, _ := testkit.SinCosDD(th / 2)
	grown := testkit.ExpDD(wide(l))
	r := grown.Ldexp(grown.E)
	e = [2]dd{c.Mul(r), s.Mul(r)}
	m := testkit.Expm1DD(wide(l))
	// Re(exp(z) - 1) = (exp(λ) - 1)·cos θ - 2·sin²(θ/2)
	re, im := m.Ldexp(m.E).Mul(c).Sub(sh.Mul(sh).Ldexp(1)), e[1]
	size := testkit.Product(l, l).Add(testkit.Product(th, th))
	switch big := max(math.Abs(l), math.Abs(th)); {
	case big == 0:
		return e, [2]dd{wide(1), {}}
	case big < 0x1p-70: // 1 + z/2
		return e, [2]dd{wide(1), wide(th / 2)}
	case math.Abs(l) < 0x1p-400:
		l, size = 0, testkit.Product(th, th)
	case math.Abs(th) < 0x1p-400:
		th, size = 0, testkit.Product(l, l)
	}
	return e, [2]dd{re.Mul(wide(l)).Add(im.Mul(wide(th))).Div(size), im.Mul(wide(l)).Sub(re.Mul(wide(th))).Div(size)}
}

// ddExpGroup is the compact exponential of a.
func (c *compactGroup) ddExpGroup(a, _ []float64, _ float64) []dd {
	switch c.name {
	case "SO2":
		e, _ := planar(0, a[0])
		return e[:]
	case "RxSO2":
		e, _ := planar(a[0], a[1])
		return e[:]
	case "SE2", "Sim2":
		l := 0.
		if c.name == "Sim2" {
			l = a[0]
		}
		e, v := planar(l, a[c.rot-1])
		x, y := wide(a[c.rot]), wide(a[c.rot+1])
		return []dd{e[0], e[1], v[0].Mul(x).Sub(v[1].Mul(y)), v[1].Mul(x).Add(v[0].Mul(y))}
	}
	r, v := rotation([3]dd{wide(a[0]), wide(a[1]), wide(a[2])})
	if c.name == "SO3" {
		return r
	}
	t := v.apply([]dd{wide(a[3]), wide(a[4]), wide(a[5])})
	return []dd{r[0], r[1], r[2], t[0], r[3], r[4], r[5], t[1], r[6], r[7], r[8], t[2]}
}

// ddLogPlanar is log of the linear part of a plane's element.
func ddLogPlanar(e []float64) (l, th dd) {
	r2 := testkit.Product(e[0], e[0]).Add(testkit.Product(e[1], e[1]))
	l = testkit.LogDD(r2)
	if math.Abs(r2.Hi-1) < 0.25 {
		l = testkit.Log1pDD(r2.Sub(wide(1)))
	}
	a := testkit.Scaled{DD: wide(math.Atan2(e[1], e[0]))}
	if e[0] != 0 && e[1] != 0 {
		a = testkit.Atan2DD(e[1], e[0])
	}
	return l.Mul(wide(0.5)), a.Ldexp(a.E)
}

// ddLogGroup is the logarithm of the group's element that is nearest to e.
func (c *compactGroup) ddLogGroup(e, got []float64, _ float64) []dd {
	switch c.name {
	case "SO2":
		_, th := ddLogPlanar(e)
		return []dd{th}
	case "RxSO2":
		l, th := ddLogPlanar(e)
		return []dd{l, th}
	case "SE2", "Sim2":
		l, th := ddLogPlanar(e)
		out := []dd{l, th}
		if c.name == "SE2" {
			l, out = dd{}, []dd{th}
		}
		_, v := planar(l.Hi, th.Hi)
		// Newton's step for the tails of l and θ: V(z+δ) ≈ V + δ·V', and V' is near 1/2 or smaller: 2^-53 of it by differences.
		v = planarTail(v, l, th)
		x, y, n := wide(e[2]), wide(e[3]), v[0].Mul(v[0]).Add(v[1].Mul(v[1]))
		return append(out, v[0].Mul(x).Add(v[1].Mul(y)).Div(n), v[0].Mul(y).Sub(v[1].Mul(x)).Div(n))
	}
	r := ddOf(e)
	if c.name == "SE3" {
		r = ddOf([]float64{e[0], e[1], e[2], e[4], e[5], e[6], e[8], e[9], e[10]})
	}
	for range 2 { // Newton's iteration for the nearest rotation: R·(3I - RᵀR)/2
		t := make(ddMat, 9)
		for i := range t {
			t[i] = r[i%3*3+i/3]
		}
		r = r.mul(ddIdentity(3).times(wide(3)).sub(t.mul(r, 3)), 3).times(wide(0.5))
	}
	w := rotationVector(r, got)
	if c.name == "SO3" {
		return w[:]
	}
	_, v := rotation(w)
	return append(w[:], v.solve3([]dd{wide(e[3]), wide(e[7]), wide(e[11])})...)
}

// planarTail corrects V(λ, θ) for the tails of its arguments.
func planarTail(v [2]dd, l, th dd) [2]dd {
	z, d, one := complex(l.Hi, th.Hi), complex(l.Lo, th.Lo), complex(1, 0)
	slope := complex(0.5, 0) + z/3 // of a small z
	if real(z)*real(z)+imag(z)*imag(z) > 1e-4 {
		e := complex(math.Exp(real(z))*math.Cos(imag(z)), math.Exp(real(z))*math.Sin(imag(z)))
		slope = (e - (e-one)/z) / z
	}
	d *= slope
	return [2]dd{v[0].Add(wide(real(d))), v[1].Add(wide(imag(d)))}
}

// rotationVector is log r, from a vector w that is nearly it: exp(-w)·r = exp(δ), and log r = w + J(w)⁻¹δ of the right side.
func rotationVector(r ddMat, w []float64) [3]dd {
	back, _ := rotation([3]dd{wide(-w[0]), wide(-w[1]), wide(-w[2])})
	d := back.mul(r, 3)
	half := wide(0.5)
	delta := []dd{d[7].Sub(d[5]).Mul(half), d[2].Sub(d[6]).Mul(half), d[3].Sub(d[1]).Mul(half)}
	_, j := rotation([3]dd{wide(-w[0]), wide(-w[1]), wide(-w[2])}) // the right Jacobian
	s := j.solve3(delta)
	return [3]dd{wide(w[0]).Add(s[0]), wide(w[1]).Add(s[1]), wide(w[2]).Add(s[2])}
}

// shifted calls f with translations, the entries in of its arguments, scaled by up to 1e±290, and scales those of its results
// back. A correct function does not notice.
func shifted(f func(dst, a []float64, n int), in, out []int) func(dst, a []float64, n int) {
	return func(dst, a []float64, n int) {
		b := append([]float64(nil), a...)
		shift := func(x []float64, index []int, sign int) {
			for i := range n {
				k := int(math.Float64bits(a[i])>>10%1921) - 960
				for _, e := range index {
					x[e*n+i] = math.Ldexp(x[e*n+i], sign*k)
				}
			}
		}
		shift(b, in, 1)
		f(dst, b, n)
		shift(dst, out, -1)
	}
}

// groupTrials are the closed forms.
func groupTrials() (all []linTrial) {
	for i := range compactGroups {
		c := &compactGroups[i]
		linear, translation, _ := c.entries()
		parts := func(a, b []int) [][]int {
			if len(b) == 0 {
				return [][]int{a}
			}
			return [][]int{a, b}
		}
		bound := map[string]float64{"SE2": 5e-16, "Sim2": 6e-16, "SE3": 5e-16}[c.name]
		logBound := map[string]float64{"SE2": 5e-16, "Sim2": 5e-16, "SO3": 6e-16, "SE3": 1e-15}[c.name]
		bound32, logBound32 := 2.5e-7, 2.5e-7
		if c.name == "Sim2" || c.name == "SE3" {
			bound32 = 3.5e-7
		}
		if c.rot == 3 {
			logBound32 = 3.5e-7
		}
		all = append(all, linTrial{"Exp" + c.name, c.g, c.k,
			shifted(func(e, a []float64, n int) { batch.Exp(c.Group, e, a, n) }, span(c.rot, c.g), translation), c.exp32,
			max(4e-16, bound), bound32, parts(linear, translation),
			c.sample, c.ddExpGroup, false,
			func(x, _ []float64, part []int) float64 { return relativeCond(c.exp, x, c.k, part, 1e-6) }})
		all = append(all, linTrial{"Log" + c.name, c.k, c.g,
			shifted(func(a, e []float64, n int) { batch.Log(c.Group, a, e, n) }, translation, span(c.rot, c.g)), c.log32,
			max(4e-16, logBound), logBound32, parts(span(0, c.rot), span(c.rot, c.g)),
			func(rng *rand.Rand) []float64 {
				e := make([]float64, c.k)
				for i, v := range c.ddExpGroup(c.sample(rng), nil, 0) {
					e[i] = v.Hi
				}
				return e
			}, c.ddLogGroup, c.rot == 3,
			func(x, got []float64, part []int) float64 {
				if part[0] == 0 {
					return 1
				}
				cond := math.Inf(1)
				for h := 1e-6; cond > 30 && h > 1e-15; h /= 100 {
					cond = relativeCond(c.log, x, c.g, part, h)
				}
				if cond > 30 {
					return 1
				}
				return cond
			}})
	}
	return all
}

func one64(f func(dst []float64, ok []bool, a []float64, n int)) func(dst, a []float64, n int) {
	return func(dst, a []float64, n int) { f(dst, make([]bool, n), a, n) }
}

func one32(f func(dst []float32, ok []bool, a []float32, n int)) func(dst, a []float32, n int) {
	return func(dst, a []float32, n int) { f(dst, make([]bool, n), a, n) }
}

// matrixTrials are the functions of general n×n matrices.
func matrixTrials() (all []linTrial) {
	for n := 2; n <= 3; n++ {
		g := n * n
		exp64, exp32, expBound, expBound32 := batch.Exp2x2[float64], batch.Exp2x2[float32], 1e-15, 2.5e-7
		log64, log32, inv64, inv32 := batch.Log2x2[float64], batch.Log2x2[float32], batch.Inverse2x2[float64], batch.Inverse2x2[float32]
		det64, det32, logBound, detBound := batch.Det2x2[float64], batch.Det2x2[float32], 1e-15, 1.5*0x1p-52
		if n == 3 {
			exp64, exp32, expBound, expBound32 = batch.Exp3x3[float64], batch.Exp3x3[float32], 4e-15, 1e-6
			log64, log32, inv64, inv32 = batch.Log3x3[float64], batch.Log3x3[float32], batch.Inverse3x3[float64], batch.Inverse3x3[float32]
			det64, det32, logBound, detBound = batch.Det3x3[float64], batch.Det3x3[float32], 4e-15, 0x1p-52
		}
		hard := func(rng *rand.Rand) []float64 { return hardMatrices(n, rng, 1)[0] }
		all = append(all,
			linTrial{fmt.Sprintf("Exp%dx%d", n, n), g, g, exp64, exp32, expBound, expBound32, [][]int{span(0, g)}, hard,
				func(x, _ []float64, _ float64) []dd {
					want := ddExp(x, n)
					if size := Norm(want.float()); !(size < 0x1p1000 && size > 0x1p-900) {
						return nil
					}
					return want
				}, false,
				func(x, got []float64, _ []int) float64 {
					return spectralNorm(frechetMatrix(x, n), g) * Norm(x) / Norm(got)
				}},
			linTrial{fmt.Sprintf("Log%dx%d", n, n), g, g, one64(log64), one32(log32), logBound, 2.5e-7, [][]int{span(0, g)},
				func(rng *rand.Rand) []float64 {
					a := hard(rng)
					if turns := wideTurns(n); rng.IntN(20) == 0 {
						a = turns[rng.IntN(len(turns))]
					}
					if f := Norm(a); f > 60 || f == 0 {
						for i := range a {
							a[i] *= 5 * rng.Float64() / max(f, 1)
						}
					}
					return ddExp(a, n).float()
				},
				func(x, got []float64, enough float64) []dd {
					if got[0] != got[0] {
						return nil // no logarithm, or so near to the axis that rounding has decided
					}
					// With the residual r = x - exp(got), the error is at most ‖L⁻¹‖·‖r‖ and the condition ‖L⁻¹‖·‖x‖/‖got‖.
					off := ddOf(x).sub(ddExp(got, n)).float()
					if Norm(off) <= enough*Norm(x) || inverseNorm(x, n)*Norm(x) > 1e12 {
						return nil
					}
					inv := inverseFrechet(got, n)
					want := ddOf(got)
					for i := range want {
						for j, v := range off {
							want[i] = want[i].Add(wide(inv[i*g+j] * v))
						}
					}
					return want
				}, true,
				func(x, got []float64, _ []int) float64 {
					return spectralNorm(inverseFrechet(got, n), g) * Norm(x) / Norm(got)
				}},
			linTrial{fmt.Sprintf("Inverse%dx%d", n, n), g, g, one64(inv64), one32(inv32), 4e-16, 2.5e-7, [][]int{span(0, g)},
				func(rng *rand.Rand) []float64 { return nearSingular(rng, n) },
				func(x, got []float64, _ float64) []dd {
					if got[0] != got[0] {
						return nil
					}
					off := ddIdentity(n).sub(ddOf(x).mul(ddOf(got), n)) // got + got·(I - x·got)
					want := ddOf(got).mul(off, n)
					for i := range want {
						want[i] = want[i].Add(wide(got[i]))
					}
					return want
				}, true,
				func(x, got []float64, _ []int) float64 { return Norm(x) * Norm(got) }},
			linTrial{fmt.Sprintf("Det%dx%d", n, n), g, 1, det64, det32, detBound, 0x1p-23, [][]int{{0}},
				func(rng *rand.Rand) []float64 { return nearSingular(rng, n) },
				func(x, _ []float64, _ float64) []dd { return []dd{ddDet(x, n)} }, false,
				func(_, _ []float64, _ []int) float64 { return 1 }},
		)
	}
	return all
}

// inverseNorm is the norm of the inverse of x, +Inf where there is none.
func inverseNorm(x []float64, n int) float64 {
	inv, ok := make([]float64, n*n), []bool{false}
	if n == 2 {
		batch.Inverse2x2(inv, ok, x, 1)
	} else {
		batch.Inverse3x3(inv, ok, x, 1)
	}
	if !ok[0] {
		return math.Inf(1)
	}
	return Norm(inv)
}

// inverseFrechet is the inverse of the derivative of the exponential at x.
func inverseFrechet(x []float64, n int) []float64 {
	g := n * n
	k := frechetMatrix(x, n)
	inv := make([]float64, g*g)
	for i := range g {
		inv[i*g+i] = 1
	}
	for c := range g {
		p := c
		for i := c; i < g; i++ {
			if math.Abs(k[i*g+c]) > math.Abs(k[p*g+c]) {
				p = i
			}
		}
		for j := range g {
			k[c*g+j], k[p*g+j] = k[p*g+j], k[c*g+j]
			inv[c*g+j], inv[p*g+j] = inv[p*g+j], inv[c*g+j]
		}
		d := 1 / k[c*g+c]
		for j := range g {
			k[c*g+j] *= d
			inv[c*g+j] *= d
		}
		for i := range g {
			if f := k[i*g+c]; i != c {
				for j := range g {
					k[i*g+j] -= f * k[c*g+j]
					inv[i*g+j] -= f * inv[c*g+j]
				}
			}
		}
	}
	return inv
}

// nearSingular draws matrices, half of them with a row that is almost a combination of the others.
func nearSingular(rng *rand.Rand, n int) []float64 {
	a := make([]float64, n*n)
	for i := range a {
		a[i] = rng.NormFloat64()
		if rng.IntN(8) == 0 {
			a[i] *= math.Exp2(20 * (rng.Float64() - 0.5))
		}
	}
	if rng.IntN(2) == 0 {
		gap := math.Exp2(-40 * rng.Float64())
		for j := range n {
			sum := 0.
			for i := range n - 1 {
				sum += a[i*n+j] * float64(1+i)
			}
			a[(n-1)*n+j] = sum + gap*a[(n-1)*n+j]
		}
	}
	return a
}

// ddDet is the determinant, whose terms are added without any rounding.
func ddDet(a []float64, n int) dd {
	if n == 2 {
		return testkit.Product(a[0], a[3]).Sub(testkit.Product(a[1], a[2]))
	}
	sum := new(big.Float).SetPrec(1000)
	for k := range 3 {
		for _, sign := range []int{1, 2} {
			p := new(big.Float).SetPrec(200).SetFloat64(a[k])
			p.Mul(p, new(big.Float).SetFloat64(a[3+(k+sign)%3]))
			p.Mul(p, new(big.Float).SetFloat64(a[6+(k+2*sign)%3]))
			if sign == 2 {
				p.Neg(p)
			}
			sum.Add(sum, p)
		}
	}
	hi, _ := sum.Float64()
	lo, _ := sum.Sub(sum, new(big.Float).SetFloat64(hi)).Float64()
	return dd{Hi: hi, Lo: lo}
}

// TestTrialReference compares the references in 106 bits with those in 300: of functions that do not start from a computed result.
func TestTrialReference(t *testing.T) {
	rng := testkit.Rand(22)
	for range sample(400, 40, 20) {
		for n := 2; n <= 3; n++ {
			a := hardMatrices(n, rng, 1)[0]
			want, got := bigOf(a, n).exp(), ddExp(a, n)
			if e := want.exponent(); e > -900 && e < 1000 {
				requireNear(t, got, want.v, 1e-21*max(1, condExp(a, n)), a)
			}
		}
		for _, c := range compactGroups {
			a := c.sample(rng)
			m := make([]float64, c.n*c.n)
			c.hat(m, a)
			_, _, at := c.entries()
			e := c.ddExpGroup(a, nil, 0)
			requireNear(t, e, pick(bigOf(m, c.n).exp().v, at), 1e-21, a)
			x, got := ddMat(e).float(), make([]float64, c.g)
			c.log(got, x)
			if th := math.Abs(Norm(a[:c.rot]) - math.Pi); th > 1e-9 { // else the sign is open
				requireNear(t, c.ddLogGroup(x, got, 0), c.vee(c.matrix(x).log()), 1e-21, a)
			}
		}
	}
}

// requireNear wants got within bound of want, relative to the norm.
func requireNear(t *testing.T, got []dd, want []*big.Float, bound float64, of []float64) {
	t.Helper()
	var off, size []float64
	for i, w := range want {
		d := bigNum(0).Sub(bigNum(0).Add(bigNum(got[i].Hi), bigNum(got[i].Lo)), w)
		f, _ := d.Float64()
		s, _ := w.Float64()
		off, size = append(off, f), append(size, s)
	}
	require.LessOrEqual(t, Norm(off), bound*Norm(size), "%v", of)
}

// TestTrial compares functions of matrices with arithmetic of 106 bits, at as many matrices as -trial says, at every level.
func TestTrial(t *testing.T) {
	for _, c := range append(matrixTrials(), groupTrials()...) {
		t.Run(c.name, func(t *testing.T) {
			runLinTrial(t, &c, c.f64, c.bound64)
			runLinTrial(t, &c, c.f32, c.bound32)
		})
	}
}

func runLinTrial[T batch.Float](t *testing.T, c *linTrial, f func(dst, a []T, n int), bound float64) {
	const n = 100
	single := any(T(0)) == any(float32(0))
	rng := testkit.Rand(21)
	x, got := make([]T, c.in*n), make([]T, c.out*n)
	worsts := map[simd.Level]*worst{}
	for _, l := range simd.Levels() {
		worsts[l] = &worst{}
	}
	before := simd.CurrentLevel()
	defer func() { require.NoError(t, simd.SetLevel(before)) }()
	count := *trial
	if testing.Short() {
		count = min(count, 200)
	}
	for done := 0; done < count; done += n {
		exact := make([][]dd, n)
		drawn := make([][]float64, n)
		for i := range n {
			drawn[i] = c.draw(rng)
			for e, v := range drawn[i] {
				x[e*n+i] = T(v)
				drawn[i][e] = float64(T(v))
			}
			if !c.near {
				exact[i] = c.want(drawn[i], nil, 0)
			}
		}
		for _, l := range simd.Levels() {
			require.NoError(t, simd.SetLevel(l))
			f(got, x, n)
			for i := range n {
				c.judge(worsts[l], drawn[i], column(got, i, n), exact[i], single)
			}
		}
	}
	var row strings.Builder
	for _, l := range simd.Levels() {
		w := worsts[l]
		fmt.Fprintf(&row, " %v %.3g at %s |", l, w.ratio, w.what)
		if !(w.ratio <= bound) {
			t.Errorf("level=%v: %s, %T: %.3g exceeds %.3g per condition (error %g at condition %g) at %s", l, c.name, T(0), w.ratio, bound,
				w.err, w.cond, w.what)
		}
	}
	t.Logf("| %s | %T | %.2g |%s", c.name, T(0), bound, row.String())
}

func column[T batch.Float](a []T, i, n int) []float64 {
	out := make([]float64, len(a)/n)
	for e := range out {
		out[e] = float64(a[e*n+i])
	}
	return out
}

// judge compares one result with the exact one. The condition number, which takes long, is asked for only where the error is more than
// the worst one per condition so far.
func (c *linTrial) judge(w *worst, x, got []float64, exact []dd, single bool) {
	if !allFinite(x) || single && (Norm(x) < 0x1p-60 || strings.HasPrefix(c.name, "Log") && c.outOfFloat32(got)) {
		return
	}
	if c.near {
		exact = c.want(x, got, w.ratio)
	}
	if exact == nil {
		return
	}
	for _, part := range c.parts {
		var off, size []float64
		for _, k := range part {
			off, size = append(off, exact[k].Sub(wide(got[k])).Hi), append(size, exact[k].Hi)
		}
		s := Norm(size)
		if single && (s > 0x1p120 || s < 0x1p-100) {
			continue
		}
		err := Norm(off)
		if s > 0 {
			err /= s
		}
		if !(err > w.ratio) && err == err {
			continue
		}
		cond := c.cond(x, got, part)
		if strings.HasPrefix(c.name, "Log") && cond > 1e13 || single && cond > 1e5 {
			continue
		}
		w.see(err, cond, func() string { return fmt.Sprint(x) })
	}
}

// outOfFloat32 tells logarithms whose sign rounding to float32 decides, or whose angle leaves its range.
func (c *linTrial) outOfFloat32(got []float64) bool {
	if strings.HasSuffix(c.name, "x2") || strings.HasSuffix(c.name, "x3") {
		return false
	}
	th := Norm(got[:min(len(got), 3)])
	return th > 3.14159 || th < 1e-30
}
