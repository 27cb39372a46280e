package main

import (
	"math"
	"strconv"
	"strings"

	"github.com/mmcloughlin/avo/reg"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

// The coefficients are those of simd/trig_generic.go.
var (
	sinP  = []float64{-0x1.555546p-3, 0x1.110778p-7, -0x1.995402p-13}
	cosP  = []float64{0x1.55554ap-5, -0x1.6c0c2ap-10, 0x1.99e91p-16}
	atanP = []float64{-0x1.555552p-2, 0x1.99981cp-3, -0x1.247620p-3, 0x1.c51170p-4, -0x1.6953bcp-4, 0x1.150a00p-4,
		-0x1.7080bap-5, 0x1.753040p-6, -0x1.e6a0ecp-8, 0x1.29687ep-10}
)

// π/2 in three parts of 24 bits, each the rest of the ones before.
const (
	halfPi1 = 0x1.921fb6p+0
	halfPi2 = -0x1.777a5cp-25
	halfPi3 = -0x1.ee59dap-50
)

// sinCosMax is how far the reduction with these parts is good: k has less than 17 bits, and k·(halfPi1 - π/2) stays small.
const sinCosMax = 100000

// polynomial names the coefficients of a polynomial.
func polynomial(b *x86.Block, name string, c []float64) []x86.Value {
	var v []x86.Value
	for i, x := range c {
		v = append(v, b.Const(name+strconv.Itoa(i), x))
	}
	return v
}

// flipF32 changes the sign of x where bit 31 of s is set.
func flipF32(b *x86.Block, x, s x86.Value) x86.Value {
	mask := b.Bits("signF32", 1<<31)
	if b.Level == x86.AVX512 {
		return b.Ternary(0x78, x, s, mask) // x ^ (s & mask)
	}
	return b.Xor(x, b.And(s, mask))
}

// sinCosF32 is sin(x) and cos(x) for |x| ≤ sinCosMax.
//
//	k = round(x·2/π),  r = x - k·π/2, |r| ≤ π/4
//	sin(r) = r + r·(r²·S(r²)),  cos(r) = 1 + r²·(-1/2 + r²·C(r²))
//
// The first difference is exact, and each of the others is rounded once, relative to its result: however close x lies to a
// multiple of π/2, r is right to an ULP. Each quarter turn maps (sin, cos) to (cos, -sin).
func sinCosF32(b *x86.Block, x x86.Value) (sin, cos x86.Value) {
	a := x
	if b.Level == x86.AVX2 {
		a = absF32(b, x) // its sign comes back at the end, which keeps sin(-0) = -0
	}
	round := b.Const("roundF32", roundF32)
	z := b.FMA(a, b.Const("twoOverPi", 0x1.45f306p-1), round)
	k := b.Sub(z, round)
	r := b.FNMA(k, b.Const("halfPi1", halfPi1), a)
	r = b.FNMA(k, b.Const("halfPi2", halfPi2), r)
	r = b.FNMA(k, b.Const("halfPi3", halfPi3), r)
	r2 := b.Mul(r, r)
	s := b.FMA(r, b.Mul(r2, b.Horner(r2, polynomial(b, "sinP", sinP)...)), r)
	c := b.FMA(b.FMA(b.Horner(r2, polynomial(b, "cosP", cosP)...), r2, b.Const("minusHalf", -0.5)), r2, b.Const("one", 1))
	odd := b.Bit(z, 0)
	sin, cos = b.Select(odd, c, s), b.Select(odd, s, c)
	turn := b.Shl(z, 30)
	cos = flipF32(b, cos, b.Shl(b.AddI(z, b.Bits("oneI", 1)), 30))
	if b.Level == x86.AVX2 {
		return flipF32(b, sin, b.Xor(turn, x)), cos
	}
	// 0 keeps its sign; NaN stays.
	return b.Fixup(flipF32(b, sin, turn), x, b.Bits("zeroStays", 0x00000122)), cos
}

// atan2F32 is the angle of (x, y). With t = min(|x|,|y|)/max(|x|,|y|), atan(t) = t + t³·P(t²), reflected at the diagonal where
// |y| > |x| and at the axis where x has a sign:
//
//	a → π/2 - a,  a → π - a
//
// 0/0 counts as 0 and Inf/Inf as 1; NaN in either argument comes through.
func atan2F32(b *x86.Block, y, x x86.Value) x86.Value {
	if b.Level == x86.AVX2 {
		return atan2F32AVX2(b, y, x)
	}
	ax, ay := absF32(b, x), absF32(b, y)
	lo, hi := b.Min(ay, ax), b.Max(ay, ax)                                 // both |x| if either is NaN
	t := b.Fixup(b.Div(lo, hi), lo, b.Bits("quotientSpecial", 0x00a00822)) // by class of lo: NaN, 0 → 0, Inf → 1
	z := b.Mul(t, t)
	p := b.Horner(z, polynomial(b, "atanP", atanP)...)
	a := b.FMA(b.Mul(t, z), p, t)
	sign := b.Bits("signF32", 1<<31)
	steep := b.Cmp(x86.GT, ay, ax)
	a = b.AddIf(steep, b.AddIf(steep, b.XorIf(steep, a, sign), b.Const("halfPi2", halfPi2)), b.Const("halfPi1", halfPi1))
	left := b.TestBits(x, sign)
	a = b.AddIf(left, b.AddIf(left, b.XorIf(left, a, sign), b.Const("pi2", 2*halfPi2)), b.Const("pi1", 2*halfPi1))
	return b.Fixup(copySignF32(b, a, y), y, b.Bits("nanComes", 0x00000022))
}

// atan2F32AVX2 is atan2F32 without masked additions: both reflections are one, of the angle as k·π/2 ± a, where k is 1 if |y| > |x|,
// else 2 if x has a sign, else 0, and a is subtracted if one of the two holds.
func atan2F32AVX2(b *x86.Block, y, x x86.Value) x86.Value {
	sign, one := b.Bits("signF32", 1<<31), b.Const("one", 1)
	ax, ay := absF32(b, x), absF32(b, y)
	lo, hi := b.Min(ay, ax), b.Max(ay, ax)
	// The smallest number makes 0 of 0/0. The minimum makes 1 of NaN, that of infinities among them.
	t := b.Min(b.Div(lo, b.Max(hi, b.Bits("leastF32", 1))), one)
	steep := b.Cmp(x86.GT, ay, ax)
	k := b.Select(steep, one, b.And(b.Sar(x, 31), b.Const("two", 2)))
	z := b.Mul(t, t)
	p := b.Mul(b.Horner(z, polynomial(b, "atanP", atanP)...), z)
	t = b.Xor(t, b.And(b.FlipIf(steep, x), sign))
	a := b.FMA(k, b.Const("halfPi1", halfPi1), b.FMA(k, b.Const("halfPi2", halfPi2), b.FMA(p, t, t)))
	a = b.Or(a, b.And(y, sign))
	return b.OrBits(b.Cmp(x86.Unordered, y, x), a) // all ones are NaN
}

// Between these bounds of the larger magnitude hypotNearF32 needs no scale: neither squares nor what their rounding loses leave the range
// of normal numbers. Zeros need none either.
const (
	hypotNearMin = 0x1p-38
	hypotNearMax = 0x1p62
)

// hypotNearF32 is sqrt(x² + y²). With a ≥ b the magnitudes, and r what the roundings of squares, sum and root lost together,
//
//	s = a², h ≈ sqrt(s + b²),  r = (b² + (s - h²)) + (a² - s),  sqrt(x² + y²) ≈ h + r/(2·h)
//
// Only s - h² is rounded, by an eighth of an ULP of h at most. Other pairs are hard.
func hypotNearF32(b *x86.Block, x, y x86.Value) x86.Value {
	ax, ay := absF32(b, x), absF32(b, y)
	hi, lo := b.MaxI(ax, ay), b.MinI(ax, ay) // NaN is above infinity
	b.Hard(b.CmpI(x86.GT, hi, b.Const("hypotNearMax", hypotNearMax)))
	// The addend makes 0 the largest of integers.
	b.Hard(b.CmpI(x86.GT, b.Bits("hypotNearMin", 1<<31-1+uint64(math.Float32bits(hypotNearMin))), b.AddI(hi, b.Bits("mostI", 1<<31-1))))
	return rootOfSquares(b, hi, lo)
}

// rootOfSquares is sqrt(hi² + lo²), as hypotNearF32 explains.
func rootOfSquares(b *x86.Block, hi, lo x86.Value) x86.Value {
	s := b.Mul(hi, hi)
	sum := b.FMA(lo, lo, s)
	q := b.Rsqrt(b.Max(sum, b.Bits("twoMinus126", 1<<23))) // of zeros, too, it is finite
	h := b.Mul(sum, q)
	if b.Level == x86.AVX2 {
		h = b.Sqrt(sum) // q is too coarse
	}
	r := b.Add(b.FMA(lo, lo, b.FNMA(h, h, s)), b.FMS(hi, hi, s))
	return b.FMA(r, b.Mul(q, b.Const("half", 0.5)), h)
}

// hypotF32 is sqrt(x² + y²) for all x and y: rootOfSquares of both times a power of two.
func hypotF32(b *x86.Block, x, y x86.Value) x86.Value {
	ax, ay := absF32(b, x), absF32(b, y)
	hi, lo := b.Max(ax, ay), b.Min(ax, ay) // both |y| if either is NaN
	zero, inf := b.Const("zero", 0), b.Bits("infF32", 0x7f800000)
	if b.Level == x86.AVX512 {
		exponent := b.GetExp(hi)
		down := b.Sub(zero, exponent)
		h := rootOfSquares(b, b.Scale(hi, down), b.Scale(lo, down))
		h = b.Fixup(b.Scale(h, exponent), hi, b.Bits("magnitudeSpecial", 0x00500822)) // NaN, 0 → 0, Inf → Inf
		return b.Fixup(h, x, b.Bits("nanComes", 0x00000022))
	}
	// The power of two below hi, within what has an inverse: its bits are the exponent's. Nothing is chosen, which takes Intel's three
	// times as long as an addition.
	back := b.MinI(b.MaxI(b.And(hi, inf), b.Bits("twoMinus126", 1<<23)), b.Bits("two126", 253<<23))
	by := b.SubI(b.Bits("two127", 254<<23), back)
	h := rootOfSquares(b, b.Mul(hi, by), b.Mul(lo, by))
	h = b.Max(b.Mul(h, back), hi) // hi where h is NaN: of infinities
	return b.Select(b.Cmp(x86.Unordered, x, x), x, h)
}

// map2F32 writes a function from two slices to a third at every level.
func map2F32(f *x86.File, name, signature, doc string, args [2]string, unroll map[x86.Level]int,
	body func(b *x86.Block, x, y x86.Value) x86.Value) {
	dst, _, _ := strings.Cut(strings.TrimPrefix(signature, "func("), ",")
	for _, l := range levels {
		fn := f.Func(l, x86.F32, name, signature, doc)
		fn.Map(x86.Map{
			Block: binaryBlock(l, body), Unroll: unroll[l], Pinned: pinned[l],
			Out: []reg.GPVirtual{fn.Arg(dst)}, In: []reg.GPVirtual{fn.Arg(args[0]), fn.Arg(args[1])}, N: fn.Arg("n"),
		})
	}
}

// binaryBlock records a function of two arguments.
func binaryBlock(l x86.Level, body func(b *x86.Block, x, y x86.Value) x86.Value) *x86.Block {
	b := x86.NewBlock(l, x86.F32)
	x, y := b.Input(), b.Input()
	b.Output(body(b, x, y))
	return b
}

func trigAMD64(f *x86.File) {
	for _, l := range levels {
		fn := f.Func(l, x86.F32, "sinCosF32", "func(s, c, x *float32, n int) (done int)",
			"sets s[i] = sin(x[i]) and c[i] = cos(x[i]) for i < done. It stops before some |x[i]| > 100000, or NaN, "+
				"at most three vectors ahead.")
		b := x86.NewBlock(l, x86.F32)
		sin, cos := sinCosF32(b, b.Input())
		b.Output(sin)
		b.Output(cos)
		fn.Map(x86.Map{
			Block: b, Unroll: unrollLong[l], Pinned: pinned[l], Rare: beyondF32(sinCosMax),
			Out: []reg.GPVirtual{fn.Arg("s"), fn.Arg("c")}, In: []reg.GPVirtual{fn.Arg("x")}, N: fn.Arg("n"),
		})
	}
	one := map[x86.Level]int{x86.AVX2: 1, x86.AVX512: 2}
	map2F32(f, "atan2F32", "func(dst, y, x *float32, n int)", "sets dst[i] to the angle of (x[i], y[i]) for i < n.",
		[2]string{"y", "x"}, one, atan2F32)
	for _, l := range levels {
		fn := f.Func(l, x86.F32, "hypotF32", "func(dst, x, y *float32, n int)", "sets dst[i] = sqrt(x[i]² + y[i]²) for i < n.")
		fn.Map(x86.Map{
			Block: binaryBlock(l, hypotNearF32), Slow: binaryBlock(l, hypotF32), Unroll: one[l], Pinned: pinned[l],
			Out: []reg.GPVirtual{fn.Arg("dst")}, In: []reg.GPVirtual{fn.Arg("x"), fn.Arg("y")}, N: fn.Arg("n"),
		})
	}
}
