package main

import (
	"slices"
	"strings"

	"github.com/mmcloughlin/avo/reg"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

// elementwise are operations of at most one rounding, given their params in order.
var elementwise = []struct {
	name, params, doc string
	op                func(b *x86.Block, in []x86.Value) x86.Value
	neon              string // the instruction, where NEON has one
}{
	{"sub", "x y", "x[i] - y[i]", func(b *x86.Block, in []x86.Value) x86.Value { return b.Sub(in[0], in[1]) }, "fsub"},
	{"mul", "x y", "x[i]·y[i]", func(b *x86.Block, in []x86.Value) x86.Value { return b.Mul(in[0], in[1]) }, "fmul"},
	{"div", "x y", "x[i]/y[i]", func(b *x86.Block, in []x86.Value) x86.Value { return b.Div(in[0], in[1]) }, "fdiv"},
	{"max", "x y", "the larger of x[i] and y[i]", func(b *x86.Block, in []x86.Value) x86.Value {
		return largerOf(b, in, 0x5, b.Max, b.And)
	}, "fmax"},
	{"min", "x y", "the smaller of x[i] and y[i]", func(b *x86.Block, in []x86.Value) x86.Value {
		return largerOf(b, in, 0x4, b.Min, b.Or)
	}, "fmin"},
	{"sqrt", "x", "√x[i]", func(b *x86.Block, in []x86.Value) x86.Value { return b.Sqrt(in[0]) }, ""},
	{"abs", "x", "|x[i]|", func(b *x86.Block, in []x86.Value) x86.Value { return abs(b, in[0]) }, "fabs"},
	{"roundToEven", "x", "x[i] rounded to the nearest whole number", roundBy(0), "frintn"},
	{"floor", "x", "x[i] rounded down", roundBy(1), "frintm"},
	{"ceil", "x", "x[i] rounded up", roundBy(2), "frintp"},
	{"trunc", "x", "x[i] rounded towards zero", roundBy(3), "frintz"},
	// An instruction returns its second operand for NaN and for zeros of either sign.
	{"clip", "x lo hi", "x[i], lo or hi", func(b *x86.Block, in []x86.Value) x86.Value {
		return b.Min(in[2], b.Max(in[1], in[0]))
	}, ""},
}

func roundBy(mode uint64) func(b *x86.Block, in []x86.Value) x86.Value {
	return func(b *x86.Block, in []x86.Value) x86.Value { return b.Round(mode, in[0]) }
}

// largerOf is the larger or the smaller of two; NaN comes from the sum. AVX-512 has an instruction, chosen by kind, that knows -0 from 0.
// Elsewhere one order of the operands gives one of zeros of either sign and the other order the other, of which merge takes the right sign.
func largerOf(b *x86.Block, in []x86.Value, kind uint64, op, merge func(x, y x86.Value) x86.Value) x86.Value {
	x, y := in[0], in[1]
	if b.Level == x86.AVX512 {
		larger := b.Range(kind, x, y)
		return b.SumIf(b.Cmp(x86.Unordered, x, y), larger, x, y)
	}
	larger := merge(op(x, y), op(y, x))
	return b.Select(b.Cmp(x86.Unordered, x, y), b.Add(x, y), larger)
}

func elementwiseAMD64(f *x86.File) {
	for _, e := range []x86.Elem{x86.F32, x86.F64} {
		for _, o := range elementwise {
			for _, l := range levels {
				fn, m := recordMap(f, l, e, o.name+e.String(), "sets dst[i] = "+o.doc+" for i < n.",
					append([]string{"dst"}, strings.Fields(o.params)...), o.op)
				// Single vectors take up to twice as long where the loop is split over lines of the instruction cache.
				single := map[x86.Level][]string{x86.AVX2: {"div", "sqrt", "max", "min"}, x86.AVX512: {"div", "sqrt", "clip"}}
				if !slices.Contains(single[l], o.name) {
					m.Unroll, m.Pinned = 2, 2
				}
				fn.Map(m)
			}
		}
	}
}

// recordMap begins a function of these parameters, the destination first, and n, and records what it computes from the others in their
// order.
func recordMap(f *x86.File, l x86.Level, e x86.Elem, name, doc string, params []string,
	op func(b *x86.Block, in []x86.Value) x86.Value) (*x86.Func, x86.Map) {
	var types []string
	for _, p := range params {
		if isNumber(p) {
			types = append(types, p+" float")
		} else {
			types = append(types, p+" *float")
		}
	}
	fn := f.Func(l, e, name, typed(e, "func("+strings.Join(types, ", ")+", n int)"), doc)
	m := x86.Map{Block: x86.NewBlock(l, e), Out: []reg.GPVirtual{fn.Arg(params[0])}}
	var in []x86.Value
	for _, p := range params[1:] {
		if isNumber(p) {
			in, m.Uniforms = append(in, m.Block.Uniform()), append(m.Uniforms, fn.BroadcastArg(p))
		} else {
			in, m.In = append(in, m.Block.Input()), append(m.In, fn.Arg(p))
		}
	}
	m.Block.Output(op(m.Block, in))
	m.N = fn.Arg("n")
	return fn, m
}
