package main

import (
	"math"

	"github.com/mmcloughlin/avo/reg"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

// expMinusF32 returns w and k with exp(-x) = w·2^k, 0.7 < w < 1.42. The constants are those of expReduceF32 with the
// signs of odd powers changed, so that x need not be negated.
//
//	k = round(-x·log2e),  s = x + k·ln2 = -r
//	w = 1 - s·(1 - s·(c2 - s·(c3 - s·(c4 - s·(c5 - s·c6)))))
//
// z holds k + 127 in its low bits: shifted left by 23, they are the float 2^k.
func expMinusF32(b *x86.Block, x x86.Value) (w, k, z x86.Value) {
	round := b.Const("roundBiasedF32", roundF32+127)
	z = b.FMA(x, b.Const("minusLog2e", -log2e), round)
	k = b.Sub(z, round)
	s := b.FMA(k, b.Const("ln2Hi", ln2HiF32), x)
	s = b.FMA(k, b.Const("ln2Lo", ln2LoF32), s)
	w = b.Horner(s, b.Const("one", 1), b.Const("minusOne", -1), b.Const("expC2", expC2), b.Const("minusExpC3", -expC3),
		b.Const("expC4", expC4), b.Const("minusExpC5", -expC5), b.Const("expC6", expC6))
	return w, k, z
}

// expByTableF32 returns v and u with exp(-x) = v·(1 + u), by a table of the n = 16 numbers that a vector of AVX-512 holds, or the 8 of
// AVX2, for |x| ≤ sigmoidMax.
//
//	k = round(-n·x·log2e)/n,  s = x + k·ln2, |s| ≤ ln2/2n
//	v = 2^floor(k)·2^(k - floor(k))/c0, the second factor from the table
//	u = c0·exp(-s) - 1 = (c0 - 1) - s·(c0 - s·(c2 - s·c3)),  relative error of 1 + u: 5.3e-9, of a degree more with AVX2 1.7e-10
//
// c0 must be below exp(-ln2/2n), so that u is negative. Of the float32 between 0.9 and that, it is the one for which rounding the table
// to 24 bits costs least: 0.32·2^-24 of the numbers' values, with AVX2 0.09.
func expByTableF32(b *x86.Block, x x86.Value) (v, u x86.Value) {
	n, c0, name, tail := 16, 0x1.eaa1a8p-1, "16th", []float64{0x1.eaa3c8p-2, -0x1.4715a8p-3}
	if b.Level == x86.AVX2 {
		n, c0, name, tail = 8, 0x1.d6b62ap-1, "8th", []float64{0x1.d6b62ap-2, -0x1.39d54ep-3, 0x1.39d00ep-5}
	}
	// Adding this rounds a float32 below 2^22/n in magnitude to multiples of 1/n, whose number stands in the low bits of the sum.
	round := b.Const("roundTo"+name+"s", 0x1.8p23/float64(n))
	z := b.FMA(x, b.Const("minusLog2e", -log2e), round)
	k := b.Sub(z, round)
	s := b.FMA(k, b.Const("ln2Hi", ln2HiF32), x)
	s = b.FMA(k, b.Const("ln2Lo", ln2LoF32), s)
	u = b.Horner(s, polynomial(b, "exp"+name, tail)...)
	u = b.FMS(u, s, b.Const("exp"+name+"C0", c0))
	u = b.FMA(u, s, b.Const("exp"+name+"C0Less1", c0-1))
	table := make([]float64, n)
	for j := range table {
		table[j] = math.Exp2(float64(j)/float64(n)) / c0
	}
	v = b.Lookup(z, b.Table("exp2Of"+name+"s", table))
	if b.Level == x86.AVX512 {
		return b.Scale(v, k), u
	}
	// The whole part of k goes to the exponent; its eighths are the bits below.
	return b.AddI(v, b.And(b.Shl(z, 20), b.Bits("exponentF32", 0xff800000))), u
}

// overOnePlusExpF32 is numerator/(1 + exp(-x)) for |x| ≤ sigmoidMax.
//
// The denominator is d = v + (1 + v·u); the rounding error of the sum in parentheses is small beside d. -0 stays -0. The division
// runs beside the multiply-adds: an approximate reciprocal with its correction would take three of them more, and an eighth more time
// on Zen 5.
func overOnePlusExpF32(b *x86.Block, numerator, x x86.Value) x86.Value {
	v, u := expByTableF32(b, x)
	return b.Div(numerator, b.Add(v, b.FMA(v, u, b.Const("one", 1))))
}

// copySignF32 gives x ≥ +0 the sign of s.
func copySignF32(b *x86.Block, x, s x86.Value) x86.Value {
	mask := b.Bits("signF32", 1<<31)
	if b.Level == x86.AVX512 {
		return b.Ternary(0xd8, x, s, mask) // mask ? s : x
	}
	return b.Or(b.And(s, mask), x)
}

// absF32 clears the sign.
func absF32(b *x86.Block, x x86.Value) x86.Value { return b.And(x, b.Bits("absF32", 1<<31-1)) }

// sigmoidMax is where sigmoid and swish leave their fast path: up to there exp(|x|) is finite and its reciprocal normal.
const sigmoidMax = 87

// beyondF32 is set in the lanes in which some |x| is above the limit. NaN may count as above.
func beyondF32(limit float64) func(b *x86.Block, x []x86.Value) x86.Mask {
	return func(b *x86.Block, x []x86.Value) x86.Mask {
		lim := b.Const("limit", limit)
		if b.Level == x86.AVX512 {
			const largerMagnitude = 0xb // sign cleared; NaN gives way
			m := b.Range(largerMagnitude, x[0], x[len(x)-1])
			for i := 1; i+1 < len(x); i++ {
				m = b.Range(largerMagnitude, m, x[i])
			}
			return b.Cmp(x86.NLE, m, lim) // a signaling NaN does not give way
		}
		// As integers, magnitudes order like the floats, NaN above Inf.
		m := absF32(b, x[0])
		for _, v := range x[1:] {
			m = b.MaxI(m, absF32(b, v))
		}
		return b.Cmp(x86.NLE, m, lim)
	}
}

// swishF32 is x·sigmoid(x) = x/(1 + exp(-x)) for |x| ≤ sigmoidMax.
func swishF32(b *x86.Block, x x86.Value) x86.Value { return overOnePlusExpF32(b, x, x) }

// sigmoidF32 is 1/(1 + exp(-x)) for |x| ≤ sigmoidMax.
func sigmoidF32(b *x86.Block, x x86.Value) x86.Value {
	return overOnePlusExpF32(b, b.Const("one", 1), x)
}

// sigmoidFarF32 is numerator·sigmoid(x) for -110 ≤ x < -sigmoidMax, where the 1 in the denominator no longer counts:
//
//	numerator / (w·2^(k-40)) · 2^-40
//
// with one more rounding where the result is subnormal.
func sigmoidFarF32(b *x86.Block, numerator, x x86.Value) x86.Value {
	w, _, z := expMinusF32(b, x)
	d := b.Mul(w, b.Shl(b.SubI(z, b.Bits("forty", 40)), 23))
	return b.Mul(b.Div(numerator, d), b.Const("twoToMinus40", 0x1p-40))
}

// swishAnyF32 is x·sigmoid(x) for all x. Within ±sigmoidMax it is computed by swishF32, and equal to its last bit.
func swishAnyF32(b *x86.Block, x x86.Value) x86.Value {
	near := swishF32(b, clampF32(b, x, -sigmoidMax, sigmoidMax))
	low := b.Max(b.Const(constName(-110), -110), x) // below, the result is -0
	y := b.Select(b.Cmp(x86.LT, x, b.Const(constName(-sigmoidMax), -sigmoidMax)), sigmoidFarF32(b, low, low), near)
	return b.Select(b.Cmp(x86.GT, x, b.Const(constName(sigmoidMax), sigmoidMax)), x, y)
}

// sigmoidAnyF32 is 1/(1 + exp(-x)) for all x, likewise.
func sigmoidAnyF32(b *x86.Block, x x86.Value) x86.Value {
	near := sigmoidF32(b, clampF32(b, x, -sigmoidMax, sigmoidMax))
	low := b.Max(b.Const(constName(-110), -110), x)
	far := sigmoidFarF32(b, b.Const("one", 1), low)
	return b.Select(b.Cmp(x86.LT, x, b.Const(constName(-sigmoidMax), -sigmoidMax)), far, near)
}

// softplusF32 is max(x, 0) + log1p(e) with e = exp(-|x|). For e > 1/2, log1p(e) = ln2 + log1p((e-1)/2).
func softplusF32(b *x86.Block, x x86.Value) x86.Value {
	y := b.Min(b.Const(constName(104), 104), absF32(b, x))
	w, k, z := expMinusF32(b, y)
	e := w
	if b.Level == x86.AVX512 {
		e = b.Scale(w, k)
	} else {
		// 2^k may be subnormal: 2^(k+30), then exactly 2^-30 or with the rounding to a subnormal number.
		e = b.Mul(b.Mul(w, b.Shl(b.AddI(z, b.Bits("thirty", 30)), 23)), b.Const("twoToMinus30", 0x1p-30))
	}
	half := b.Const("half", 0.5)
	big := b.Cmp(x86.GT, e, half)
	f := b.Select(big, b.FMS(e, half, half), e)
	zero := b.Const("zero", 0)
	q := log1pTailF32(b, f, b.Select(big, b.Const("ln2Lo", ln2LoF32), zero))
	q = b.Add(b.Add(f, q), b.Select(big, b.Const("ln2Hi", ln2HiF32), zero))
	// The larger of 0 and x, NaN if x is.
	return b.Add(q, b.Max(zero, x))
}

// tanhF32 is, with a = min(|x|, 10), beyond which the result is 1, a = k·ln2/2 + r, t = tanh(r) and s = 2^k/2,
//
//	tanh(a) = n/(n + 1 - t),  n = (s - 1/2) + t·(s + 1/2)
//
// What rounding n costs counts by 1 - tanh(a) alone, as n stands in the denominator too, which is never below it. k is 0 up to
// a = .27, and r lies between -.078 and .27: with -.17 and .17, as rounding to the nearest k gives, n would cancel and the error
// reach 2.3 ULP instead of 1.76.
//
//	z = floor(a·2/ln2 + .219 + 1/512) in steps of 1/256,  k = floor(z)
//	t = r + r³·(c3 + c5·r² + c7·r⁴), relative error 5.7e-9
func tanhF32(b *x86.Block, x x86.Value) x86.Value {
	a := b.Min(b.Const(constName(10), 10), absF32(b, x))
	// In the sum, 256·(k + 126) and a fraction of eight bits stand in the low bits.
	z := b.FMA(a, b.Const("twoLog2e", 2*log2e), b.Const("floorBiasedF32", 0x1.8p15+126+0.21875))
	z = b.And(z, b.Bits("wholeF32", 0xffffff00))
	k := b.Sub(z, b.Const("wholeBiasedF32", 0x1.8p15+126))
	r := b.FNMA(k, b.Const("halfLn2", ln2HiF32/2), a)
	s, half := b.Shl(z, 15), b.Const("half", 0.5)
	q := b.Mul(r, r)
	p := b.Horner(q, b.Const("tanhC3", -0x1.5554eep-2), b.Const("tanhC5", 0x1.10ce9ep-3), b.Const("tanhC7", -0x1.a19dap-5))
	t := b.FMA(b.Mul(r, q), p, r)
	n := b.FMA(t, b.Add(s, half), b.Sub(s, half))
	return copySignF32(b, b.Div(n, b.Add(n, b.Sub(b.Const("one", 1), t))), x)
}

// reluF32 is max(x, 0): NaN for NaN, and never -0.
func reluF32(b *x86.Block, x x86.Value) x86.Value {
	zero := b.Const("zero", 0)
	return b.Add(b.Max(zero, x), zero)
}

// unrollSigmoid is how many vectors are computed side by side, like unrollShort. It is larger, because all of them share one test for rare
// numbers.
var unrollSigmoid = map[x86.Level]int{x86.AVX2: 2, x86.AVX512: 3}

// swishGradF32 is dy·swish'(x) = dy·s·(1 + x·q) with s = sigmoid(x) = 1/d and q = 1 - s = e·s, e = exp(-x). Neither
// cancels. x beyond ±sigmoidMax is replaced by the limit; below -sigmoidMax the factor of dy is then set to 0.
func swishGradF32(b *x86.Block, dy, x x86.Value) x86.Value {
	one, limit := b.Const("one", 1), b.Const(constName(-sigmoidMax), -sigmoidMax)
	below := b.Cmp(x86.LT, x, limit)
	x = clampF32(b, x, -sigmoidMax, sigmoidMax)
	var e x86.Value
	if b.Level == x86.AVX512 {
		v, u := expByTableF32(b, x)
		e = b.FMA(v, u, v)
	} else {
		w, _, z := expMinusF32(b, x)
		e = b.Mul(w, b.Shl(z, 23))
	}
	s := b.Div(one, b.Add(e, one))
	factor := b.Mul(s, b.FMA(x, b.Mul(e, s), one))
	return b.Mul(dy, b.Select(below, b.Const("zero", 0), factor))
}

// reluGradF32 is dy where y is above 0 or NaN, and 0 elsewhere.
func reluGradF32(b *x86.Block, dy, y x86.Value) x86.Value {
	zero := b.Const("zero", 0)
	return b.Select(b.Cmp(x86.NLE, y, zero), dy, zero)
}

// sigmoidGradF32 is dy·(y·(1 - y)).
func sigmoidGradF32(b *x86.Block, dy, y x86.Value) x86.Value {
	return b.Mul(dy, b.Mul(y, b.Sub(b.Const("one", 1), y)))
}

// softplusGradF32 is dy·(1 - exp(-y)). y beyond ±sigmoidMax is replaced by the limit. With exp(-y) = (1 + p)·2^k,
//
//	1 - exp(-y) = (1 - 2^k) - p·2^k
//
// Nothing cancels for y ≥ 0: near 0, k is 0 and the result is -p; elsewhere 1 - 2^k is exact or rounds to 1.
func softplusGradF32(b *x86.Block, dy, y x86.Value) x86.Value {
	y = clampF32(b, y, -sigmoidMax, sigmoidMax)
	round, one := b.Const("roundBiasedF32", roundF32+127), b.Const("one", 1)
	z := b.FMA(y, b.Const("minusLog2e", -log2e), round)
	k := b.Sub(z, round)
	s := b.FMA(k, b.Const("ln2Hi", ln2HiF32), y)
	s = b.FMA(k, b.Const("ln2Lo", ln2LoF32), s)
	q := b.Horner(s, b.Const("expC2", expC2), b.Const("minusExpC3", -expC3), b.Const("expC4", expC4), b.Const("minusExpC5", -expC5),
		b.Const("expC6", expC6))
	minusP := b.FNMA(b.Mul(s, s), q, s)
	t := b.Shl(z, 23) // 2^k
	return b.Mul(dy, b.FMA(minusP, t, b.Sub(one, t)))
}

// unrollTanh is larger, too: with two vectors at a time Zen 5 takes a fifth longer.
var unrollTanh = map[x86.Level]int{x86.AVX2: 2, x86.AVX512: 4}

// unrollLongGrad is unrollLong for functions of two inputs.
var unrollLongGrad = map[x86.Level]int{x86.AVX2: 1, x86.AVX512: 2}

func activationAMD64(f *x86.File) {
	for _, c := range []struct {
		name, doc string
		body      func(b *x86.Block, dy, x x86.Value) x86.Value
		unroll    map[x86.Level]int
	}{
		{"swishGradF32", "sets dx[i] = dy[i]·swish'(x[i]) for i < n.", swishGradF32, unrollLongGrad},
		{"reluGradF32", "sets dx[i] = dy[i] where x[i] is above 0 or NaN, and 0 elsewhere, for i < n.", reluGradF32, unrollLines},
		{"sigmoidGradF32", "sets dx[i] = dy[i]·(x[i]·(1 - x[i])) for i < n.", sigmoidGradF32, unrollLines},
		{"softplusGradF32", "sets dx[i] = dy[i]·(1 - exp(-x[i])) for i < n.", softplusGradF32, unrollLongGrad},
	} {
		map2F32(f, c.name, "func(dx, dy, x *float32, n int)", c.doc, [2]string{"dy", "x"}, c.unroll, c.body)
	}
	for _, c := range []struct {
		name, doc string
		near, all func(*x86.Block, x86.Value) x86.Value
	}{
		{"sigmoidF32", "sets dst[i] = 1/(1 + exp(-x[i])) for i < n.", sigmoidF32, sigmoidAnyF32},
		{"swishF32", "sets dst[i] = x[i]/(1 + exp(-x[i])) for i < n.", swishF32, swishAnyF32},
	} {
		for _, l := range levels {
			fn := f.Func(l, x86.F32, c.name, "func(dst, x *float32, n int)", c.doc)
			fn.Map(x86.Map{
				Block: unaryBlock(l, x86.F32, c.near), Unroll: unrollSigmoid[l], Pinned: min(pinned[l], 9),
				Rare: beyondF32(sigmoidMax), Slow: unaryBlock(l, x86.F32, c.all),
				Out: []reg.GPVirtual{fn.Arg("dst")}, In: []reg.GPVirtual{fn.Arg("x")}, N: fn.Arg("n"),
			})
		}
	}
	mapF32(f, "softplusF32", "sets dst[i] = ln(1 + exp(x[i])) for i < n.", unrollLong, softplusF32)
	mapF32(f, "tanhF32", "sets dst[i] = tanh(x[i]) for i < n.", unrollTanh, tanhF32)
	mapF32(f, "reluF32", "sets dst[i] = max(x[i], 0) for i < n.", unrollLines, reluF32)
}
