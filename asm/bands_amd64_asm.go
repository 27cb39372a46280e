package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

// bandsDir is where the kernels of bands go, seen from package simd.
const bandsDir = "../internal/bands/"

// Bits of the argument mode of mapped.
const (
	bandsReLU = 1 << iota
	bandsAdd
	bandsRows
)

// bandsTiles are the shapes of eight full tiles.
var bandsTiles = append([]uint64{1, 0, 0, 0, 0x400040, 0x400040, 0x400040, 0x400040, 0, 0, 0, 0}, 0x10101010, 0x10101010, 0, 0)

func bandsAMD64(f *x86.File) {
	f.Bits = append(f.Bits,
		x86.Bit{Name: "modeReLU", Value: bandsReLU, Doc: "ends in max(0, x)."},
		x86.Bit{Name: "modeAdd", Value: bandsAdd, Doc: "adds what base holds."},
		x86.Bit{Name: "modeRows", Value: bandsRows, Doc: "writes float32 numbers, a position's channels side by side."})
	bandsExpand(f)
	bandsSums(f)
	bandsPair(f)
	bandsMapped(f)
	bandsSpread(f)
}

// words packs numbers of 16 bits by twos.
func words(n int, at func(i int) int) (packed []uint64) {
	for i := 0; i < n; i += 2 {
		packed = append(packed, uint64(at(i)&0xffff|at(i+1)&0xffff<<16))
	}
	return packed
}

// bandsArg returns the address of an argument.
func bandsArg(fn *x86.Func) func(name string) operand.Mem {
	return func(name string) operand.Mem {
		p, err := fn.Param(name).Resolve()
		if err != nil {
			panic(err)
		}
		return p.Addr
	}
}

// bandsExpand: of four rows of a strip, eight weights each, the pairs that 16 results take of two pixels: result (oy, ox) takes weight
// kx - ox + 3 of row 3 - oy for pixel kx.
func bandsExpand(f *x86.File) {
	fn := f.Func(x86.AMX, x86.F32, "expand", "func(tiles, strips *uint16, list *int32, n int)",
		"sets n tiles [16, 16, 2] to the bands of strips; see expandGeneric. list has two numbers for each, and the "+
			"second is where its strip begins, in bytes.")
	arg := bandsArg(fn)
	to, from, list, n, at := reg.RDI, reg.RSI, reg.RDX, reg.RCX, reg.RAX
	for p := range 2 {
		fn.VMOVDQU64(fn.Data(fmt.Sprintf("pair%d", p),
			words(32, func(i int) int { return (3-i/8)*8 + 2*p + i%2 - i/2%4 + 3 })...), []reg.VecPhysical{reg.Z30, reg.Z31}[p])
	}
	fn.MOVQ(arg("tiles"), to)
	fn.MOVQ(arg("strips"), from)
	fn.MOVQ(arg("list"), list)
	fn.MOVQ(arg("n"), n)
	fn.Label("tile")
	fn.MOVLQSX(operand.Mem{Base: list, Disp: 4}, at)
	fn.ADDQ(from, at)
	regs := []reg.VecPhysical{reg.Z0, reg.Z1, reg.Z2, reg.Z3, reg.Z4, reg.Z5, reg.Z6, reg.Z7}
	for i, r := range regs {
		fn.VMOVDQU64(operand.Mem{Base: at, Disp: 16 * i}, r)
		fn.VPERMW(r, reg.Z30, reg.Z8)
		fn.VPERMW(r, reg.Z31, reg.Z9)
		fn.VMOVDQU64(reg.Z8, operand.Mem{Base: to, Disp: 128 * i})
		fn.VMOVDQU64(reg.Z9, operand.Mem{Base: to, Disp: 128*i + 64})
	}
	fn.ADDQ(operand.I32(x86.TileBytes), to)
	fn.ADDQ(operand.U8(8), list)
	fn.DECQ(n)
	fn.JNE(operand.LabelRef("tile"))
	fn.End()
}

// bandsSums: for four columns of results at a time, a tile of each, one tile of weights after the other.
func bandsSums(f *x86.File) {
	fn := f.Func(x86.AMX, x86.F32, "sums", "func(dst *float32, a, tiles *uint16, list *int32, n, columns, pitch int)",
		"sets dst [columns, 16, 16] to the sums of n products of tiles: of 16 blocks of four rows of each column with "+
			"the weights; see sumsGeneric. Columns come by fours, pitch bytes apart.")
	arg := bandsArg(fn)
	config := fn.Data("shapes", bandsTiles...)
	line, half, c, a, tiles, list, n, columns, pitch, at := reg.RAX, reg.RBX, reg.RDI, reg.RSI, reg.RDX, reg.R8, reg.RCX, reg.R9,
		reg.R10, reg.R11
	fn.LEAQ(config, line)
	fn.TileConfig(line)
	fn.MOVQ(operand.I32(64), line)
	fn.MOVQ(operand.I32(32), half)
	fn.MOVQ(arg("dst"), c)
	fn.MOVQ(arg("a"), a)
	fn.MOVQ(arg("columns"), columns)
	fn.MOVQ(arg("pitch"), pitch)
	fn.Label("group")
	for t := range x86.Tile(4) {
		fn.TileZero(t)
	}
	fn.MOVQ(arg("tiles"), tiles)
	fn.MOVQ(arg("list"), list)
	fn.MOVQ(arg("n"), n)
	fn.Label("tile")
	fn.MOVLQSX(operand.Mem{Base: list}, at)
	fn.ADDQ(a, at)
	fn.TileLoad(4, tiles, line, 0)
	for t := range x86.Tile(4) {
		fn.TileLoad(5+t%3, at, half, 0)
		fn.TileMultiply(t, 5+t%3, 4)
		if t < 3 {
			fn.ADDQ(pitch, at)
		}
	}
	fn.ADDQ(operand.I32(x86.TileBytes), tiles)
	fn.ADDQ(operand.U8(8), list)
	fn.DECQ(n)
	fn.JNE(operand.LabelRef("tile"))
	for t := range x86.Tile(4) {
		fn.TileStore(t, c, line, int(t)*x86.TileBytes)
	}
	fn.ADDQ(operand.I32(4*x86.TileBytes), c)
	fn.LEAQ(operand.Mem{Base: a, Index: pitch, Scale: 4}, a)
	fn.SUBQ(operand.U8(4), columns)
	fn.JG(operand.LabelRef("group"))
	fn.TileRelease()
	fn.End()
}

// bandsPair rounds sums of two channels, and sets them side by side.
func bandsPair(f *x86.File) {
	fn := f.Func(x86.AMX, x86.F32, "pair", "func(dst *uint16, x0, x1, scale *float32, stride, n int)",
		"sets n lines of dst, stride bytes apart, to 16 pairs of x0·scale and x1·scale, rounded to bfloat16.")
	arg := bandsArg(fn)
	to, low, high, scale, stride, n := reg.RDI, reg.RSI, reg.RDX, reg.R8, reg.R9, reg.RCX
	fn.VMOVDQU64(fn.Data("zip", words(32, func(i int) int { return i/2 + i%2*16 })...), reg.Z31)
	fn.MOVQ(arg("dst"), to)
	fn.MOVQ(arg("x0"), low)
	fn.MOVQ(arg("x1"), high)
	fn.MOVQ(arg("scale"), scale)
	fn.MOVQ(arg("stride"), stride)
	fn.MOVQ(arg("n"), n)
	fn.Label("line")
	fn.VMOVUPS(operand.Mem{Base: scale}, reg.Z2)
	fn.VMULPS(operand.Mem{Base: low}, reg.Z2, reg.Z0)
	fn.VMULPS(operand.Mem{Base: high}, reg.Z2, reg.Z1)
	fn.RoundBF16(reg.Z3, reg.Z0, reg.Z1)
	fn.VPERMW(reg.Z3, reg.Z31, reg.Z3)
	fn.VMOVDQU64(reg.Z3, operand.Mem{Base: to})
	for _, r := range []reg.GPPhysical{low, high, scale} {
		fn.ADDQ(operand.U8(64), r)
	}
	fn.ADDQ(stride, to)
	fn.DECQ(n)
	fn.JNE(operand.LabelRef("line"))
	fn.End()
}

// bandsMapped: the dense map of two blocks of 16 positions at a time, 32 results of each.
func bandsMapped(f *x86.File) {
	fn := f.Func(x86.AMX, x86.F32, "mapped",
		"func(dst, base *uint16, stride int, x *uint16, pitch int, w *uint16, bias *float32, mask *uint32, scratch "+
			"*float32, n, k, o, mode int, rows *float32, index *int32, step int)",
		"sets 32·o channels of 2n blocks of 16 positions, stride bytes apart, to the map of 32·k channels x, whose "+
			"blocks are pitch bytes apart; see mapGeneric. scratch has 1024 numbers.")
	arg := bandsArg(fn)
	config := fn.Data("shapes", bandsTiles...)
	line, row, to, base, x, w, bias, o, k, from := reg.RAX, reg.RBX, reg.RDI, reg.RSI, reg.RDX, reg.R8, reg.R9, reg.R10, reg.R11, reg.R12
	left, second, stride, at := reg.R13, reg.RCX, reg.R14, reg.R15
	zero := reg.Z31
	fn.LEAQ(config, line)
	fn.TileConfig(line)
	fn.MOVQ(operand.I32(64), line)
	fn.MOVQ(operand.I32(128), row)
	fn.VPXORD(zero, zero, zero)
	fn.MOVQ(arg("index"), at)
	fn.TESTQ(operand.I32(bandsRows), arg("mode"))
	fn.JE(operand.LabelRef("pair"))
	fn.VMOVDQU32(operand.Mem{Base: at}, reg.Z29)
	fn.Label("pair")
	fn.MOVQ(arg("mask"), at)
	fn.KMOVD(operand.Mem{Base: at}, reg.K1)
	fn.ADDQ(operand.U8(4), arg("mask"))
	fn.MOVQ(arg("dst"), to)
	fn.ADDQ(operand.U8(64), arg("dst"))
	fn.MOVQ(arg("base"), base)
	fn.ADDQ(operand.U8(64), arg("base"))
	fn.MOVQ(arg("w"), w)
	fn.MOVQ(arg("bias"), bias)
	fn.MOVQ(arg("o"), o)
	fn.MOVQ(arg("rows"), left)
	fn.Label("outputs")
	fn.TileLoad(0, bias, line, 0)
	fn.TileLoad(1, bias, line, 0)
	fn.TileLoad(2, bias, line, x86.TileBytes)
	fn.TileLoad(3, bias, line, x86.TileBytes)
	fn.ADDQ(operand.I32(2*x86.TileBytes), bias)
	fn.MOVQ(arg("x"), x)
	fn.MOVQ(x, second)
	fn.ADDQ(arg("pitch"), second)
	fn.MOVQ(arg("k"), k)
	fn.Label("product")
	fn.TileLoad(4, w, line, 0)
	fn.TileLoad(6, x, line, 0)
	fn.TileMultiply(0, 4, 6)
	fn.TileLoad(7, second, line, 0)
	fn.TileMultiply(1, 4, 7)
	fn.TileLoad(5, w, line, x86.TileBytes)
	fn.TileMultiply(2, 5, 6)
	fn.TileMultiply(3, 5, 7)
	fn.ADDQ(operand.I32(2*x86.TileBytes), w)
	fn.ADDQ(operand.I32(x86.TileBytes), x)
	fn.ADDQ(operand.I32(x86.TileBytes), second)
	fn.DECQ(k)
	fn.JNE(operand.LabelRef("product"))
	fn.MOVQ(arg("scratch"), from)
	for t := range x86.Tile(4) {
		fn.TileStore(t, from, row, int(t/2)*16*128+int(t%2)*64)
	}
	fn.MOVQ(arg("stride"), stride)
	fn.MOVQ(operand.I32(32), k)
	fn.Label("row")
	fn.VMOVUPS(operand.Mem{Base: from}, reg.Z0)
	fn.VMOVUPS(operand.Mem{Base: from, Disp: 64}, reg.Z1)
	fn.TESTQ(operand.I32(bandsAdd), arg("mode"))
	fn.JE(operand.LabelRef("alone"))
	for i, r := range []reg.VecPhysical{reg.Z0, reg.Z1} {
		fn.VPMOVZXWD(operand.Mem{Base: base, Disp: 32 * i}, reg.Z2)
		fn.VPSLLD(operand.U8(16), reg.Z2, reg.Z2)
		fn.VADDPS(reg.Z2, r, r)
	}
	fn.Label("alone")
	fn.TESTQ(operand.I32(bandsReLU), arg("mode"))
	fn.JE(operand.LabelRef("linear"))
	for _, r := range []reg.VecPhysical{reg.Z0, reg.Z1} {
		fn.VMAXPS(r, zero, r)
	}
	fn.Label("linear")
	fn.TESTQ(operand.I32(bandsRows), arg("mode"))
	fn.JNE(operand.LabelRef("scatter"))
	fn.RoundBF16(reg.Z2, reg.Z0, reg.Z1)
	fn.VMOVDQU16_Z(reg.Z2, reg.K1, reg.Z2)
	fn.VMOVDQU64(reg.Z2, operand.Mem{Base: to})
	fn.Label("next")
	fn.ADDQ(row, from)
	fn.ADDQ(stride, to)
	fn.ADDQ(stride, base)
	fn.DECQ(k)
	fn.JNE(operand.LabelRef("row"))
	fn.DECQ(o)
	fn.JNE(operand.LabelRef("outputs"))
	fn.MOVQ(arg("pitch"), x)
	fn.ADDQ(x, x)
	fn.ADDQ(x, arg("x"))
	fn.MOVQ(arg("step"), x)
	fn.ADDQ(x, x)
	fn.ADDQ(x, arg("rows"))
	fn.DECQ(arg("n"))
	fn.JNE(operand.LabelRef("pair"))
	fn.TileRelease()
	fn.RET()
	fn.Label("scatter")
	fn.KMOVW(reg.K1, reg.K2)
	fn.KSHIFTRD(operand.U8(16), reg.K1, reg.K3)
	fn.VSCATTERDPS(reg.Z0, reg.K2, operand.Mem{Base: left, Index: reg.Z29, Scale: 4})
	fn.MOVQ(arg("step"), at)
	fn.ADDQ(left, at)
	fn.VSCATTERDPS(reg.Z1, reg.K3, operand.Mem{Base: at, Index: reg.Z29, Scale: 4})
	fn.ADDQ(operand.U8(4), left)
	fn.JMP(operand.LabelRef("next"))
	fn.End()
}

// bandsSpread: a position's channels, by pairs, go into its place of the lines of a block.
func bandsSpread(f *x86.File) {
	fn := f.Func(x86.AMX, x86.F32, "spread", "func(dst *uint16, x *float32, n int)",
		"sets pairs of 32·n channels of a position, 64 bytes apart, to those of x, rounded to bfloat16.")
	arg := bandsArg(fn)
	to, from, n := reg.RDI, reg.RSI, reg.RCX
	index := make([]uint64, 16)
	for i := range index {
		index[i] = uint64(64 * i)
	}
	fn.VMOVDQU64(fn.Data("lines", index...), reg.Z31)
	fn.MOVQ(arg("dst"), to)
	fn.MOVQ(arg("x"), from)
	fn.MOVQ(arg("n"), n)
	fn.Label("part")
	fn.VMOVUPS(operand.Mem{Base: from}, reg.Z0)
	fn.VMOVUPS(operand.Mem{Base: from, Disp: 64}, reg.Z1)
	fn.RoundBF16(reg.Z2, reg.Z0, reg.Z1)
	fn.KXNORW(reg.K1, reg.K1, reg.K1)
	fn.VPSCATTERDD(reg.Z2, reg.K1, operand.Mem{Base: to, Index: reg.Z31, Scale: 1})
	fn.ADDQ(operand.U8(128), from)
	fn.ADDQ(operand.I32(x86.TileBytes), to)
	fn.DECQ(n)
	fn.JNE(operand.LabelRef("part"))
	fn.End()
}
