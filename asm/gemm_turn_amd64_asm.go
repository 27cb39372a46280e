package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

// gemmTurnAMD64 writes the copy of columns of B that lie along rows in memory, as those of a transposed matrix do, into a panel.
func gemmTurnAMD64(f *x86.File) {
	for _, e := range []x86.Elem{x86.F32, x86.F64} {
		gemmTurn(f, e)
	}
}

// gemmTurn takes as many rows as a vector has elements. Half a vector of row i and half a vector of the row that is half as many rows
// below it share a register, as their elements meet in a vector of the panel: no element must cross a register's middle afterwards.
func gemmTurn(f *x86.File, e x86.Elem) {
	name := "gemmTurnF32"
	if e == x86.F64 {
		name = "gemmTurnF64"
	}
	fn := f.Func(x86.AVX2, e, name, "func(panel, b *byte, blocks, stride int)",
		"transposes a vector's number of rows, stride bytes apart, into columns of a panel, blocks of as many columns; blocks > 0.")
	panel, b, blocks, stride := fn.Arg("panel"), fn.Arg("b"), fn.Arg("blocks"), fn.Arg("stride")
	lanes, half := fn.Lanes(), x86.AVX2.Bytes()/2
	multiples := map[int]reg.GPVirtual{1: stride}
	for _, m := range []int{3, 5, 7} {
		if m >= lanes {
			break
		}
		multiples[m] = fn.GP64()
		fn.LEAQ(operand.Mem{Base: multiples[m-2], Index: stride, Scale: 2}, multiples[m])
	}
	row := func(i, column int) operand.Mem {
		at := operand.Mem{Base: b, Disp: column * e.Bytes()}
		for scale := uint8(1); scale <= 4 && i > 0; scale *= 2 {
			if m, ok := multiples[i/int(scale)]; ok && i%int(scale) == 0 {
				at.Index, at.Scale = m, scale
				break
			}
		}
		return at
	}
	fn.Label("block")
	for column := 0; column < lanes; column += half / e.Bytes() {
		var pair []reg.VecVirtual
		for i := range lanes / 2 {
			v := fn.YMM()
			fn.VMOVUPS(row(i, column), v.AsX())
			fn.VINSERTF128(operand.U8(1), row(i+lanes/2, column), v, v)
			pair = append(pair, v)
		}
		for c, v := range turnedHalves(fn, pair) {
			fn.VMOVUPS(v, operand.Mem{Base: panel, Disp: (column + c) * 2 * cacheLine})
		}
	}
	fn.ADDQ(operand.I32(x86.AVX2.Bytes()), b)
	fn.ADDQ(operand.I32(lanes*2*cacheLine), panel)
	fn.DECQ(blocks)
	fn.JNE(operand.LabelRef("block"))
	fn.End()
}

// turnedHalves transposes the halves of registers, all at once: four of four float32, or two of two float64.
func turnedHalves(fn *x86.Func, x []reg.VecVirtual) []reg.VecVirtual {
	if fn.Elem == x86.F64 {
		low, high := fn.YMM(), fn.YMM()
		fn.VUNPCKLPD(x[1], x[0], low)
		fn.VUNPCKHPD(x[1], x[0], high)
		return []reg.VecVirtual{low, high}
	}
	var out []reg.VecVirtual
	var low, high [2]reg.VecVirtual
	for i := range low {
		low[i], high[i] = fn.YMM(), fn.YMM()
		fn.VUNPCKLPS(x[2*i+1], x[2*i], low[i])
		fn.VUNPCKHPS(x[2*i+1], x[2*i], high[i])
	}
	for _, v := range [][2]reg.VecVirtual{low, high} {
		for _, imm := range []uint8{0x44, 0xee} {
			r := fn.YMM()
			fn.VSHUFPS(operand.U8(imm), v[1], v[0], r)
			out = append(out, r)
		}
	}
	return out
}
