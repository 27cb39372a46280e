package main

import (
	"fmt"
	"strings"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

func axpyAMD64(f *x86.File) {
	for _, e := range []x86.Elem{x86.F32, x86.F64} {
		for _, l := range levels {
			axpyOf(f, l, e)
		}
	}
}

// typed completes a signature that names the element type "float".
func typed(e x86.Elem, signature string) string {
	return strings.ReplaceAll(signature, "float", e.GoType())
}

// axpyOf writes the functions for a level and a type.
func axpyOf(f *x86.File, l x86.Level, e x86.Elem) {
	fn := f.Func(l, e, "add"+e.String(), typed(e, "func(dst, x, y *float, n int)"), "sets dst[i] = x[i] + y[i] for i < n.")
	b := x86.NewBlock(l, e)
	b.Output(b.Add(b.Input(), b.Input()))
	fn.Map(x86.Map{
		Block: b, Unroll: unrollLines[l], Out: []reg.GPVirtual{fn.Arg("dst")}, In: []reg.GPVirtual{fn.Arg("x"), fn.Arg("y")},
		N: fn.Arg("n"),
	})

	fn = f.Func(l, e, "axpy"+e.String(), typed(e, "func(dst *float, a float, x *float, n int)"), "adds a·x[i] to dst[i] for i < n.")
	b = x86.NewBlock(l, e)
	a, dst, x := b.Uniform(), b.Input(), b.Input()
	b.Output(b.FMA(x, a, dst))
	pd, px := fn.Arg("dst"), fn.Arg("x")
	fn.Map(x86.Map{
		Block: b, Unroll: 4, Uniforms: []reg.VecVirtual{fn.BroadcastArg("a")},
		Out: []reg.GPVirtual{pd}, In: []reg.GPVirtual{pd, px}, N: fn.Arg("n"),
	})

	fn = f.Func(l, e, "scale"+e.String(), typed(e, "func(dst *float, a float, x *float, n int)"), "sets dst[i] = a·x[i] for i < n.")
	b = x86.NewBlock(l, e)
	a, x = b.Uniform(), b.Input()
	b.Output(b.Mul(x, a))
	fn.Map(x86.Map{
		Block: b, Unroll: 4, Uniforms: []reg.VecVirtual{fn.BroadcastArg("a")},
		Out: []reg.GPVirtual{fn.Arg("dst")}, In: []reg.GPVirtual{fn.Arg("x")}, N: fn.Arg("n"),
	})

	for _, vecs := range []int{2, 1} {
		scaleRows(f, l, e, vecs)
	}
	rotateOf(f, l, e)
}

// rotateOf writes what changes two vectors at once: a rotation and an exchange.
func rotateOf(f *x86.File, l x86.Level, e x86.Elem) {
	fn := f.Func(l, e, "rotate"+e.String(), typed(e, "func(x, y *float, c, s float, n int)"),
		"sets x[i], y[i] = c·x[i] + s·y[i], c·y[i] - s·x[i] for i < n.")
	b := x86.NewBlock(l, e)
	c, s, x, y := b.Uniform(), b.Uniform(), b.Input(), b.Input()
	b.Output(b.FMA(y, s, b.Mul(x, c)))
	b.Output(b.FNMA(x, s, b.Mul(y, c)))
	both := []reg.GPVirtual{fn.Arg("x"), fn.Arg("y")}
	fn.Map(x86.Map{Block: b, Unroll: 2, Uniforms: []reg.VecVirtual{fn.BroadcastArg("c"), fn.BroadcastArg("s")}, Out: both, In: both,
		N: fn.Arg("n")})

	fn = f.Func(l, e, "swap"+e.String(), typed(e, "func(x, y *float, n int)"), "exchanges x[i] and y[i] for i < n.")
	b = x86.NewBlock(l, e)
	x, y = b.Input(), b.Input()
	b.Output(y)
	b.Output(x)
	both = []reg.GPVirtual{fn.Arg("x"), fn.Arg("y")}
	fn.Map(x86.Map{Block: b, Unroll: 2, Out: both, In: both, N: fn.Arg("n")})
}

// repeatElem brings a number into all lanes of a register.
func repeatElem(fn *x86.Func, m operand.Mem, r reg.VecVirtual) {
	if fn.Elem == x86.F64 {
		fn.VBROADCASTSD(m, r)
	} else {
		fn.VBROADCASTSS(m, r)
	}
}

// floats writes an instruction on vectors of the function's type.
func floats(fn *x86.Func, name string, ops ...operand.Op) {
	fn.Inst(name+map[x86.Elem]string{x86.F32: "PS", x86.F64: "PD"}[fn.Elem], ops...)
}

// scaleRows writes x[i, j] *= by[i].
func scaleRows(f *x86.File, l x86.Level, e x86.Elem, vecs int) {
	fn := f.Func(l, e, fmt.Sprintf("scaleRows%d%v", vecs, e), typed(e, "func(x, by *float, rows, stride, tail int)"),
		"multiplies by by[i] "+fmt.Sprintf(normColumns, vecs))
	tail := fn.NewTail(fn.Arg("tail"))
	x, by, rows, stride := fn.Arg("x"), fn.Arg("by"), fn.Arg("rows"), fn.Arg("stride")
	a := fn.Vec()
	fn.Label("row")
	repeatElem(fn, operand.Mem{Base: by}, a)
	for v := range vecs {
		y := rowVector(fn, tail, x, v, vecs)
		floats(fn, "VMUL", a, y, y)
		storeEachRow(fn, tail, y, x, v, vecs)
	}
	fn.ADDQ(operand.U8(e.Bytes()), by)
	fn.ADDQ(stride, x)
	fn.DECQ(rows)
	fn.JNE(operand.LabelRef("row"))
	fn.End()
}
