package main

import (
	"strings"

	"github.com/mmcloughlin/avo/reg"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

// elementwise are operations of at most one rounding. One vector at a time is enough for what waits for memory. The numbers of params stand
// behind the slices, as uniforms before them in op.
var elementwise = []struct {
	name, params, doc string
	op                func(b *x86.Block, in []x86.Value) x86.Value
	neon              string // the instruction, where NEON has one
}{
	{"sub", "x y", "x[i] - y[i]", func(b *x86.Block, in []x86.Value) x86.Value { return b.Sub(in[0], in[1]) }, "fsub"},
	{"mul", "x y", "x[i]·y[i]", func(b *x86.Block, in []x86.Value) x86.Value { return b.Mul(in[0], in[1]) }, "fmul"},
	{"div", "x y", "x[i]/y[i]", func(b *x86.Block, in []x86.Value) x86.Value { return b.Div(in[0], in[1]) }, "fdiv"},
	{"max", "x y", "the larger of x[i] and y[i]", func(b *x86.Block, in []x86.Value) x86.Value {
		return largerOf(b, in, b.Max, b.And)
	}, "fmax"},
	{"min", "x y", "the smaller of x[i] and y[i]", func(b *x86.Block, in []x86.Value) x86.Value {
		return largerOf(b, in, b.Min, b.Or)
	}, "fmin"},
	{"sqrt", "x", "√x[i]", func(b *x86.Block, in []x86.Value) x86.Value { return b.Sqrt(in[0]) }, ""},
	{"abs", "x", "|x[i]|", func(b *x86.Block, in []x86.Value) x86.Value { return abs(b, in[0]) }, "fabs"},
	{"roundToEven", "x", "x[i] rounded to the nearest whole number", roundBy(0), "frintn"},
	{"floor", "x", "x[i] rounded down", roundBy(1), "frintm"},
	{"ceil", "x", "x[i] rounded up", roundBy(2), "frintp"},
	{"trunc", "x", "x[i] rounded towards zero", roundBy(3), "frintz"},
	// An instruction returns its second operand for NaN and for zeros of either sign.
	{"clip", "x lo hi", "x[i], lo or hi", func(b *x86.Block, in []x86.Value) x86.Value {
		return b.Min(in[1], b.Max(in[0], in[2]))
	}, ""},
}

func roundBy(mode uint64) func(b *x86.Block, in []x86.Value) x86.Value {
	return func(b *x86.Block, in []x86.Value) x86.Value { return b.Round(mode, in[0]) }
}

// largerOf is the larger or the smaller of two. For zeros of either sign one order of the operands gives one and the other order the other,
// of which merge takes the right sign; NaN comes from the sum.
func largerOf(b *x86.Block, in []x86.Value, op, merge func(x, y x86.Value) x86.Value) x86.Value {
	x, y := in[0], in[1]
	return b.Select(b.Cmp(x86.Unordered, x, y), b.Add(x, y), merge(op(x, y), op(y, x)))
}

func elementwiseAMD64(f *x86.File) {
	for _, e := range []x86.Elem{x86.F32, x86.F64} {
		for _, o := range elementwise {
			for _, l := range levels {
				var slices, numbers []string
				for _, p := range strings.Fields(o.params) {
					if isNumber(p) {
						numbers = append(numbers, p)
					} else {
						slices = append(slices, p)
					}
				}
				signature := "func(dst, " + strings.Join(slices, ", ") + " *float"
				if len(numbers) > 0 {
					signature += ", " + strings.Join(numbers, ", ") + " float"
				}
				fn := f.Func(l, e, o.name+e.String(), typed(e, signature+", n int)"), "sets dst[i] = "+o.doc+" for i < n.")
				m := x86.Map{Block: x86.NewBlock(l, e), Out: []reg.GPVirtual{fn.Arg("dst")}}
				var in []x86.Value
				for _, p := range numbers {
					in = append(in, m.Block.Uniform())
					m.Uniforms = append(m.Uniforms, fn.BroadcastArg(p))
				}
				for _, p := range slices {
					in = append(in, m.Block.Input())
					m.In = append(m.In, fn.Arg(p))
				}
				m.N = fn.Arg("n")
				m.Block.Output(o.op(m.Block, in))
				fn.Map(m)
			}
		}
	}
}
