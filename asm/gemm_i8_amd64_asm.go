package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

// gemmI8AMD64 writes the product of a matrix of 8-bit integers with a packed one,
//
//	C[i, :] = bias + Σ_p (A[i, p] + 128)·B[p, :]
//
// where the machine adds up products of four bytes. One of the two bytes has no sign: that is A's, in which a flipped bit adds 128, and the
// bias takes 128 times the sums of B's columns off again. All is modulo 2³². A step is one instruction for flipping and repeating, and two
// for 128 products; its seven others find room beside these.
func gemmI8AMD64(f *x86.File) {
	fn := f.Func(x86.VNNI, x86.F32, "gemmI8", "func(c *int32, ldc int, a *int8, lda int, b *int8, bias *int32, k, n int)",
		fmt.Sprintf("computes C [%d, 32n] for A [%[1]d, 4k] and a bias [32n], k and n ≥ 1. Strides are bytes. b is as in PackedI8.",
			gemmDotsRows))
	g := newGemmDots(fn)
	fn.VPBROADCASTD(fn.Data("flipI8", 0x80808080), g.fixed)
	g.begin()
	g.loop(1, func(m operand.Mem, to reg.VecPhysical) { fn.VPXORD_BCST(m, g.fixed, to) },
		func(sum, b, a reg.VecPhysical) { fn.VPDPBUSD(b, a, sum) })
	g.store(true)
}
