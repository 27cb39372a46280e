package main

import "github.com/equivcnp/equivcnp/asm/internal/x86"

// The groups of the plane: SO(2), R>0×SO(2), SE(2) and Sim(2). The formulas are those of linalg's so2.go, rxso2.go, se2.go
// and sim2.go, where they are derived; elements are (cos θ, sin θ), that times r, and either with a translation.

// angle is the angle of (x, y), in (-π, π]; the sign of a zero does not matter. See atan2. Lanes in which it is hard
// are those at the origin, with both coordinates infinite, or with a NaN: there the quotient is NaN.
func angle(b *x86.Block, x, y x86.Value) x86.Value {
	y = b.Add(y, zero(b))
	ax, ay := abs(b, x), abs(b, y)
	// In this order, a NaN on either side comes through.
	if b.Elem == x86.F64 {
		a, den := arc(b, ay, ax, &x)
		// Hard are denominators below 2^-900, infinite ones and NaN. Read as integers that start at 2^-900 and wrap
		// around, these come last, so that one comparison finds them.
		const least, infinite = 0x07b << 52, 0x7ff << 52
		v := b.AddI(den, b.Bits("arcFromLeast", 1<<63-least))
		b.Hard(b.CmpI(x86.GT, v, b.Bits("arcLast", 1<<63+infinite-least-1)))
		return copySign(b, a, y)
	}
	a, t := atanFolded(b, b.Min(ax, ay), b.Max(ay, ax))
	b.Hard(b.Cmp(x86.Unordered, t, t))
	return copySign(b, reflected(b, a, b.Cmp(x86.GT, ay, ax), &x), y)
}

// expSO2 is right relative to the norm of its result, 1. In float64 two parts of π/2 are enough for that at every angle up to the limit; in
// float32, where the third costs little, sin θ is right relative to itself, too.
func expSO2(b *x86.Block) {
	th := b.Load(1, 0)
	b.Hard(notWithin(b, th, "limit", sinCosLimit(b)))
	sin, cos := byElem(b, sinCos, sinCosNear)(b, th)
	outputs(b, cos, sin)
}

func logSO2(b *x86.Block) { b.Output(angle(b, b.Load(1, 0), b.Load(1, 1))) }

// mulComplex is the product of p + iq and r + is.
func mulComplex(b *x86.Block, p, q, r, s x86.Value) (re, im x86.Value) {
	return diffOfProducts(b, p, r, q, s), sumOfProducts(b, q, r, p, s)
}

func mulSO2(b *x86.Block) {
	e, f := load(b, 1, 2), load(b, 2, 2)
	re, im := mulComplex(b, e[0], e[1], f[0], f[1])
	outputs(b, re, im)
}

func inverseSO2(b *x86.Block) {
	e := load(b, 1, 2)
	outputs(b, e[0], neg(b, e[1]))
}

func composeSO2(b *x86.Block) {
	th, far := wrapSum(b, b.Load(1, 0), b.Load(2, 0))
	b.Hard(far)
	b.Output(th)
}

// expMax is up to where exp may be used.
func expMax(b *x86.Block) float64 { return byElem(b, 80.0, 700) }

func expRxSO2(b *x86.Block) {
	a := load(b, 1, 2)
	b.Hard(b.OrMask(notWithin(b, a[0], "expLimit", expMax(b)), notWithin(b, a[1], "limit", sinCosLimit(b))))
	r := exp(b, a[0])
	sin, cos := sinCos(b, a[1])
	outputs(b, b.Mul(r, cos), b.Mul(r, sin))
}

// logRadius is log √(x² + y²), from the squares and what their roundings lost.
func logRadius(b *x86.Block, x, y x86.Value) x86.Value {
	hi, lo := b.Max(abs(b, x), abs(b, y)), b.Min(abs(b, x), abs(b, y))
	p, q := b.Mul(hi, hi), b.Mul(lo, lo)
	s := b.Add(p, q)
	lost := b.Add(b.Sub(q, b.Sub(s, p)), b.Add(b.FMS(hi, hi, p), b.FMS(lo, lo, q)))
	f, k := logSplitNear(b, s)
	rest := quotient(b, lost, s)
	return b.Mul(logReduced(b, f, k, &rest), half(b))
}

// radiusHard is set where the squares in logRadius leave their range, or x or y is NaN.
func radiusHard(b *x86.Block, x, y x86.Value) x86.Mask {
	hi := b.Max(abs(b, x), abs(b, y))
	big, small := byElem(b, 0x1p50, 0x1p400), byElem(b, 0x1p-50, 0x1p-400)
	return b.OrMask(b.Cmp(x86.Unordered, x, y), b.OrMask(b.Cmp(x86.NLE, hi, b.Const("radiusMax", big)),
		b.Cmp(x86.NGE, hi, b.Const("radiusMin", small))))
}

func logRxSO2(b *x86.Block) {
	e := load(b, 1, 2)
	b.Hard(radiusHard(b, e[0], e[1]))
	outputs(b, logRadius(b, e[0], e[1]), angle(b, e[0], e[1]))
}

func composeRxSO2(b *x86.Block) {
	a, c := load(b, 1, 2), load(b, 2, 2)
	th, far := wrapSum(b, a[1], c[1])
	b.Hard(far)
	outputs(b, b.Add(a[0], c[0]), th)
}

// inverseRxSO2 is conj(e)/|e|².
func inverseRxSO2(b *x86.Block) {
	e := load(b, 1, 2)
	b.Hard(radiusHard(b, e[0], e[1]))
	re, im := reciprocal(b, e[0], e[1])
	outputs(b, re, im)
}

// reciprocal is 1/(x + iy).
func reciprocal(b *x86.Block, x, y x86.Value) (re, im x86.Value) {
	d := sumOfProducts(b, x, x, y, y)
	return b.Div(x, d), b.Div(neg(b, y), d)
}

// halfTurn is e^{ih} and sin h/h at h = θ/2.
func halfTurn(b *x86.Block, th x86.Value) (sin, cos, sinc x86.Value) {
	h := b.Mul(th, half(b))
	sin, cos = sinCos(b, h)
	return sin, cos, b.Select(b.Cmp(x86.EQ, h, zero(b)), one(b), b.Div(sin, h))
}

// turnBy is e^{iθ} of e^{iθ/2}.
func turnBy(b *x86.Block, sin, cos x86.Value) (s, c x86.Value) {
	return b.Mul(b.Add(sin, sin), cos), b.FMS(cos, cos, b.Mul(sin, sin))
}

// rotate is (x + iy)·e^{ih}.
func rotate(b *x86.Block, sin, cos, x, y x86.Value) (u, v x86.Value) {
	return b.FMS(cos, x, b.Mul(sin, y)), b.FMA(sin, x, b.Mul(cos, y))
}

// expSE2 uses V(θ) = sin h/h · e^{ih}, h = θ/2.
func expSE2(b *x86.Block) {
	a := load(b, 1, 3)
	b.Hard(notWithin(b, a[0], "limit", sinCosLimit(b)))
	sin, cos, sinc := halfTurn(b, a[0])
	x, y := rotate(b, sin, cos, a[1], a[2])
	s, c := turnBy(b, sin, cos)
	outputs(b, c, s, b.Mul(sinc, x), b.Mul(sinc, y))
}

// divideV is (x + iy)/V(θ) = (x + iy)(h cot h - ih) for the angle θ of (c, s). Of cot h = (1 + c)/s = s/(1 - c) it takes the one that
// does not cancel.
func divideV(b *x86.Block, th, c, s, x, y x86.Value) (u, v x86.Value) {
	h := b.Mul(th, half(b))
	behind := b.Cmp(x86.LT, c, zero(b))
	num := b.Select(behind, s, b.Add(c, one(b)))
	den := b.Select(behind, b.Sub(one(b), c), s)
	// Below the border h·2/s is 1 to the last bit.
	k := quotient(b, b.Mul(h, num), den)
	k = b.Select(b.Cmp(x86.LT, abs(b, den), b.Const("sineMin", byElem(b, 0x1p-30, 0x1p-500))), one(b), k)
	return b.FMA(k, x, b.Mul(h, y)), b.FMS(k, y, b.Mul(h, x))
}

func logSE2(b *x86.Block) {
	e := load(b, 1, 4)
	th := angle(b, e[0], e[1])
	x, y := divideV(b, th, e[0], e[1], e[2], e[3])
	outputs(b, th, x, y)
}

// The quotients by θ in the Jacobians of SE(2), for |θ| below 1 as θ times a series in θ²:
//
//	(1 - sin θ/θ)/θ = θ/3! - θ³/5! + θ⁵/7! - ...
//	(1 - h cot h)/θ = Σ |B₂ₖ|·θ²ᵏ⁻¹/(2k)!,  h = θ/2, Bernoulli's numbers B
var (
	sincRest = []float64{1. / 6, -1. / 120, 1. / 5040, -1. / 362880, 1. / 39916800, -1. / 6227020800, 1. / 1307674368000,
		-1. / 355687428096000, 1. / 121645100408832000}
	halfCotRest = []float64{1. / 12, 1. / 720, 1. / 30240, 1. / 1209600, 1. / 47900160, 691. / 1307674368000, 1. / 74724249600,
		3617. / 10670622842880000, 43867. / 5109094217170944000, 174611. / 802857662698291200000, 854513. / 155112100433309859840000,
		236364091. / 1693824136731743669452800000}
)

// restOver is (1 - x)/θ, which is θ·Σ c[k]·θ²ᵏ.
func restOver(b *x86.Block, x, th x86.Value, name string, c []float64) x86.Value {
	series := b.Mul(th, b.Horner(b.Mul(th, th), polynomial(b, name, c)...))
	return b.Select(b.Cmp(x86.LT, abs(b, th), one(b)), series, quotient(b, b.Sub(one(b), x), th))
}

// leftJacobianSE2 is V(θ) and, in the first column, (1, ψ·(t_y - i t_x)), ψ = (sin h/h)²/2 + i(1 - sin θ/θ)/θ.
func leftJacobianSE2(b *x86.Block) {
	a := load(b, 1, 3)
	b.Hard(notWithin(b, a[0], "limit", sinCosLimit(b)))
	sin, cos, sinc := halfTurn(b, a[0])
	vr, vi := b.Mul(cos, sinc), b.Mul(sin, sinc)
	re := b.Mul(b.Mul(sinc, sinc), half(b))
	im := restOver(b, vr, a[0], "sincRest", sincRest[:byElem(b, 5, 9)])
	outputs(b, one(b), zero(b), zero(b), sumOfProducts(b, re, a[2], im, a[1]), vr, neg(b, vi),
		diffOfProducts(b, im, a[2], re, a[1]), vi, vr)
}

// leftJacobianInvSE2 is 1/V(θ) = h cot h - ih and, in the first column, -(t_y - i t_x)(1/2 - ig), g = (1 - h cot h)/θ.
func leftJacobianInvSE2(b *x86.Block) {
	a := load(b, 1, 3)
	b.Hard(notWithin(b, a[0], "limit", sinCosLimit(b)))
	_, cos, sinc := halfTurn(b, a[0])
	h, vr := b.Mul(a[0], half(b)), quotient(b, cos, sinc)
	g := restOver(b, vr, a[0], "halfCotRest", halfCotRest[:byElem(b, 5, 10)])
	outputs(b, one(b), zero(b), zero(b), diffOfProducts(b, g, a[1], half(b), a[2]), vr, h,
		sumOfProducts(b, g, a[2], half(b), a[1]), neg(b, h), vr)
}

func adjointSE2(b *x86.Block) {
	e := load(b, 1, 4)
	outputs(b, one(b), zero(b), zero(b), e[3], e[0], neg(b, e[1]), neg(b, e[2]), e[1], e[0])
}

// wrapAngle is the sum of two angles, taken into [-π, π], if it is within 3π.
func wrapSum(b *x86.Block, x, y x86.Value) (th x86.Value, far x86.Mask) {
	th = b.Add(x, y)
	far = notWithin(b, th, "threePi", 9.42477)
	pi := b.Const("pi1", 2*byElem(b, halfPi1, halfPi1F64))
	over := b.Cmp(x86.GT, abs(b, th), pi)
	if b.Elem == x86.F64 {
		turn := copySign(b, b.Const("twoPi1", 4*halfPi1F64), th)
		return b.Select(over, b.Sub(th, turn), th), far
	}
	// What the sum lost, and 2π of more than 24 bits.
	v := b.Sub(th, x)
	lost := b.Add(b.Sub(x, b.Sub(th, v)), b.Sub(y, v))
	turn, rest := copySign(b, b.Const("twoPi1", 4*halfPi1), th), flipSign(b, b.Const("twoPi2", 4*halfPi2), th)
	return b.Select(over, b.Add(b.Sub(th, turn), b.Sub(lost, rest)), th), far
}

// composeSE2 is log(exp(a)·exp(b)): angles add, and the translation is V(θ)⁻¹(V(θa)ta + e^{iθa}V(θb)tb).
func composeSE2(b *x86.Block) {
	a, c := load(b, 1, 3), load(b, 2, 3)
	th, far := wrapSum(b, a[0], c[0])
	b.Hard(b.OrMask(far, b.OrMask(notWithin(b, a[0], "limit", sinCosLimit(b)), notWithin(b, c[0], "limit", sinCosLimit(b)))))
	sin, cos, sinc := halfTurn(b, a[0])
	x, y := rotate(b, sin, cos, a[1], a[2])
	x, y = b.Mul(sinc, x), b.Mul(sinc, y)
	s, co := turnBy(b, sin, cos)
	sin, cos, sinc = halfTurn(b, c[0])
	u, v := rotate(b, sin, cos, c[1], c[2])
	u, v = rotate(b, s, co, b.Mul(sinc, u), b.Mul(sinc, v))
	x, y = b.Add(x, u), b.Add(y, v)
	// 1/V(θ) = e^{-ih}/(sin h/h)
	sin, cos, sinc = halfTurn(b, th)
	x, y = rotate(b, neg(b, sin), cos, x, y)
	outputs(b, th, b.Div(x, sinc), b.Div(y, sinc))
}

// mulSE2 is the similarity f, then e, of SE(2) or Sim(2).
func mulSE2(b *x86.Block) {
	e, f := load(b, 1, 4), load(b, 2, 4)
	re, im := mulComplex(b, e[0], e[1], f[0], f[1])
	x, y := mulComplex(b, e[0], e[1], f[2], f[3])
	outputs(b, re, im, b.Add(e[2], x), b.Add(e[3], y))
}

func inverseSE2(b *x86.Block) {
	e := load(b, 1, 4)
	outputs(b, e[0], neg(b, e[1]), neg(b, sumOfProducts(b, e[0], e[2], e[1], e[3])),
		neg(b, diffOfProducts(b, e[0], e[3], e[1], e[2])))
}

func actSE2(b *x86.Block) {
	e, p := load(b, 1, 4), load(b, 2, 2)
	x, y := mulComplex(b, e[0], e[1], p[0], p[1])
	outputs(b, b.Add(e[2], x), b.Add(e[3], y))
}

// smallZeta is set where |ζ| is so small that the series of phi are used.
func smallZeta(b *x86.Block, l, th x86.Value) x86.Mask {
	size := b.Max(abs(b, l), abs(b, th))
	return b.Cmp(x86.LT, size, b.Const("smallZeta", byElem(b, 0x1p-9, 0x1p-17)))
}

// expMinusOne is e^ζ - 1 = u + i·ei and er = Re e^ζ, ζ = l + iθ. With e^l = (1 + r + r²q)·2^k, e^l - 1 is
// ((2^k - 1) + 2^k·r) + 2^k·r²q.
func expMinusOne(b *x86.Block, l, th x86.Value) (u, ei, er x86.Value) {
	r, q, k, _ := expSplit(b, l)
	power := scale2(b, one(b), k)
	r2 := b.Mul(r, r)
	p := b.Mul(b.FMA(r2, q, r), power)
	t := b.Sub(power, one(b))
	m := b.FMA(r, power, t)
	tail := b.Mul(b.Mul(r2, power), q)
	if b.Elem == x86.F32 {
		// The digits that r and the sum have lost: where 2^k is 1/2 or 2, m is smaller than what it is the sum of.
		lost := b.FNMA(k, b.Const("ln2Lo", ln2LoF32), b.Sub(b.FNMA(k, b.Const("ln2Hi", ln2HiF32), l), r))
		tail = b.Add(tail, b.FMA(lost, power, b.FMA(r, power, b.Sub(t, m))))
	}
	m = b.Add(m, tail)
	sh, _ := sinCos(b, b.Mul(th, half(b)))
	s, c := sinCos(b, th)
	er, ei = b.FMA(p, c, b.Mul(power, c)), b.FMA(p, s, b.Mul(power, s))
	// e^ζ - 1 = (e^l - 1) cos θ - 2 sin²(θ/2) + i e^l sin θ; where the angle is wide, subtracting 1 costs less.
	u = b.Select(b.Cmp(x86.LT, c, half(b)), b.Sub(er, one(b)), b.FNMA(b.Add(sh, sh), sh, b.Mul(m, c)))
	return u, ei, er
}

// phi is φ(ζ) = (e^ζ - 1)/ζ, ζ = l + iθ, and e^ζ.
func phi(b *x86.Block, l, th x86.Value) (re, im, er, ei x86.Value) {
	u, ei, er := expMinusOne(b, l, th)
	small := smallZeta(b, l, th)
	x, y := divideComplex(b, u, ei, l, th, small)
	// 1 + ζ(1/2 + ζ(1/6 + ζ/24))
	vr, vi := b.FMA(l, b.Const("twentyFourth", 1./24), b.Const("sixth", 1./6)), b.Mul(th, b.Const("twentyFourth", 1./24))
	vr, vi = b.Add(b.FMS(vr, l, b.Mul(vi, th)), half(b)), b.FMA(vr, th, b.Mul(vi, l))
	vr, vi = b.Add(b.FMS(vr, l, b.Mul(vi, th)), one(b)), b.FMA(vr, th, b.Mul(vi, l))
	return b.Select(small, vr, x), b.Select(small, vi, y), er, ei
}

// divideComplex is (x + iy)/(u + iv); where the mask is set, it is anything finite.
func divideComplex(b *x86.Block, x, y, u, v x86.Value, unless x86.Mask) (re, im x86.Value) {
	d := b.Select(unless, one(b), sumOfProducts(b, u, u, v, v))
	return b.Div(sumOfProducts(b, x, u, y, v), d), b.Div(diffOfProducts(b, y, u, x, v), d)
}

// hardZeta is set where exp or sinCos cannot be used.
func hardZeta(b *x86.Block, l, th x86.Value) x86.Mask {
	return b.OrMask(notWithin(b, l, "zetaLimit", zetaLimit(b)), notWithin(b, th, "limit", sinCosLimit(b)))
}

// zetaLimit is how far the logarithm of a scale may be from 0.
func zetaLimit(b *x86.Block) float64 { return byElem(b, 40.0, 300) }

// hardScale is set where l is beyond that limit, or a translation so large that products with scales might leave the range: from about 1e18
// on in float32, and 1e150 in float64. What others add to |l| is next to nothing, and one comparison does for both.
func hardScale(b *x86.Block, l, x, y x86.Value) x86.Mask {
	far := b.FMA(b.FMA(x, x, b.Mul(y, y)), b.Const("translationWeight", byElem(b, 0x1p-115, 0x1p-990)), abs(b, l))
	return b.Cmp(x86.NLE, far, b.Const("zetaLimit", zetaLimit(b)))
}

// hardSim2 is hardZeta and hardScale of coordinates.
func hardSim2(b *x86.Block, a []x86.Value) x86.Mask {
	return b.OrMask(hardScale(b, a[0], a[2], a[3]), notWithin(b, a[1], "limit", sinCosLimit(b)))
}

func expSim2(b *x86.Block) {
	a := load(b, 1, 4)
	b.Hard(hardSim2(b, a))
	re, im, er, ei := phi(b, a[0], a[1])
	x, y := mulComplex(b, re, im, a[2], a[3])
	outputs(b, er, ei, x, y)
}

// dividePhi is (x + iy)·ζ/(e^ζ - 1), given e^ζ - 1; where ζ is small, by 1/φ(ζ) = 1 - ζ/2 + ζ²/12.
func dividePhi(b *x86.Block, l, th, er, ei, x, y x86.Value) (u, v x86.Value) {
	small := smallZeta(b, l, th)
	re, im := divideComplex(b, l, th, er, ei, small)
	t := b.Const("twelfth", 1./12)
	h := b.Const("minusHalf", -0.5)
	sr := b.FMA(b.FMS(l, l, b.Mul(th, th)), t, b.FMA(l, h, one(b)))
	si := b.FMA(b.Mul(b.Add(l, l), th), t, b.Mul(th, h))
	return mulComplex(b, b.Select(small, sr, re), b.Select(small, si, im), x, y)
}

func logSim2(b *x86.Block) {
	e := load(b, 1, 4)
	l, th := logRadius(b, e[0], e[1]), angle(b, e[0], e[1])
	b.Hard(b.OrMask(radiusHard(b, e[0], e[1]), hardScale(b, l, e[2], e[3])))
	x, y := dividePhi(b, l, th, b.Sub(e[0], one(b)), e[1], e[2], e[3])
	outputs(b, l, th, x, y)
}

// composeSim2 is log(exp(a)·exp(b)): coordinates of the linear parts add, and the translation is φ(ζ)⁻¹(φ(ζa)ta + e^ζa φ(ζb)tb).
func composeSim2(b *x86.Block) {
	a, c := load(b, 1, 4), load(b, 2, 4)
	l := b.Add(a[0], c[0])
	th, far := wrapSum(b, a[1], c[1])
	b.Hard(b.OrMask(far, b.OrMask(hardZeta(b, l, th), b.OrMask(hardSim2(b, a), hardSim2(b, c)))))
	re, im, er, ei := phi(b, a[0], a[1])
	x, y := mulComplex(b, re, im, a[2], a[3])
	re, im, _, _ = phi(b, c[0], c[1])
	p, q := mulComplex(b, re, im, c[2], c[3])
	p, q = mulComplex(b, er, ei, p, q)
	er, ei, _ = expMinusOne(b, l, th)
	x, y = dividePhi(b, l, th, er, ei, b.Add(x, p), b.Add(y, q))
	outputs(b, l, th, x, y)
}

func inverseSim2(b *x86.Block) {
	e := load(b, 1, 4)
	b.Hard(radiusHard(b, e[0], e[1]))
	re, im := reciprocal(b, e[0], e[1])
	x, y := mulComplex(b, re, im, e[2], e[3])
	outputs(b, re, im, neg(b, x), neg(b, y))
}

// psiSeries are the coefficients 1/(k+2)! of ψ(ζ) = (φ(ζ) - 1)/ζ. Up to |ζ| = √2, where both parts of ζ are 1, what follows the last
// one is below a quarter of an ulp of ψ.
func psiSeries(b *x86.Block) []x86.Value {
	c := make([]float64, byElem(b, 12, 19))
	f := 2.0
	for k := range c {
		c[k] = 1 / f
		f *= float64(k + 3)
	}
	return polynomial(b, "psi", c)
}

// psi is ψ(ζ) by its series where neither part of ζ is above 1, and elsewhere the quotient of x + iy by ζ; times u + iv in the
// former case.
func psi(b *x86.Block, l, th, x, y x86.Value, times func(re, im x86.Value) (x86.Value, x86.Value)) (re, im x86.Value) {
	within := b.Cmp(x86.LE, b.Max(abs(b, l), abs(b, th)), one(b))
	c := psiSeries(b)
	re, im = b.FMA(c[len(c)-1], l, c[len(c)-2]), b.Mul(c[len(c)-1], th)
	for k := len(c) - 3; k >= 0; k-- {
		re, im = b.FNMA(im, th, b.FMA(re, l, c[k])), b.FMA(im, l, b.Mul(re, th))
	}
	re, im = times(re, im)
	p, q := divideComplex(b, x, y, l, th, within)
	return b.Select(within, re, p), b.Select(within, im, q)
}

// complexBlocks is the real 4×4 matrix of (ζ, t) -> (ζ, qζ + vt).
func complexBlocks(b *x86.Block, qr, qi, vr, vi x86.Value) {
	i, o := one(b), zero(b)
	outputs(b, i, o, o, o, o, i, o, o, qr, neg(b, qi), vr, neg(b, vi), qi, qr, vi, vr)
}

// leftJacobianSim2 maps (ζ', t') to (ζ', φ(ζ)t' - ψ(ζ)t ζ').
func leftJacobianSim2(b *x86.Block) {
	a := load(b, 1, 4)
	b.Hard(hardZeta(b, a[0], a[1]))
	vr, vi, _, _ := phi(b, a[0], a[1])
	re, im := psi(b, a[0], a[1], b.Sub(vr, one(b)), vi, func(re, im x86.Value) (x86.Value, x86.Value) { return re, im })
	qr, qi := mulComplex(b, re, im, neg(b, a[2]), neg(b, a[3]))
	complexBlocks(b, qr, qi, vr, vi)
}

// leftJacobianInvSim2 maps (ζ', t') to (ζ', (t' + ψ(ζ)t ζ')/φ(ζ)); far from 0, ψ/φ is (1 - 1/φ)/ζ.
func leftJacobianInvSim2(b *x86.Block) {
	a := load(b, 1, 4)
	b.Hard(hardZeta(b, a[0], a[1]))
	er, ei, _ := expMinusOne(b, a[0], a[1])
	vr, vi := dividePhi(b, a[0], a[1], er, ei, one(b), zero(b))
	re, im := psi(b, a[0], a[1], b.Sub(one(b), vr), neg(b, vi), func(re, im x86.Value) (x86.Value, x86.Value) {
		return mulComplex(b, re, im, vr, vi)
	})
	qr, qi := mulComplex(b, re, im, a[2], a[3])
	complexBlocks(b, qr, qi, vr, vi)
}

// adjointSim2 is that of z -> wz + p: (ζ, t) becomes (ζ, wt - pζ).
func adjointSim2(b *x86.Block) {
	e := load(b, 1, 4)
	complexBlocks(b, neg(b, e[2]), neg(b, e[3]), e[0], e[1])
}

var se2Ops = matrixFile{batchDir + "zse2", []matrixOp{
	{name: "ExpSO2", doc: "writes (cos θ, sin θ) of n angles.", unroll: twice, pinned: pinSome, stages: []func(*x86.Block){expSO2}},
	{name: "LogSO2", doc: "writes the angles of n elements (cos θ, sin θ).", unroll: twice, pinned: pinSome,
		stages: []func(*x86.Block){logSO2}},
	{name: "MulSO2", doc: "writes the products of n pairs of complex numbers.", stages: []func(*x86.Block){mulSO2}},
	{name: "ComposeSO2", doc: "writes the sums of n pairs of angles, within ±π.", stages: []func(*x86.Block){composeSO2}},
	{name: "InverseSO2", doc: "writes the inverses of n elements (cos θ, sin θ).", stages: []func(*x86.Block){inverseSO2}},
	{name: "ExpRxSO2", doc: "writes r(cos θ, sin θ) of n pairs (log r, θ).", pinned: pinSome, stages: []func(*x86.Block){expRxSO2}},
	{name: "LogRxSO2", doc: "writes (log r, θ) of n elements r(cos θ, sin θ).", pinned: pinSome, stages: []func(*x86.Block){logRxSO2}},
	{name: "ComposeRxSO2", doc: "writes the sums of n pairs (log r, θ), the angles within ±π.", stages: []func(*x86.Block){composeRxSO2}},
	{name: "InverseRxSO2", doc: "writes the reciprocals of n complex numbers.", stages: []func(*x86.Block){inverseRxSO2}},
	{name: "ExpSE2", doc: "writes the motions exp(θ, t) of n coordinate vectors.", unroll: twice, pinned: pinSome,
		stages: []func(*x86.Block){expSE2}},
	{name: "LogSE2", doc: "writes the coordinates of n motions of the plane.", unroll: twice, pinned: pinSome,
		stages: []func(*x86.Block){logSE2}},
	{name: "ComposeSE2", doc: "writes log(exp(a)·exp(b)) of n pairs of coordinate vectors.", pinned: pinSome,
		stages: []func(*x86.Block){composeSE2}},
	{name: "MulSE2", doc: "writes the products of n pairs of similarities.", stages: []func(*x86.Block){mulSE2}},
	{name: "InverseSE2", doc: "writes the inverses of n motions.", stages: []func(*x86.Block){inverseSE2}},
	{name: "LeftJacobianSE2", doc: "writes the left Jacobians at n coordinate vectors.", pinned: pinSome,
		stages: []func(*x86.Block){leftJacobianSE2}},
	{name: "LeftJacobianInvSE2", doc: "writes the inverses of the left Jacobians at n coordinate vectors.", pinned: pinSome,
		stages: []func(*x86.Block){leftJacobianInvSE2}},
	{name: "AdjointSE2", doc: "writes the adjoint matrices of n motions.", stages: []func(*x86.Block){adjointSE2}},
	{name: "ActSE2", doc: "writes n points moved by as many similarities.", stages: []func(*x86.Block){actSE2}},
	{name: "ExpSim2", doc: "writes the similarities exp(log r, θ, t) of n coordinate vectors.", pinned: pinSome,
		stages: []func(*x86.Block){expSim2}},
	{name: "LogSim2", doc: "writes the coordinates of n similarities.", pinned: pinSome, stages: []func(*x86.Block){logSim2}},
	{name: "ComposeSim2", doc: "writes log(exp(a)·exp(b)) of n pairs of coordinate vectors.", stages: []func(*x86.Block){composeSim2}},
	{name: "InverseSim2", doc: "writes the inverses of n similarities.", stages: []func(*x86.Block){inverseSim2}},
	{name: "LeftJacobianSim2", doc: "writes the left Jacobians at n coordinate vectors.", stages: []func(*x86.Block){leftJacobianSim2}},
	{name: "LeftJacobianInvSim2", doc: "writes the inverses of the left Jacobians at n coordinate vectors.",
		stages: []func(*x86.Block){leftJacobianInvSim2}},
	{name: "AdjointSim2", doc: "writes the adjoint matrices of n similarities.", stages: []func(*x86.Block){adjointSim2}},
}}
