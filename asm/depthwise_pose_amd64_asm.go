package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

const (
	// poseLanes is how many channels a slice of packed features has.
	poseLanes = 16
	// poseGroup is how many poses a joined block has.
	poseGroup = 6
)

func depthwisePoseAMD64(f *x86.File) {
	for _, l := range levels {
		for _, images := range []int{4, 2, 1} {
			depthwisePose(f, l, images)
			depthwisePoses(f, l, images)
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

// depthwisePoses writes depthwisePose for joined blocks of poses that have the same rows, so that a vector of dout serves all of them:
//
//	dw[q] = Σ_k Σ_b dout[row[k], b] · f[point[k, q], b],  q of poseGroup poses
//
// A block of the code is {rows, poses, then of each row its place and a point for each pose}. With AVX-512 rows, or images, take two sets
// of accumulators in turns. Of one image, a row costs one load of dout, and for each pose a load of a place and a multiply-add with
// an operand in memory.
func depthwisePoses(f *x86.File, l x86.Level, images int) {
	fn := f.Func(l, x86.F32, fmt.Sprintf("depthwisePoses%dF32", images),
		"func(dw, dout, f *float32, code *int32, blocks, stride, tail, fresh int)",
		fmt.Sprintf("is depthwisePose%d for joined blocks.", images))
	vecs := 4 * poseLanes / l.Bytes()
	tails := poseTails(fn, vecs)
	dw, dout, feat, code, blocks := fn.Arg("dw"), fn.Arg("dout"), fn.Arg("f"), fn.Arg("code"), fn.Arg("blocks")
	sets := 3 - vecs
	acc := make([][][]reg.VecVirtual, poseGroup) // of a pose, vector by vector
	for q := range acc {
		acc[q] = make([][]reg.VecVirtual, vecs)
		for v := range acc[q] {
			acc[q][v] = zeros(fn, sets)
		}
	}
	eachPose := func(head reg.GPVirtual, do func(sums [][]reg.VecVirtual, wq reg.GPVirtual)) {
		stride := fn.Arg("stride")
		for q, sums := range acc {
			do(sums, rowAddress(fn, pairAt(head, 1+q), dw, stride))
		}
	}
	row := func(at, set int) { depthwisePosesRow(fn, dout, feat, code, acc, images, at, set) }
	head, n, fresh := fn.GP64(), fn.GP64(), fn.GP64()
	const step = 4 * (poseGroup + 1)
	fn.TESTQ(blocks, blocks)
	fn.JE(operand.LabelRef("done"))
	fn.Label("block")
	fn.MOVQ(code, head)
	fn.ADDQ(operand.U8(step), code)
	fn.MOVL(pairAt(head, 0), n.As32())
	for q := range acc {
		for v := range acc[q] {
			clearAll(fn, acc[q][v])
		}
	}
	fn.MOVQ(fn.Arg("fresh"), fresh)
	fn.ANDL(n.As32(), fresh.As32())
	fn.JNE(operand.LabelRef("begin"))
	eachPose(head, func(sums [][]reg.VecVirtual, wq reg.GPVirtual) {
		for v := range sums {
			fn.VMOVUPS(tails[v].Load(operand.Mem{Base: wq, Disp: v * l.Bytes()}), sums[v][0])
		}
	})
	fn.Label("begin")
	fn.ANDL(operand.U32(1<<31-1), n.As32())
	fn.SUBQ(operand.U8(sets), n)
	fn.JL(operand.LabelRef("rest"))
	fn.Label("rows")
	for s := range sets {
		row(s*(poseGroup+1), s)
	}
	fn.ADDQ(operand.U8(uint8(sets*step)), code)
	fn.SUBQ(operand.U8(sets), n)
	fn.JGE(operand.LabelRef("rows"))
	fn.Label("rest")
	if sets > 1 {
		fn.CMPQ(n, operand.I8(int8(-sets)))
		fn.JE(operand.LabelRef("summed"))
		row(0, 0)
		fn.ADDQ(operand.U8(step), code)
		fn.Label("summed")
	}
	eachPose(head, func(sums [][]reg.VecVirtual, wq reg.GPVirtual) {
		for v := range sums {
			tails[v].Store(sumSets(fn, sums[v]), operand.Mem{Base: wq, Disp: v * l.Bytes()})
		}
	})
	fn.DECQ(blocks)
	fn.JNE(operand.LabelRef("block"))
	fn.Label("done")
	fn.End()
}

// depthwisePosesRow adds the row of a joined block that is at entry at of the code to the sums of all poses, [poses, vectors, sets].
func depthwisePosesRow(fn *x86.Func, dout, feat, code reg.GPVirtual, acc [][][]reg.VecVirtual, images, at, set int) {
	for b := range images {
		d, place := make([]reg.VecVirtual, len(acc[0])), fn.GP64()
		fn.MOVL(pairAt(code, at), place.As32())
		for v := range d {
			d[v] = fn.Vec()
			fn.VMOVUPS(operand.Mem{Base: dout, Index: place, Scale: uint8(images), Disp: 4*poseLanes*b + v*fn.Level.Bytes()}, d[v])
		}
		for q := range acc {
			place := fn.GP64()
			fn.MOVL(pairAt(code, at+1+q), place.As32())
			for v := range d {
				x := operand.Mem{Base: feat, Index: place, Scale: uint8(images), Disp: 4*poseLanes*b + v*fn.Level.Bytes()}
				sets := acc[q][v]
				fn.VFMADD231PS(x, d[v], sets[(set+b)%len(sets)])
			}
		}
	}
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
