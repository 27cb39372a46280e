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
}
