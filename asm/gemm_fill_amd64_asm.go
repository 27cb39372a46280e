package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

// gemmFillAhead is how many rows of B ahead of the copy are fetched.
const gemmFillAhead = 16

// gemmFillAMD64 writes the copy of columns of B that fill a panel.
func gemmFillAMD64(f *x86.File) {
	fn := f.Func(x86.AVX2, x86.F32, "gemmFill", "func(panel, b *byte, rows, step int)",
		"copies rows of two cache lines, step bytes apart, into a panel; rows > 0.")
	panel, b, rows, step := fn.Arg("panel"), fn.Arg("b"), fn.Arg("rows"), fn.Arg("step")
	ahead := fn.GP64()
	fn.IMUL3Q(operand.I32(gemmFillAhead), step, ahead)
	size := x86.AVX2.Bytes()
	x := make([]reg.VecVirtual, 2*cacheLine/size)
	fn.Label("row")
	for v := range x {
		x[v] = fn.Vec()
		fn.VMOVUPS(operand.Mem{Base: b, Disp: v * size}, x[v])
	}
	for l := range 2 {
		fn.PREFETCHT0(operand.Mem{Base: b, Index: ahead, Scale: 1, Disp: l * cacheLine})
	}
	for v := range x {
		fn.VMOVUPS(x[v], operand.Mem{Base: panel, Disp: v * size})
	}
	fn.ADDQ(step, b)
	fn.ADDQ(operand.I32(2*cacheLine), panel)
	fn.DECQ(rows)
	fn.JNE(operand.LabelRef("row"))
	fn.End()
}
