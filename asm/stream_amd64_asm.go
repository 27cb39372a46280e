package main

import (
	"github.com/mmcloughlin/avo/operand"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

// streamAMD64 writes what stores past the caches need. Such stores are as fast by half lines, so one level suffices.
func streamAMD64(f *x86.File) {
	fn := f.Func(x86.AVX2, x86.F32, "streamLines", "func(dst, src *byte, lines int, x, y *byte, step int)",
		"copies lines of 64 bytes past the caches, for a dst that begins on a line and lines > 0. "+
			"With each line it fetches two lines at x and one at y, which then move on by step bytes.")
	dst, src, lines := fn.Arg("dst"), fn.Arg("src"), fn.Arg("lines")
	x, y, step := fn.Arg("x"), fn.Arg("y"), fn.Arg("step")
	low, high := fn.Vec(), fn.Vec()
	fn.Label("line")
	fn.VMOVUPS(operand.Mem{Base: src}, low)
	fn.VMOVUPS(operand.Mem{Base: src, Disp: 32}, high)
	fn.VMOVNTPS(low, operand.Mem{Base: dst})
	fn.VMOVNTPS(high, operand.Mem{Base: dst, Disp: 32})
	fn.PREFETCHT0(operand.Mem{Base: x})
	fn.PREFETCHT0(operand.Mem{Base: x, Disp: cacheLine})
	fn.PREFETCHT0(operand.Mem{Base: y})
	fn.ADDQ(operand.I32(cacheLine), src)
	fn.ADDQ(operand.I32(cacheLine), dst)
	fn.ADDQ(step, x)
	fn.ADDQ(step, y)
	fn.DECQ(lines)
	fn.JNE(operand.LabelRef("line"))
	fn.End()

	fence := f.Func(x86.AVX2, x86.F32, "storeFence", "func()", "waits until stores past the caches are seen by every core.")
	fence.SFENCE()
	fence.End()
}
