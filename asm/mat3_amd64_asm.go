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
	for i := range a {
		a[i] = b.Mul(a[i], scale)
	}
	scale = b.Mul(scale, scale)
	for i := range sq {
		sq[i] = b.Mul(sq[i], scale)
	}
	c1 := b.Mul(b.Add(b.Add(sq[0], sq[4]), sq[8]), half(b))
	c0 := det3(b, a)
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
	p, q, r = b.Mul(r, c0), b.FMA(r, c1, p), q
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

// exp3x3Square is Y ← 2Y + Y², in lanes that have halvings left.
func exp3x3Square(b *x86.Block) {
	var y mat3
	for i := range y {
		y[i] = b.Local(i)
	}
	count := b.Local(slotCount)
	more := b.Cmp(x86.GT, count, zero(b))
	for i := 0; i < 9; i += 3 {
		for j := range 3 {
			s := b.Add(y[i+j], y[i+j])
			s = b.FMA(y[i+2], y[6+j], b.FMA(y[i+1], y[3+j], b.FMA(y[i], y[j], s)))
			b.SetLocal(i+j, b.Select(more, s, y[i+j]))
		}
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
	{name: "Frobenius3x3", doc: "writes the Frobenius norms of n matrices.", stages: []func(*x86.Block){frobenius(9)}},
	{name: "Mul4x4", doc: "writes the products of n pairs of matrices.", stages: []func(*x86.Block){mul4x4}},
	{name: "InverseRigid4x4", doc: "writes the inverses of n rigid motions.", stages: []func(*x86.Block){inverseRigid4x4}},
}}

// matrixFiles lists the generated files of matrix kernels.
var matrixFiles = []matrixFile{planeOps, spaceOps, mat2Ops, mat3Ops, mat3LogOps}
