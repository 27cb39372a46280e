package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

// The product of matrices in bfloat16,
//
//	C[i, :] = act(bias + Σ_p A[i, p]·B[p, :])
//
// goes by blocks of 32 rows and panels of 32 columns: four tiles of sums. A tile multiplies [16, 32] by [32, 16] in
// sixteen cycles, sixteen times as fast as FMA of float32. A block's rows of A are first rounded to bfloat16 in a
// buffer, tile by tile, for all panels.
//
// In mode split A and B are sums of two bfloat16 numbers each, A = A1 + A2 with A2 the rounded rest, and so
//
//	A·B ≈ A1·B1 + A1·B2 + A2·B1
//
// up to 2^-17 of each term: three products, of which each tile is loaded once or twice.
//
// A tile is computed whole, whether all its rows exist or not; rows do not know of each other. Nothing preempts
// assembly, so tiles live from the first instruction to the last, and no other code sees them.

// Bits of the argument mode.
const (
	tilesReLU = 1 << iota
	tilesSplit
)

// tilesPart is the bytes of a part of 32 rows or columns, for 32 elements of the sum.
const tilesPart = 2 * x86.TileBytes

func tilesAMD64(f *x86.File) {
	f.Bits = append(f.Bits,
		x86.Bit{Name: "tilesReLU", Value: tilesReLU, Doc: "ends in max(0, x)."},
		x86.Bit{Name: "tilesSplit", Value: tilesSplit, Doc: "takes two parts of A and B."})
	fn := f.Func(x86.AMX, x86.F32, "gemmTilesF32",
		"func(c *float32, ldc int, a *float32, lda int, b *uint16, bias *float32, space *float32, m, k, n, mode int) int",
		"computes C [m, 32n] for A [m, 32k] and a bias [32n]. Strides count elements. b is as in PackedTiles, and "+
			"space has b.TilesSpace() elements. The result is 0 if all sums are finite.")
	config := fn.Data("tiles", append([]uint64{1, 0, 0, 0, 0x400040, 0x400040, 0x400040, 0x400040, 0, 0, 0, 0}, 0x10101010,
		0x10101010, 0, 0)...)
	var (
		line, row, none    = reg.RAX, reg.RCX, reg.R15 // the bytes of a line, of a row of sums, and 0
		a, c, space, right = reg.RSI, reg.RDI, reg.RDX, reg.R10
		lda, ldc           = reg.R8, reg.R9
		bias, rows, left   = reg.R13, reg.RBX, reg.R12
		from, to           = reg.R11, reg.R14
		zero, bad          = reg.Z31, reg.Z30
		arg                = func(name string) operand.Mem {
			p, err := fn.Param(name).Resolve()
			if err != nil {
				panic(err)
			}
			return p.Addr
		}
	)
	fn.LEAQ(config, line)
	fn.TileConfig(line)
	fn.MOVQ(operand.I32(64), line)
	fn.MOVQ(operand.I32(128), row)
	fn.XORQ(none, none)
	fn.VPXORD(zero, zero, zero)
	fn.VPXORD(bad, bad, bad)
	fn.MOVQ(arg("a"), a)
	fn.MOVQ(arg("c"), c)
	fn.MOVQ(arg("lda"), lda)
	fn.SHLQ(operand.I8(2), lda)
	fn.MOVQ(arg("ldc"), ldc)
	fn.SHLQ(operand.I8(2), ldc)

	fn.Label("block")
	fn.MOVQ(arg("m"), rows)
	fn.CMPQ(rows, operand.I32(32))
	fn.JLE(operand.LabelRef("known"))
	fn.MOVQ(operand.I32(32), rows)
	fn.Label("known")

	// Round the rows of A.
	fn.MOVQ(arg("space"), space)
	fn.MOVQ(rows, left)
	fn.Label("round")
	fn.MOVQ(a, from)
	fn.MOVQ(space, to)
	fn.MOVQ(arg("k"), right)
	fn.Label("part")
	fn.VMOVUPS(operand.Mem{Base: from}, reg.Z0)
	fn.VMOVUPS(operand.Mem{Base: from, Disp: 64}, reg.Z1)
	fn.RoundBF16(reg.Z2, reg.Z0, reg.Z1)
	fn.VMOVDQU64(reg.Z2, operand.Mem{Base: to})
	fn.ADDQ(operand.I32(128), from)
	fn.ADDQ(operand.I32(tilesPart), to)
	fn.TESTQ(operand.I32(tilesSplit), arg("mode"))
	fn.JE(operand.LabelRef("rounded"))
	fn.VPMOVZXWD(reg.Y2, reg.Z3)
	fn.VPSLLD(operand.U8(16), reg.Z3, reg.Z3)
	fn.VSUBPS(reg.Z3, reg.Z0, reg.Z0)
	fn.VEXTRACTI64X4(operand.U8(1), reg.Z2, reg.Y3)
	fn.VPMOVZXWD(reg.Y3, reg.Z3)
	fn.VPSLLD(operand.U8(16), reg.Z3, reg.Z3)
	fn.VSUBPS(reg.Z3, reg.Z1, reg.Z1)
	fn.RoundBF16(reg.Z2, reg.Z0, reg.Z1)
	fn.VMOVDQU64(reg.Z2, operand.Mem{Base: to})
	fn.ADDQ(operand.I32(tilesPart), to)
	fn.Label("rounded")
	fn.DECQ(right)
	fn.JNE(operand.LabelRef("part"))
	fn.ADDQ(lda, a)
	fn.ADDQ(line, space)
	fn.DECQ(left)
	fn.JNE(operand.LabelRef("round"))

	// The panels.
	fn.MOVQ(arg("b"), right)
	fn.MOVQ(arg("bias"), bias)
	fn.MOVQ(arg("n"), left)
	fn.Label("panel")
	for t := range x86.Tile(4) {
		fn.TileLoad(t, bias, none, int(t%2)*64)
	}
	fn.ADDQ(operand.I32(128), bias)
	fn.MOVQ(arg("space"), space)
	fn.MOVQ(arg("k"), from)
	multiply := func() {
		for t := range x86.Tile(4) {
			fn.TileMultiply(t, 4+t/2, 6+t%2)
		}
	}
	load := func(t x86.Tile, base reg.GPPhysical, part int) {
		fn.TileLoad(t, base, line, part*tilesPart)
		fn.TileLoad(t+1, base, line, part*tilesPart+x86.TileBytes)
	}
	fn.TESTQ(operand.I32(tilesSplit), arg("mode"))
	fn.JNE(operand.LabelRef("split"))
	fn.Label("product")
	load(4, space, 0)
	load(6, right, 0)
	multiply()
	fn.ADDQ(operand.I32(tilesPart), space)
	fn.ADDQ(operand.I32(tilesPart), right)
	fn.DECQ(from)
	fn.JNE(operand.LabelRef("product"))
	fn.JMP(operand.LabelRef("summed"))
	fn.Label("split")
	load(4, space, 0)
	load(6, right, 1)
	multiply()
	load(6, right, 0)
	multiply()
	load(4, space, 1)
	multiply()
	fn.ADDQ(operand.I32(2*tilesPart), space)
	fn.ADDQ(operand.I32(2*tilesPart), right)
	fn.DECQ(from)
	fn.JNE(operand.LabelRef("split"))
	fn.Label("summed")

	// The sums go behind the block of A, where space ends, and from there to C.
	for t := range x86.Tile(4) {
		fn.TileStore(t, space, row, int(t/2)*16*128+int(t%2)*64)
	}
	fn.MOVQ(c, to)
	fn.MOVQ(rows, from)
	fn.Label("row")
	fn.VMOVUPS(operand.Mem{Base: space}, reg.Z0)
	fn.VMOVUPS(operand.Mem{Base: space, Disp: 64}, reg.Z1)
	fn.VFMADD231PS(reg.Z0, zero, bad)
	fn.VFMADD231PS(reg.Z1, zero, bad)
	fn.TESTQ(operand.I32(tilesReLU), arg("mode"))
	fn.JE(operand.LabelRef("linear"))
	// max(0, x) is x for NaN, and for -0 as well: adding 0 makes it 0.
	for _, r := range []reg.VecPhysical{reg.Z0, reg.Z1} {
		fn.VMAXPS(r, zero, r)
		fn.VADDPS(zero, r, r)
	}
	fn.Label("linear")
	fn.VMOVUPS(reg.Z0, operand.Mem{Base: to})
	fn.VMOVUPS(reg.Z1, operand.Mem{Base: to, Disp: 64})
	fn.ADDQ(row, space)
	fn.ADDQ(ldc, to)
	fn.DECQ(from)
	fn.JNE(operand.LabelRef("row"))
	fn.ADDQ(operand.I32(128), c)
	fn.DECQ(left)
	fn.JNE(operand.LabelRef("panel"))

	// The next block: to stands at its first row, in the last panel.
	fn.MOVQ(arg("n"), c)
	fn.SHLQ(operand.I8(7), c)
	fn.SUBQ(c, to)
	fn.LEAQ(operand.Mem{Base: to, Disp: 128}, c)
	fn.SUBQ(operand.I32(32), arg("m"))
	fn.JG(operand.LabelRef("block"))

	// What is not finite times 0 is NaN.
	fn.TileRelease()
	fn.VCMPPS(operand.U8(4), zero, bad, reg.K1)
	fn.KMOVW(reg.K1, reg.EAX)
	fn.Store(reg.RAX, fn.ReturnIndex(0))
	fn.End()
}
