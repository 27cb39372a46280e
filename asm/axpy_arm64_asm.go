package main

import "github.com/equivcnp/equivcnp/asm/internal/neon"

// axpyNEON writes the simplest rows of arithmetic: one instruction for 4 elements. With loads, stores and the loop,
// add and axpy take 0.81 per element, scale 0.69.
func axpyNEON(file *neon.File) {
	f := file.Func("addF32NEON", "(dst, x, y *float32, n int)",
		"addF32NEON sets dst[i] = x[i] + y[i] for n elements. dst may be x or y.")
	dst, x, y, n := f.Arg("dst"), f.Arg("x"), f.Arg("y"), f.Arg("n")
	f.Each(neon.Loop{N: n, In: []neon.R{x, y}, Out: []neon.R{dst}, Unroll: 4, Body: func(in []neon.Vec) []neon.Vec {
		f.Add(in[0], in[0], in[1])
		return in[:1]
	}})
	f.Text("RET")

	f = file.Func("axpyF32NEON", "(dst *float32, a float32, x *float32, n int)",
		"axpyF32NEON adds a·x[i] to dst[i], rounded once, for n elements. dst may be x.")
	a := f.Splat("a")
	dst, x, n = f.Arg("dst"), f.Arg("x"), f.Arg("n")
	sum := f.R()
	f.Text("MOVD %v, %v", dst, sum)
	f.Each(neon.Loop{N: n, In: []neon.R{x, sum}, Out: []neon.R{dst}, Unroll: 4, Body: func(in []neon.Vec) []neon.Vec {
		f.Mla(in[1], in[0], a)
		return in[1:]
	}})
	f.Text("RET")

	f = file.Func("scaleF32NEON", "(dst *float32, a float32, x *float32, n int)",
		"scaleF32NEON sets dst[i] = a·x[i] for n elements. dst may be x.")
	a = f.Splat("a")
	dst, x, n = f.Arg("dst"), f.Arg("x"), f.Arg("n")
	f.Each(neon.Loop{N: n, In: []neon.R{x}, Out: []neon.R{dst}, Unroll: 4, Body: func(in []neon.Vec) []neon.Vec {
		f.Mul(in[0], in[0], a)
		return in
	}})
	f.Text("RET")
	f = file.Func("scaleRowsF32NEON", "(x, by *float32, rows, c int)",
		"scaleRowsF32NEON multiplies every row of x [rows, c] by a number of its own. rows is positive.")
	x, by, rows, c := f.Arg("x"), f.Arg("by"), f.Arg("rows"), f.Arg("c")
	in, out, n := f.R(), f.R(), f.R()
	a = f.V(1)
	row := f.NewLabel("row")
	f.Label(row)
	f.Text("FMOVS.P 4(%v), F%d", by, a[0])
	f.Text("VDUP V%d.S[0], V%d.S4", a[0], a[0])
	f.Text("MOVD %v, %v", x, in)
	f.Text("MOVD %v, %v", x, out)
	f.Text("MOVD %v, %v", c, n)
	f.Text("ADD %v<<2, %v", c, x)
	f.Each(neon.Loop{N: n, In: []neon.R{in}, Out: []neon.R{out}, Unroll: 4, Body: func(x []neon.Vec) []neon.Vec {
		f.Mul(x[0], x[0], a)
		return x
	}})
	f.Text("SUBS $1, %v", rows)
	f.Text("BNE %s", row)
	f.Text("RET")
}
