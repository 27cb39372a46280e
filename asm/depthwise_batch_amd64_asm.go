package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

func depthwiseBatchAMD64(f *x86.File) {
	for _, l := range levels {
		for _, images := range []int{4, 2, 1} {
			depthwiseBatch(f, l, images)
			if l == x86.AVX512 {
				depthwiseBatchFour(f, l, images)
			}
		}
	}
}

const (
	depthwiseBatchArgs = "func(out, f, w *float32, code *int32, blocks, %sstride, image, wstride, tail int)"
	depthwiseBatchDoc  = "sets rows of out, stride bytes apart, to sums of w[pose]·f[point] over the pairs of blocks, " +
		"for %d images, image bytes " +
		"apart, and the first tail of 16 channels; rows of w lie wstride bytes apart."
)

// depthwiseBatch writes a convolution of several images, for a slice of channels in which the images of a point stand together:
//
//	out[b, row] = scale · Σ_k w[pose[k]] · f[point[k], b]
//
// The code tells what to compute. A block of it is {number of pairs, scale, for each copy a row, then for each pair its pose and for each
// copy its point}. Copies are rows of out that share their poses; they are computed one after the other. The vectors of weights of a pair
// serve all images.
func depthwiseBatch(f *x86.File, l x86.Level, images int) {
	fn := f.Func(l, x86.F32, fmt.Sprintf("depthwiseBatch%dF32", images), fmt.Sprintf(depthwiseBatchArgs, "copies, "),
		fmt.Sprintf(depthwiseBatchDoc, images))
	vecs := 4 * poseLanes / l.Bytes()
	tails := poseTails(fn, vecs)
	feat, weight, code, blocks, wstride := fn.Arg("f"), fn.Arg("w"), fn.Arg("code"), fn.Arg("blocks"), fn.Arg("wstride")
	size := fn.Arg("copies") // of a pair's points, in bytes
	fn.SHLQ(operand.U8(2), size)
	acc := zeros(fn, images*vecs)
	at, pair, n := fn.GP64(), fn.GP64(), fn.GP64()

	fn.TESTQ(blocks, blocks)
	fn.JE(operand.LabelRef("done"))
	fn.Label("block")
	fn.XORQ(at, at) // the current copy's place in the lists of rows and points, in bytes
	fn.Label("copy")
	fn.LEAQ(operand.Mem{Base: code, Index: size, Scale: 1, Disp: 8}, pair)
	fn.MOVL(operand.Mem{Base: code}, n.As32())
	clearAll(fn, acc)
	fn.TESTQ(n, n)
	fn.JE(operand.LabelRef("summed"))
	fn.Label("pair")
	wv := depthwiseBatchWeights(fn, tails, rowAddress(fn, operand.Mem{Base: pair}, weight, wstride))
	depthwiseBatchPoint(fn, operand.Mem{Base: pair, Index: at, Scale: 1, Disp: 4}, feat, wv, acc, images)
	fn.LEAQ(operand.Mem{Base: pair, Index: size, Scale: 1, Disp: 4}, pair)
	fn.DECQ(n)
	fn.JNE(operand.LabelRef("pair"))
	fn.Label("summed")
	depthwiseBatchStore(fn, tails, code, operand.Mem{Base: code, Index: at, Scale: 1, Disp: 8}, acc, images)
	fn.ADDQ(operand.U8(4), at)
	fn.CMPQ(at, size)
	fn.JLT(operand.LabelRef("copy"))
	fn.MOVQ(pair, code)
	fn.DECQ(blocks)
	fn.JNE(operand.LabelRef("block"))
	fn.Label("done")
	fn.End()
}

// depthwiseBatchFour writes depthwiseBatch for blocks of four copies, all at once: with four images sixteen multiply-adds for a vector
// of weights.
func depthwiseBatchFour(f *x86.File, l x86.Level, images int) {
	const copies = 4
	fn := f.Func(l, x86.F32, fmt.Sprintf("depthwiseBatchFour%dF32", images), fmt.Sprintf(depthwiseBatchArgs, ""),
		fmt.Sprintf(depthwiseBatchDoc, images)+" Blocks are of four rows.")
	tails := poseTails(fn, 1)
	feat, weight, code, blocks, wstride := fn.Arg("f"), fn.Arg("w"), fn.Arg("code"), fn.Arg("blocks"), fn.Arg("wstride")
	acc := make([][]reg.VecVirtual, copies)
	for r := range acc {
		acc[r] = zeros(fn, images)
	}
	head, n := fn.GP64(), fn.GP64()

	fn.TESTQ(blocks, blocks)
	fn.JE(operand.LabelRef("done"))
	fn.Label("block")
	fn.MOVQ(code, head)
	fn.MOVL(operand.Mem{Base: head}, n.As32())
	fn.ADDQ(operand.U8(4*(2+copies)), code)
	for r := range acc {
		clearAll(fn, acc[r])
	}
	fn.TESTQ(n, n)
	fn.JE(operand.LabelRef("summed"))
	fn.Label("pair")
	wv := depthwiseBatchWeights(fn, tails, rowAddress(fn, operand.Mem{Base: code}, weight, wstride))
	for r := range acc {
		depthwiseBatchPoint(fn, pairAt(code, 1+r), feat, wv, acc[r], images)
	}
	fn.ADDQ(operand.U8(4*(1+copies)), code)
	fn.DECQ(n)
	fn.JNE(operand.LabelRef("pair"))
	fn.Label("summed")
	for r := range acc {
		depthwiseBatchStore(fn, tails, head, pairAt(head, 2+r), acc[r], images)
	}
	fn.DECQ(blocks)
	fn.JNE(operand.LabelRef("block"))
	fn.Label("done")
	fn.End()
}

// depthwiseBatchWeights loads a slice of a row of w.
func depthwiseBatchWeights(fn *x86.Func, tails []x86.Tail, at reg.GPVirtual) []reg.VecVirtual {
	wv := make([]reg.VecVirtual, len(tails))
	for v := range wv {
		wv[v] = tails[v].Load(operand.Mem{Base: at, Disp: v * fn.Level.Bytes()})
	}
	return wv
}

// depthwiseBatchPoint adds a pair to the sums of all images, [images, vectors].
func depthwiseBatchPoint(fn *x86.Func, index operand.Mem, feat reg.GPVirtual, wv, acc []reg.VecVirtual, images int) {
	point := fn.GP64()
	fn.MOVL(index, point.As32())
	fn.SHLQ(operand.U8(map[int]uint8{4: 8, 2: 7, 1: 6}[images]), point)
	fn.ADDQ(feat, point)
	for b := range images {
		for v := range wv {
			fn.VFMADD231PS(operand.Mem{Base: point, Disp: 4*poseLanes*b + v*fn.Level.Bytes()}, wv[v], acc[b*len(wv)+v])
		}
	}
}

// depthwiseBatchStore multiplies the sums of a row by the block's scale and stores them. head points to the block, row
// is where the number of the row stands.
func depthwiseBatchStore(fn *x86.Func, tails []x86.Tail, head reg.GPVirtual, row operand.Mem, acc []reg.VecVirtual, images int) {
	scale := fn.Vec()
	fn.VBROADCASTSS(pairAt(head, 1), scale)
	to := rowAddress(fn, row, fn.Arg("out"), fn.Arg("stride"))
	image := fn.Arg("image")
	for b := range images {
		for v := range tails {
			a := acc[b*len(tails)+v]
			fn.VMULPS(scale, a, a)
			tails[v].Store(a, operand.Mem{Base: to, Disp: v * fn.Level.Bytes()})
		}
		if b+1 < images {
			fn.ADDQ(image, to)
		}
	}
}
