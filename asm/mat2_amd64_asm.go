package main

import "github.com/equivcnp/equivcnp/asm/internal/x86"

// General 2×2 matrices; derivations in linalg's mat2.go. A matrix is m I + N, N = [[δ, b], [c, -δ]], N² = x I.

// cosh √y = 1 + y·P(y) and sinh √y/√y = 1 + y·Q(y) for |y| ≤ π²/16, which at negative y are cos and sin: minimax polynomials in
// absolute terms, 7e-9 and 4e-9 for float32, 1.6e-17 and 7e-18.
var (
	coshP = []float64{0x1p-1, 0x1.555556p-5, 0x1.6c1dccp-10, 0x1.a01f22p-16}
	sinhQ = []float64{0x1.555556p-3, 0x1.111112p-7, 0x1.a01f22p-13, 0x1.71e162p-19}

	coshPF64 = []float64{0x1p-1, 0x1.555555555557fp-5, 0x1.6c16c16c16c26p-10, 0x1.a01a019e64cdfp-16, 0x1.27e4fb76df412p-22,
		0x1.1eeeadf3e2e13p-29, 0x1.93987fd1bd61fp-37}
	sinhQF64 = []float64{0x1.5555555555555p-3, 0x1.111111111111bp-7, 0x1.a01a01a01a021p-13, 0x1.71de3a549eb55p-19,
		0x1.ae64567ec48dcp-26, 0x1.61256f4d9b5f3p-33, 0x1.ae8042e3ca937p-41}
)

// coshSinh is cosh √x and sinh √x/√x, but twice as much of both in the lanes of large. These have x above π²/16, and there
//
//	√x = k·ln2 + ρ:  2 cosh √x = 2ᵏ(C + ρS) + 2⁻ᵏ(C - ρS),  2 sinh √x = 2ᵏ(C + ρS) - 2⁻ᵏ(C - ρS)
//
// Elsewhere √|x| = k·π/2 + ρ, and the results are (C, ρS), turned by k quarters; near x = 0, k is 0. C and S are cosh √y and sinh √y/√y
// at y = ±ρ², with the sign of x, so that one pair of polynomials serves all cases.
func coshSinh(b *x86.Block, x x86.Value) (c, s x86.Value, large x86.Mask) {
	r, inv := root(b, abs(b, x))
	large = b.Cmp(x86.GT, x, b.Const("largeMin", 0x1.3bd3ccp-1))
	pick := func(exp, turn string, e32, e64, t32, t64 float64) x86.Value {
		return b.Select(large, b.Const(exp, byElem(b, e32, e64)), b.Const(turn, byElem(b, t32, t64)))
	}
	round := byElem(b, b.Const("roundF32", roundF32), b.Const("round", roundF64))
	z := b.FMA(r, pick("log2e", "twoOverPi", log2e, 0x1.71547652b82fep+0, 0x1.45f306p-1, 0x1.45f306dc9c883p-1), round)
	k := b.Sub(z, round)
	rho := b.FNMA(k, pick("ln2Hi", "halfPi1", ln2HiF32, ln2HiF64, halfPi1, halfPi1F64), r)
	rho = b.FNMA(k, pick("ln2Lo", "halfPi2", ln2LoF32, ln2LoF64, halfPi2, halfPi2F64), rho)
	y := flipSign(b, b.Mul(rho, rho), x)
	c = b.FMA(y, b.Horner(y, polynomial(b, "coshP", byElem(b, coshP, coshPF64))...), one(b))
	s = b.FMA(b.Mul(rho, y), b.Horner(y, polynomial(b, "sinhQ", byElem(b, sinhQ, sinhQF64))...), rho)

	up := pow2(b, z)
	down := b.SubI(b.AddI(one(b), one(b)), up) // 1/up
	down = b.Mul(b.Sub(c, s), down)
	sum := b.Add(c, s)
	odd, top := b.Bit(z, 0), byElem[uint64](b, 30, 62)
	cos, sin := b.Select(odd, s, c), b.Select(odd, c, s)
	cos, sin = flipSign(b, cos, b.Shl(b.AddI(z, b.Bits("oneI", 1)), top)), flipSign(b, sin, b.Shl(z, top))
	return b.Select(large, b.FMA(sum, up, down), cos), b.Mul(b.Select(large, b.FMS(sum, up, down), sin), inv), large
}

// exp2x2 is e^m(C I + S N), C = cosh √x and S = sinh √x/√x.
func exp2x2(b *x86.Block) {
	a := load(b, 1, 4)
	h := half(b)
	p, q := b.Mul(a[0], h), b.Mul(a[3], h)
	m, delta := b.Add(p, q), b.Sub(p, q)
	x := sumOfProducts(b, delta, delta, a[1], a[2])
	b.Hard(b.OrMask(notWithin(b, m, "expHalf", byElem(b, 40.0, 350)), notWithin(b, x, "x2x2Max", byElem(b, 1500.0, 1e5))))
	c, s, large := coshSinh(b, x)
	e := exp(b, m)
	e = b.Mul(e, b.Select(large, h, one(b)))
	c, s = b.Mul(e, c), b.Mul(e, s)
	outputs(b, b.FMA(s, delta, c), b.Mul(s, a[1]), b.Mul(s, a[2]), b.FNMA(s, delta, c))
}

// sinhSlope are the coefficients (k+1)/(2k+3)! of D = d/dx (sinh √x/√x), for |x| ≤ 1.
func sinhSlope(b *x86.Block) []x86.Value {
	c := make([]float64, byElem(b, 6, 10))
	f := 6.0
	for k := range c {
		c[k] = float64(k+1) / f
		f *= float64((2*k + 4) * (2*k + 5))
	}
	return polynomial(b, "sinhSlope", c)
}

// hardDirection is set where entries of a matrix or of the direction of its derivative are so large that products of the two might
// leave the range before the result does.
func hardDirection(b *x86.Block, a, e []x86.Value) x86.Mask {
	return b.Cmp(x86.NLE, largest(b, append(a, e...)...), b.Const("directionMax", byElem(b, 0x1p30, 0x1p250)))
}

// expFrechet2x2 is the derivative of e^m(C I + S N), with dC/dx = S/2 and dS/dx = D = (C - S)/2x.
func expFrechet2x2(b *x86.Block) {
	a, e := load(b, 1, 4), load(b, 2, 4)
	h := half(b)
	p, q := b.Mul(a[0], h), b.Mul(a[3], h)
	m, delta := b.Add(p, q), b.Sub(p, q)
	x := sumOfProducts(b, delta, delta, a[1], a[2])
	b.Hard(b.OrMask(notWithin(b, m, "expHalf", byElem(b, 40.0, 350)), notWithin(b, x, "x2x2Max", byElem(b, 1500.0, 1e5))))
	b.Hard(hardDirection(b, a, e))
	c, s, large := coshSinh(b, x)
	once := b.Select(large, h, one(b))
	c, s = b.Mul(c, once), b.Mul(s, once)
	near := b.Cmp(x86.LE, abs(b, x), one(b))
	slope := quotient(b, b.Mul(b.Sub(c, s), h), b.Select(near, one(b), x))
	slope = b.Select(near, b.Horner(x, sinhSlope(b)...), slope)

	p, q = b.Mul(e[0], h), b.Mul(e[3], h)
	dm, dd := b.Add(p, q), b.Sub(p, q)
	dx := b.FMA(b.Add(delta, delta), dd, sumOfProducts(b, a[1], e[2], a[2], e[1]))
	dc, ds := b.FMA(c, dm, b.Mul(b.Mul(s, h), dx)), b.FMA(s, dm, b.Mul(slope, dx))
	k := exp(b, m)
	dc, ds, s = b.Mul(dc, k), b.Mul(ds, k), b.Mul(s, k)
	d := b.FMA(ds, delta, b.Mul(s, dd))
	outputs(b, b.Add(dc, d), b.FMA(ds, a[1], b.Mul(s, e[1])), b.FMA(ds, a[2], b.Mul(s, e[2])), b.Sub(dc, d))
}

// angleAbove is the angle of (x, y), y ≥ 0.
func angleAbove(b *x86.Block, y, x x86.Value) x86.Value {
	ax := abs(b, x)
	if b.Elem == x86.F64 {
		a, _ := arc(b, y, ax, &x)
		return a
	}
	a, _ := atanFolded(b, b.Min(ax, y), b.Max(ax, y))
	return reflected(b, a, b.Cmp(x86.GT, y, ax), &x)
}

// atanh √z/√z = 1 + z·Q(z) for |z| ≤ 1/16: Taylor's series for float32, else a minimax polynomial, 5.8e-18.
var (
	atanhQ    = []float64{1. / 3, 1. / 5, 1. / 7, 1. / 9, 1. / 11, 1. / 13}
	atanhQF64 = []float64{0x1.5555555555557p-2, 0x1.99999999999b3p-3, 0x1.2492492489837p-3, 0x1.c71c71c6e57b5p-4,
		0x1.745d17d219f80p-4, 0x1.3b13b247e53b0p-4, 0x1.110f88a1414e3p-4, 0x1.e1dd9b186c156p-5, 0x1.b2a7c671c1d57p-5,
		0x1.89f5c63f4e349p-5}
)

// log2x2 is ½ log det I + β N with, for z = x/m²,
//
//	β = (atanh √z/√z)/m            |z| ≤ 1/16, m > 0
//	β = atan2(r, m)/r              x < 0
//	β = (log(m + r) - ½ log det)/r  x > 0
//
// Hard are matrices that may have no logarithm, and entries so large or determinants so small that squares or products of entries may leave
// the range.
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
	big := largest(b, a...)
	m2 := b.Mul(m, m)
	// A NaN among the entries may be lost in big, but not in the determinant.
	b.Hard(b.OrMask(b.Cmp(x86.NLE, big, b.Const("entryMax", byElem(b, 0x1p25, 0x1p200))),
		b.Cmp(x86.NGE, det, b.Const("detMin", byElem(b, 0x1p-40, 0x1p-400)))))
	// At m ≤ 0 only a pair of complex eigenvalues, well off the axis, is sure to have a logarithm.
	wide := b.FMA(m2, b.Const("eighth", 0.125), x)
	b.Hard(b.Cmp(x86.GT, b.Select(b.Cmp(x86.LE, m, zero(b)), wide, zero(b)), zero(b)))

	r, inv, invM := x86.Value{}, x86.Value{}, x86.Value{}
	var z x86.Value
	x1 := b.Max(abs(b, x), rootMin(b))
	if byTable(b) {
		// Two divisions of five, by the square root and by what decides how long the series is, become multiplications.
		r, inv = positiveRoot(b, x1)
		invM = b.Div(one(b), m)
		z = b.Mul(b.Mul(x, invM), invM)
	} else {
		r, _ = squareRoot(b, x1)
		z = quotient(b, x, m2)
	}
	// m + r is positive where its logarithm is needed; elsewhere the other one must not suffer from it.
	logDet, logSum := lnPair(b, det, b.Max(b.Add(m, r), rootMin(b)))
	alpha := b.Mul(logDet, h)
	short := b.Cmp(x86.LE, abs(b, z), b.Const("sixteenth", 0.0625))
	series := append([]x86.Value{one(b)}, polynomial(b, "atanhQ", byElem(b, atanhQ, atanhQF64))...)
	num := b.Select(b.Cmp(x86.LT, x, zero(b)), angleAbove(b, r, m), b.Sub(logSum, alpha))
	num = b.Select(short, b.Horner(z, series...), num)
	var beta x86.Value
	if byTable(b) {
		beta = b.Mul(num, b.Select(short, invM, inv))
	} else {
		beta = quotient(b, num, b.Select(short, m, r))
	}
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
	big, nan := largest(b, a...), b.Mul(a[0], zero(b))
	for _, v := range a[1:] {
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

// inverse2x2 is the adjugate over the determinant. Determinants that are small beside the entries are hard.
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

var mat2Ops = matrixFile{batchDir + "zmat2", []matrixOp{
	{name: "Exp2x2", doc: "writes the exponentials of n matrices.", pinned: pinSome, stages: []func(*x86.Block){exp2x2}},
	{name: "Log2x2", doc: "writes the logarithms of n matrices.", pinned: pinSome, stages: []func(*x86.Block){log2x2}},
	{name: "Mul2x2", doc: "writes the products of n pairs of matrices.", stages: []func(*x86.Block){mul2x2}},
	{name: "Inverse2x2", doc: "writes the inverses of n matrices.", stages: []func(*x86.Block){inverse2x2}},
	{name: "Det2x2", doc: "writes the determinants of n matrices.", stages: []func(*x86.Block){det2x2}},
	{name: "Frobenius2x2", doc: "writes the Frobenius norms of n matrices.", stages: []func(*x86.Block){frobenius(4)}},
	{name: "ExpFrechet2x2", doc: "writes the derivatives of the exponential of n matrices, each in a direction.", square: 2,
		stages: []func(*x86.Block){expFrechet2x2}},
}}
