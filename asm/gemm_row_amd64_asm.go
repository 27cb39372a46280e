package main

import (
	"strings"

	"github.com/mmcloughlin/avo/operand"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

// gemmRowVectors is how many vectors of a row are summed at a time: as many independent sums as keep two ports busy.
const gemmRowVectors = 8

// gemmRowAMD64 writes the product of a single row and a matrix. A tile of one row would have two sums, which wait for
// each other: they take four cycles per step. Here eight vectors of the row are summed together, and a step takes as
// long as the machine needs to load them. The sum of an element has the order and the roundings that it has in a tile.
func gemmRowAMD64(f *x86.File, l x86.Level, e x86.Elem) {
	signature := strings.ReplaceAll("func(c, a *float, csa int, b *float, ldb, k, blocks, mode int)", "*float", "*"+e.GoType())
	g := &gemmTile{Func: f.Func(l, e, "gemmRow"+e.String(), signature,
		"computes C [1, n] from A [1, k], whose elements lie csa apart, and B [k, n], where n is that many blocks of "+
			"eight vectors. Of the modes it knows stripAccumulate.")}
	size := l.Bytes()
	sums, x := zeros(g.Func, gemmRowVectors), g.Vec()
	c, from, csa := g.Arg("c"), g.Arg("b"), g.Arg("csa")
	ldb, blocks := g.Arg("ldb"), g.Arg("blocks")
	g.toBytes(csa)
	g.toBytes(ldb)
	a, b, k := g.GP64(), g.GP64(), g.GP64()
	block, step := g.NewLabel("block"), g.NewLabel("step")
	g.Label(block)
	g.Load(g.Param("a"), a)
	g.Load(g.Param("k"), k)
	g.MOVQ(from, b)
	clearAll(g.Func, sums)
	g.TESTQ(operand.I32(gemmAccumulate), g.arg("mode"))
	g.JE(operand.LabelRef(step))
	for v, s := range sums {
		g.VMOVUPS(operand.Mem{Base: c, Disp: v * size}, s)
	}
	g.Label(step)
	g.repeat(operand.Mem{Base: a}, x)
	for v, s := range sums {
		g.Inst(g.floats("VFMADD231"), operand.Mem{Base: b, Disp: v * size}, x, s)
	}
	g.ADDQ(csa, a)
	g.ADDQ(ldb, b)
	g.DECQ(k)
	g.JNE(operand.LabelRef(step))
	for v, s := range sums {
		g.VMOVUPS(s, operand.Mem{Base: c, Disp: v * size})
	}
	g.ADDQ(operand.I32(gemmRowVectors*size), c)
	g.ADDQ(operand.I32(gemmRowVectors*size), from)
	g.DECQ(blocks)
	g.JNE(operand.LabelRef(block))
	g.End()
}
