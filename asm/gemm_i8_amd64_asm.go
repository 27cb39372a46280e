package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

// gemmI8Rows is how many rows of C are computed together.
const gemmI8Rows = 12

// gemmI8AMD64 writes the product of a matrix of 8-bit integers with a packed one,
//
//	C[i, :] = bias + Σ_p (A[i, p] + 128)·B[p, :]
//
// where the machine adds up products of four bytes: as gemmDotsAMD64, twelve rows by 32 columns at a time. One of the two bytes has no
// sign: that is A's, in which a flipped bit adds 128, and the bias takes 128 times the sums of B's columns off again. All is modulo 2³².
// A step is one instruction for flipping and repeating, and two for 128 products; its seven others find room beside these.
func gemmI8AMD64(f *x86.File) {
	fn := f.Func(x86.VNNI, x86.F32, "gemmI8", "func(c *int32, ldc int, a *int8, lda int, b *int8, bias *int32, k, n int)",
		fmt.Sprintf("computes C [%d, 32n] for A [%[1]d, 4k] and a bias [32n], k and n ≥ 1. Strides are bytes. b is as in PackedI8.",
			gemmI8Rows))
	var (
		c, ldc, lda, b, bias = reg.RDI, reg.RSI, reg.R8, reg.RDX, reg.RCX
		left, steps, to      = reg.RAX, reg.RBX, reg.R15
		from                 = [...]reg.GPPhysical{reg.R9, reg.R10, reg.R11, reg.R12} // rows 0, 3, 6 and 9 of A
		b0, b1, flip         = reg.Z24, reg.Z25, reg.Z31
		z                    = [...]reg.VecPhysical{reg.Z0, reg.Z1, reg.Z2, reg.Z3, reg.Z4, reg.Z5, reg.Z6, reg.Z7, reg.Z8,
			reg.Z9, reg.Z10, reg.Z11, reg.Z12,
			reg.Z13, reg.Z14, reg.Z15, reg.Z16, reg.Z17, reg.Z18, reg.Z19, reg.Z20, reg.Z21, reg.Z22, reg.Z23}
		quads = [...]reg.VecPhysical{reg.Z26, reg.Z27, reg.Z28, reg.Z29}
	)
	arg := func(name string) operand.Mem {
		p, err := fn.Param(name).Resolve()
		if err != nil {
			panic(err)
		}
		return p.Addr
	}
	fn.Load(fn.Param("c"), c)
	fn.Load(fn.Param("ldc"), ldc)
	fn.Load(fn.Param("lda"), lda)
	fn.Load(fn.Param("b"), b)
	fn.Load(fn.Param("bias"), bias)
	fn.Load(fn.Param("n"), left)
	fn.VPBROADCASTD(fn.Data("flipI8", 0x80808080), flip)

	fn.Label("panel")
	fn.VMOVDQU32(operand.Mem{Base: bias}, z[0])
	fn.VMOVDQU32(operand.Mem{Base: bias, Disp: 64}, z[1])
	fn.ADDQ(operand.I32(128), bias)
	for r := 1; r < gemmI8Rows; r++ {
		fn.VMOVDQA32(z[0], z[2*r])
		fn.VMOVDQA32(z[1], z[2*r+1])
	}
	fn.MOVQ(arg("a"), from[0])
	for i := 1; i < len(from); i++ {
		fn.LEAQ(operand.Mem{Base: from[i-1], Index: lda, Scale: 2}, from[i])
		fn.ADDQ(lda, from[i])
	}
	fn.MOVQ(arg("k"), steps)
	fn.Label("step")
	fn.VMOVDQU32(operand.Mem{Base: b}, b0)
	fn.VMOVDQU32(operand.Mem{Base: b, Disp: 64}, b1)
	for r := range gemmI8Rows {
		m := operand.Mem{Base: from[r/3]}
		if r%3 > 0 {
			m.Index, m.Scale = lda, uint8(r%3)
		}
		quad := quads[r%len(quads)]
		fn.VPXORD_BCST(m, flip, quad)
		fn.VPDPBUSD(b0, quad, z[2*r])
		fn.VPDPBUSD(b1, quad, z[2*r+1])
	}
	fn.ADDQ(operand.I32(128), b)
	for _, r := range from {
		fn.ADDQ(operand.U8(4), r)
	}
	fn.DECQ(steps)
	fn.JNE(operand.LabelRef("step"))
	fn.MOVQ(c, to)
	for r := range gemmI8Rows {
		fn.VMOVDQU32(z[2*r], operand.Mem{Base: to})
		fn.VMOVDQU32(z[2*r+1], operand.Mem{Base: to, Disp: 64})
		if r+1 < gemmI8Rows {
			fn.ADDQ(ldc, to)
		}
	}
	fn.ADDQ(operand.I32(128), c)
	fn.DECQ(left)
	fn.JNE(operand.LabelRef("panel"))
	fn.End()
}
