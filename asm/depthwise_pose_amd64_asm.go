package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

// poseLanes is how many channels a slice of packed features has.
const poseLanes = 16

func depthwisePoseAMD64(f *x86.File) {
	for _, l := range levels {
		for _, images := range []int{4, 2, 1} {
			depthwisePose(f, l, images)
		}
	}
}

// depthwisePose writes the gradient to the weights of one pose after the other, for a slice of channels in which the images of a
// point stand together:
//
//	dw[q] = Σ_k Σ_b dout[row[k], b] · f[point[k], b]
//
// A block of the code is {q, pairs, then row and point of each, in bytes for one image}. Four accumulators take images and pairs in
// turn. A pair costs two loads of places, and for each image one load and one multiply-add with an operand in memory. With four
// images that is ten loads for four multiply-adds; the speed depends on the cache that the features lie in.
func depthwisePose(f *x86.File, l x86.Level, images int) {
	fn := f.Func(l, x86.F32, fmt.Sprintf("depthwisePose%dF32", images),
		"func(dw, dout, f *float32, code *int32, blocks, stride, tail, fresh int)",
		fmt.Sprintf("sets rows of dw, stride bytes apart, to sums over the pairs of blocks, for %d images and the "+
			"first tail of 16 channels. A "+
			"block adds to what dw holds if its count & fresh is 0.", images))
	vecs := 4 * poseLanes / l.Bytes()
	tails := poseTails(fn, vecs)
	dw, dout, feat, code := fn.Arg("dw"), fn.Arg("dout"), fn.Arg("f"), fn.Arg("code")
	blocks, stride, fresh := fn.Arg("blocks"), fn.Arg("stride"), fn.Arg("fresh")
	sets := 4 / images
	acc := make([][]reg.VecVirtual, vecs) // vector by vector, the accumulators of all sets and images
	for v := range acc {
		acc[v] = zeros(fn, 4)
	}
	fn.TESTQ(blocks, blocks)
	fn.JE(operand.LabelRef("done"))
	fn.Label("block")
	wq := rowAddress(fn, operand.Mem{Base: code}, dw, stride)
	n, first := fn.GP64(), fn.GP64()
	fn.MOVL(operand.Mem{Base: code, Disp: 4}, n.As32())
	fn.ADDQ(operand.U8(8), code)
	for v := range acc {
		clearAll(fn, acc[v])
	}
	fn.MOVL(n.As32(), first.As32())
	fn.ANDL(operand.U32(1<<31-1), n.As32())
	fn.ANDL(fresh.As32(), first.As32())
	fn.JNE(operand.LabelRef("begin"))
	for v := range acc {
		fn.VMOVUPS(tails[v].Load(operand.Mem{Base: wq, Disp: v * l.Bytes()}), acc[v][0])
	}
	fn.Label("begin")
	pair := func(set, at int) {
		row, point := fn.GP64(), fn.GP64()
		fn.MOVL(operand.Mem{Base: code, Disp: 8 * at}, row.As32())
		fn.MOVL(operand.Mem{Base: code, Disp: 8*at + 4}, point.As32())
		for b := range images {
			for v := range vecs {
				at, x := 4*poseLanes*b+v*l.Bytes(), fn.Vec()
				fn.VMOVUPS(operand.Mem{Base: dout, Index: row, Scale: uint8(images), Disp: at}, x)
				fn.VFMADD231PS(operand.Mem{Base: feat, Index: point, Scale: uint8(images), Disp: at}, x, acc[v][set*images+b])
			}
		}
	}
	fn.SUBQ(operand.U8(sets), n)
	fn.JL(operand.LabelRef("rest"))
	fn.Label("pairs")
	for s := range sets {
		pair(s, s)
	}
	fn.ADDQ(operand.U8(8*sets), code)
	fn.SUBQ(operand.U8(sets), n)
	fn.JGE(operand.LabelRef("pairs"))
	fn.Label("rest")
	for s := range sets - 1 {
		fn.CMPQ(n, operand.I8(int8(s-sets)))
		fn.JE(operand.LabelRef("summed"))
		pair(s, 0)
		fn.ADDQ(operand.U8(8), code)
	}
	fn.Label("summed")
	for v := range acc {
		tails[v].Store(sumSets(fn, acc[v]), operand.Mem{Base: wq, Disp: v * l.Bytes()})
	}
	fn.DECQ(blocks)
	fn.JNE(operand.LabelRef("block"))
	fn.Label("done")
	fn.End()
}

// poseTails builds the masks of a slice's vectors, for the argument tail.
func poseTails(fn *x86.Func, vecs int) []x86.Tail {
	n := fn.Arg("tail")
	if vecs == 1 {
		return []x86.Tail{fn.NewTail(n)}
	}
	// min(n, 8) and max(n-8, 0)
	low, high, zero := fn.GP64(), fn.GP64(), fn.GP64()
	fn.MOVQ(operand.U32(8), low)
	fn.XORQ(zero, zero)
	fn.MOVQ(n, high)
	fn.SUBQ(operand.U8(8), high)
	fn.CMOVQLT(n, low)
	fn.CMOVQLT(zero, high)
	return []x86.Tail{fn.NewTail(low), fn.NewTail(high)}
}
