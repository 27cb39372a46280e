package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

const (
	gemmDotsRows  = 12 // rows of C that are computed together
	gemmDotsPairs = 4  // pairs of elements of a sum between two turns of the loop
)

// gemmDotsAMD64 writes the product of a matrix in bfloat16 with a packed one,
//
//	C[i, :] = act(bias + Σ_p A[i, p]·B[p, :])
//
// where the machine adds up products of pairs: twelve rows by 32 columns at a time, whose 24 sums stay in registers. A
// pair of A serves two instructions, one of B twelve: 14 loads for 24 instructions, each of twice the products of an
// FMA.
func gemmDotsAMD64(f *x86.File) {
	fn := f.Func(x86.Dots, x86.F32, "gemmF32",
		"func(c *float32, ldc int, a *uint16, lda int, b *uint16, bias *float32, rows, k, n, relu int)",
		fmt.Sprintf("computes rows ≤ %d rows of C [rows, 32n] for A [%d, %dk] in bfloat16, of which all rows are read, "+
			"and a bias [32n]. Strides are bytes. b is as in PackedDots.",
			gemmDotsRows, gemmDotsRows, 2*gemmDotsPairs))
	var (
		c, ldc, lda, b, bias = reg.RDI, reg.RSI, reg.R8, reg.RDX, reg.RCX
		left, steps, to      = reg.RAX, reg.RBX, reg.R15
		from                 = [...]reg.GPPhysical{reg.R9, reg.R10, reg.R11, reg.R12} // rows 0, 3, 6 and 9 of A
		b0, b1, x, zero      = reg.Z24, reg.Z25, reg.Z26, reg.Z31
		z                    = [...]reg.VecPhysical{reg.Z0, reg.Z1, reg.Z2, reg.Z3, reg.Z4, reg.Z5, reg.Z6, reg.Z7, reg.Z8,
			reg.Z9, reg.Z10, reg.Z11, reg.Z12,
			reg.Z13, reg.Z14, reg.Z15, reg.Z16, reg.Z17, reg.Z18, reg.Z19, reg.Z20, reg.Z21, reg.Z22, reg.Z23}
		others = [...]reg.VecPhysical{x, reg.Z27, reg.Z28, reg.Z29}
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
	fn.VPXORD(zero, zero, zero)

	fn.Label("panel")
	fn.VMOVUPS(operand.Mem{Base: bias}, z[0])
	fn.VMOVUPS(operand.Mem{Base: bias, Disp: 64}, z[1])
	fn.ADDQ(operand.I32(128), bias)
	for r := 1; r < gemmDotsRows; r++ {
		fn.VMOVAPS(z[0], z[2*r])
		fn.VMOVAPS(z[1], z[2*r+1])
	}
	fn.MOVQ(arg("a"), from[0])
	for i := 1; i < len(from); i++ {
		fn.LEAQ(operand.Mem{Base: from[i-1], Index: lda, Scale: 2}, from[i])
		fn.ADDQ(lda, from[i])
	}
	fn.MOVQ(arg("k"), steps)
	fn.Label("step")
	for p := range gemmDotsPairs {
		fn.VMOVDQU32(operand.Mem{Base: b, Disp: 128 * p}, b0)
		fn.VMOVDQU32(operand.Mem{Base: b, Disp: 128*p + 64}, b1)
		for r := range gemmDotsRows {
			m := operand.Mem{Base: from[r/3], Disp: 4 * p}
			if r%3 > 0 {
				m.Index, m.Scale = lda, uint8(r%3)
			}
			pair := others[r%len(others)]
			fn.VPBROADCASTD(m, pair)
			fn.DotBF16(z[2*r], b0, pair)
			fn.DotBF16(z[2*r+1], b1, pair)
		}
	}
	fn.ADDQ(operand.I32(128*gemmDotsPairs), b)
	for _, r := range from {
		fn.ADDQ(operand.U8(4*gemmDotsPairs), r)
	}
	fn.DECQ(steps)
	fn.JNE(operand.LabelRef("step"))

	fn.MOVQ(arg("relu"), steps)
	fn.TESTQ(steps, steps)
	fn.JE(operand.LabelRef("linear"))
	// max(0, x) is x for NaN, and for -0 as well: adding 0 makes it 0.
	for _, r := range z {
		fn.VMAXPS(r, zero, r)
		fn.VADDPS(zero, r, r)
	}
	fn.Label("linear")
	fn.MOVQ(c, to)
	fn.MOVQ(arg("rows"), steps)
	for r := range gemmDotsRows {
		fn.VMOVUPS(z[2*r], operand.Mem{Base: to})
		fn.VMOVUPS(z[2*r+1], operand.Mem{Base: to, Disp: 64})
		if r+1 < gemmDotsRows {
			fn.ADDQ(ldc, to)
			fn.DECQ(steps)
			fn.JE(operand.LabelRef("stored"))
		}
	}
	fn.Label("stored")
	fn.ADDQ(operand.I32(128), c)
	fn.DECQ(left)
	fn.JNE(operand.LabelRef("panel"))
	fn.End()
}
