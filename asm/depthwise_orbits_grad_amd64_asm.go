package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

func depthwiseOrbitsGradAMD64(f *x86.File) {
	for _, l := range levels {
		for fours := 1; fours <= orbitRows; fours++ {
			depthwiseOrbitsGrad(f, l, fours)
		}
	}
}

// depthwiseOrbitsGrad writes the gradient to the weights of a run of steps that the same fours of a group have. A
// weight belongs to one four and one step, and is the sum of four products in each image: of a point of the step, and
// the gradient at the row that has it. The rows of a group lie in the first-level cache, [images, copies, fours]; a
// point serves all fours of the step. A full step of four images is 192 multiply-adds with an operand in memory, and 32
// loads.
func depthwiseOrbitsGrad(f *x86.File, l x86.Level, fours int) {
	const lineBytes = 4 * poseLanes
	vecs := lineBytes / l.Bytes()
	fn := f.Func(l, x86.F32, fmt.Sprintf("depthwiseOrbitsGrad%dF32", fours),
		"func(dw, d, f *float32, steps, rows *int32, n, images, fNext, add int)",
		fmt.Sprintf("sets a row of dw after the other, 16 channels for each of %d fours and n > 0 steps, to sums over "+
			"images of f at the points of the step times d [images, 4, 6, 16], "+
			"where rows has how many bytes after the first one a four's rows lie; images of f begin fNext bytes after "+
			"each other. If add is not 0, it adds to dw.", fours))
	dw, steps, n, rows := fn.Arg("dw"), fn.Arg("steps"), fn.Arg("n"), fn.Arg("rows")
	next, err := fn.Param("fNext").Resolve() // the loops have no register for it
	if err != nil {
		panic(err)
	}
	of := make([]reg.GPVirtual, fours)
	for r := range of {
		of[r] = fn.GP64()
		fn.MOVL(operand.Mem{Base: rows, Disp: 4 * r}, of[r].As32())
	}
	acc, x := zeros(fn, fours*vecs), make([]reg.VecVirtual, vecs)
	for v := range x {
		x[v] = fn.Vec()
	}
	image, own, points := fn.GP64(), fn.GP64(), fn.GP64()
	fn.Label("step")
	clearAll(fn, vectors(acc))
	again := fn.GP64()
	fn.Load(fn.Param("add"), again)
	fn.TESTQ(again, again)
	fn.JE(operand.LabelRef("fresh"))
	for i, a := range acc {
		fn.VMOVUPS(operand.Mem{Base: dw, Disp: i * l.Bytes()}, a)
	}
	fn.Label("fresh")
	fn.Load(fn.Param("images"), image)
	fn.Load(fn.Param("d"), own)
	fn.Load(fn.Param("f"), points)
	fn.Label("image")
	for c := range orbitCopies {
		point := lineNumber(fn, steps, 1+c)
		for v := range x {
			fn.VMOVUPS(operand.Mem{Base: points, Index: point, Scale: 1, Disp: v * l.Bytes()}, x[v])
		}
		for r := range fours {
			for v := range x {
				fn.VFMADD231PS(operand.Mem{Base: own, Index: of[r], Scale: 1, Disp: c*orbitRows*lineBytes + v*l.Bytes()}, x[v],
					acc[r*vecs+v])
			}
		}
	}
	fn.ADDQ(operand.U32(orbitCopies*orbitRows*lineBytes), own)
	fn.ADDQ(next.Addr, points)
	fn.DECQ(image)
	fn.JNE(operand.LabelRef("image"))
	for i, a := range acc {
		fn.VMOVUPS(a, operand.Mem{Base: dw, Disp: i * l.Bytes()})
	}
	fn.ADDQ(operand.U32(lineBytes*uint32(fours)), dw)
	fn.ADDQ(operand.U8(4*(1+orbitCopies)), steps)
	fn.DECQ(n)
	fn.JNE(operand.LabelRef("step"))
	fn.End()
}
