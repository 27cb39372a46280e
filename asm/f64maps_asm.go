package main

import (
	"strings"

	"github.com/mmcloughlin/avo/reg"

	"github.com/equivcnp/equivcnp/asm/internal/neon"
	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

// The elementwise functions of float64 that are made of the elementary ones: activations, their gradients, and others
// of one line. A block serves AVX2, AVX-512 and NEON.

// f64map is a function of one slice or two.
type f64map struct {
	name, doc string
	out       string
	in        []string
	body      func(b *x86.Block, x []x86.Value) x86.Value
	unroll    map[x86.Level]int
}

// one1 adapts a function of one argument.
func one1(f func(b *x86.Block, x x86.Value) x86.Value) func(*x86.Block, []x86.Value) x86.Value {
	return func(b *x86.Block, x []x86.Value) x86.Value { return f(b, x[0]) }
}

var f64maps = []f64map{
	{"sigmoidF64", "sets dst[i] = 1/(1 + exp(-x[i]))", "dst", []string{"x"}, one1(sigmoidF64), unrollAlone},
	{"swishF64", "sets dst[i] = x[i]/(1 + exp(-x[i]))", "dst", []string{"x"}, one1(swishF64), unrollAlone},
	{"softplusF64", "sets dst[i] = ln(1 + exp(x[i]))", "dst", []string{"x"}, one1(softplusF64), unrollAlone},
	{"tanhF64", "sets dst[i] = tanh(x[i])", "dst", []string{"x"}, one1(tanhF64), unrollAlone},
	{"reluF64", "sets dst[i] = max(x[i], 0)", "dst", []string{"x"}, one1(reluF32), unrollShort},
	{"hypotF64", "sets dst[i] = √(x[i]² + y[i]²)", "dst", []string{"x", "y"}, hypotF64, unrollAlone},
	{"swishGradF64", "sets dx[i] = dy[i]·swish'(x[i])", "dx", []string{"dy", "x"}, swishGradF64, unrollAlone},
	{"reluGradF64", "sets dx[i] = dy[i] where x[i] is above 0 or NaN, and 0 elsewhere,", "dx", []string{"dy", "x"},
		func(b *x86.Block, x []x86.Value) x86.Value { return reluGradF32(b, x[0], x[1]) }, unrollShort},
	{"sigmoidGradF64", "sets dx[i] = dy[i]·(x[i]·(1 - x[i]))", "dx", []string{"dy", "x"},
		func(b *x86.Block, x []x86.Value) x86.Value { return sigmoidGradF32(b, x[0], x[1]) }, unrollShort},
	{"softplusGradF64", "sets dx[i] = dy[i]·(1 - exp(-x[i]))", "dx", []string{"dy", "x"}, softplusGradF64, unrollAlone},
}

// unrollAlone is for functions so long that the machine overlaps one vector with the next by itself only in part; more
// vectors side by side would fill AVX2's registers, and the files.
var unrollAlone = map[x86.Level]int{x86.AVX2: 1, x86.AVX512: 1}

// block records a body of the function.
func (m f64map) block(l x86.Level, body func(b *x86.Block, x []x86.Value) x86.Value) *x86.Block {
	b := x86.NewBlock(l, x86.F64)
	x := make([]x86.Value, len(m.in))
	for i := range x {
		x[i] = b.Input()
	}
	b.Output(body(b, x))
	return b
}

// signature names the slices, then their length.
func (m f64map) signature() string {
	return m.out + ", " + strings.Join(m.in, ", ") + " *float64, n int"
}

func f64mapsAMD64(f *x86.File) {
	for _, m := range f64maps {
		m.writeAMD64(f, false)
	}
}

// writeAMD64 writes the function, or that of float32 which computes in float64.
func (m f64map) writeAMD64(f *x86.File, single bool) {
	signature := m.signature()
	if single {
		signature = strings.ReplaceAll(signature, "float64", "float32")
	}
	for _, l := range levels {
		if body := tableBodies[m.name]; body != nil {
			mapLevelF32(f, l, m.name, m.doc+" for i < n.", m.unroll[l], body)
			continue
		}
		fn := f.Func(l, x86.F64, m.name, "func("+signature+")", m.doc+" for i < n.")
		var in []reg.GPVirtual
		out := fn.Arg(m.out)
		for _, a := range m.in {
			in = append(in, fn.Arg(a))
		}
		to := x86.Map{Block: m.block(l, m.body), Unroll: m.unroll[l], Pinned: pinned[l] / 2, Out: []reg.GPVirtual{out}, In: in,
			N: fn.Arg("n"), Single: single}
		if fast := fastBodies[m.name]; fast != nil {
			to.Block, to.Slow = m.block(l, fast), to.Block
		}
		fn.Map(to)
	}
}

func f64mapsNEON(file *neon.File) {
	pool := file.Pool("f64mapsConsts")
	for _, m := range f64maps {
		m.writeNEON(file, pool)
	}
}

func (m f64map) writeNEON(file *neon.File, pool *neon.Pool) {
	name := m.name + "NEON"
	mapF64NEON(file, pool, name, "("+m.signature()+")", name+" "+m.doc+" for n elements. "+m.out+" may be an input.",
		[]string{m.out}, m.in, m.block(x86.AVX2, m.body), 1)
}

// expMinusAbs is exp(-|x|), 0 beyond 746.
func expMinusAbs(b *x86.Block, x x86.Value) x86.Value {
	y, k := expUnscaled(b, b.Max(b.Const("expMin", -746), b.Or(x, signBit(b))))
	return scale2(b, y, k)
}

// sigmoidF64 is, with e = exp(-|x|), 1/(1 + e) or e/(1 + e), so that nothing overflows or cancels.
func sigmoidF64(b *x86.Block, x x86.Value) x86.Value {
	e := expMinusAbs(b, x)
	return b.Div(b.Select(b.Cmp(x86.LT, x, zero(b)), e, one(b)), b.Add(e, one(b)))
}

// swishF64 is, with exp(-|x|) = y·2^k, x/(1 + exp(-|x|)) or x·y·2^k/(1 + exp(-|x|)): exp(-|x|) may be subnormal where its product with x
// is not.
func swishF64(b *x86.Block, x x86.Value) x86.Value {
	least := b.Const("swishMin", -800) // there the result is -0
	x = b.Max(least, x)
	y, k := expUnscaled(b, b.Max(least, b.Or(x, signBit(b))))
	numerator := b.Select(b.Cmp(x86.LT, x, zero(b)), scale2(b, b.Mul(x, y), k), x)
	return b.Div(numerator, b.Add(scale2(b, y, k), one(b)))
}

// softplusF64 is max(x, 0) + ln(1 + e) with e = exp(-|x|). The sum u = 1 + e is rounded; what it lost is exact, and
// adds that over u, for which 1 - e/2 is near enough.
func softplusF64(b *x86.Block, x x86.Value) x86.Value {
	e := expMinusAbs(b, x)
	u := b.Add(e, one(b))
	lost := b.Sub(e, b.Sub(u, one(b)))
	lost = b.Mul(lost, b.FNMA(e, half(b), one(b)))
	f, k := logSplit(b, u)
	return b.Add(logReduced(b, f, k, &lost), b.Max(zero(b), x))
}

// tanhF64 is m/(m + 2) with m = exp(2|x|) - 1; see tanhF32. From 22 on the result is 1.
func tanhF64(b *x86.Block, x x86.Value) x86.Value {
	a := b.Min(b.Const("tanhMax", 22), abs(b, x))
	p, _, z := expReduce(b, b.Add(a, a))
	s := pow2(b, z)
	m := b.FMA(p, s, b.Sub(s, one(b)))
	return copySign(b, b.Div(m, b.Add(m, b.Const("two", 2))), x)
}

// hypotF64 is √(x² + y²) with the square of the larger number as a sum of two. Both are divided by half the larger
// one's power of two, so that no square leaves the range.
func hypotF64(b *x86.Block, in []x86.Value) x86.Value {
	x, y := in[0], in[1]
	ax, ay := abs(b, x), abs(b, y)
	hi, lo := b.Max(ax, ay), b.Min(ax, ay)
	power := b.And(b.Max(b.Const("minNormal", 0x1p-1022), hi), inf(b))
	scale := b.SubI(inf(b), power)
	h, l := b.Mul(hi, scale), b.Mul(lo, scale)
	square := b.Mul(h, h)
	rest := b.FMA(l, l, neg(b, b.FNMA(h, h, square)))
	r := b.Mul(b.Mul(b.Sqrt(b.Add(square, rest)), half(b)), power)
	r = b.Select(b.Cmp(x86.EQ, hi, inf(b)), hi, r)
	return b.Select(b.Cmp(x86.Unordered, x, y), b.Add(x, y), r)
}

// swishGradF64 is dy·s·(1 + x·q) with s = sigmoid(x), q = 1 - s, both without cancellation. x beyond ±1000 counts as that.
func swishGradF64(b *x86.Block, in []x86.Value) x86.Value {
	dy, x := in[0], in[1]
	x = b.Max(b.Const(constName(-1000), -1000), b.Min(b.Const(constName(1000), 1000), x))
	e := expMinusAbs(b, x)
	s := b.Div(one(b), b.Add(e, one(b)))
	q := b.Mul(e, s)
	below := b.Cmp(x86.LT, x, zero(b))
	low, high := b.Select(below, q, s), b.Select(below, s, q)
	return b.Mul(dy, b.Mul(low, b.FMA(x, high, one(b))))
}

// softplusGradF64 is dy·(1 - exp(-y)); see softplusGradF32. y beyond -709 and 700 counts as that.
func softplusGradF64(b *x86.Block, in []x86.Value) x86.Value {
	dy, y := in[0], in[1]
	y = b.Max(b.Const(constName(-709), -709), b.Min(b.Const(constName(700), 700), y))
	p, _, z := expReduce(b, neg(b, y))
	s := pow2(b, z)
	return b.Mul(dy, b.FNMA(p, s, b.Sub(one(b), s)))
}
