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
	g := &gemmTile{fn: f.Func(l, e, "gemmRow"+e.String(), signature,
		"computes C [1, n] from A [1, k], whose elements lie csa apart, and B [k, n], where n is that many blocks of "+
			"eight vectors. Of the modes it knows stripAccumulate.")}
	size := l.Bytes()
	sums, x := zeros(g.fn, gemmRowVectors), g.fn.Vec()
	c, from, csa := g.fn.Arg("c"), g.fn.Arg("b"), g.fn.Arg("csa")
	ldb, blocks := g.fn.Arg("ldb"), g.fn.Arg("blocks")
	g.toBytes(csa)
	g.toBytes(ldb)
	a, b, k := g.fn.GP64(), g.fn.GP64(), g.fn.GP64()
	block, step := g.fn.NewLabel("block"), g.fn.NewLabel("step")
	g.fn.Label(block)
	g.fn.Load(g.fn.Param("a"), a)
	g.fn.Load(g.fn.Param("k"), k)
	g.fn.MOVQ(from, b)
	clearAll(g.fn, sums)
	g.fn.TESTQ(operand.I32(gemmAccumulate), g.arg("mode"))
	g.fn.JE(operand.LabelRef(step))
	for v, s := range sums {
		g.fn.VMOVUPS(operand.Mem{Base: c, Disp: v * size}, s)
	}
	g.fn.Label(step)
	g.repeat(operand.Mem{Base: a}, x)
	for v, s := range sums {
		g.fn.Inst(g.floats("VFMADD231"), operand.Mem{Base: b, Disp: v * size}, x, s)
	}
	g.fn.ADDQ(csa, a)
	g.fn.ADDQ(ldb, b)
	g.fn.DECQ(k)
	g.fn.JNE(operand.LabelRef(step))
	for v, s := range sums {
		g.fn.VMOVUPS(s, operand.Mem{Base: c, Disp: v * size})
	}
	g.fn.ADDQ(operand.I32(gemmRowVectors*size), c)
	g.fn.ADDQ(operand.I32(gemmRowVectors*size), from)
	g.fn.DECQ(blocks)
	g.fn.JNE(operand.LabelRef(block))
	g.fn.End()
}
