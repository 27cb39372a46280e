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

// exp3Degree is where the Taylor series ends: for powers that grow no faster than 2ᵏ, what follows is below half an ulp.
func exp3Degree(b *x86.Block) int { return byElem(b, 14, 22) }

// The slots of exp3x3: nine entries of Y = exp(X) - I, how many squarings are left, the mean of the diagonal, and hard lanes.
const (
	slotCount = 9 + iota
	slotMean
	slotHard
)

// exp3x3Scale takes the mean μ of the diagonal out, halves X until ‖X²‖ is at most 4 and sums the series of exp(X) - I. ‖X²‖ rather
// than ‖X‖ says how the powers grow.
func exp3x3Scale(b *x86.Block) {
	a := mat3(load(b, 1, 9))
	mu := b.Mul(b.Add(b.Add(a[0], a[4]), a[8]), b.Const("third", 1./3))
	for i := 0; i < 9; i += 4 {
		a[i] = b.Sub(a[i], mu)
	}
	sq := mul3(b, a, a)
	n2 := norm1(b, sq)
	limit := b.Const("norm2Max", byElem(b, 3000.0, 250000))
	b.FlagLocal(slotHard, b.OrMask(b.Cmp(x86.NLE, n2, limit), notWithin(b, mu, "meanMax", expMax(b)/2)))
	// Of the exponent e, 2^(e-1) ≤ ‖X²‖ < 2^e, the whole part of (e-1)/2.
	count := b.FMA(exponent(b, b.Max(b.Min(n2, limit), one(b))), half(b), b.Const("minusThreeQuarters", -0.75))
	round := byElem(b, b.Const("roundF32", roundF32), b.Const("round", roundF64))
	count = b.Sub(b.Add(count, round), round)
	scale := scaleDown(b, count)
	// A = X/2^count stays X·scale, and A² the square of X times its square: only their invariants and, at the end, the factors of
	// the two are scaled, by powers of two, which rounds nothing.
	scale2 := b.Mul(scale, scale)
	c1 := b.Mul(b.Mul(b.Add(b.Add(sq[0], sq[4]), sq[8]), half(b)), scale2)
	c0 := b.Mul(det3(b, a), b.Mul(scale2, scale))
	// Y = A·Σ Aᵏ/(k+1)!, the sum as p + qA + rA².
	d := exp3Degree(b)
	inv := func(k int) x86.Value {
		f := 1.0
		for i := 2; i <= k; i++ {
			f *= float64(i)
		}
		return b.Const("inverseFactorial"+string(rune('a'+k)), 1/f)
	}
	p, q, r := b.FMA(inv(d), c0, inv(d-3)), b.FMA(inv(d), c1, inv(d-2)), inv(d-1)
	p, q, r = b.FMA(r, c0, inv(d-4)), b.FMA(r, c1, p), q
	for k := d - 5; k >= 1; k-- {
		p, q, r = b.FMA(r, c0, inv(k)), b.FMA(r, c1, p), q
	}
	p, q, r = b.Mul(r, c0), b.Mul(b.FMA(r, c1, p), scale), b.Mul(q, scale2)
	for i := range a {
		y := b.Mul(r, sq[i])
		if i%4 == 0 {
			y = b.Add(y, p)
		}
		b.SetLocal(i, b.FMA(q, a[i], y))
	}
	b.SetLocal(slotCount, count)
	b.SetLocal(slotMean, mu)
}

// scaleDown is 2^-e.
func scaleDown(b *x86.Block, e x86.Value) x86.Value {
	if b.Level == x86.AVX512 {
		return b.Scale(one(b), b.Sub(zero(b), e))
	}
	return pow2(b, b.Sub(byElem(b, b.Const("roundF32", roundF32), b.Const("round", roundF64)), e))
}

// exp3x3Square is Y ← Y(Y + 2I), in lanes that have halvings left.
func exp3x3Square(b *x86.Block) {
	var y mat3
	for i := range y {
		y[i] = b.Local(i)
	}
	count := b.Local(slotCount)
	more := b.Cmp(x86.GT, count, zero(b))
	for i, s := range mul3(b, y, plusI(b, y, b.Const("two", 2))) {
		b.SetLocal(i, b.Select(more, s, y[i]))
	}
	left := b.Sub(count, one(b))
	b.SetLocal(slotCount, left)
	b.Again(b.Cmp(x86.GT, left, zero(b)))
}

// exp3x3Finish is e^μ(I + Y).
func exp3x3Finish(b *x86.Block) {
	b.Hard(b.FlagMask(slotHard))
	e := exp(b, b.Local(slotMean))
	for i := range 9 {
		y := b.Local(i)
		if i%4 == 0 {
			y = b.Add(y, one(b))
		}
		b.Output(b.Mul(e, y))
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

// detByMinors is det a by the first row with twice the digits, and the minors of that row. Determinants that lose more than
// half of the digits to cancellation, entries so large or a determinant so small that products of entries are in danger, and
// NaN, which the sum of terms has if any entry is, are the caller's.
func detByMinors(b *x86.Block, a mat3) (det x86.Value, m [3]x86.Value) {
	p, q, r := minor(b, a[4], a[8], a[5], a[7]), minor(b, a[5], a[6], a[3], a[8]), minor(b, a[3], a[7], a[4], a[6])
	x, y, z := p.times(b, a[0]), q.times(b, a[1]), r.times(b, a[2])
	d := x.plus(b, y).plus(b, z)
	det = b.Add(d.hi, d.lo)
	terms := b.Add(b.Add(abs(b, x.hi), abs(b, y.hi)), abs(b, z.hi))
	least := b.Max(b.Const("detMin", byElem(b, 0x1p-60, 0x1p-400)), b.Mul(terms, b.Const("detCancels", byElem(b, 0x1p-18, 0x1p-48))))
	big := abs(b, a[0])
	for _, v := range a[1:] {
		big = b.Max(big, abs(b, v))
	}
	b.Hard(b.OrMask(b.Cmp(x86.NGE, abs(b, det), least), b.Cmp(x86.NLE, big, b.Const("detEntryMax", byElem(b, 0x1p30, 0x1p200)))))
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

var mat3Ops = matrixFile{"zmat3", []matrixOp{
	{name: "Exp3x3", doc: "writes the exponentials of n matrices.", pinned: map[x86.Level]int{x86.AVX512: 4},
		stages: []func(*x86.Block){exp3x3Scale, exp3x3Square, exp3x3Finish}},
	{name: "Mul3x3", doc: "writes the products of n pairs of matrices.", stages: []func(*x86.Block){mul3x3}},
	{name: "Inverse3x3", doc: "writes the inverses of n matrices.", stages: []func(*x86.Block){inverse3x3}},
	{name: "Det3x3", doc: "writes the determinants of n matrices.", stages: []func(*x86.Block){det3x3}},
	{name: "Frobenius3x3", doc: "writes the Frobenius norms of n matrices.", stages: []func(*x86.Block){frobenius(9)}},
	{name: "Mul4x4", doc: "writes the products of n pairs of matrices.", stages: []func(*x86.Block){mul4x4}},
	{name: "InverseRigid4x4", doc: "writes the inverses of n rigid motions.", stages: []func(*x86.Block){inverseRigid4x4}},
}}

// matrixFiles lists the generated files of matrix kernels.
var matrixFiles = []matrixFile{planeOps, spaceOps, mat2Ops, mat3Ops, mat3LogOps}
