package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

func axpyAMD64(f *x86.File) {
	map2F32(f, "addF32", "func(dst, x, y *float32, n int)", "sets dst[i] = x[i] + y[i] for i < n.",
		[2]string{"x", "y"}, unrollShort, func(b *x86.Block, x, y x86.Value) x86.Value { return b.Add(x, y) })
	for _, l := range levels {
		fn := f.Func(l, x86.F32, "axpyF32", "func(dst *float32, a float32, x *float32, n int)", "adds a·x[i] to dst[i] for i < n.")
		b := x86.NewBlock(l, x86.F32)
		a, dst, x := b.Uniform(), b.Input(), b.Input()
		b.Output(b.FMA(x, a, dst))
		pd, px := fn.Arg("dst"), fn.Arg("x")
		fn.Map(x86.Map{
			Block: b, Unroll: 4, Uniforms: []reg.VecVirtual{fn.BroadcastArg("a")},
			Out: []reg.GPVirtual{pd}, In: []reg.GPVirtual{pd, px}, N: fn.Arg("n"),
		})

		fn = f.Func(l, x86.F32, "scaleF32", "func(dst *float32, a float32, x *float32, n int)", "sets dst[i] = a·x[i] for i < n.")
		b = x86.NewBlock(l, x86.F32)
		a, x = b.Uniform(), b.Input()
		b.Output(b.Mul(x, a))
		fn.Map(x86.Map{
			Block: b, Unroll: 4, Uniforms: []reg.VecVirtual{fn.BroadcastArg("a")},
			Out: []reg.GPVirtual{fn.Arg("dst")}, In: []reg.GPVirtual{fn.Arg("x")}, N: fn.Arg("n"),
		})

		for _, vecs := range []int{2, 1} {
			scaleRows(f, l, vecs)
		}
	}
}

// scaleRows writes x[i, j] *= by[i].
func scaleRows(f *x86.File, l x86.Level, vecs int) {
	fn := f.Func(l, x86.F32, fmt.Sprintf("scaleRows%dF32", vecs), "func(x, by *float32, rows, stride, tail int)",
		"multiplies by by[i] "+fmt.Sprintf(normColumns, vecs))
	tail := fn.NewTail(fn.Arg("tail"))
	x, by, rows, stride := fn.Arg("x"), fn.Arg("by"), fn.Arg("rows"), fn.Arg("stride")
	a := fn.Vec()
	fn.Label("row")
	fn.VBROADCASTSS(operand.Mem{Base: by}, a)
	for v := range vecs {
		y := rowVector(fn, tail, x, v, vecs)
		fn.VMULPS(a, y, y)
		storeVector(fn, tail, y, x, v, vecs)
	}
	fn.ADDQ(operand.U8(4), by)
	fn.ADDQ(stride, x)
	fn.DECQ(rows)
	fn.JNE(operand.LabelRef("row"))
	fn.End()
}
