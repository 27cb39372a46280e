package main

import "github.com/equivcnp/equivcnp/asm/internal/x86"

// General 2×2 matrices; derivations in linalg's mat2.go. A matrix is m I + N, N = [[δ, b], [c, -δ]], N² = x I.

// taylor names the coefficients 1/(k+2i)!, i = 0, 1, ..., n-1, of cosh √x (k = 0) or sinh √x/√x (k = 1).
func taylor(b *x86.Block, k, n int) (c []x86.Value) {
	f := 1.0
	for i := range n {
		name := "one"
		if i > 0 {
			name = "factorial" + string(rune('a'+k+2*i))
		}
		c = append(c, b.Const(name, 1/f))
		f *= float64((k + 2*i + 1) * (k + 2*i + 2))
	}
	return c
}

// exp2x2 is C I + S N with, as x is above 1, below -1 or in between,
//
//	C = (e^{m+r} + e^{m-r})/2   e^m cos r     e^m Σ xᵏ/(2k)!
//	S = (e^{m+r} - e^{m-r})/2r  e^m sin r/r   e^m Σ xᵏ/(2k+1)!     r = √|x|
func exp2x2(b *x86.Block) {
	a := load(b, 1, 4)
	h := half(b)
	p, q := b.Mul(a[0], h), b.Mul(a[3], h)
	m, delta := b.Add(p, q), b.Sub(p, q)
	x := sumOfProducts(b, delta, delta, a[1], a[2])
	b.Hard(b.OrMask(notWithin(b, m, "expHalf", byElem(b, 40.0, 350)), notWithin(b, x, "x2x2Max", byElem(b, 1500.0, 1e5))))
	r, inv := root(b, abs(b, x))
	large := b.Cmp(x86.GT, x, one(b))
	osc := b.Cmp(x86.LT, x, b.Const("minusOne", -1))
	split := b.Select(large, r, zero(b))
	e1, e2 := exp(b, b.Add(m, split)), exp(b, b.Sub(m, split))
	sin, cos := sinCosNear(b, r)
	terms := byElem(b, 6, 10)
	c, s := b.Horner(x, taylor(b, 0, terms)...), b.Horner(x, taylor(b, 1, terms)...)
	c, s = b.Select(osc, cos, c), b.Select(osc, b.Mul(sin, inv), s)
	c, s = b.Mul(e1, c), b.Mul(e1, s)
	c = b.Select(large, b.Mul(b.Add(e1, e2), h), c)
	s = b.Select(large, b.Mul(b.Mul(b.Sub(e1, e2), h), inv), s)
	outputs(b, b.FMA(s, delta, c), b.Mul(s, a[1]), b.Mul(s, a[2]), b.FNMA(s, delta, c))
}

// angleAbove is the angle of (x, y), y ≥ 0.
func angleAbove(b *x86.Block, y, x x86.Value) x86.Value {
	return unfold(b, atanQuotient(b, y, abs(b, x)), b.Cmp(x86.LT, x, zero(b)), 2)
}

// log2x2 is ½ log det I + β N with, for z = x/m²,
//
//	β = Σ zᵏ/(2k+1)/m              |z| ≤ 1/16, m > 0
//	β = atan2(r, m)/r              x < 0
//	β = (log(m + r) - ½ log det)/r  x > 0
//
// It leaves to its caller what may have no logarithm, or entries so large or determinants so small that squares or products of
// entries are in danger.
func log2x2(b *x86.Block) {
	a := load(b, 1, 4)
	h := half(b)
	p, q := b.Mul(a[0], h), b.Mul(a[3], h)
	m := b.Add(p, q)
	// The difference with its rounding error, because x may have the opposite sign without it.
	delta := b.Sub(p, q)
	t := b.Sub(delta, p)
	lost := b.Sub(b.Sub(p, b.Sub(delta, t)), b.Add(q, t))
	x := b.FMA(b.Add(delta, delta), lost, sumOfProducts(b, delta, delta, a[1], a[2]))
	det := diffOfProducts(b, a[0], a[3], a[1], a[2])
	big := b.Max(b.Max(abs(b, a[0]), abs(b, a[1])), b.Max(abs(b, a[2]), abs(b, a[3])))
	m2 := b.Mul(m, m)
	b.Hard(b.OrMask(b.Cmp(x86.NLE, big, b.Const("entryMax", byElem(b, 0x1p25, 0x1p200))),
		b.Cmp(x86.NGE, det, b.Const("detMin", byElem(b, 0x1p-40, 0x1p-400)))))
	b.Hard(b.Cmp(x86.Unordered, a[0], a[1]))
	b.Hard(b.Cmp(x86.Unordered, a[2], a[3]))
	// At m ≤ 0 only a pair of complex eigenvalues, well off the axis, is sure to have a logarithm.
	wide := b.FMA(m2, b.Const("eighth", 0.125), x)
	b.Hard(b.Cmp(x86.GT, b.Select(b.Cmp(x86.LE, m, zero(b)), wide, zero(b)), zero(b)))
	b.Hard(b.Cmp(x86.EQ, m2, zero(b)))

	logDet := ln(b, det)
	alpha := b.Mul(logDet, h)
	r, _ := squareRoot(b, b.Max(abs(b, x), rootMin(b)))
	z := quotient(b, x, m2)
	short := b.Cmp(x86.LE, abs(b, z), b.Const("sixteenth", 0.0625))
	var series []x86.Value
	for k := range byElem(b, 7, 14) {
		series = append(series, b.Const("odd"+string(rune('a'+k)), 1/float64(2*k+1)))
	}
	num := b.Select(b.Cmp(x86.LT, x, zero(b)), angleAbove(b, r, m), b.Sub(ln(b, b.Add(m, r)), alpha))
	num = b.Select(short, b.Horner(z, series...), num)
	beta := quotient(b, num, b.Select(short, m, r))
	// At negative m no z is short but in hard lanes.
	d := b.Mul(beta, delta)
	outputs(b, b.Add(alpha, d), b.Mul(beta, a[1]), b.Mul(beta, a[2]), b.Sub(alpha, d))
}

func mul2x2(b *x86.Block) {
	p, q := load(b, 1, 4), load(b, 2, 4)
	for i := 0; i < 4; i += 2 {
		for j := range 2 {
			b.Output(sumOfProducts(b, p[i], q[j], p[i+1], q[2+j]))
		}
	}
}

// outside is set where the largest magnitude is beyond 2^±limit, or any entry is NaN.
func outside(b *x86.Block, a []x86.Value, name string, limit int) (x86.Mask, x86.Value) {
	big, nan := abs(b, a[0]), b.Mul(a[0], zero(b))
	for _, v := range a[1:] {
		big = b.Max(big, abs(b, v))
		nan = b.FMA(v, zero(b), nan)
	}
	over := b.OrMask(b.Cmp(x86.NLE, big, b.Const(name+"Max", pow(2, limit))), b.Cmp(x86.NGE, big, b.Const(name+"Min", pow(2, -limit))))
	return b.OrMask(over, b.Cmp(x86.Unordered, nan, nan)), big
}

func pow(x float64, n int) float64 {
	p := 1.0
	for range max(n, -n) {
		p *= x
	}
	if n < 0 {
		return 1 / p
	}
	return p
}

// inverse2x2 is the adjugate over the determinant. Determinants that are small beside the entries are the caller's.
func inverse2x2(b *x86.Block) {
	a := load(b, 1, 4)
	hard, _ := outside(b, a, "square", byElem(b, 30, 250))
	det := diffOfProducts(b, a[0], a[3], a[1], a[2])
	b.Hard(b.OrMask(hard, b.Cmp(x86.NGE, abs(b, det), b.Const("inverseMin", byElem(b, 0x1p-60, 0x1p-500)))))
	outputs(b, b.Div(a[3], det), b.Div(neg(b, a[1]), det), b.Div(neg(b, a[2]), det), b.Div(a[0], det))
}

func det2x2(b *x86.Block) {
	a := load(b, 1, 4)
	b.Output(diffOfProducts(b, a[0], a[3], a[1], a[2]))
}

// frobenius is the root of the sum of squares, where these are safe.
func frobenius(k int) func(b *x86.Block) {
	return func(b *x86.Block) {
		a := load(b, 1, k)
		s := b.Mul(a[0], a[0])
		for _, v := range a[1:] {
			s = b.FMA(v, v, s)
		}
		b.Hard(b.OrMask(b.Cmp(x86.NLE, s, b.Const("squareSumMax", byElem(b, 0x1p120, 0x1p1020))),
			b.Cmp(x86.NGE, s, b.Const("squareSumMin", byElem(b, 0x1p-90, 0x1p-900)))))
		b.Output(b.Sqrt(s))
	}
}

var mat2Ops = matrixFile{"zmat2", []matrixOp{
	{name: "Exp2x2", doc: "writes the exponentials of n matrices.", pinned: pinSome, stages: []func(*x86.Block){exp2x2}},
	{name: "Log2x2", doc: "writes the logarithms of n matrices.", pinned: pinSome, stages: []func(*x86.Block){log2x2}},
	{name: "Mul2x2", doc: "writes the products of n pairs of matrices.", stages: []func(*x86.Block){mul2x2}},
	{name: "Inverse2x2", doc: "writes the inverses of n matrices.", stages: []func(*x86.Block){inverse2x2}},
	{name: "Det2x2", doc: "writes the determinants of n matrices.", stages: []func(*x86.Block){det2x2}},
	{name: "Frobenius2x2", doc: "writes the Frobenius norms of n matrices.", stages: []func(*x86.Block){frobenius(4)}},
}}
