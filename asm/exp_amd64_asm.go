package main

import (
	"strconv"
	"strings"

	"github.com/mmcloughlin/avo/reg"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

// The constants are those of simd/exp_generic.go, except that ln2 is split at its full precision: a fused multiply-add
// does not round the product, so the high part need not be short.
const (
	log2e    = 0x1.715476p+0 // 1/ln2
	ln2HiF32 = 0x1.62e43p-1
	ln2LoF32 = -0x1.05c61p-29

	expC2 = 0x1.fffffcp-2
	expC3 = 0x1.555492p-3
	expC4 = 0x1.5558aep-5
	expC5 = 0x1.12398p-7
	expC6 = 0x1.6a4f28p-10

	// Adding and subtracting 1.5·2^23 rounds a float32 below 2^22 in magnitude to the nearest integer, which then also
	// stands in the low bits of the sum.
	roundF32 = 0x1.8p23
)

// expReduceF32 returns k, an integer, the bits z that hold k in their low part, and p with exp(x) = (1 + p)·2^k.
//
//	z = x·log2e + 1.5·2^23,  k = z - 1.5·2^23
//	r = x - k·ln2Hi - k·ln2Lo
//	p = r + r²·(c2 + c3·r + c4·r² + c5·r³ + c6·r⁴)
func expReduceF32(b *x86.Block, x x86.Value) (p, k, z x86.Value) {
	round := b.Const("roundF32", roundF32)
	z = b.FMA(x, b.Const("log2e", log2e), round)
	k = b.Sub(z, round)
	r := b.FNMA(k, b.Const("ln2Hi", ln2HiF32), x)
	r = b.FNMA(k, b.Const("ln2Lo", ln2LoF32), r)
	q := b.Horner(r, b.Const("expC2", expC2), b.Const("expC3", expC3), b.Const("expC4", expC4), b.Const("expC5", expC5),
		b.Const("expC6", expC6))
	p = b.FMA(b.Mul(r, r), q, r)
	return p, k, z
}

// expF32 is exp(x): clamped to where the result is neither infinite nor 0, reduced, and scaled back in one rounding.
func expF32(b *x86.Block, x x86.Value) x86.Value {
	x = clampF32(b, x, -104, 89)
	if b.Level == x86.AVX512 {
		return expBy16ths(b, x)
	}
	p, _, z := expReduceF32(b, x)
	y := b.Add(p, b.Const("one", 1))
	// 2^k itself may be out of range where the result is not, so it goes in two steps of about half of k. The first
	// product is exact.
	k := b.SubI(z, b.Const("roundF32", roundF32))
	h := b.Sar(k, 1)
	one := b.Const("one", 1)
	y = b.Mul(y, b.AddI(b.Shl(h, 23), one))
	return b.Mul(y, b.AddI(b.Shl(b.SubI(k, h), 23), one))
}

// expNearMax bounds what expNearF32 is for: up to it neither 2^k nor the result is subnormal or infinite.
const expNearMax = 86

// expNearF32 is expF32 for |x| ≤ expNearMax, with the same bits: k goes to the exponent in one addition, which a machine without an
// instruction that scales takes nine others for.
func expNearF32(b *x86.Block, x x86.Value) x86.Value {
	p, _, z := expReduceF32(b, x)
	return b.AddI(b.Add(p, b.Const("one", 1)), b.Shl(z, 23))
}

// clampF32 is max(lo, min(hi, x)). The constants come first in the instructions, so that NaN stays NaN.
func clampF32(b *x86.Block, x x86.Value, lo, hi float64) x86.Value {
	x = b.Min(b.Const(constName(hi), hi), x)
	return b.Max(b.Const(constName(lo), lo), x)
}

// constName names a constant that means nothing but its value.
func constName(x float64) string {
	return "c" + strings.NewReplacer("-", "m", ".", "p").Replace(strconv.FormatFloat(x, 'f', -1, 64))
}

// mapF32 writes a function from one slice to another at every level.
func mapF32(f *x86.File, name, doc string, unroll map[x86.Level]int, body func(*x86.Block, x86.Value) x86.Value) {
	for _, l := range levels {
		mapLevelF32(f, l, name, doc, unroll[l], body)
	}
}

// mapLevelF32 writes it at one level.
func mapLevelF32(f *x86.File, l x86.Level, name, doc string, unroll int, body func(*x86.Block, x86.Value) x86.Value) {
	fn := f.Func(l, x86.F32, name, "func(dst, x *float32, n int)", doc)
	fn.Map(x86.Map{
		Block: unaryBlock(l, x86.F32, body), Unroll: unroll, Pinned: pinned[l],
		Out: []reg.GPVirtual{fn.Arg("dst")}, In: []reg.GPVirtual{fn.Arg("x")}, N: fn.Arg("n"),
	})
}

// unaryBlock records a function of one argument.
func unaryBlock(l x86.Level, e x86.Elem, body func(*x86.Block, x86.Value) x86.Value) *x86.Block {
	b := x86.NewBlock(l, e)
	b.Output(body(b, b.Input()))
	return b
}

// How many vectors are computed side by side: enough that their chains of dependent operations overlap, few enough for the
// registers.
var (
	unrollShort = map[x86.Level]int{x86.AVX2: 2, x86.AVX512: 3}
	unrollLong  = map[x86.Level]int{x86.AVX2: 2, x86.AVX512: 2}
	unrollLines = map[x86.Level]int{x86.AVX2: 4, x86.AVX512: 2} // two cache lines, where loads and stores bind

	// How many constants stay in registers. AVX2 has few registers to spare, but on Zen 4 four constants make it 3 to
	// 13 % faster, because two loads a cycle are its limit otherwise. Two vectors at a time with four constants are
	// faster than one with six.
	pinned = map[x86.Level]int{x86.AVX2: 4, x86.AVX512: 12}
)

func expAMD64(f *x86.File) {
	for _, l := range levels {
		fn := f.Func(l, x86.F32, "expF32", "func(dst, x *float32, n int)", "sets dst[i] = exp(x[i]) for i < n.")
		m := x86.Map{Block: unaryBlock(l, x86.F32, expF32), Unroll: unrollShort[l], Pinned: pinned[l],
			Out: []reg.GPVirtual{fn.Arg("dst")}, In: []reg.GPVirtual{fn.Arg("x")}, N: fn.Arg("n")}
		if l == x86.AVX2 {
			m.Block, m.Slow, m.Rare = unaryBlock(l, x86.F32, expNearF32), m.Block, beyondF32(expNearMax)
		}
		fn.Map(m)
	}
}
