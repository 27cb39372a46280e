package main

import (
	"github.com/mmcloughlin/avo/reg"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

// elementwise are operations of one rounding. One vector at a time is enough for what waits for memory.
var elementwise = []struct {
	name, doc string
	op        func(b *x86.Block, x, y x86.Value) x86.Value
}{
	{"sub", "x[i] - y[i]", func(b *x86.Block, x, y x86.Value) x86.Value { return b.Sub(x, y) }},
	{"mul", "x[i]·y[i]", func(b *x86.Block, x, y x86.Value) x86.Value { return b.Mul(x, y) }},
	{"div", "x[i]/y[i]", func(b *x86.Block, x, y x86.Value) x86.Value { return b.Div(x, y) }},
}

func elementwiseAMD64(f *x86.File) {
	for _, e := range []x86.Elem{x86.F32, x86.F64} {
		ty := e.GoType()
		for _, o := range elementwise {
			for _, l := range levels {
				fn := f.Func(l, e, o.name+e.String(), "func(dst, x, y *"+ty+", n int)", "sets dst[i] = "+o.doc+" for i < n.")
				b := x86.NewBlock(l, e)
				x, y := b.Input(), b.Input()
				b.Output(o.op(b, x, y))
				fn.Map(x86.Map{Block: b, Out: []reg.GPVirtual{fn.Arg("dst")}, In: []reg.GPVirtual{fn.Arg("x"), fn.Arg("y")},
					N: fn.Arg("n")})
			}
		}
		for _, l := range levels {
			fn := f.Func(l, e, "sqrt"+e.String(), "func(dst, x *"+ty+", n int)", "sets dst[i] = √x[i] for i < n.")
			b := x86.NewBlock(l, e)
			b.Output(b.Sqrt(b.Input()))
			fn.Map(x86.Map{Block: b, Out: []reg.GPVirtual{fn.Arg("dst")}, In: []reg.GPVirtual{fn.Arg("x")}, N: fn.Arg("n")})
		}
	}
}
