package main

import (
	"github.com/mmcloughlin/avo/reg"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

// The logarithm of 1 + f, -1/4 ≤ f ≤ 1/2, is f + f²·Q(f) with these coefficients of Q, the minimax polynomial for the relative
// error of the whole, 5.5e-9, rounded to float32 and fitted as those of simd/exp_generic.go.
var log1pQ = []float64{-0x1p-1, 0x1.5555acp-2, -0x1.000082p-2, 0x1.996724p-3, -0x1.54d6ep-3, 0x1.287424p-3, -0x1.0e8242p-3,
	0x1.b1bd86p-4, -0x1.79077ep-5}

// log1pTailF32 is f²·Q(f) + lo.
func log1pTailF32(b *x86.Block, f, lo x86.Value) x86.Value {
	var q []x86.Value
	for i, c := range log1pQ {
		q = append(q, b.Const("logQ"+string(rune('0'+i)), c))
	}
	return b.FMA(b.Mul(f, f), b.Horner(f, q...), lo)
}

// logReducedF32 is the logarithm of (1 + f)·2^k, the parts added from the smallest to the largest:
//
//	k·ln2Hi + (f + (f²·Q(f) + k·ln2Lo))
func logReducedF32(b *x86.Block, f, k x86.Value) x86.Value {
	y := log1pTailF32(b, f, b.Mul(k, b.Const("ln2Lo", ln2LoF32)))
	return b.FMA(k, b.Const("ln2Hi", ln2HiF32), b.Add(y, f))
}

// For the sixteenth j of a power of two in which the fraction of m lies, m in [3/4, 3/2), log16thsInverse has a number near 1/m, of whose
// neighbours it is the one with a logarithm nearest to a float32, that of log16ths (within 7e-5 units in the last place). Beside m = 1,
// in the first and last, they are 1 and 0.
var (
	log16thsInverse = []float64{
		0x1p+0, 0x1.d3ebdap-1, 0x1.baac5p-1, 0x1.a42dbp-1, 0x1.8f9708p-1, 0x1.7d43b6p-1, 0x1.6c138p-1, 0x1.5c5efap-1,
		0x1.4e77aep+0, 0x1.41525ap+0, 0x1.352496p+0, 0x1.29e368p+0, 0x1.1f81eep+0, 0x1.158e38p+0, 0x1.0cadccp+0, 0x1p+0}
	log16ths = []float64{
		0x0p+0, 0x1.70bd8cp-4, 0x1.29f844p-3, 0x1.94c6f2p-3, 0x1.fbab7ep-3, 0x1.2de84p-2, 0x1.5d2504p-2, 0x1.8a4c48p-2,
		-0x1.11c76ap-2, -0x1.d1707ap-3, -0x1.824e78p-3, -0x1.365b36p-3, -0x1.db6deep-4, -0x1.4b22aep-4, -0x1.8bff52p-5, 0x0p+0}
)

// logF32AVX512 is ln(x). The mantissa m is in [3/4, 3/2); its exponent, 0 or -1, is part of that of x. c is read from a table by the
// upper bits of m's fraction.
//
//	r = m·c - 1, -1/32 ≤ r < 1/16
//	ln(x) = (k·ln2Hi - ln(c)) + (r + (r²·Q(r) + k·ln2Lo)),  relative error of r + r²·Q(r): 2.3e-8
//
// The instructions take subnormal numbers as they are. What is not positive and finite is replaced at the end.
func logF32AVX512(b *x86.Block, x x86.Value) x86.Value {
	const mantissaFrom34 = 0x0b // in [3/4, 3/2); NaN for negative x
	m := b.GetMant(mantissaFrom34, x)
	k := b.Sub(b.GetExp(x), b.GetExp(m))
	j := b.Shr(m, 19)
	r := b.FMS(m, b.Lookup(j, b.Table("log16thsInverse", log16thsInverse)), b.Const("one", 1))
	q := b.Horner(r, polynomial(b, "log16thsQ", []float64{-0x1.ffff78p-2, 0x1.55534ap-2, -0x1.0289ep-2, 0x1.cc944cp-3})...)
	y := b.Add(b.FMA(b.Mul(r, r), q, b.Mul(k, b.Const("ln2Lo", ln2LoF32))), r)
	y = b.Add(b.FMA(k, b.Const("ln2Hi", ln2HiF32), b.Lookup(j, b.Table("log16ths", log16ths))), y)
	// By class of x, from the lowest four bits: quiet and signaling NaN stay; 0 gives -Inf; 1 keeps the result; -Inf gives
	// NaN; +Inf gives +Inf; negative gives NaN; positive keeps the result.
	return b.Fixup(y, x, b.Bits("logSpecial", 0x03530422))
}

// logF32AVX2 is ln(x) for normal x. Subtracting the bits of 3/4 leaves the exponent k of the mantissa in [3/4, 3/2).
func logF32AVX2(b *x86.Block, x x86.Value) x86.Value {
	return logShiftedF32AVX2(b, x, nil)
}

// logShiftedF32AVX2 adds shift, if there is one, to the exponent.
func logShiftedF32AVX2(b *x86.Block, x x86.Value, shift *x86.Value) x86.Value {
	e := b.And(b.SubI(x, b.Const("threeQuarters", 0.75)), b.Bits("exponentF32", 0xff800000))
	f := b.Sub(b.SubI(x, e), b.Const("one", 1))
	k := b.FromInt(b.Sar(e, 23))
	if shift != nil {
		k = b.Add(k, *shift)
	}
	return logReducedF32(b, f, k)
}

// logAnyF32AVX2 is ln(x) for all x. Subnormal x is multiplied by 2^23 first.
func logAnyF32AVX2(b *x86.Block, x x86.Value) x86.Value {
	inf, zero := b.Bits("infF32", 0x7f800000), b.Const("zero", 0)
	small := b.Cmp(x86.LT, x, b.Const("minNormalF32", 0x1p-126))
	shift := b.Select(small, b.Const("minus23", -23), zero)
	y := logShiftedF32AVX2(b, b.Select(small, b.Mul(x, b.Const("two23", 0x1p23)), x), &shift)
	y = b.Select(b.Cmp(x86.EQ, x, zero), b.Bits("minusInfF32", 0xff800000), y)
	y = b.Select(b.Cmp(x86.EQ, x, inf), inf, y)
	// Negative, or NaN: all ones are NaN.
	return b.Select(b.Cmp(x86.NGE, x, zero), b.Bits("nanF32", 0x7fc00000), y)
}

// notNormalF32 is set in the lanes in which some x is not a positive, finite, normal number.
func notNormalF32(b *x86.Block, x []x86.Value) x86.Mask {
	// As integers these are from minNormal to Inf - 1. The border to Inf becomes the largest integer, so one comparison
	// per vector, of the smallest and the largest, suffices.
	lo, hi := x[0], x[0]
	for _, v := range x[1:] {
		lo, hi = b.MinI(lo, v), b.MaxI(hi, v)
	}
	return b.OrMask(b.CmpI(x86.GT, b.Bits("minNormalF32", 0x00800000), lo), b.CmpI(x86.GT, hi, b.Bits("maxFiniteF32", 0x7f7fffff)))
}

func logAMD64(f *x86.File) {
	const name, signature, doc = "logF32", "func(dst, x *float32, n int)", "sets dst[i] = ln(x[i]) for i < n."
	for _, l := range levels {
		fn := f.Func(l, x86.F32, name, signature, doc)
		m := x86.Map{Out: []reg.GPVirtual{fn.Arg("dst")}, In: []reg.GPVirtual{fn.Arg("x")}, N: fn.Arg("n"),
			Unroll: unrollShort[l], Pinned: pinned[l]}
		if l == x86.AVX512 {
			m.Block = unaryBlock(l, x86.F32, logF32AVX512)
		} else {
			m.Block, m.Slow = unaryBlock(l, x86.F32, logF32AVX2), unaryBlock(l, x86.F32, logAnyF32AVX2)
			m.Rare = notNormalF32
		}
		fn.Map(m)
	}
}
