package main

import (
	"math/bits"
	"strings"

	"github.com/equivcnp/equivcnp/asm/internal/neon"
)

// axpyNEON writes the simplest rows of arithmetic: one instruction for 4 elements. With loads, stores and the loop,
// add and axpy take 0.81 per element, scale 0.69.
func axpyNEON(file *neon.File) {
	axpyOfNEON(file, neon.S4)
	axpyOfNEON(file, neon.D2)
}

// axpyOfNEON writes the functions for a type.
func axpyOfNEON(file *neon.File, l neon.Lanes) {
	f := file.Func("add"+l.Suffix()+"NEON", strings.ReplaceAll("(dst, x, y *float, n int)", "float", l.Type()),
		"add"+l.Suffix()+"NEON sets dst[i] = x[i] + y[i] for n elements. dst may be x or y.")
	dst, x, y, n := f.Arg("dst"), f.Arg("x"), f.Arg("y"), f.Arg("n")
	f.Each(neon.Loop{Lanes: l, N: n, In: []neon.R{x, y}, Out: []neon.R{dst}, Unroll: 4, Body: func(in []neon.Vec) []neon.Vec {
		f.Three("fadd", l, in[0], in[0], in[1])
		return in[:1]
	}})
	f.Text("RET")

	f = file.Func("axpy"+l.Suffix()+"NEON", strings.ReplaceAll("(dst *float, a float, x *float, n int)", "float", l.Type()),
		"axpy"+l.Suffix()+"NEON adds a·x[i] to dst[i], rounded once, for n elements. dst may be x.")
	a := f.SplatArg(l, "a")
	dst, x, n = f.Arg("dst"), f.Arg("x"), f.Arg("n")
	sum := f.R()
	f.Text("MOVD %v, %v", dst, sum)
	f.Each(neon.Loop{Lanes: l, N: n, In: []neon.R{x, sum}, Out: []neon.R{dst}, Unroll: 4, Body: func(in []neon.Vec) []neon.Vec {
		f.Three("fmla", l, in[1], in[0], a)
		return in[1:]
	}})
	f.Text("RET")

	f = file.Func("scale"+l.Suffix()+"NEON", strings.ReplaceAll("(dst *float, a float, x *float, n int)", "float", l.Type()),
		"scale"+l.Suffix()+"NEON sets dst[i] = a·x[i] for n elements. dst may be x.")
	a = f.SplatArg(l, "a")
	dst, x, n = f.Arg("dst"), f.Arg("x"), f.Arg("n")
	f.Each(neon.Loop{Lanes: l, N: n, In: []neon.R{x}, Out: []neon.R{dst}, Unroll: 4, Body: func(in []neon.Vec) []neon.Vec {
		f.Three("fmul", l, in[0], in[0], a)
		return in
	}})
	f.Text("RET")
	f = file.Func("rotate"+l.Suffix()+"NEON", strings.ReplaceAll("(x, y *float, c, s float, n int)", "float", l.Type()),
		"rotate"+l.Suffix()+"NEON sets x[i], y[i] = c·x[i] + s·y[i], c·y[i] - s·x[i] for n elements.")
	c, s := f.SplatArg(l, "c"), f.SplatArg(l, "s")
	x, y, n = f.Arg("x"), f.Arg("y"), f.Arg("n")
	toX, toY := f.R(), f.R()
	f.Text("MOVD %v, %v", x, toX)
	f.Text("MOVD %v, %v", y, toY)
	f.Each(neon.Loop{Lanes: l, N: n, In: []neon.R{x, y}, Out: []neon.R{toX, toY}, Unroll: 2, Body: func(in []neon.Vec) []neon.Vec {
		a, b := f.V(len(in[0])), f.V(len(in[0]))
		f.Three("fmul", l, a, in[0], c)
		f.Three("fmul", l, b, in[1], c)
		f.Three("fmla", l, a, in[1], s)
		f.Three("fmls", l, b, in[0], s)
		return []neon.Vec{a, b}
	}})
	f.Text("RET")
	f = file.Func("scaleRows"+l.Suffix()+"NEON", strings.ReplaceAll("(x, by *float, rows, c int)", "float", l.Type()),
		"scaleRows"+l.Suffix()+"NEON multiplies every row of x [rows, c] by a number of its own. rows is positive.")
	x, by, rows, width := f.Arg("x"), f.Arg("by"), f.Arg("rows"), f.Arg("c")
	in, out, n := f.R(), f.R(), f.R()
	a = f.V(1)
	row := f.NewLabel("row")
	f.Label(row)
	f.Text("FMOV%s.P %d(%v), F%d", l.Letter(), l.Bits()/8, by, a[0])
	f.Text("VDUP V%d.%s[0], V%d.%s%d", a[0], l.Letter(), a[0], l.Letter(), l.Count())
	f.Text("MOVD %v, %v", x, in)
	f.Text("MOVD %v, %v", x, out)
	f.Text("MOVD %v, %v", width, n)
	f.Text("ADD %v<<%d, %v", width, bits.TrailingZeros(uint(l.Bits()/8)), x)
	f.Each(neon.Loop{Lanes: l, N: n, In: []neon.R{in}, Out: []neon.R{out}, Unroll: 4, Body: func(x []neon.Vec) []neon.Vec {
		f.Three("fmul", l, x[0], x[0], a)
		return x
	}})
	f.Text("SUBS $1, %v", rows)
	f.Text("BNE %s", row)
	f.Text("RET")
}
