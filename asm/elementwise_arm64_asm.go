package main

import "github.com/equivcnp/equivcnp/asm/internal/neon"

// elementwiseNEON writes operations of one rounding.
func elementwiseNEON(file *neon.File) {
	for _, o := range []struct {
		name, ty, doc string
		lanes         neon.Lanes
		op            func(f *neon.Func, d, a, b neon.Vec)
	}{
		{"subF32NEON", "float32", "x[i] - y[i]", neon.S4, (*neon.Func).Sub},
		{"mulF32NEON", "float32", "x[i]·y[i]", neon.S4, (*neon.Func).Mul},
		{"divF32NEON", "float32", "x[i]/y[i]", neon.S4, (*neon.Func).Div},
		{"subF64NEON", "float64", "x[i] - y[i]", neon.D2, (*neon.Func).SubD},
		{"mulF64NEON", "float64", "x[i]·y[i]", neon.D2, (*neon.Func).MulD},
		{"divF64NEON", "float64", "x[i]/y[i]", neon.D2, (*neon.Func).DivD},
	} {
		f := file.Func(o.name, "(dst, x, y *"+o.ty+", n int)", o.name+" sets dst[i] = "+o.doc+" for n elements. dst may be x or y.")
		dst, x, y, n := f.Arg("dst"), f.Arg("x"), f.Arg("y"), f.Arg("n")
		f.Each(neon.Loop{Lanes: o.lanes, N: n, In: []neon.R{x, y}, Out: []neon.R{dst}, Unroll: 1, Body: func(in []neon.Vec) []neon.Vec {
			o.op(f, in[0], in[0], in[1])
			return in[:1]
		}})
		f.Text("RET")
	}
}
