package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

// greatestColumns is how many columns there are.
const greatestColumns = 32

// greatestAMD64 writes the maxima of columns of integers to which every row adds a number of its own.
func greatestAMD64(f *x86.File) {
	for _, l := range levels {
		fn := f.Func(l, x86.F32, "greatest", "func(dst, x, add *int32, rows int)",
			"sets dst[j] to the largest x[32i + j] + add[i], j < 32 and i < rows, rows ≥ 1.")
		dst, x, add, rows := fn.Arg("dst"), fn.Arg("x"), fn.Arg("add"), fn.Arg("rows")
		var most []reg.VecVirtual
		fn.MOVL(operand.U32(1<<31), reg.EAX)
		start := fn.XMM()
		fn.VMOVD(reg.EAX, start)
		for range 4 * greatestColumns / l.Bytes() {
			v := fn.Vec()
			fn.VPBROADCASTD(start, v)
			most = append(most, v)
		}
		loop := fn.NewLabel("loop")
		fn.Label(loop)
		own := fn.Vec()
		fn.VPBROADCASTD(operand.Mem{Base: add}, own)
		for i, v := range most {
			sum := fn.Vec()
			fn.VPADDD(operand.Mem{Base: x, Disp: i * l.Bytes()}, own, sum)
			fn.VPMAXSD(sum, v, v)
		}
		fn.ADDQ(operand.U8(4), add)
		fn.ADDQ(operand.I32(4*greatestColumns), x)
		fn.DECQ(rows)
		fn.JNE(operand.LabelRef(loop))
		for i, v := range most {
			fn.VMOVUPS(v, operand.Mem{Base: dst, Disp: i * l.Bytes()})
		}
		fn.End()
	}
}
