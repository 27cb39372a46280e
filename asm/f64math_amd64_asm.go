package main

import (
	"math/big"

	"github.com/mmcloughlin/avo/reg"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

// The elementary functions in float64, by the methods of the float32 functions in exp, log and trig _amd64_asm.go; and
// functions that record the arithmetic of either type under one name. Coefficients are fitted as there, in 50-digit
// arithmetic. The number after each formula is the largest error, relative to the result.
var (
	// exp(r) = 1 + r + r²·Q(r), |r| ≤ ln2/2: 3.7e-18.
	expQF64 = []float64{0x1.000000000000ap-1, 0x1.5555555555502p-3, 0x1.55555555506c8p-5, 0x1.1111111125c87p-7,
		0x1.6c16c18473665p-10, 0x1.a01a013499ee6p-13, 0x1.a019996a0b418p-16, 0x1.71df0efbb6786p-19, 0x1.28adf206cd716p-22,
		0x1.ada2190d27d9bp-26}
	// exp(r) = 1 + r + r²·Q(r), |r| ≤ ln2/32: 2.2e-20.
	exp16thsF64 = []float64{0x1.0000000000004p-1, 0x1.5555555555545p-3, 0x1.555555547fc94p-5, 0x1.111111125ca51p-7,
		0x1.6c18414a02ff9p-10, 0x1.a01911bdeea3cp-13}
	// sin(r) = r + r³·S(r²), |r| ≤ π/4: 3.8e-18.
	sinPF64 = []float64{-0x1.5555555555548p-3, 0x1.111111110f75fp-7, -0x1.a01a019bf279fp-13, 0x1.71de355f5b5a0p-19,
		-0x1.ae5e54bb64fddp-26, 0x1.5d8e4bf91f2a2p-33}
	// cos(r) = 1 - r²/2 + r⁴·C(r²): 5.6e-20.
	cosPF64 = []float64{0x1.555555555554bp-5, -0x1.6c16c16c15019p-10, 0x1.a01a019c8fbfep-16, -0x1.27e4f7f2170bap-22,
		0x1.1ee9dc322927cp-29, -0x1.8fa6ba1a318a8p-37}
	// 2·atanh(s) = 2s + s³·R(s²), s² ≤ 0.0401: 1.4e-19.
	logRF64 = []float64{0x1.555555555554fp-1, 0x1.999999999c185p-2, 0x1.24924921e35d3p-2, 0x1.c71c7490ab88fp-3,
		0x1.745c4aa151c20p-3, 0x1.3b35c87cfc786p-3, 0x1.0dcb113df2af8p-3, 0x1.1b85256ef26d0p-3}
	// atan(t) = t + t³·P(t²), |t| ≤ 1/2: 2.2e-19.
	atanPF64 = []float64{-0x1.5555555555552p-2, 0x1.99999999990d4p-3, -0x1.24924924534cbp-3, 0x1.c71c71aae27a1p-4,
		-0x1.745d138d72ae6p-4, 0x1.3b136088e4946p-4, -0x1.110c6f07aa777p-4, 0x1.e182b19c977e2p-5, -0x1.ac71cb2732dd4p-5,
		0x1.77f88eb986065p-5, -0x1.3013fbaff5071p-5, 0x1.838d86cc311fcp-6, -0x1.12192c1e13d4ep-7}
	// The same for |t| ≤ tan 15°: 1.8e-17.
	arcPF64 = []float64{-0x1.55555555553b4p-2, 0x1.999999993d0acp-3, -0x1.249248ec6ab2dp-3, 0x1.c71c50c31b594p-4,
		-0x1.7457b458e92bcp-4, 0x1.3a8fdaed8bd65p-4, -0x1.09abe5eab2b10p-4, 0x1.6c6d6d0627cd3p-5}
)

const (
	roundF64 = 0x1.8p52 // as roundF32
	ln2HiF64 = 0x1.62e42fefa39efp-1
	ln2LoF64 = 0x1.abc9e3b39803fp-56

	// π/2 in three parts of 53 bits, each the rest of the ones before.
	halfPi1F64 = 0x1.921fb54442d18p+0
	halfPi2F64 = 0x1.1a62633145c07p-54
	halfPi3F64 = -0x1.f1976b7ed8fbcp-110

	// sinCosMaxF64 is the largest |x| for which the reduction is used. It would do for larger ones: the first
	// difference is exact, and so is the multiple k below 2^51.
	sinCosMaxF64 = 1e9
)

func one(b *x86.Block) x86.Value  { return b.Const("one", 1) }
func zero(b *x86.Block) x86.Value { return b.Const("zero", 0) }
func half(b *x86.Block) x86.Value { return b.Const("half", 0.5) }
func inf(b *x86.Block) x86.Value {
	if b.Elem == x86.F64 {
		return b.Bits("inf", 0x7ff0000000000000)
	}
	return b.Bits("infF32", 0x7f800000)
}

// signBit is the sign of a number.
func signBit(b *x86.Block) x86.Value {
	if b.Elem == x86.F64 {
		return b.Bits("sign", 1<<63)
	}
	return b.Bits("signF32", 1<<31)
}

func abs(b *x86.Block, x x86.Value) x86.Value {
	if b.Elem == x86.F64 {
		return b.And(x, b.Bits("abs", 1<<63-1))
	}
	return absF32(b, x)
}

func neg(b *x86.Block, x x86.Value) x86.Value { return b.Xor(x, signBit(b)) }

// copySign gives x ≥ 0 the sign of s.
func copySign(b *x86.Block, x, s x86.Value) x86.Value {
	if b.Level == x86.AVX512 {
		return b.Ternary(0xd8, x, s, signBit(b)) // sign bit ? s : x
	}
	return b.Or(b.And(s, signBit(b)), x)
}

// flipSign changes the sign of x where s is negative.
func flipSign(b *x86.Block, x, s x86.Value) x86.Value {
	if b.Level == x86.AVX512 {
		return b.Ternary(0x78, x, s, signBit(b)) // x ^ (s & sign)
	}
	return b.Xor(x, b.And(s, signBit(b)))
}

// negative is set where the sign bit is.
func negative(b *x86.Block, x x86.Value) x86.Mask {
	if b.Level == x86.AVX512 {
		return b.Bit(x, uint64(8*b.Elem.Bytes()-1))
	}
	return b.CmpI(x86.GT, zero(b), x)
}

// byElem is the one for the block's type.
func byElem[T any](b *x86.Block, f32, f64 T) T {
	if b.Elem == x86.F64 {
		return f64
	}
	return f32
}

// expReduce is exp(x) = (1 + p)·2^k; z holds k in its low bits. See expReduceF32.
func expReduce(b *x86.Block, x x86.Value) (p, k, z x86.Value) {
	if b.Elem == x86.F32 {
		return expReduceF32(b, x)
	}
	r, q, k, z := expSplit(b, x)
	return b.FMA(b.Mul(r, r), q, r), k, z
}

// expSplit is exp(x) = (1 + r + r²q)·2^k.
func expSplit(b *x86.Block, x x86.Value) (r, q, k, z x86.Value) {
	return expSplitBy(b, x, byElem(b, b.Const("roundF32", roundF32), b.Const("round", roundF64)))
}

// expSplitBy is expSplit where the low bits of z hold k and what round holds in its own.
func expSplitBy(b *x86.Block, x, round x86.Value) (r, q, k, z x86.Value) {
	if b.Elem == x86.F32 {
		z = b.FMA(x, b.Const("log2e", log2e), round)
		k = b.Sub(z, round)
		r = b.FNMA(k, b.Const("ln2Hi", ln2HiF32), x)
		r = b.FNMA(k, b.Const("ln2Lo", ln2LoF32), r)
		return r, b.Horner(r, b.Const("expC2", expC2), b.Const("expC3", expC3), b.Const("expC4", expC4), b.Const("expC5", expC5),
			b.Const("expC6", expC6)), k, z
	}
	z = b.FMA(x, b.Const("log2e", 0x1.71547652b82fep+0), round)
	k = b.Sub(z, round)
	r = b.FNMA(k, b.Const("ln2Hi", ln2HiF64), x)
	r = b.FNMA(k, b.Const("ln2Lo", ln2LoF64), r)
	return r, b.Horner(r, polynomial(b, "expQ", expQF64)...), k, z
}

// expF64 is exp(x), as expF32.
func expF64(b *x86.Block, x x86.Value) x86.Value {
	x = b.Max(b.Const("expMin", -746), b.Min(b.Const("expMax", 710), x))
	y, k := expUnscaled(b, x)
	return scale2(b, y, k)
}

// expUnscaled returns y and k with exp(x) = scale2(y, k).
func expUnscaled(b *x86.Block, x x86.Value) (y, k x86.Value) {
	if b.Level == x86.AVX512 {
		return exp16ths(b, x)
	}
	p, k, _ := expReduce(b, x)
	return b.Add(p, one(b)), k
}

// expBelow is exp(x) of either type for x ≤ 0 or NaN, with the bits of expF32 and expF64. At AVX2 2^k is too small for the exponent of a
// normal number where the result may be subnormal. So k is increased by 64 or 256, and a product ends it, which alone rounds there.
func expBelow(b *x86.Block, x x86.Value) x86.Value {
	x = b.Max(byElem(b, b.Const(constName(-104), -104), b.Const("expMin", -746)), x)
	if b.Level == x86.AVX512 {
		return expBy16ths(b, x)
	}
	round := byElem(b, b.Const("roundAbove64", roundF32+64), b.Const("roundAbove256", roundF64+256))
	r, q, _, z := expSplitBy(b, x, round)
	s := pow2(b, z)
	y := b.FMA(b.FMA(b.Mul(r, r), q, r), s, s)
	return b.Mul(y, byElem(b, b.Const("below64", 0x1p-64), b.Const("below256", 0x1p-256)))
}

// scale2 is y·2^k for whole k, |k| ≤ 2·1022 (float64) or 2·126, rounded once.
func scale2(b *x86.Block, y, k x86.Value) x86.Value {
	if b.Level == x86.AVX512 {
		return b.Scale(y, k)
	}
	// In two steps of about half of k each.
	round := byElem(b, b.Const("roundF32", roundF32), b.Const("round", roundF64))
	h := b.FMA(k, half(b), round)
	rest := b.Add(b.Sub(k, b.Sub(h, round)), round)
	return b.Mul(b.Mul(y, pow2(b, h)), pow2(b, rest))
}

// pow2 is 2^k of z = k + round, for a result that is a normal number.
func pow2(b *x86.Block, z x86.Value) x86.Value {
	return b.AddI(b.Shl(z, byElem[uint64](b, 23, 52)), one(b))
}

// exp is exp(x) of either type for x between ±byElem(87, 708); the result is a normal number. Beyond, it is anything.
func exp(b *x86.Block, x x86.Value) x86.Value {
	p, k, z := expReduce(b, x)
	if b.Level == x86.AVX512 {
		return b.Scale(b.Add(p, one(b)), k)
	}
	s := pow2(b, z)
	return b.FMA(p, s, s)
}

// expBy16ths is exp(x) of either type, for -104 ≤ x ≤ 89 or -746 ≤ x ≤ 710.
func expBy16ths(b *x86.Block, x x86.Value) x86.Value {
	return b.Scale(exp16ths(b, x))
}

// exp16ths returns y and k with exp(x) = y·2^floor(k), as Scale computes it, by a table of sixteen numbers: one vector of AVX-512, or two.
// What is left of x is so small that 3 (float64: 4) multiply-adds fewer do than with whole k.
//
//	k = round(16·x·log2e)/16,  r = x - k·ln2, |r| ≤ ln2/32
//	y = v + v·r·P(r),  v = 2^(k - floor(k)) from the table
//
// P(r) = (exp(r) - 1)/r = 1 + c2·r + ..; the relative error of the sum in parentheses is 1.6e-9, in float64 2.2e-20. v is 1 exactly where x
// is small, and so is exp(0).
func exp16ths(b *x86.Block, x x86.Value) (y, k x86.Value) {
	round := byElem(b, b.Const("roundTo16ths", roundF32/16), b.Const("roundTo16ths", roundF64/16))
	log, ln2Hi, ln2Lo := byElem(b, log2e, 0x1.71547652b82fep+0), byElem(b, ln2HiF32, ln2HiF64), byElem(b, ln2LoF32, ln2LoF64)
	z := b.FMA(x, b.Const("log2e", log), round)
	k = b.Sub(z, round)
	r := b.FNMA(k, b.Const("ln2Hi", ln2Hi), x)
	r = b.FNMA(k, b.Const("ln2Lo", ln2Lo), r)
	v := powersOf2(16)
	var table []x86.Value
	p := []float64{0x1.00021ep-1, 0x1.55559ap-3}
	if b.Elem == x86.F32 {
		table = []x86.Value{b.Table("exp2By16ths", v)}
	} else {
		table, p = []x86.Value{b.Table("exp2By16thsTo8", v[:8]), b.Table("exp2By16thsFrom8", v[8:])}, exp16thsF64
	}
	y = b.Lookup(z, table...)
	return b.FMA(b.Mul(y, r), b.Horner(r, append([]x86.Value{one(b)}, polynomial(b, "exp16ths", p)...)...), y), k
}

// powersOf2 returns 2^(j/n), j < n, for a power of two n, rounded once: the roots of math.Exp2 may be off by a unit.
func powersOf2(n int) []float64 {
	root := big.NewFloat(2).SetPrec(200)
	for m := 1; m < n; m *= 2 {
		root.Sqrt(root)
	}
	x, v := big.NewFloat(1).SetPrec(200), make([]float64, n)
	for j := range v {
		v[j], _ = x.Float64()
		x.Mul(x, root)
	}
	return v
}

// sinCos is sin(x) and cos(x) of either type for |x| up to sinCosMax or sinCosMaxF64. NaN gives NaN.
func sinCos(b *x86.Block, x x86.Value) (sin, cos x86.Value) {
	if b.Elem == x86.F32 {
		return sinCosF32(b, x)
	}
	a := x
	if b.Level == x86.AVX2 {
		a = abs(b, x)
	}
	round := b.Const("round", roundF64)
	z := b.FMA(a, b.Const("twoOverPi", 0x1.45f306dc9c883p-1), round)
	k := b.Sub(z, round)
	r := b.FNMA(k, b.Const("halfPi1", halfPi1F64), a)
	r = b.FNMA(k, b.Const("halfPi2", halfPi2F64), r)
	r = b.FNMA(k, b.Const("halfPi3", halfPi3F64), r)
	r2 := b.Mul(r, r)
	s := b.FMA(r, b.Mul(r2, b.Horner(r2, polynomial(b, "sinP", sinPF64)...)), r)
	c := b.FMA(b.FMA(b.Horner(r2, polynomial(b, "cosP", cosPF64)...), r2, b.Const("minusHalf", -0.5)), r2, one(b))
	odd := b.Bit(z, 0)
	sin, cos = b.Select(odd, c, s), b.Select(odd, s, c)
	cos = flipSign(b, cos, b.Shl(b.AddI(z, b.Bits("oneI", 1)), 62))
	turn := b.Shl(z, 62)
	if b.Level == x86.AVX2 {
		return flipSign(b, sin, b.Xor(turn, x)), cos
	}
	return b.Fixup(flipSign(b, sin, turn), x, b.Bits("zeroStays", 0x00000122)), cos
}

// sinCosNear is sinCos with a small absolute error only: it subtracts π/2 in two parts, and the sign of 0 is lost. In
// float32 it serves up to a few hundred turns.
func sinCosNear(b *x86.Block, x x86.Value) (sin, cos x86.Value) {
	f32 := b.Elem == x86.F32
	var z, r, k x86.Value
	if f32 {
		round := b.Const("roundF32", roundF32)
		z = b.FMA(x, b.Const("twoOverPi", 0x1.45f306p-1), round)
		k = b.Sub(z, round)
		r = b.FNMA(k, b.Const("halfPi2", halfPi2), b.FNMA(k, b.Const("halfPi1", halfPi1), x))
	} else {
		round := b.Const("round", roundF64)
		z = b.FMA(x, b.Const("twoOverPi", 0x1.45f306dc9c883p-1), round)
		k = b.Sub(z, round)
		r = b.FNMA(k, b.Const("halfPi2", halfPi2F64), b.FNMA(k, b.Const("halfPi1", halfPi1F64), x))
	}
	r2 := b.Mul(r, r)
	s := b.FMA(r, b.Mul(r2, b.Horner(r2, polynomial(b, "sinP", byElem(b, sinP, sinPF64))...)), r)
	c := b.FMA(b.FMA(b.Horner(r2, polynomial(b, "cosP", byElem(b, cosP, cosPF64))...), r2, b.Const("minusHalf", -0.5)), r2, one(b))
	odd, top := b.Bit(z, 0), byElem[uint64](b, 30, 62)
	sin, cos = b.Select(odd, c, s), b.Select(odd, s, c)
	return flipSign(b, sin, b.Shl(z, top)), flipSign(b, cos, b.Shl(b.AddI(z, b.Bits("oneI", 1)), top))
}

// logSplit is x = (1 + f)·2^k, 3/4 ≤ 1 + f < 3/2, for positive normal x (on AVX-512 for positive x).
func logSplit(b *x86.Block, x x86.Value) (f, k x86.Value) {
	if b.Level == x86.AVX512 {
		const mantissaFrom34 = 0x0b
		m := b.GetMant(mantissaFrom34, x)
		return b.Sub(m, one(b)), b.Sub(b.GetExp(x), b.GetExp(m))
	}
	if b.Elem == x86.F32 {
		e := b.And(b.SubI(x, b.Const("threeQuarters", 0.75)), b.Bits("exponentF32", 0xff800000))
		return b.Sub(b.SubI(x, e), one(b)), b.FromInt(b.Sar(e, 23))
	}
	// Once the bits of 1 minus those of 3/4 are added, the exponent field holds k + 1023. Put into the low bits of
	// 2^52, it becomes a float.
	v := b.AddI(x, b.Bits("oneMinusThreeQuarters", 0x3ff0000000000000-0x3fe8000000000000))
	biased := b.And(v, b.Bits("exponent", 0x7ff0000000000000))
	k = b.Sub(b.Or(b.Shr(v, 52), b.Const("two52", 0x1p52)), b.Const("two52Bias", 0x1p52+1023))
	return b.Sub(b.SubI(x, b.SubI(biased, one(b))), one(b)), k
}

// logSplitNear is logSplit for x far from the ends of the range. With 4/3 rounded to either type, x·4/3 reaches a power
// of two just where the mantissa leaves its interval, not a bit before or after.
func logSplitNear(b *x86.Block, x x86.Value) (f, k x86.Value) {
	if b.Level != x86.AVX512 {
		return logSplit(b, x)
	}
	const mantissaFrom34 = 0x0b
	return b.Sub(b.GetMant(mantissaFrom34, x), one(b)), b.GetExp(b.Mul(x, b.Const("fourThirds", 4./3)))
}

// logReduced is the logarithm of (1 + f)·2^k + what the small number lo adds to it. In float64, with s = f/(2 + f),
//
//	k·ln2Hi + (f - (f²/2 - (s·(f²/2 + s²·R(s²)) + k·ln2Lo)))
//
// as in the Sun FreeBSD fdlibm's e_log.c.
func logReduced(b *x86.Block, f, k x86.Value, lo *x86.Value) x86.Value {
	if b.Elem == x86.F32 {
		l := b.Mul(k, b.Const("ln2Lo", ln2LoF32))
		if lo != nil {
			l = b.Add(l, *lo)
		}
		return b.FMA(k, b.Const("ln2Hi", ln2HiF32), b.Add(log1pTailF32(b, f, l), f))
	}
	s := b.Div(f, b.Add(f, b.Const("two", 2)))
	z := b.Mul(s, s)
	h := b.Mul(b.Mul(f, f), half(b))
	l := b.Mul(k, b.Const("ln2Lo", ln2LoF64))
	if lo != nil {
		l = b.Add(l, *lo)
	}
	r := b.FMA(z, b.Horner(z, polynomial(b, "logR", logRF64)...), h)
	return b.FMA(k, b.Const("ln2Hi", ln2HiF64), b.Sub(f, b.Sub(h, b.FMA(s, r, l))))
}

// ln is the logarithm of either type for positive normal x.
func ln(b *x86.Block, x x86.Value) x86.Value {
	f, k := logSplit(b, x)
	return logReduced(b, f, k, nil)
}

// lnPair is ln(x) and ln(y) to about an ulp. In float64 both share one division: f/(2 + f) and g/(2 + g) are f(2 + g)
// and g(2 + f), each over (2 + f)(2 + g). The series has fdlibm's shorter form, k·ln2 + f - s·(f - s²·R(s²)).
func lnPair(b *x86.Block, x, y x86.Value) (lnX, lnY x86.Value) {
	f, k := logSplitNear(b, x)
	g, l := logSplitNear(b, y)
	if b.Elem == x86.F32 {
		return logReduced(b, f, k, nil), logReduced(b, g, l, nil)
	}
	two := b.Const("two", 2)
	p, q := b.Add(f, two), b.Add(g, two)
	inv := b.Div(one(b), b.Mul(p, q))
	short := func(f, s, k x86.Value) x86.Value {
		z := b.Mul(s, s)
		r := b.FNMA(z, b.Horner(z, polynomial(b, "logR", logRF64)...), f)
		return b.FMA(k, b.Const("ln2Hi", ln2HiF64), b.FNMA(s, r, f))
	}
	return short(f, b.Mul(b.Mul(f, q), inv), k), short(g, b.Mul(b.Mul(g, p), inv), l)
}

// logF64AVX512 is ln(x) for all x; see logF32AVX512.
func logF64AVX512(b *x86.Block, x x86.Value) x86.Value {
	return b.Fixup(ln(b, x), x, b.Bits("logSpecial", 0x03530422))
}

// logAnyF64AVX2 is ln(x) for all x; see logAnyF32AVX2.
func logAnyF64AVX2(b *x86.Block, x x86.Value) x86.Value {
	small := b.Cmp(x86.LT, x, b.Const("minNormal", 0x1p-1022))
	f, k := logSplit(b, b.Select(small, b.Mul(x, b.Const("two54", 0x1p54)), x))
	k = b.Add(k, b.Select(small, b.Const("minus54", -54), zero(b)))
	y := logReduced(b, f, k, nil)
	y = b.Select(b.Cmp(x86.EQ, x, zero(b)), b.Bits("minusInf", 0xfff0000000000000), y)
	y = b.Select(b.Cmp(x86.EQ, x, inf(b)), inf(b), y)
	return b.Select(b.Cmp(x86.NGE, x, zero(b)), b.Bits("nan", 0x7ff8000000000000), y)
}

// notNormalF64 is set in the lanes in which some x is not a positive, finite, normal number.
func notNormalF64(b *x86.Block, x []x86.Value) x86.Mask {
	var m x86.Mask
	for i, v := range x {
		n := b.OrMask(b.Cmp(x86.NGE, v, b.Const("minNormal", 0x1p-1022)), b.Cmp(x86.GT, v, b.Const("maxFinite", 0x1.fffffffffffffp1023)))
		if i > 0 {
			n = b.OrMask(m, n)
		}
		m = n
	}
	return m
}

// atan2 is the angle of (x, y) of either type; see atan2F32. In float64 the quotient t = lo/hi of the magnitudes goes, if it is
// above 1/2, through atan(t) = π/4 + atan((lo - hi)/(lo + hi)). That takes one division as well, and a shorter polynomial.
func atan2(b *x86.Block, y, x x86.Value) x86.Value {
	if b.Elem == x86.F32 {
		return atan2F32(b, y, x)
	}
	ax, ay := abs(b, x), abs(b, y)
	lo, hi := b.Min(ay, ax), b.Max(ay, ax)
	// lo + hi must not overflow. Where hi is so large, what lo loses here is nothing beside it.
	scale := b.Select(b.Cmp(x86.GT, hi, b.Const("quarterMax", 0x1p1021)), b.Const("quarter", 0.25), one(b))
	lo, hi = b.Mul(lo, scale), b.Mul(hi, scale)
	// 0/0 is not above 1/2, Inf/Inf is.
	above := b.Cmp(x86.GT, b.Add(lo, lo), b.Min(hi, b.Const("maxFinite", 0x1.fffffffffffffp1023)))
	t := b.Div(b.Select(above, b.Sub(lo, hi), lo), b.Select(above, b.Add(lo, hi), hi))
	if b.Level == x86.AVX512 {
		t = b.Fixup(t, lo, b.Bits("foldedSpecial", 0x00800822)) // by class of lo: NaN, 0 → 0, Inf → 0
	} else {
		t = b.Select(b.Cmp(x86.EQ, lo, zero(b)), zero(b), t)
		t = b.Select(b.Cmp(x86.EQ, lo, inf(b)), zero(b), t)
	}
	z := b.Mul(t, t)
	a := b.FMA(b.Mul(t, z), b.Horner(z, polynomial(b, "atanP", atanPF64)...), t)
	a = b.AddIf(above, b.AddIf(above, a, b.Const("quarterPi2", halfPi2F64/2)), b.Const("quarterPi1", halfPi1F64/2))
	steep := b.Cmp(x86.GT, ay, ax)
	a = b.AddIf(steep, b.AddIf(steep, b.XorIf(steep, a, signBit(b)), b.Const("halfPi2", halfPi2F64)), b.Const("halfPi1", halfPi1F64))
	left := negative(b, x)
	a = b.AddIf(left, b.AddIf(left, b.XorIf(left, a, signBit(b)), b.Const("pi2", 2*halfPi2F64)), b.Const("pi1", 2*halfPi1F64))
	a = copySign(b, a, y)
	if b.Level == x86.AVX512 {
		return b.Fixup(a, y, b.Bits("nanComes", 0x00000022))
	}
	return b.Select(b.Cmp(x86.Unordered, y, y), y, a)
}

// beyondF64 is set in the lanes in which some |x| is above the limit, or NaN.
func beyondF64(limit float64) func(b *x86.Block, x []x86.Value) x86.Mask {
	return func(b *x86.Block, x []x86.Value) x86.Mask {
		m := abs(b, x[0])
		for _, v := range x[1:] {
			m = b.Max(m, abs(b, v)) // v, if either is NaN, so that a NaN before may get lost
		}
		over := b.Cmp(x86.NLE, m, b.Const("limit", limit))
		for _, v := range x[:len(x)-1] {
			over = b.OrMask(over, b.Cmp(x86.Unordered, v, v))
		}
		return over
	}
}

func f64mathAMD64(f *x86.File) {
	const signature = "func(dst, x *float64, n int)"
	// With more vectors side by side AVX2 runs out of registers.
	two := map[x86.Level]int{x86.AVX2: 1, x86.AVX512: 2}
	for _, l := range levels {
		fn := f.Func(l, x86.F64, "expF64", signature, "sets dst[i] = exp(x[i]) for i < n.")
		fn.Map(x86.Map{
			Block: unaryBlock(l, x86.F64, expF64), Unroll: unrollShort[l], Pinned: pinned[l],
			Out: []reg.GPVirtual{fn.Arg("dst")}, In: []reg.GPVirtual{fn.Arg("x")}, N: fn.Arg("n"),
		})
	}
	for _, l := range levels {
		fn := f.Func(l, x86.F64, "logF64", signature, "sets dst[i] = ln(x[i]) for i < n.")
		m := x86.Map{Out: []reg.GPVirtual{fn.Arg("dst")}, In: []reg.GPVirtual{fn.Arg("x")}, N: fn.Arg("n"), Unroll: two[l],
			Pinned: pinned[l]}
		if l == x86.AVX512 {
			m.Block = unaryBlock(l, x86.F64, logF64AVX512)
		} else {
			m.Block, m.Slow, m.Rare = unaryBlock(l, x86.F64, ln), unaryBlock(l, x86.F64, logAnyF64AVX2), notNormalF64
		}
		fn.Map(m)
	}
	for _, l := range levels {
		fn := f.Func(l, x86.F64, "sinCosF64", "func(s, c, x *float64, n int) (done int)",
			"sets s[i] = sin(x[i]) and c[i] = cos(x[i]) for i < done. It stops before some |x[i]| > 1e9, or NaN, at "+
				"most three vectors ahead.")
		b := x86.NewBlock(l, x86.F64)
		sin, cos := sinCos(b, b.Input())
		b.Output(sin)
		b.Output(cos)
		fn.Map(x86.Map{
			Block: b, Unroll: two[l], Pinned: pinned[l], Rare: beyondF64(sinCosMaxF64),
			Out: []reg.GPVirtual{fn.Arg("s"), fn.Arg("c")}, In: []reg.GPVirtual{fn.Arg("x")}, N: fn.Arg("n"),
		})
	}
	for _, l := range levels {
		fn := f.Func(l, x86.F64, "atan2F64", "func(dst, y, x *float64, n int)", "sets dst[i] to the angle of (x[i], y[i]) for i < n.")
		b := x86.NewBlock(l, x86.F64)
		y, x := b.Input(), b.Input()
		b.Output(atan2(b, y, x))
		fn.Map(x86.Map{
			Block: b, Unroll: two[l], Pinned: pinned[l] / 3,
			Out: []reg.GPVirtual{fn.Arg("dst")}, In: []reg.GPVirtual{fn.Arg("y"), fn.Arg("x")}, N: fn.Arg("n"),
		})
	}
}
