package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

// planRows is how many neighbouring rows a planned convolution computes together.
const planRows = 8

func depthwisePlanAMD64(f *x86.File) {
	depthwisePlan(f, x86.AVX512, 2, 7, true)
	depthwisePlan(f, x86.AVX512, 1, 7, true)
	depthwisePlan(f, x86.AVX2, 1, 7, false)
	depthwisePlan(f, x86.AVX2, 1, 5, true)
	for _, l := range levels {
		for _, vecs := range []int{2, 1} {
			depthwiseRows(f, l, depthwiseVariant{name: "depthwiseSeq", single: true,
				doc: "is depthwise, with one accumulator for an element as in planned rows"}, vecs)
		}
	}
}

// depthwisePlan writes a function for eight rows whose pairs were arranged beforehand in steps and singles. In step s of a run
// all rows have the same pose, and row r uses point x+s+r:
//
//	out[r] += w[pose[s]] · f[x+s+r],  r < 8
//
// From one step to the next each row moves on to the point of its neighbour, so a step reads one vector of w and one new one of f
// for eight multiply-adds; the other points wait in registers. There are window registers for them, which take turns: in step s
// point x+s+r is in register (s+r) mod window. The points beyond the window are read from memory.
//
// The code lists operations: {steps, x, singles?}, the poses of the steps, and if there are singles eight counts, one for each
// row, and the {index, pose} of each.
func depthwisePlan(f *x86.File, l x86.Level, vecs, window int, masked bool) {
	name := fmt.Sprintf("depthwisePlan%dF32", vecs)
	if masked && l == x86.AVX2 {
		name = "depthwisePlanTailF32"
	}
	fn := f.Func(l, x86.F32, name,
		"func(out, f, w *float32, code *int32, ops, stride, tail int, inv *float32)",
		fmt.Sprintf("computes eight rows, %d vectors of channels of which the last has tail ones, by a plan of ops operations, and multiplies row r by inv[r]. Rows lie stride bytes apart.", vecs))
	var tail x86.Tail
	var k reg.OpmaskVirtual
	if masked {
		tail = fn.NewTail(fn.Arg("tail"))
		if l == x86.AVX512 {
			ones := fn.GP64()
			k = fn.K()
			fn.MOVQ(operand.I32(-1), ones)
			fn.BZHIQ(fn.Arg("tail"), ones, ones)
			fn.KMOVW(ones.As32(), k)
		}
	}
	feat, weight, code, stride := fn.Arg("f"), fn.Arg("w"), fn.Arg("code"), fn.Arg("stride")
	ops := fn.Arg("ops")
	at := func(base reg.Register, index reg.Register, scale uint8, v int) operand.Mem {
		m := operand.Mem{Base: base, Disp: v * l.Bytes()}
		if scale > 0 {
			m.Index, m.Scale = index, scale
		}
		return m
	}
	// last says whether vector v is the one under the mask.
	last := func(v int) bool { return masked && v == vecs-1 }
	load := func(m operand.Mem, v int, r reg.VecVirtual) {
		switch {
		case !last(v):
			fn.VMOVUPS(m, r)
		case l == x86.AVX512:
			fn.VMOVUPS_Z(m, k, r)
		default:
			fn.VMOVAPS(tail.Load(m), r)
		}
	}
	multiplyAdd := func(m operand.Mem, v int, w, acc reg.VecVirtual) {
		switch {
		case !last(v):
			fn.VFMADD231PS(m, w, acc)
		case l == x86.AVX512:
			fn.VFMADD231PS(m, w, k, acc)
		default:
			fn.VFMADD231PS(tail.Load(m), w, acc)
		}
	}
	acc, points := make([][]reg.VecVirtual, planRows), make([][]reg.VecVirtual, window)
	for r := range acc {
		acc[r] = zeros(fn, vecs)
		clearAll(fn, acc[r])
	}
	for i := range points {
		points[i] = zeros(fn, vecs)
	}
	wv := zeros(fn, vecs)
	left, singles, next := fn.GP64(), fn.GP64(), fn.GP64()

	fn.Label("op")
	fn.MOVL(operand.Mem{Base: code}, left.As32())
	fn.MOVL(operand.Mem{Base: code, Disp: 8}, singles.As32())
	fn.TESTQ(left, left)
	fn.JNE(operand.LabelRef("run"))
	fn.ADDQ(operand.U8(12), code)
	fn.JMP(operand.LabelRef("singles"))
	fn.Label("run")
	fn.MOVL(operand.Mem{Base: code, Disp: 4}, next.As32())
	fn.IMULQ(stride, next)
	fn.ADDQ(feat, next)
	fn.ADDQ(operand.U8(12), code)
	for i := range points {
		for v := range vecs {
			load(at(next, nil, 0, v), v, points[i][v])
		}
		fn.ADDQ(stride, next)
	}
	fn.Label("step")
	for s := range window {
		wj := rowAddress(fn, operand.Mem{Base: code}, weight, stride)
		for v := range vecs {
			load(at(wj, nil, 0, v), v, wv[v])
		}
		for r := range planRows {
			for v := range vecs {
				if r < window {
					fn.VFMADD231PS(points[(s+r)%window][v], wv[v], acc[r][v])
				} else {
					multiplyAdd(at(next, stride, uint8(r-window), v), v, wv[v], acc[r][v])
				}
			}
		}
		for v := range vecs {
			load(at(next, nil, 0, v), v, points[s][v])
		}
		fn.ADDQ(stride, next)
		fn.ADDQ(operand.U8(4), code)
		fn.DECQ(left)
		if s < window-1 {
			fn.JE(operand.LabelRef("singles"))
		}
	}
	fn.JNE(operand.LabelRef("step"))
	fn.Label("singles")
	fn.TESTQ(singles, singles)
	fn.JE(operand.LabelRef("next"))
	counts := fn.GP64()
	fn.MOVQ(code, counts)
	fn.ADDQ(operand.U8(4*planRows), code)
	for r := range planRows {
		loop, done := fn.NewLabel("single"), fn.NewLabel("done")
		fn.MOVL(operand.Mem{Base: counts, Disp: 4 * r}, left.As32())
		fn.TESTQ(left, left)
		fn.JE(operand.LabelRef(done))
		fn.Label(loop)
		fj := rowAddress(fn, operand.Mem{Base: code}, feat, stride)
		wj := rowAddress(fn, operand.Mem{Base: code, Disp: 4}, weight, stride)
		for v := range vecs {
			load(at(wj, nil, 0, v), v, wv[v])
			multiplyAdd(at(fj, nil, 0, v), v, wv[v], acc[r][v])
		}
		fn.ADDQ(operand.U8(8), code)
		fn.DECQ(left)
		fn.JNE(operand.LabelRef(loop))
		fn.Label(done)
	}
	fn.Label("next")
	fn.DECQ(ops)
	fn.JNE(operand.LabelRef("op"))

	out, inv := fn.Arg("out"), fn.Arg("inv")
	for r := range acc {
		fn.VBROADCASTSS(operand.Mem{Base: inv, Disp: 4 * r}, wv[0])
		for v := range vecs {
			fn.VMULPS(wv[0], acc[r][v], acc[r][v])
			if last(v) {
				tail.Store(acc[r][v], at(out, nil, 0, v))
			} else {
				fn.VMOVUPS(acc[r][v], at(out, nil, 0, v))
			}
		}
		fn.ADDQ(stride, out)
	}
	fn.End()
}
