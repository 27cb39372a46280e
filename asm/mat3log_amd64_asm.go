package main

import (
	"strconv"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

// The logarithm of a 3×3 matrix by inverse scaling and squaring, like linalg's mat3_log.go, with square roots in closed form. For
// U = √X with the invariants i₁ = tr U, i₂, i₃ = det U, those of X are
//
//	I₁ = i₁² - 2i₂,   I₂ = i₂² - 2i₁i₃,   I₃ = i₃²
//
// and Cayley and Hamilton's theorem, U³ - i₁U² + i₂U - i₃I = 0, gives U(X + i₂I) = i₁X + i₃I, so that
//
//	U = i₁I - D(X + i₂I)⁻¹ = i₁I - adj(X + i₂I)/D,   D = i₁i₂ - i₃ = √det(X + i₂I)
//	(U + I)⁻¹ = (X - (1 + i₁)U + (1 + i₁ + i₂)I)/(1 + i₁ + i₂ + i₃)
//	U - I = (X - I)(U + I)⁻¹
//
// After A. Hoger and D. E. Carlson, Determination of the stretch and rotation in the polar decomposition of the
// deformation gradient, Quarterly of Applied Mathematics 42 (1984), 113-117. The last line keeps the digits of U - I
// where U is close to I, which the series needs. i₁ is the largest root of (x² - I₁)² = 4I₂ + 8i₃x.
//
// The kernel computes matrices whose invariants are positive, which have no eigenvalue on the negative real axis, and
// which are not too close to singular ones. All others are hard, and left to the caller.

// The slots of log3x3: nine entries of the current root minus I, the root's invariants, 2 to the number of roots taken,
// the exponent that was divided out, and a flag for hard lanes.
const (
	slotI1 = 9 + iota
	slotI2
	slotI3
	slotRoots
	slotExponent
	slotBad
)

// logNear is the distance of a root from I, in the norm of column sums, at which the series takes over.
const logNear = 0.7

// adjugate is det(a)·a⁻¹.
func adjugate(b *x86.Block, a mat3) (r mat3) {
	minor := func(p, q, s, t int) x86.Value { return b.FMS(a[p], a[q], b.Mul(a[s], a[t])) }
	return mat3{
		minor(4, 8, 5, 7), minor(2, 7, 1, 8), minor(1, 5, 2, 4),
		minor(5, 6, 3, 8), minor(0, 8, 2, 6), minor(2, 3, 0, 5),
		minor(3, 7, 4, 6), minor(1, 6, 0, 7), minor(0, 4, 1, 3),
	}
}

// far is set where ‖x‖ is above logNear.
func far(b *x86.Block, x mat3) x86.Mask {
	return b.Cmp(x86.NLE, norm1(b, x), b.Const("logNear", logNear))
}

// plusI is a + cI.
func plusI(b *x86.Block, a mat3, c x86.Value) mat3 {
	for i := 0; i < 9; i += 4 {
		a[i] = b.Add(a[i], c)
	}
	return a
}

// log3x3Scale takes a power of two near the cube root of the determinant out.
func log3x3Scale(b *x86.Block) {
	a := mat3(load(b, 1, 9))
	n := norm1(b, a)
	bad := b.OrMask(b.Cmp(x86.NLE, n, b.Const("logMax", 0x1p200)), b.Cmp(x86.NGE, n, b.Const("logMin", 0x1p-200)))
	det := det3(b, a)
	n3 := b.Mul(b.Mul(n, n), n)
	bad = b.OrMask(bad, b.Cmp(x86.NGE, det, b.Mul(n3, b.Const("detRatio", 0x1p-20))))
	e := b.Mul(b.Sub(exponent(b, b.Max(det, b.Const("logDetMin", 0x1p-700))), half(b)), b.Const("third", 1./3))
	round := b.Const("round", roundF64)
	e = b.Sub(b.Add(e, round), round)
	scale := scaleDown(b, e)
	for i := range a {
		a[i] = b.Mul(a[i], scale)
	}
	i1 := b.Add(b.Add(a[0], a[4]), a[8])
	i2 := b.Add(b.Add(diffOfProducts(b, a[0], a[4], a[1], a[3]), diffOfProducts(b, a[0], a[8], a[2], a[6])),
		diffOfProducts(b, a[4], a[8], a[5], a[7]))
	i3 := b.Mul(det, b.Mul(b.Mul(scale, scale), scale))
	// Below these borders, and below detRatio, Newton's iteration for i₁ is not sure to end within the bound on errors:
	// with 2⁻⁷ here instead, AVX-512, whose slopes are estimates, was 2.5e-15 off per condition. Matrices of positive
	// eigenvalues have i₁ and i₂ above 2.
	margin := b.Const("invariantMin", 0x1p-2)
	bad = b.OrMask(bad, b.OrMask(b.Cmp(x86.NGE, i1, margin), b.Cmp(x86.NGE, i2, margin)))
	// What hard lanes compute is finite: the identity.
	for i, v := range plusI(b, a, b.Const("minusOne", -1)) {
		b.SetLocal(i, b.Select(bad, zero(b), v))
	}
	three := b.Const("three", 3)
	b.SetLocal(slotI1, b.Select(bad, three, i1))
	b.SetLocal(slotI2, b.Select(bad, three, i2))
	b.SetLocal(slotI3, b.Select(bad, one(b), i3))
	b.SetLocal(slotRoots, one(b))
	b.SetLocal(slotExponent, e)
	b.FlagLocal(slotBad, bad)
}

// roughRoot is √x, on AVX-512 of 14 bits, for positive x.
func roughRoot(b *x86.Block, x x86.Value) x86.Value {
	if b.Level == x86.AVX2 {
		return b.Sqrt(x)
	}
	return b.Mul(x, b.Rsqrt(x))
}

// log3x3Root takes the square root in lanes that are far from I.
func log3x3Root(b *x86.Block) {
	var e mat3
	for i := range e {
		e[i] = b.Local(i)
	}
	more := far(b, e)
	c1, c2, c3 := b.Local(slotI1), b.Local(slotI2), b.Local(slotI3)
	i3, _ := squareRoot(b, c3)
	// Newton's iteration. For positive eigenvalues i₂ is at most √(3I₂). I₃ is near 1 here; the 4 makes the first guess good for complex
	// eigenvalues as well, because the slope is positive there.
	t := b.Add(roughRoot(b, b.Mul(c2, b.Const("twelve", 12))), b.Add(c1, b.Const("four", 4)))
	t = roughRoot(b, t)
	i3x8, c2x4 := b.Mul(i3, b.Const("eight", 8)), b.Mul(c2, b.Const("four", 4))
	for range 6 {
		d := b.FMS(t, t, c1)
		f := b.FNMA(i3x8, t, b.FMS(d, d, c2x4))
		slope := b.FMS(b.Mul(t, b.Const("four", 4)), d, i3x8)
		if b.Level == x86.AVX512 {
			t = b.FNMA(f, b.Rcp(slope), t) // good enough, as the next step corrects it
		} else {
			t = b.Sub(t, b.Div(f, slope))
		}
	}
	// Once more by the equations that only add positive numbers.
	two := b.Const("two", 2)
	i2, _ := squareRoot(b, b.FMA(b.Add(t, t), i3, c2))
	i1, _ := squareRoot(b, b.FMA(i2, two, c1))
	i2, _ = squareRoot(b, b.FMA(b.Add(i1, i1), i3, c2))
	x := plusI(b, e, one(b))
	inv := quotient(b, one(b), b.FMS(i1, i2, i3))
	u := adjugate(b, plusI(b, x, i2))
	// (1 + i₁)U, X minus that, and so on, over the sum at last.
	sum1 := b.Add(one(b), i1)
	sum2 := b.Add(sum1, i2)
	scale := quotient(b, one(b), b.Add(sum2, i3))
	for i := range u {
		if i%4 == 0 {
			u[i] = b.FNMA(u[i], inv, i1)
		} else {
			u[i] = neg(b, b.Mul(u[i], inv))
		}
		u[i] = b.FNMA(sum1, u[i], x[i])
	}
	v := mul3(b, e, plusI(b, u, sum2))
	for i := range v {
		v[i] = b.Select(more, b.Mul(v[i], scale), e[i])
		b.SetLocal(i, v[i])
	}
	b.SetLocal(slotI1, b.Select(more, i1, c1))
	b.SetLocal(slotI2, b.Select(more, i2, c2))
	b.SetLocal(slotI3, b.Select(more, i3, c3))
	n := b.Local(slotRoots)
	n = b.Select(more, b.Add(n, n), n)
	b.SetLocal(slotRoots, n)
	// Only matrices that never come near I need more than ten roots.
	few := b.Select(b.Cmp(x86.LT, n, b.Const("rootsMax", 1024)), one(b), zero(b))
	b.Again(b.Cmp(x86.GT, b.Select(far(b, v), few, zero(b)), zero(b)))
}

// log3x3Series is the last stage with that many terms of the series. ‖W‖ is at most 0.29, so that 30 are good for float64 and 13,
// whose rest is below 1e-8 of the sum, for float32.
func log3x3Series(terms int) func(*x86.Block) {
	return func(b *x86.Block) { log3x3Sum(b, terms) }
}

// log3x3Sum is 2ᵏ⁺¹ atanh(Z) + e ln2 I with Z = E(E + 2I)⁻¹: Z times a polynomial of W = Z², in the ring of I, W and W².
func log3x3Sum(b *x86.Block, terms int) {
	var x mat3
	for i := range x {
		x[i] = b.Local(i)
	}
	b.Hard(b.FlagMask(slotBad))
	b.Hard(far(b, x))
	m := plusI(b, x, b.Const("two", 2))
	adj := adjugate(b, m)
	inv := quotient(b, one(b), dot3(b, vec3(m[:3]), vec3{adj[0], adj[3], adj[6]}))
	z := mul3(b, x, adj)
	for i := range z {
		z[i] = b.Mul(z[i], inv)
	}
	w := mul3(b, z, z)
	t := b.Add(b.Add(w[0], w[4]), w[8])
	s := b.Add(b.Add(b.FMS(w[0], w[4], b.Mul(w[1], w[3])), b.FMS(w[0], w[8], b.Mul(w[2], w[6]))),
		b.FMS(w[4], w[8], b.Mul(w[5], w[7])))
	d := det3(b, w)
	odd := func(k int) x86.Value { return b.Const("atanh"+strconv.Itoa(k), 1/float64(2*k+1)) }
	p, q, r := odd(terms-3), odd(terms-2), odd(terms-1)
	for k := terms - 4; k >= 0; k-- {
		p, q, r = b.FMA(r, d, odd(k)), b.FNMA(r, s, p), b.FMA(r, t, q)
	}
	g := mul3(b, w, w)
	for i := range g {
		g[i] = b.FMA(q, w[i], b.Mul(r, g[i]))
	}
	// Z·(pI + G)
	y := mul3(b, z, g)
	roots := b.Local(slotRoots)
	scale := b.Add(roots, roots)
	shift := b.Local(slotExponent)
	for i := range y {
		v := b.Mul(b.FMA(p, z[i], y[i]), scale)
		if i%4 == 0 {
			v = b.FMA(shift, b.Const("ln2", ln2HiF64), v)
		}
		b.Output(v)
	}
}

var mat3LogOps = matrixFile{batchDir + "zmat3log", []matrixOp{
	{name: "Log3x3", doc: "writes the logarithms of n matrices.", onlyF64: true,
		stages: []func(*x86.Block){log3x3Scale, log3x3Root, log3x3Series(30)}},
	{name: "Log3x3Short", doc: "writes the logarithms of n matrices with the digits of float32.", onlyF64: true, inner: true,
		stages: []func(*x86.Block){log3x3Scale, log3x3Root, log3x3Series(13)}},
}}
