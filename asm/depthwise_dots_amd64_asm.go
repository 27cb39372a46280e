package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

const depthwiseDotsDoc = "sets rows of out, stride bytes apart, to scale·Σ w·f over the groups of a plan in pairs of " +
	"steps, for a slice of 16 channels. f and w are bfloat16. " +
	"The rows of w follow in the order of their use; those of the two steps of a pair stand channel by channel beside " +
	"each other. Points are given in bytes."

// depthwiseDotsAMD64 writes depthwiseOrbits for features and weights in bfloat16 where the machine multiplies pairs of
// those: two steps with the same mask go together, and the two points of a lane are brought together once for up to six
// rows:
//
//	registers: 24 sums + 4 pairs of points + a pair of weights + where lanes go
//	a pair of full steps: 8 loads of half a line and 6 of a line, 24 instructions for 48 products of 16 channels
//
// so half of the instructions, and half of the bytes, that depthwiseOrbits takes. A step that has no other of its mask
// goes alone, with zeros beside it.
func depthwiseDotsAMD64(f *x86.File) {
	fn := f.Func(x86.Dots, x86.F32, "depthwiseOrbitsF32",
		"func(out *float32, stride int, f, w *uint16, scale *float32, code *int32, groups int)", depthwiseDotsDoc)
	beside := make([]uint64, poseLanes) // the lanes of a pair: channel i of the first point, then that of the second
	for i := range beside {
		beside[i] = uint64(i | (poseLanes+i)<<16)
	}
	table := fn.Data("beside", beside...)
	var (
		out, feat, weight, scales = reg.RDI, reg.RSI, reg.RDX, reg.RCX
		code, groups              = reg.R8, reg.R9
		pairs, singles, fours     = reg.R10, reg.R11, reg.R12
		rows, mask, at, stride    = reg.R13, reg.RAX, reg.RBX, reg.R15
		v, order                  = reg.Z28, reg.Z29
		z                         = [...]reg.VecPhysical{reg.Z0, reg.Z1, reg.Z2, reg.Z3, reg.Z4, reg.Z5, reg.Z6, reg.Z7, reg.Z8,
			reg.Z9, reg.Z10, reg.Z11, reg.Z12,
			reg.Z13, reg.Z14, reg.Z15, reg.Z16, reg.Z17, reg.Z18, reg.Z19, reg.Z20, reg.Z21, reg.Z22, reg.Z23, reg.Z24, reg.Z25,
			reg.Z26, reg.Z27}
	)
	acc, x := z[:orbitRows*orbitCopies], z[orbitRows*orbitCopies:]
	fn.Load(fn.Param("out"), out)
	fn.Load(fn.Param("stride"), stride)
	fn.Load(fn.Param("f"), feat)
	fn.Load(fn.Param("w"), weight)
	fn.Load(fn.Param("scale"), scales)
	fn.Load(fn.Param("code"), code)
	fn.Load(fn.Param("groups"), groups)
	o := &orbitGroups{fn: fn, code: code, rows: rows, fours: fours, mask: mask, weight: weight, scales: scales, v: v,
		acc: vectors(acc), copies: orbitCopies}
	point := func(n int) operand.Mem {
		fn.MOVL(o.number(n), at.As32())
		return operand.Mem{Base: feat, Index: at, Scale: 1}
	}
	add := func(sum vector, c int) { fn.DotBF16(sum.(reg.VecPhysical), v, x[c]) }
	// loop writes one over pairs of steps, or over steps, of which there may be none.
	loop := func(name string, left counter, numbers int, body func()) {
		after := name + "ed"
		fn.TESTQ(left, left)
		fn.JE(operand.LabelRef(after))
		fn.Label(name)
		fn.MOVL(o.number(0), mask.As32())
		body()
		o.next(name, numbers, left)
		fn.Label(after)
	}

	fn.VMOVDQU32(table, order)
	o.each(groups, func() {
		o.begin(pairs, singles)
		loop("pair", pairs, 1+2*orbitCopies, func() {
			for c := range x {
				fn.VMOVDQU32(point(1+c), x[c].AsY())
				fn.VINSERTI64X4(operand.U8(1), point(1+orbitCopies+c), x[c], x[c])
				fn.VPERMW(x[c], order, x[c])
			}
			o.step("first", 4*poseLanes, func() { fn.VMOVDQU32(operand.Mem{Base: weight}, v) }, add)
		})
		loop("single", singles, 1+orbitCopies, func() {
			for c := range x {
				fn.VMOVDQU32(point(1+c), x[c].AsY())
				fn.VPERMW(x[c], order, x[c])
			}
			o.step("alone", 2*poseLanes, func() { fn.VPMOVZXWD(operand.Mem{Base: weight}, v) }, add)
		})
		o.store("stored", func(r, c int) operand.Mem {
			fn.MOVL(operand.Mem{Base: rows, Disp: 4 * (r*orbitCopies + c)}, at.As32())
			fn.IMULQ(stride, at)
			return operand.Mem{Base: out, Index: at, Scale: 1}
		})
		fn.Label("stored")
	})
	fn.End()
}
