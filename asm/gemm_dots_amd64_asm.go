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

// gemmDots is a product while it is written whose instructions add up several products of narrow elements a lane: twelve rows by 32
// columns at a time, whose 24 sums stay in registers. Four bytes of A serve two instructions, 128 of B twelve: 14 loads for 24.
type gemmDots struct {
	fn                   *x86.Func
	c, ldc, lda, b, bias reg.GPPhysical
	left, steps, to      reg.GPPhysical
	from                 []reg.GPPhysical // rows 0, 3, 6 and 9 of A
	rowB                 [2]reg.VecPhysical
	fixed                reg.VecPhysical // of what repeats A, or ends a sum
	sums, repeated       []reg.VecPhysical
}

// newGemmDots loads the arguments but a, k and rows, which are read again.
func newGemmDots(fn *x86.Func) *gemmDots {
	g := &gemmDots{fn: fn, c: reg.RDI, ldc: reg.RSI, lda: reg.R8, b: reg.RDX, bias: reg.RCX, left: reg.RAX, steps: reg.RBX, to: reg.R15,
		from: []reg.GPPhysical{reg.R9, reg.R10, reg.R11, reg.R12}, rowB: [2]reg.VecPhysical{reg.Z24, reg.Z25}, fixed: reg.Z31,
		sums: []reg.VecPhysical{reg.Z0, reg.Z1, reg.Z2, reg.Z3, reg.Z4, reg.Z5, reg.Z6, reg.Z7, reg.Z8, reg.Z9, reg.Z10, reg.Z11, reg.Z12,
			reg.Z13, reg.Z14, reg.Z15, reg.Z16, reg.Z17, reg.Z18, reg.Z19, reg.Z20, reg.Z21, reg.Z22, reg.Z23},
		repeated: []reg.VecPhysical{reg.Z26, reg.Z27, reg.Z28, reg.Z29}}
	fn.Load(fn.Param("c"), g.c)
	fn.Load(fn.Param("ldc"), g.ldc)
	fn.Load(fn.Param("lda"), g.lda)
	fn.Load(fn.Param("b"), g.b)
	fn.Load(fn.Param("bias"), g.bias)
	fn.Load(fn.Param("n"), g.left)
	return g
}

// begin starts the 32 columns of a panel from the bias.
func (g *gemmDots) begin() {
	g.fn.Label("panel")
	g.fn.VMOVUPS(operand.Mem{Base: g.bias}, g.sums[0])
	g.fn.VMOVUPS(operand.Mem{Base: g.bias, Disp: 64}, g.sums[1])
	g.fn.ADDQ(operand.I32(128), g.bias)
	for r := 1; r < gemmDotsRows; r++ {
		g.fn.VMOVAPS(g.sums[0], g.sums[2*r])
		g.fn.VMOVAPS(g.sums[1], g.sums[2*r+1])
	}
	g.fn.MOVQ(g.fn.ArgMem("a"), g.from[0])
	for i := 1; i < len(g.from); i++ {
		g.fn.LEAQ(operand.Mem{Base: g.from[i-1], Index: g.lda, Scale: 2}, g.from[i])
		g.fn.ADDQ(g.lda, g.from[i])
	}
	g.fn.MOVQ(g.fn.ArgMem("k"), g.steps)
}

// loop adds up all of A and B, in turns of so many steps: repeat brings four bytes of A into all lanes, add adds products with a row of B.
func (g *gemmDots) loop(turn int, repeat func(m operand.Mem, to reg.VecPhysical), add func(sum, b, a reg.VecPhysical)) {
	g.fn.Label("step")
	for p := range turn {
		g.fn.VMOVDQU32(operand.Mem{Base: g.b, Disp: 128 * p}, g.rowB[0])
		g.fn.VMOVDQU32(operand.Mem{Base: g.b, Disp: 128*p + 64}, g.rowB[1])
		for r := range gemmDotsRows {
			m := operand.Mem{Base: g.from[r/3], Disp: 4 * p}
			if r%3 > 0 {
				m.Index, m.Scale = g.lda, uint8(r%3)
			}
			a := g.repeated[r%len(g.repeated)]
			repeat(m, a)
			add(g.sums[2*r], g.rowB[0], a)
			add(g.sums[2*r+1], g.rowB[1], a)
		}
	}
	g.fn.ADDQ(operand.I32(128*turn), g.b)
	for _, r := range g.from {
		g.fn.ADDQ(operand.U8(4*turn), r)
	}
	g.fn.DECQ(g.steps)
	g.fn.JNE(operand.LabelRef("step"))
}

// store writes the rows of the panel, all of them or as many as the argument rows says, and goes on to the next panel.
func (g *gemmDots) store(all bool) {
	g.fn.MOVQ(g.c, g.to)
	if !all {
		g.fn.MOVQ(g.fn.ArgMem("rows"), g.steps)
	}
	for r := range gemmDotsRows {
		g.fn.VMOVUPS(g.sums[2*r], operand.Mem{Base: g.to})
		g.fn.VMOVUPS(g.sums[2*r+1], operand.Mem{Base: g.to, Disp: 64})
		if r+1 == gemmDotsRows {
			break
		}
		g.fn.ADDQ(g.ldc, g.to)
		if !all {
			g.fn.DECQ(g.steps)
			g.fn.JE(operand.LabelRef("stored"))
		}
	}
	if !all {
		g.fn.Label("stored")
	}
	g.fn.ADDQ(operand.I32(128), g.c)
	g.fn.DECQ(g.left)
	g.fn.JNE(operand.LabelRef("panel"))
	g.fn.End()
}

// gemmDotsAMD64 writes the product of a matrix in bfloat16 with a packed one,
//
//	C[i, :] = act(bias + Σ_p A[i, p]·B[p, :])
//
// where the machine adds up products of pairs, each instruction twice the products of an FMA.
func gemmDotsAMD64(f *x86.File) {
	fn := f.Func(x86.Dots, x86.F32, "gemmF32",
		"func(c *float32, ldc int, a *uint16, lda int, b *uint16, bias *float32, rows, k, n, relu int)",
		fmt.Sprintf("computes rows ≤ %d rows of C [rows, 32n] for A [%d, %dk] in bfloat16, of which all rows are read, "+
			"and a bias [32n]. Strides are bytes. b is as in PackedDots.",
			gemmDotsRows, gemmDotsRows, 2*gemmDotsPairs))
	g := newGemmDots(fn)
	fn.VPXORD(g.fixed, g.fixed, g.fixed)
	g.begin()
	g.loop(gemmDotsPairs, func(m operand.Mem, to reg.VecPhysical) { fn.VPBROADCASTD(m, to) }, fn.DotBF16)
	fn.MOVQ(fn.ArgMem("relu"), g.steps)
	fn.TESTQ(g.steps, g.steps)
	fn.JE(operand.LabelRef("linear"))
	// max(0, x) is x for NaN, and for -0 as well: adding 0 makes it 0.
	for _, r := range g.sums {
		fn.VMAXPS(r, g.fixed, r)
		fn.VADDPS(g.fixed, r, r)
	}
	fn.Label("linear")
	g.store(false)
}
