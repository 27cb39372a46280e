package main

import (
	"math"
	"strconv"

	"github.com/equivcnp/equivcnp/asm/internal/neon"
	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

// The error function and GELU, exp(x) - 1, ln(1 + x) and powers. Most of float32 are computed in float64, by shorter polynomials: the
// result is rounded once, and nothing on the way there leaves the range. Polynomials are fitted in 50-digit arithmetic; the number
// after each formula is the largest error, relative to the result.
var (
	// exp(a²/2)·Q(a) = w·G(a·w - 1), w = 2/(a + 4), 0 ≤ a ≤ 40, Q the upper tail of the normal distribution: 2.1e-17.
	tailGF64 = []float64{0x1.82b4bb8c94dcep-2, -0x1.373e3a893c28ap-2, 0x1.8c6dbf2cfc30cp-3, -0x1.7dff2bff68450p-4, 0x1.eec4cc3e43c8fp-6,
		-0x1.ee27610448fb6p-9, -0x1.c81719c8d1830p-10, 0x1.ab825fb4666bdp-11, 0x1.17a4a5a71207ap-14, -0x1.e4a422b185cacp-14,
		-0x1.0010986987db7p-20, 0x1.26d0775f08d01p-16, 0x1.7fd43c61ef2d8p-22, -0x1.8d4b0484f0156p-19, -0x1.4fa1c99e6e043p-22,
		0x1.125dd16174a26p-21, 0x1.1b95c17ef50a7p-23, -0x1.50eb656744709p-24, -0x1.4bb9f7e77b6c8p-25, 0x1.17ac3e17c3e43p-27,
		0x1.f872c61f633bfp-28, -0x1.ba5cd2d280776p-33, -0x1.50e589f8e4e5ap-31}
	// The same up to a = 15: 1.3e-9.
	tailGF32 = []float64{0x1.82b4bb9423969p-2, -0x1.373e3ac8abacdp-2, 0x1.8c6db8bf1cbefp-3, -0x1.7dff05dff5affp-4, 0x1.eec886fb1b5b5p-6,
		-0x1.ee500f63db285p-9, -0x1.c9bb77c0975acp-10, 0x1.acbbad52e589cp-11, 0x1.686ac3ccdf71fp-14, -0x1.cbdf9948245a1p-14,
		-0x1.7a00f53cfcc29p-16}
	// erf(x) = x·E(x²), |x| ≤ 0.84375: 1.0e-17.
	erfEF64 = []float64{0x1.20dd750429b6dp+0, -0x1.812746b0379a3p-2, 0x1.ce2f21a03f100p-4, -0x1.b82ce31148a5ap-6, 0x1.565bccd6816cbp-8,
		-0x1.c02da8934006cp-11, 0x1.f9a1b12746c3bp-14, -0x1.f4b38c8db0b2dp-17, 0x1.b842642e166dep-20, -0x1.515e226d65610p-23,
		0x1.701fc96787324p-27}
	// exp(r) = 1 + r + r²·Q(r), |r| ≤ ln2/2: 5.4e-11.
	expQF32 = []float64{0x1.00000038f387fp-1, 0x1.555554402edbap-3, 0x1.55548f55e98b1p-5, 0x1.111275a900335p-7, 0x1.6d8c172f24907p-10,
		0x1.9f01c4575b8afp-13}
	// atanh(s) = s + s³·(1/3 + s²·A(s²)), s² ≤ 0.02945: 4.6e-18 of A.
	atanhAF64 = []float64{0x1.999999999999ap-3, 0x1.2492492492522p-3, 0x1.c71c71c6ea709p-4, 0x1.745d177abef4bp-4, 0x1.3b1395c1b1cd2p-4,
		0x1.1118cb41debd0p-4, 0x1.df7c1a3803f8bp-5, 0x1.e035616330be9p-5}
	// 2·atanh(s) = 2s + s³·R(s²): 5.1e-11 of R.
	logRF32 = []float64{0x1.55555555a0921p-1, 0x1.999996bea25dfp-2, 0x1.24947ff58f810p-2, 0x1.c5ea05bc645cfp-3, 0x1.95d78ec8082d1p-3}
)

// exp(r) = 1 + r + r²·Q(r) in float32, |r| ≤ ln2/2: 3.5e-9 of exp(r) - 1; up to r = ln2, of exp(r), 6.3e-9.
var expm1QF32 = []float64{0x1p-1, 0x1.555572p-3, 0x1.55559p-5, 0x1.10e8ap-7, 0x1.6c74f2p-10, 0x1.d4f8aep-13}

// In float32, with the largest error in parts of 2^-24 of the result, before rounding.
var (
	// erf(x) = x + x·E(x²), |x| < erfNear: 0.16.
	erfEF32 = []float64{0x1.06ebaap-3, -0x1.812742p-2, 0x1.ce2dbap-4, -0x1.b80816p-6, 0x1.54885ap-8, -0x1.a80c4p-11, 0x1.55accp-14}
	// 1 - erf(x) = 2^(x·L(x)), erfNear ≤ x ≤ 4: 0.21 of erf.
	erfLF32 = []float64{-0x1.a0cb3ep+0, -0x1.d5942cp-1, -0x1.3706d4p-3, 0x1.0e993ep-5, -0x1.303fb4p-8, 0x1.4491cep-12}
	// 2^r = 1 + r·P(r), |r| ≤ 1/2: 0.26.
	exp2PF32 = []float64{0x1.62e43p-1, 0x1.ebfbep-3, 0x1.c6aeccp-5, 0x1.3b29eep-7, 0x1.5f48c8p-10, 0x1.445fc8p-13}
)

// erfNear is where the two forms of erf in float32 are equally good: the error of all numbers is at most 0.99 units on either side.
const erfNear = 0.97

// Below specialTiny, float64 cannot tell exp(x) - 1 and ln(1 + x) from x.
const specialTiny = 0x1p-54

// specialSingle are those of float32 that are computed in float64, specialDouble all of float64.
var (
	specialDouble = []f64map{
		{"erfF64", "sets dst[i] = erf(x[i])", "dst", []string{"x"}, one1(erfF64), unrollAlone},
		{"geluF64", "sets dst[i] = x[i]·Φ(x[i])", "dst", []string{"x"}, one1(geluF64), unrollAlone},
		{"expm1F64", "sets dst[i] = exp(x[i]) - 1", "dst", []string{"x"}, one1(expm1F64), unrollAlone},
		{"log1pF64", "sets dst[i] = ln(1 + x[i])", "dst", []string{"x"}, one1(log1pF64), unrollAlone},
		{"powF64", "sets dst[i] = x[i]^y[i]", "dst", []string{"x", "y"}, powF64, unrollAlone},
	}
	specialSingle = []f64map{
		{"geluF32", "sets dst[i] = x[i]·Φ(x[i])", "dst", []string{"x"}, one1(geluF32), unrollAlone},
		{"powF32", "sets dst[i] = x[i]^y[i]", "dst", []string{"x", "y"}, powF32, unrollAlone},
	}
)

// fastBodies are, on amd64, bodies for ordinary numbers, which mark others as hard: a vector with such is computed by the whole body,
// with the same bits for the ordinary ones in it.
var fastBodies = map[string]func(b *x86.Block, x []x86.Value) x86.Value{"powF64": powNearF64, "powF32": powNearF32}

// tableBodies are bodies of float32 with tables, for AMD64.
var tableBodies = map[string]func(b *x86.Block, x x86.Value) x86.Value{"geluF32": geluTableF32}

func specialAMD64(f *x86.File) {
	mapF32(f, "erfF32", "sets dst[i] = erf(x[i]) for i < n.", unrollAlone, erfF32)
	mapF32(f, "expm1F32", "sets dst[i] = exp(x[i]) - 1 for i < n.", unrollAlone, expm1F32)
	mapF32(f, "log1pF32", "sets dst[i] = ln(1 + x[i]) for i < n.", unrollAlone, log1pF32)
	for _, m := range specialDouble {
		m.writeAMD64(f, false)
	}
	for _, m := range specialSingle {
		m.writeAMD64(f, true)
	}
}

// specialNEON writes those of float64; float32 goes through them.
func specialNEON(file *neon.File) {
	pool := file.Pool("specialConsts")
	for _, m := range specialDouble {
		m.writeNEON(file, pool)
	}
}

// log1pEnds puts -Inf, Inf and NaN where u = 1 + x is zero, infinite, and negative or NaN.
func log1pEnds(b *x86.Block, u, y x86.Value) x86.Value {
	if b.Level == x86.AVX512 {
		return b.Fixup(y, u, b.Bits("logSpecial", 0x03530422))
	}
	minusInf, nan := "minusInf", "nan"
	if b.Elem == x86.F32 {
		minusInf, nan = minusInf+"F32", nan+"F32"
	}
	y = b.Select(b.Cmp(x86.EQ, u, zero(b)), b.Bits(minusInf, byElem[uint64](b, 0xff800000, 0xfff0000000000000)), y)
	y = b.Select(b.Cmp(x86.EQ, u, inf(b)), inf(b), y)
	return b.Select(b.Cmp(x86.NGE, u, zero(b)), b.Bits(nan, byElem[uint64](b, 0x7fc00000, 0x7ff8000000000000)), y)
}

// tinyStays is y, or x itself where it is so small that nothing else can be told from it: zeros keep their signs.
func tinyStays(b *x86.Block, x, y x86.Value) x86.Value {
	return b.Select(b.Cmp(x86.LT, abs(b, x), b.Const("specialTiny", specialTiny)), x, y)
}

// normalTail is exp(a²/2)·Q(a), 0 ≤ a ≤ 40. The polynomial's argument is (a - 4)/(a + 4), computed so that what rounding w costs
// counts little where a is small and the polynomial steep.
func normalTail(b *x86.Block, a x86.Value, name string, g []float64) x86.Value {
	w := b.Div(b.Const("two", 2), b.Add(a, b.Const("four", 4)))
	return b.Mul(w, b.Horner(b.FMS(a, w, one(b)), polynomial(b, name, g)...))
}

// expSingle is exp(x) to 34 bits, |x| ≤ 700.
func expSingle(b *x86.Block, x x86.Value) x86.Value {
	p, z := expSingleReduce(b, x)
	s := pow2(b, z)
	return b.FMA(p, s, s)
}

// expSingleReduce is exp(x) = (1 + p)·2^k; z holds k in its low bits.
func expSingleReduce(b *x86.Block, x x86.Value) (p, z x86.Value) {
	round := b.Const("round", roundF64)
	z = b.FMA(x, b.Const("log2e", 0x1.71547652b82fep+0), round)
	r := b.FNMA(b.Sub(z, round), b.Const("ln2Hi", ln2HiF64), x)
	return b.FMA(b.Mul(r, r), b.Horner(r, polynomial(b, "expSingle", expQF32)...), r), z
}

// lnSingle is ln(x) to 34 bits, for positive normal x.
func lnSingle(b *x86.Block, x x86.Value) x86.Value {
	f, k := logSplit(b, x)
	s := b.Div(f, b.Add(f, b.Const("two", 2)))
	z := b.Mul(s, s)
	l := b.FMA(b.Mul(s, z), b.Horner(z, polynomial(b, "logSingle", logRF32)...), b.Add(s, s))
	return b.FMA(k, b.Const("ln2Hi", ln2HiF64), l)
}

// erfF64 is x·E(x²) for small |x|, and elsewhere 1 - 2·Q(√2·|x|), of which the second term is below .24, with the sign of x. What
// a = |x| loses when it is squared is l: exp(-a²) = exp(-h)·(1 - l). From 6 on the result is 1.
func erfF64(b *x86.Block, x x86.Value) x86.Value {
	a := b.Min(b.Const("six", 6), abs(b, x))
	h := b.Mul(a, a)
	near := b.Mul(x, b.Horner(h, polynomial(b, "erf", erfEF64)...))
	p, _, z := expReduce(b, neg(b, h))
	s := pow2(b, z)
	e := b.FMA(p, s, s)
	e = b.FNMA(b.FMS(a, a, h), e, e)
	g := normalTail(b, b.Mul(a, b.Const("root2", math.Sqrt2)), "tail", tailGF64)
	far := copySign(b, b.FNMA(b.Add(e, e), g, one(b)), x)
	return b.Select(b.Cmp(x86.LT, a, b.Const("erfNear", 0.84375)), near, far)
}

// erfF32 is x + x·E(x²) near 0, and 1 - 2^(a·L(a)) with the sign of x for a = |x| elsewhere. The exponent's whole part k is subtracted
// before its product is rounded.
func erfF32(b *x86.Block, x x86.Value) x86.Value {
	a := b.Min(b.Const("four", 4), absF32(b, x))
	near := b.FMA(b.Horner(b.Mul(x, x), polynomial(b, "erf", erfEF32)...), x, x)
	l, one := b.Horner(a, polynomial(b, "erfLog", erfLF32)...), b.Const("one", 1)
	exp2 := func(r x86.Value) x86.Value { return b.Horner(r, polynomial(b, "exp2", exp2PF32)...) }
	var e x86.Value
	if b.Level == x86.AVX512 {
		k := b.Round(0, b.Mul(l, a))
		r := b.FMS(l, a, k)
		e = b.Scale(b.FMA(exp2(r), r, one), k)
	} else {
		round := b.Const("roundBiasedF32", roundF32+127)
		z := b.FMA(l, a, round)
		r, s := b.FMS(l, a, b.Sub(z, round)), b.Shl(z, 23)
		e = b.FMA(b.Mul(exp2(r), s), r, s)
	}
	far := copySignF32(b, b.Sub(one, e), x)
	return b.Select(b.Cmp(x86.LT, a, b.Const("erfNear", erfNear)), near, far)
}

// geluF64 is -a·Q(a) for x = -a below 0, and x·(1 - Q(x)) elsewhere. Q(a) may be subnormal where its product with a is not, so that
// exp(-a²/2) = e·2^k is scaled last. |x| beyond 40 counts as that in Q.
func geluF64(b *x86.Block, x x86.Value) x86.Value {
	a := b.Min(b.Const("forty", 40), abs(b, x))
	m := b.Mul(a, half(b))
	h := b.Mul(m, a)
	e, k := expUnscaled(b, neg(b, h))
	q := b.Mul(b.FNMA(b.FMS(m, a, h), e, e), normalTail(b, a, "tail", tailGF64))
	below := b.Cmp(x86.LT, x, zero(b))
	q = scale2(b, b.Select(below, b.Mul(q, neg(b, a)), q), k)
	return b.Select(below, q, b.Mul(x, b.Sub(one(b), q)))
}

// geluF32 is the same for float32 on NEON, where |x| beyond 15 counts as that. AMD64 has geluTableF32.
func geluF32(b *x86.Block, x x86.Value) x86.Value {
	a := b.Min(b.Const("fifteen", 15), abs(b, x))
	e := expSingle(b, b.Mul(b.Mul(a, b.Const("minusHalf", -0.5)), a))
	q := b.Mul(e, normalTail(b, a, "tailSingle", tailGF32))
	q = b.Select(b.Cmp(x86.LT, x, zero(b)), q, b.Sub(one(b), q))
	return b.Mul(b.Max(b.Const("minusFifteen", -15), x), q)
}

// geluTableF32 is max(x, -0) - U(a)·exp(-a²/2), a = |x|, in float32 throughout: the coefficients of geluF32Table are read by the bits of
// a + 1, with AVX-512 from one vector, with AVX2 from two. U has two parts, u and low. What a loses when it is squared is rest, and
// exp(-a²/2) = (1 + p)·2^k.
func geluTableF32(b *x86.Block, x x86.Value) x86.Value {
	const halfLog2e = math.Log2E / 2
	a := b.Min(b.Const("below15", 14.9), absF32(b, x))
	i := b.Shr(b.Add(a, b.Const("one", 1)), 21) // the exponent and two bits of the fraction
	var upper x86.Mask
	if b.Level == x86.AVX2 {
		upper = b.Bit(i, 3)
	}
	lookup := func(j int) x86.Value {
		column := make([]float64, len(geluF32Table))
		for i, row := range geluF32Table {
			column[(i+12)%16] = row[j] // the exponent's low bits are 3 for numbers from 1 on, then 0
		}
		table := b.Table("gelu"+strconv.Itoa(j), column)
		if b.Level == x86.AVX512 {
			return b.Lookup(i, table)
		}
		return b.Select(upper, b.Lookup(i, b.Half(table, 1)), b.Lookup(i, b.Half(table, 0)))
	}
	d := b.Sub(a, lookup(0))
	v := lookup(len(geluF32Table[0]) - 1)
	for j := len(geluF32Table[0]) - 2; j > 1; j-- {
		v = b.FMA(v, d, lookup(j))
	}
	constant := lookup(1)
	u := b.FMA(v, d, constant)
	low := b.FMA(v, d, b.Sub(constant, u))
	h := b.Mul(a, a)
	rest := b.FMS(a, a, h)
	hi := b.Const("minusHalfLog2e", -halfLog2e)
	k := b.Round(0, b.Mul(h, hi))
	r := b.FMS(h, hi, k)
	r = b.FMA(h, b.Const("minusHalfLog2eLow", float64(float32(halfLog2e))-halfLog2e), r)
	r = b.FMA(rest, hi, r)
	p := b.Mul(r, b.Horner(r, polynomial(b, "exp2", exp2PF32)...))
	q := scale2(b, b.Add(u, b.FMA(u, p, low)), k)
	return b.Sub(b.Max(b.Bits("minusZeroF32", 1<<31), x), q)
}

// expm1F64 is twice p·2^(k-1) + (2^(k-1) - 1/2), so that 2^k need not be finite.
func expm1F64(b *x86.Block, x x86.Value) x86.Value {
	p, _, z := expReduce(b, b.Max(b.Const("minusSixty", -60), b.Min(b.Const("expMax", 710), x)))
	s := b.AddI(b.Shl(z, 52), half(b))
	y := b.FMA(p, s, b.Sub(s, half(b)))
	return tinyStays(b, x, b.Add(y, y))
}

// expm1F32 is, with r = x - k·ln2 in two parts and s = 2^k, the parts added from the smallest to the largest:
//
//	(s-1 + s·r) + s·(r²·Q(r) + r's second part)
//
// s - 1 and the first sum leave rests. k is 127 at most, so that s is finite; where the result is as large as
// can be, r is ln2.
func expm1F32(b *x86.Block, x x86.Value) x86.Value {
	y := clampF32(b, x, -sigmoidMax, 89) // below -18 the result is -1
	round := b.Const("roundBiasedF32", roundF32+127)
	z := b.Min(b.Const("roundTo127", roundF32+254), b.FMA(y, b.Const("log2e", log2e), round))
	k := b.Sub(z, round)
	h := b.FNMA(k, b.Const("ln2Hi", ln2HiF32), y)
	ln2Lo := b.Const("ln2Lo", ln2LoF32)
	r := b.FNMA(k, ln2Lo, h)
	low := b.FNMA(k, ln2Lo, b.Sub(h, r))
	q := append([]x86.Value{b.Const("half", expm1QF32[0])}, polynomial(b, "expm1", expm1QF32[1:])...)
	t := b.FMA(b.Mul(r, r), b.Horner(r, q...), low)
	s, one := b.Shl(z, 23), b.Const("one", 1)
	less := b.Sub(s, one)
	sum := b.FMA(s, r, less)
	rest := b.Add(b.FMA(s, r, b.Sub(less, sum)), b.Sub(b.Sub(s, less), one))
	return copySignF32(b, b.Add(sum, b.FMA(s, t, rest)), x)
}

// log1pF32 is, u being 1 + x rounded, lost what that lost, and u = (1 + f)·2^k,
//
//	(k·ln2 + f) + (f²·Q(f) + lost/u + k·ln2's second part)
//
// k times ln2's first part is exact, and the first sum leaves a rest. 1/(1 + f) is 1 - f·(1 - 3/4·f) to 4 %, enough for lost.
func log1pF32(b *x86.Block, x x86.Value) x86.Value {
	const ln2First = 0x1.62e4p-1
	first, second := b.Const("ln2FirstF32", ln2First), b.Const("ln2SecondF32", math.Ln2-ln2First)
	one, threeQuarters := b.Const("one", 1), b.Const("threeQuarters", 0.75)
	u := b.Add(x, one)
	part := b.Sub(u, one)
	lost := b.Add(b.Sub(x, part), b.Sub(one, b.Sub(u, part)))
	var m, k x86.Value
	if b.Level == x86.AVX512 {
		const mantissaFrom34 = 0x0b
		m = b.GetMant(mantissaFrom34, u)
		k = b.Sub(b.GetExp(m), b.GetExp(u)) // negated
		lost = b.Scale(lost, k)
	} else {
		e := b.And(b.SubI(u, threeQuarters), b.Bits("exponentF32", 0xff800000))
		m = b.SubI(u, e)
		k = b.FromInt(b.Sar(e, 23))
		lost = b.Mul(lost, b.Max(b.Const("zero", 0), b.SubI(one, e))) // 2^-128 counts as 0
	}
	f, n := b.Sub(m, one), b.Mul(k, first)
	low := b.FNMA(b.Mul(lost, f), b.FNMA(threeQuarters, f, one), lost)
	var sum, rest x86.Value
	if b.Level == x86.AVX512 {
		low = b.FNMA(k, second, low)
		sum = b.Sub(f, n)
		rest = b.Sub(f, b.Add(sum, n))
	} else {
		low = b.FMA(k, second, low)
		sum = b.Add(n, f)
		rest = b.Sub(f, b.Sub(sum, n))
	}
	y := b.Add(sum, b.Add(rest, log1pTailF32(b, f, low)))
	return copySignF32(b, log1pEnds(b, u, y), x)
}

// log1pF64 is ln(u) + c/u, u being 1 + x rounded and c what that lost.
func log1pF64(b *x86.Block, x x86.Value) x86.Value {
	u := b.Add(x, one(b))
	part := b.Sub(u, one(b))
	lost := b.Add(b.Sub(x, part), b.Sub(one(b), b.Sub(u, part)))
	c := b.Div(lost, u)
	f, k := logSplit(b, u)
	return tinyStays(b, x, log1pEnds(b, u, logReduced(b, f, k, &c)))
}

// powF64 is exp(y·ln|x|), the logarithm and the product in two parts each.
func powF64(b *x86.Block, in []x86.Value) x86.Value {
	x, y := in[0], in[1]
	a := abs(b, x)
	f, k := logSplitAll(b, a)
	ln, lnLow := lnParts(b, f, k)
	p, pLow := timesParts(b, y, lnEnds(b, a, ln), lnLow)
	least, most := b.Const("expMin", -746), b.Const("expMax", 710)
	e, m, _ := expParts(b, b.Max(least, b.Min(most, p)), pLow)
	e = scale2(b, b.Add(e, one(b)), m)
	e = b.Select(b.Cmp(x86.GT, p, most), inf(b), e)
	e = b.Select(b.Cmp(x86.LT, p, least), zero(b), e)
	return powEnds(b, x, y, a, e)
}

// powNearF64 is powF64 for positive normal x where neither the result nor 2^k of its exponential is near the ends of the range.
func powNearF64(b *x86.Block, in []x86.Value) x86.Value {
	x, y := in[0], in[1]
	f, k := logSplitEven(b, x)
	ln, lnLow := lnParts(b, f, k)
	p, pLow := timesParts(b, y, ln, lnLow)
	b.Hard(notNormalF64(b, in[:1]))
	b.Hard(b.Cmp(x86.NLE, abs(b, p), b.Const("powNear", 700)))
	e, m, z := expParts(b, p, pLow)
	e = b.Add(e, one(b))
	if b.Level == x86.AVX512 {
		return b.Scale(e, m)
	}
	return b.Mul(e, pow2(b, z))
}

// timesParts is y·(ln + lnLow), in two parts.
func timesParts(b *x86.Block, y, ln, lnLow x86.Value) (p, pLow x86.Value) {
	p = b.Mul(y, ln)
	return p, b.FMA(y, lnLow, b.FMS(y, ln, p))
}

// expParts is exp(p + low) = (1 + e)·2^k, low being small; z holds k in its low bits.
func expParts(b *x86.Block, p, low x86.Value) (e, k, z x86.Value) {
	round := b.Const("round", roundF64)
	z = b.FMA(p, b.Const("log2e", 0x1.71547652b82fep+0), round)
	k = b.Sub(z, round)
	r := b.FNMA(k, b.Const("ln2Lo", ln2LoF64), b.FNMA(k, b.Const("ln2Hi", ln2HiF64), p))
	r = b.Add(r, low)
	return b.FMA(b.Mul(r, r), b.Horner(r, polynomial(b, "expQ", expQF64)...), r), k, z
}

// lnParts is ln((1 + f)·2^k) in two parts. With s = f/(2 + f),
//
//	k·ln2 + 2·(s + s³/3 + s⁵·A(s²))
//
// of which s and s³/3 need two parts.
func lnParts(b *x86.Block, f, k x86.Value) (ln, low x86.Value) {
	v := b.Add(f, b.Const("two", 2))
	inv := b.Div(one(b), v)
	s := b.Mul(f, inv)
	rest := b.FNMA(s, b.Sub(f, b.Sub(v, b.Const("two", 2))), b.FNMA(s, v, f))
	sLow := b.Mul(rest, inv)
	z := b.Mul(s, s)
	zLow := b.FMA(b.Add(s, s), sLow, b.FMS(s, s, z))
	third := b.Const("third", 1./3)
	c := b.Mul(z, third)
	cLow := b.FMA(zLow, third, b.FMA(z, b.Const("thirdLow", 0x1.5555555555555p-56), b.FMS(z, third, c)))
	t := b.Mul(b.Mul(z, z), b.Horner(z, polynomial(b, "atanh", atanhAF64)...))
	q := b.Add(c, t)
	qLow := b.Add(b.Add(b.Sub(c, q), t), cLow)
	w := b.Mul(s, q)
	wLow := b.FMA(s, qLow, b.FMA(sLow, q, b.FMS(s, q, w)))
	h := b.Add(s, w)
	hLow := b.Add(b.Add(b.Sub(s, h), w), b.Add(wLow, sLow))
	h, hLow = b.Add(h, h), b.Add(hLow, hLow)
	// k times the first part of ln2, which has 42 bits, is exact.
	n := b.Mul(k, b.Const("ln2First", 0x1.62e42fefa38p-1))
	ln = b.Add(n, h)
	return ln, b.Add(b.Sub(h, b.Sub(ln, n)), b.FMA(k, b.Const("ln2Rest", 0x1.ef35793c7673p-45), hLow))
}

// powF32 is the same for float32, in one part.
func powF32(b *x86.Block, in []x86.Value) x86.Value {
	x, y := in[0], in[1]
	a := abs(b, x)
	return powEnds(b, x, y, a, powSingle(b, b.Mul(y, lnEnds(b, a, lnSingle(b, a)))))
}

// powNearF32 is powF32 for positive finite x and finite y.
func powNearF32(b *x86.Block, in []x86.Value) x86.Value {
	p := b.Mul(in[1], lnSingle(b, in[0]))
	b.Hard(notNormalF64(b, in[:1]))
	b.Hard(b.Cmp(x86.Unordered, p, p))
	return powSingle(b, p)
}

// powSingle is exp(p), of which float32 has no more than exp(-110) and exp(90).
func powSingle(b *x86.Block, p x86.Value) x86.Value {
	return expSingle(b, b.Max(b.Const("singleMin", -110), b.Min(b.Const("ninety", 90), p)))
}

// logSplitEven is logSplit with √½ ≤ 1 + f < √2, for positive normal x (on AVX-512 for positive x): in the series s is as small as can
// be, and less cancels where k is -1.
func logSplitEven(b *x86.Block, x x86.Value) (f, k x86.Value) {
	m := x
	if b.Level == x86.AVX512 {
		const mantissaFrom1 = 0x08
		m = b.GetMant(mantissaFrom1, x)
	}
	// Once the bits of 1 minus those of √½ are added, the exponent field holds k + 1023, or what is left of k.
	v := b.AddI(m, b.Bits("oneMinusRootHalf", 0x3ff0000000000000-0x3fe6a09e667f3bcd))
	biased := b.And(v, b.Bits("exponent", 0x7ff0000000000000))
	m = b.SubI(m, b.SubI(biased, one(b)))
	if b.Level == x86.AVX512 {
		k = b.Sub(b.GetExp(x), b.GetExp(m))
	} else {
		k = b.Sub(b.Or(b.Shr(v, 52), b.Const("two52", 0x1p52)), b.Const("two52Bias", 0x1p52+1023))
	}
	return b.Sub(m, one(b)), k
}

// logSplitAll is logSplitEven for all positive x.
func logSplitAll(b *x86.Block, x x86.Value) (f, k x86.Value) {
	if b.Level == x86.AVX512 {
		return logSplitEven(b, x)
	}
	small := b.Cmp(x86.LT, x, b.Const("minNormal", 0x1p-1022))
	f, k = logSplitEven(b, b.Select(small, b.Mul(x, b.Const("two54", 0x1p54)), x))
	return f, b.Add(k, b.Select(small, b.Const("minus54", -54), zero(b)))
}

// lnEnds is the logarithm of a ≥ 0, whose value between the ends is known.
func lnEnds(b *x86.Block, a, ln x86.Value) x86.Value {
	ln = b.Select(b.Cmp(x86.EQ, a, zero(b)), b.Bits("minusInf", 0xfff0000000000000), ln)
	return b.Select(b.Cmp(x86.EQ, a, inf(b)), inf(b), ln)
}

// powEnds is x^y, of which e is |x|^y but for |x| = 1 and y = 0: with the sign of x where y is odd, and NaN where x is negative, finite
// and y no whole number. The special values are those of C's pow.
func powEnds(b *x86.Block, x, y, a, e x86.Value) x86.Value {
	e = b.Select(b.Cmp(x86.EQ, a, one(b)), one(b), e)
	u := abs(b, y)
	halved := b.Mul(u, half(b))
	// Numbers of float64 from 2^52 on are whole. Where half of one is not, it is odd.
	whole := func(v x86.Value) x86.Value {
		large := b.Const("two52", 0x1p52)
		return b.Select(b.Cmp(x86.LT, v, large), b.Sub(b.Add(v, large), large), v)
	}
	isWhole, isEven := b.Cmp(x86.EQ, whole(u), u), b.Cmp(x86.EQ, whole(halved), halved)
	// 0 where there is a result, and NaN elsewhere.
	none := b.Select(isWhole, zero(b), b.Bits("nan", 0x7ff8000000000000))
	none = b.Select(b.Cmp(x86.LT, x, zero(b)), none, zero(b))
	none = b.Select(b.Cmp(x86.EQ, a, inf(b)), zero(b), none)
	sign := b.Select(isWhole, b.Select(isEven, zero(b), b.And(x, signBit(b))), zero(b))
	e = b.Or(b.Add(e, none), sign)
	e = b.Select(b.Cmp(x86.Unordered, x, y), b.Add(x, y), e)
	e = b.Select(b.Cmp(x86.EQ, y, zero(b)), one(b), e)
	return b.Select(b.Cmp(x86.EQ, x, one(b)), one(b), e)
}
