package main

import "github.com/equivcnp/equivcnp/asm/internal/x86"

// General 3×3 matrices. Polynomials of a matrix A without trace are taken in the ring that Cayley and Hamilton's theorem makes of
// I, A and A²: A³ = c₁A + c₀I with c₁ = tr(A²)/2 and c₀ = det A, so that a power costs two multiplications of numbers.

type mat3 = [9]x86.Value

func mul3(b *x86.Block, p, q mat3) (r mat3) {
	for i := 0; i < 9; i += 3 {
		for j := range 3 {
			r[i+j] = b.FMA(p[i+2], q[6+j], b.FMA(p[i+1], q[3+j], b.Mul(p[i], q[j])))
		}
	}
	return r
}

// det3 is the determinant by the first row.
func det3(b *x86.Block, a mat3) x86.Value {
	return b.FMA(a[2], diffOfProducts(b, a[3], a[7], a[4], a[6]),
		b.FMS(a[0], diffOfProducts(b, a[4], a[8], a[5], a[7]), b.Mul(a[1], diffOfProducts(b, a[3], a[8], a[5], a[6]))))
}

// norm1 is the largest column sum of magnitudes.
func norm1(b *x86.Block, a mat3) x86.Value {
	var n x86.Value
	for j := range 3 {
		s := b.Add(b.Add(abs(b, a[j]), abs(b, a[3+j])), abs(b, a[6+j]))
		if j > 0 {
			s = b.Max(n, s)
		}
		n = s
	}
	return n
}

// exponent is the e with 2^(e-1) ≤ x < 2^e, for positive normal x.
func exponent(b *x86.Block, x x86.Value) x86.Value {
	if b.Level == x86.AVX512 {
		return b.Add(b.GetExp(x), one(b))
	}
	if b.Elem == x86.F32 {
		return b.Sub(b.FromInt(b.Shr(x, 23)), b.Const("bias", 126))
	}
	return b.Sub(b.Or(b.Shr(x, 52), b.Const("two52", 0x1p52)), b.Const("two52Bias1", 0x1p52+1022))
}

// exp3Degree is the degree of the Taylor polynomial. If powers grow no faster than 2ᵏ, the terms left out are below half an ulp.
func exp3Degree(b *x86.Block) int { return byElem(b, 14, 22) }

// The slots of exp3x3: nine entries of X², how many squarings are left, the mean of the diagonal, hard lanes, what X² and X say about the
// powers of A, and what Y = exp(A) - I is a polynomial of A by.
const (
	slotCount = 9 + iota
	slotMean
	slotHard
	slotNorm // ‖X²‖
	slotC1   // A's c₁ and c₀, at first X's
	slotC0
	slotScale  // of A
	slotExp    // e^μ
	slotSeries // p, q and r of Y = p + qA + rA²
)

// Those of its derivative have nine entries of Y instead of X², of dY, and what the direction adds.
const (
	slotSlope     = slotSeries
	slotSquare    = slotSlope + 9   // X²
	slotFactors   = slotSquare + 9  // of I, X and X² for Y and dY
	slotSlopeMean = slotFactors + 6 // the mean of the direction's diagonal
	slotSlopeC1   = slotSlopeMean + 1
	slotSlopeC0   = slotSlopeMean + 2
)

// exp3x3Powers takes the mean μ of the diagonal out, and has X², of the rest X, and the invariants of X. It returns X and X².
func exp3x3Powers(b *x86.Block, a mat3) (x, sq mat3) {
	mu, x := withoutMean(b, a)
	b.SetLocal(slotMean, mu)
	sq = mul3(b, x, x)
	b.SetLocal(slotNorm, norm1(b, sq))
	b.SetLocal(slotC1, b.Mul(b.Add(b.Add(sq[0], sq[4]), sq[8]), half(b)))
	b.SetLocal(slotC0, det3(b, x))
	return x, sq
}

// exp3x3Halve halves X until ‖X²‖ is at most 4, which makes it A = X·scale. ‖X²‖ rather than ‖X‖ says how the powers grow.
func exp3x3Halve(b *x86.Block, hard ...x86.Mask) (scale x86.Value) {
	n2 := b.Local(slotNorm)
	limit := b.Const("norm2Max", byElem(b, 3000.0, 250000))
	bad := b.OrMask(b.Cmp(x86.NLE, n2, limit), notWithin(b, b.Local(slotMean), "meanMax", expMax(b)/2))
	for _, m := range hard {
		bad = b.OrMask(bad, m)
	}
	b.FlagLocal(slotHard, bad)
	// Of the exponent e, 2^(e-1) ≤ ‖X²‖ < 2^e, the whole part of (e-1)/2.
	count := b.FMA(exponent(b, b.Max(b.Min(n2, limit), one(b))), half(b), b.Const("minusThreeQuarters", -0.75))
	round := byElem(b, b.Const("roundF32", roundF32), b.Const("round", roundF64))
	count = b.Sub(b.Add(count, round), round)
	b.SetLocal(slotCount, count)
	// A = X/2^count stays X·scale, and A² the square of X times its square: only their invariants and, at the end, the factors of
	// the two are scaled, by powers of two, which rounds nothing.
	scale = scaleDown(b, count)
	scale2 := b.Mul(scale, scale)
	b.SetLocal(slotC1, b.Mul(b.Local(slotC1), scale2))
	b.SetLocal(slotC0, b.Mul(b.Local(slotC0), b.Mul(scale2, scale)))
	b.SetLocal(slotScale, scale)
	return scale
}

// withoutMean is the mean of the diagonal, and a with it taken out.
func withoutMean(b *x86.Block, a mat3) (mean x86.Value, rest mat3) {
	mean = b.Mul(b.Add(b.Add(a[0], a[4]), a[8]), b.Const("third", 1./3))
	for i := 0; i < 9; i += 4 {
		a[i] = b.Sub(a[i], mean)
	}
	return mean, a
}

// inverseFactorial is 1/k!.
func inverseFactorial(b *x86.Block, k int) x86.Value {
	f := 1.0
	for i := 2; i <= k; i++ {
		f *= float64(i)
	}
	return b.Const("inverseFactorial"+string(rune('a'+k)), 1/f)
}

// exp3x3Start is the first stage.
func exp3x3Start(b *x86.Block) {
	_, sq := exp3x3Powers(b, mat3(load(b, 1, 9)))
	for i, v := range sq {
		b.SetLocal(i, v)
	}
}

// exp3x3Scale also takes the exponential of the mean, which waits for nothing.
func exp3x3Scale(b *x86.Block) {
	exp3x3Halve(b)
	b.SetLocal(slotExp, exp(b, b.Local(slotMean)))
}

// exp3x3Series sums the series of Y = A·Σ Aᵏ/(k+1)! as p + qA + rA².
func exp3x3Series(b *x86.Block) {
	c1, c0 := b.Local(slotC1), b.Local(slotC0)
	inv := func(k int) x86.Value { return inverseFactorial(b, k) }
	d := exp3Degree(b)
	p, q, r := b.FMA(inv(d), c0, inv(d-3)), b.FMA(inv(d), c1, inv(d-2)), inv(d-1)
	p, q, r = b.FMA(r, c0, inv(d-4)), b.FMA(r, c1, p), q
	for k := d - 5; k >= 1; k-- {
		p, q, r = b.FMA(r, c0, inv(k)), b.FMA(r, c1, p), q
	}
	for i, v := range []x86.Value{b.Mul(r, c0), b.FMA(r, c1, p), q} {
		b.SetLocal(slotSeries+i, v)
	}
}

// scaleDown is 2^-e.
func scaleDown(b *x86.Block, e x86.Value) x86.Value {
	if b.Level == x86.AVX512 {
		return b.Scale(one(b), b.Sub(zero(b), e))
	}
	return pow2(b, b.Sub(byElem(b, b.Const("roundF32", roundF32), b.Const("round", roundF64)), e))
}

// exp3x3Square is Y ← Y(Y + 2I), in lanes that have halvings left. It takes no matrices: A³ = c₁A + c₀I and A⁴ = c₁A² + c₀A.
func exp3x3Square(b *x86.Block) {
	more := halvingsLeft(b)
	p, q, r := b.Local(slotSeries), b.Local(slotSeries+1), b.Local(slotSeries+2)
	c1, c0 := b.Local(slotC1), b.Local(slotC0)
	q2, r2 := b.Add(q, q), b.Add(r, r)
	third, fourth := b.Mul(q2, r), b.Mul(r, r)
	for i, v := range [][2]x86.Value{
		{p, b.FMA(p, b.Add(p, b.Const("two", 2)), b.Mul(third, c0))},
		{q, b.FMA(fourth, c0, b.FMA(third, c1, b.FMA(q2, p, q2)))},
		{r, b.FMA(fourth, c1, b.FMA(q, q, b.FMA(r2, p, r2)))},
	} {
		b.SetLocal(slotSeries+i, b.Select(more, v[1], v[0]))
	}
}

// locals are the nine slots from k on.
func locals(b *x86.Block, k int) (m mat3) {
	for i := range m {
		m[i] = b.Local(k + i)
	}
	return m
}

// setLocals puts m into the nine slots from k on where the mask is set, and what they held elsewhere.
func setLocals(b *x86.Block, mask x86.Mask, k int, held, m mat3) {
	for i := range m {
		b.SetLocal(k+i, b.Select(mask, m[i], held[i]))
	}
}

// halvingsLeft counts down. It is set in lanes that have something left, and the stage is repeated while there are any.
func halvingsLeft(b *x86.Block) x86.Mask {
	count := b.Local(slotCount)
	more := b.Cmp(x86.GT, count, zero(b))
	b.While(more)
	b.SetLocal(slotCount, b.Sub(count, one(b)))
	return more
}

// exp3x3Finish is e^μ(I + Y), of X as it was read and of X².
func exp3x3Finish(b *x86.Block) {
	b.Hard(b.FlagMask(slotHard))
	e, mean, scale := b.Local(slotExp), b.Local(slotMean), b.Local(slotScale)
	p := b.FMA(e, b.Local(slotSeries), e)
	q := b.Mul(e, b.Mul(b.Local(slotSeries+1), scale))
	r := b.Mul(e, b.Mul(b.Local(slotSeries+2), b.Mul(scale, scale)))
	for i := range 9 {
		x, y := b.Load(1, i), b.Mul(r, b.Local(i))
		if i%4 == 0 {
			x, y = b.Sub(x, mean), b.Add(y, p)
		}
		b.Output(b.FMA(q, x, y))
	}
}

// The derivative of the exponential of a 3×3 matrix in the direction E is that of the steps above, one by one. With the mean dμ of E's
// diagonal taken out, dA = E·scale has no trace either, and the invariants' derivatives are dc₁ = tr(A·dA) and dc₀ = tr(A²·dA), the
// latter because adj A = A² - c₁I.

// expFrechet3x3Start is exp3x3Start, with the derivatives of X's invariants.
func expFrechet3x3Start(b *x86.Block) {
	x, sq := exp3x3Powers(b, mat3(load(b, 1, 9)))
	for i, v := range sq {
		b.SetLocal(slotSquare+i, v)
	}
	dmu, e := withoutMean(b, mat3(load(b, 2, 9)))
	b.SetLocal(slotSlopeMean, dmu)
	b.SetLocal(slotSlopeC1, traceOfProduct(b, x, e))
	b.SetLocal(slotSlopeC0, traceOfProduct(b, sq, e))
}

func expFrechet3x3Scale(b *x86.Block) {
	scale := exp3x3Halve(b, hardDirection(b, load(b, 1, 9), load(b, 2, 9)))
	scale2 := b.Mul(scale, scale)
	b.SetLocal(slotSlopeC1, b.Mul(b.Local(slotSlopeC1), scale2))
	b.SetLocal(slotSlopeC0, b.Mul(b.Local(slotSlopeC0), b.Mul(scale2, scale)))
}

// expFrechet3x3Series sums the series of Y and that of its derivative, as exp3x3Series does, but with factors for X.
func expFrechet3x3Series(b *x86.Block) {
	c1, c0, dc1, dc0 := b.Local(slotC1), b.Local(slotC0), b.Local(slotSlopeC1), b.Local(slotSlopeC0)
	d := exp3Degree(b)
	p, q, r := inverseFactorial(b, d-2), inverseFactorial(b, d-1), inverseFactorial(b, d)
	dp, dq, dr := zero(b), zero(b), zero(b)
	for k := d - 3; k >= 1; k-- {
		if k == d-3 { // where the slopes are zero yet
			dp, dq = b.Mul(r, dc0), b.Mul(r, dc1)
		} else {
			dp, dq, dr = b.FMA(dr, c0, b.Mul(r, dc0)), b.FMA(dr, c1, b.FMA(r, dc1, dp)), dq
		}
		p, q, r = b.FMA(r, c0, inverseFactorial(b, k)), b.FMA(r, c1, p), q
	}
	// A(p + qA + rA²), for this and its derivative.
	dp, dq, dr = b.FMA(dr, c0, b.Mul(r, dc0)), b.FMA(dr, c1, b.FMA(r, dc1, dp)), dq
	scale := b.Local(slotScale)
	scale2 := b.Mul(scale, scale)
	for i, v := range []x86.Value{
		b.Mul(r, c0), b.Mul(b.FMA(r, c1, p), scale), b.Mul(q, scale2),
		dp, b.Mul(dq, scale), b.Mul(dr, scale2),
	} {
		b.SetLocal(slotFactors+i, v)
	}
}

// expFrechet3x3Matrices makes Y and dY of the factors.
func expFrechet3x3Matrices(b *x86.Block) {
	x, e := mat3(load(b, 1, 9)), mat3(load(b, 2, 9))
	for i := 0; i < 9; i += 4 {
		x[i], e[i] = b.Sub(x[i], b.Local(slotMean)), b.Sub(e[i], b.Local(slotSlopeMean))
	}
	at := func(k int) x86.Value { return b.Local(slotFactors + k) }
	p, q, r, dp, dq, dr := at(0), at(1), at(2), at(3), at(4), at(5)
	for i := range x {
		sq := b.Local(slotSquare + i)
		y, dy := b.Mul(r, sq), b.Mul(dr, sq)
		if i%4 == 0 {
			y, dy = b.Add(y, p), b.Add(dy, dp)
		}
		b.SetLocal(i, b.FMA(q, x[i], y))
		row, col := i-i%3, i%3
		both := dot3(b, vec3(x[row:]), vec3{e[col], e[3+col], e[6+col]})
		both = b.FMA(e[row], x[col], b.FMA(e[row+1], x[3+col], b.FMA(e[row+2], x[6+col], both)))
		dy = b.FMA(dq, x[i], b.FMA(q, e[i], dy))
		b.SetLocal(slotSlope+i, b.FMA(r, both, dy))
	}
}

func traceOfProduct(b *x86.Block, p, q mat3) x86.Value {
	return b.Add(b.Add(dot3(b, vec3(p[:3]), vec3{q[0], q[3], q[6]}), dot3(b, vec3(p[3:6]), vec3{q[1], q[4], q[7]})),
		dot3(b, vec3(p[6:]), vec3{q[2], q[5], q[8]}))
}

// expFrechet3x3Square is exp3x3Square and dY ← dY(Y + 2I) + Y·dY.
func expFrechet3x3Square(b *x86.Block) {
	more := halvingsLeft(b)
	y, dy := locals(b, 0), locals(b, slotSlope)
	y2 := plusI(b, y, b.Const("two", 2))
	d := mul3(b, dy, y2)
	for i := range d {
		row, col := i-i%3, i%3
		d[i] = b.FMA(y[row+2], dy[6+col], b.FMA(y[row+1], dy[3+col], b.FMA(y[row], dy[col], d[i])))
	}
	setLocals(b, more, slotSlope, dy, d)
	setLocals(b, more, 0, y, mul3(b, y, y2))
}

// expFrechet3x3Finish is e^μ(dY + dμ(I + Y)).
func expFrechet3x3Finish(b *x86.Block) {
	b.Hard(b.FlagMask(slotHard))
	e := exp(b, b.Local(slotMean))
	de := b.Mul(e, b.Local(slotSlopeMean))
	for i := range 9 {
		y := b.Local(i)
		if i%4 == 0 {
			y = b.Add(y, one(b))
		}
		b.Output(b.FMA(de, y, b.Mul(e, b.Local(slotSlope+i))))
	}
}

func mul3x3(b *x86.Block) {
	r := mul3(b, mat3(load(b, 1, 9)), mat3(load(b, 2, 9)))
	outputs(b, r[:]...)
}

// A pair is the unevaluated sum of two numbers, |lo| some ulps of hi.
type pair struct{ hi, lo x86.Value }

// minor is pq - rs as a pair: products with their rounding errors, added after D. E. Knuth.
func minor(b *x86.Block, p, q, r, s x86.Value) pair {
	x, y := b.Mul(p, q), b.Mul(r, s)
	lost := b.Sub(b.FMS(p, q, x), b.FMS(r, s, y))
	d := b.Sub(x, y)
	t := b.Sub(d, x)
	lost = b.Add(lost, b.Sub(b.Sub(x, b.Sub(d, t)), b.Add(y, t)))
	hi := b.Add(d, lost)
	return pair{hi, b.Sub(lost, b.Sub(hi, d))}
}

// times is p·x, and plus the sum.
func (p pair) times(b *x86.Block, x x86.Value) pair {
	h := b.Mul(p.hi, x)
	return pair{h, b.FMA(p.lo, x, b.FMS(p.hi, x, h))}
}

func (p pair) plus(b *x86.Block, q pair) pair {
	s := b.Add(p.hi, q.hi)
	t := b.Sub(s, p.hi)
	lost := b.Add(b.Sub(p.hi, b.Sub(s, t)), b.Sub(q.hi, t))
	return pair{s, b.Add(lost, b.Add(p.lo, q.lo))}
}

// detByMinors is det a, expanded by the first row in twice the precision, and the minors of that row. Hard are determinants that lose more
// than half of their digits to cancellation, entries so large or determinants so small that products of entries may leave the range,
// and NaN, which shows in the sum of the terms.
func detByMinors(b *x86.Block, a mat3) (det x86.Value, m [3]x86.Value) {
	p, q, r := minor(b, a[4], a[8], a[5], a[7]), minor(b, a[5], a[6], a[3], a[8]), minor(b, a[3], a[7], a[4], a[6])
	x, y, z := p.times(b, a[0]), q.times(b, a[1]), r.times(b, a[2])
	d := x.plus(b, y).plus(b, z)
	det = b.Add(d.hi, d.lo)
	terms := b.Add(b.Add(abs(b, x.hi), abs(b, y.hi)), abs(b, z.hi))
	least := b.Max(b.Const("detMin", byElem(b, 0x1p-60, 0x1p-400)), b.Mul(terms, b.Const("detCancels", byElem(b, 0x1p-18, 0x1p-48))))
	b.Hard(b.OrMask(b.Cmp(x86.NGE, abs(b, det), least),
		b.Cmp(x86.NLE, largest(b, a[:]...), b.Const("detEntryMax", byElem(b, 0x1p30, 0x1p200)))))
	b.Hard(b.Cmp(x86.Unordered, terms, det))
	return det, [3]x86.Value{p.hi, q.hi, r.hi}
}

func det3x3(b *x86.Block) {
	det, _ := detByMinors(b, mat3(load(b, 1, 9)))
	b.Output(det)
}

// inverse3x3 is the adjugate, each minor within an ulp and a half, over the determinant.
func inverse3x3(b *x86.Block) {
	a := mat3(load(b, 1, 9))
	det, m := detByMinors(b, a)
	inv := quotient(b, one(b), det)
	minor := func(p, q, r, s int) x86.Value { return diffOfProducts(b, a[p], a[q], a[r], a[s]) }
	for _, v := range (mat3{
		m[0], minor(2, 7, 1, 8), minor(1, 5, 2, 4),
		m[1], minor(0, 8, 2, 6), minor(2, 3, 0, 5),
		m[2], minor(1, 6, 0, 7), minor(0, 4, 1, 3),
	}) {
		b.Output(b.Mul(v, inv))
	}
}

func mul4x4(b *x86.Block) {
	p, q := load(b, 1, 16), load(b, 2, 16)
	for i := 0; i < 16; i += 4 {
		for j := range 4 {
			b.Output(b.FMA(p[i+3], q[12+j], b.FMA(p[i+2], q[8+j], b.FMA(p[i+1], q[4+j], b.Mul(p[i], q[j])))))
		}
	}
}

func inverseRigid4x4(b *x86.Block) {
	e := load(b, 1, 16)
	p := vec3{e[3], e[7], e[11]}
	for i := range 3 {
		c := vec3{e[i], e[4+i], e[8+i]}
		outputs(b, c[0], c[1], c[2], neg(b, dot3(b, c, p)))
	}
	outputs(b, zero(b), zero(b), zero(b), one(b))
}

var mat3Ops = matrixFile{batchDir + "zmat3", []matrixOp{
	{name: "Exp3x3", doc: "writes the exponentials of n matrices.", pinned: map[x86.Level]int{x86.AVX512: 4},
		tile:   map[x86.Level]int{x86.AVX2: 8},
		stages: []func(*x86.Block){exp3x3Start, exp3x3Scale, exp3x3Series, exp3x3Square, exp3x3Finish}},
	{name: "Mul3x3", doc: "writes the products of n pairs of matrices.", stages: []func(*x86.Block){mul3x3}},
	{name: "Inverse3x3", doc: "writes the inverses of n matrices.", stages: []func(*x86.Block){inverse3x3}},
	{name: "Det3x3", doc: "writes the determinants of n matrices.", stages: []func(*x86.Block){det3x3}},
	{name: "Frobenius3x3", doc: "writes the Frobenius norms of n matrices.", stages: []func(*x86.Block){frobenius(9)}},
	{name: "ExpFrechet3x3", doc: "writes the derivatives of the exponential of n matrices, each in a direction.", square: 3,
		tile: map[x86.Level]int{x86.AVX2: 4},
		stages: []func(*x86.Block){expFrechet3x3Start, expFrechet3x3Scale, expFrechet3x3Series, expFrechet3x3Matrices, expFrechet3x3Square,
			expFrechet3x3Finish}},
	{name: "Mul4x4", doc: "writes the products of n pairs of matrices.", stages: []func(*x86.Block){mul4x4}},
	{name: "InverseRigid4x4", doc: "writes the inverses of n rigid motions.", stages: []func(*x86.Block){inverseRigid4x4}},
}}

// matrixFiles lists the generated files of matrix kernels.
var matrixFiles = []matrixFile{se2Ops, se3Ops, mat2Ops, mat3Ops, mat3LogOps}
