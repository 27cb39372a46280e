package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

func momentsAMD64(f *x86.File) {
	for _, e := range []x86.Elem{x86.F32, x86.F64} {
		for _, l := range levels {
			for _, vecs := range momentsVectors(l, e) {
				momentsPass(f, l, e, vecs, "momentsShifted", "w·(x - center)", false)
				momentsPass(f, l, e, vecs, "momentsSquares", "w·(x - center)²", true)
			}
		}
	}
}

// momentsPass writes one of the two passes over the rows of a matrix, for a block of columns whose sums stay in registers:
//
//	sum[j] += Σ_i w_i·(x[i, j] - center[j])   or   sum[j] += Σ_i w_i·(x[i, j] - center[j])²
//
// Rows of weight 0 are not read.
func momentsPass(f *x86.File, l x86.Level, e x86.Elem, vecs int, name, term string, squares bool) {
	fn := f.Func(l, x86.F64, fmt.Sprintf("%s%d%v", name, vecs, e),
		"func(sum, center *float64, x *"+e.GoType()+", weight *int32, rows, stride, tail int)",
		fmt.Sprintf("adds %s to sum for every row, for %d vectors of columns, of which the last has tail ones. Rows "+
			"lie stride bytes apart; without weight each counts once.", term, vecs))
	n := fn.Arg("tail")
	tail := fn.NewBlockTail(n, vecs)
	var wide *widened
	if e == x86.F32 && tail.Shift == nil {
		wide = newWidened(fn, n)
	}
	sum, center, x, weight := fn.Arg("sum"), fn.Arg("center"), fn.Arg("x"), fn.Arg("weight")
	rows, stride := fn.Arg("rows"), fn.Arg("stride")
	acc, middle := make([]reg.VecVirtual, vecs), make([]operand.Op, vecs)
	for v := range acc {
		acc[v] = rowVector(fn, tail, sum, v, vecs)
		if vecs == 8 && v < vecs-1 { // the registers do not hold these, too
			middle[v] = operand.Mem{Base: center, Disp: v * l.Bytes()}
		} else {
			middle[v] = rowVector(fn, tail, center, v, vecs)
		}
	}
	row := func(w reg.VecVirtual) {
		for v := range acc {
			m := operand.Mem{Base: x, Disp: v * l.Bytes() / 2}
			var d reg.VecVirtual
			if e == x86.F64 {
				d = rowVector(fn, tail, x, v, vecs)
			} else if v == vecs-1 && wide != nil {
				d = wide.load(m)
			} else {
				if v == vecs-1 {
					m.Index, m.Scale = tail.Shift, 4
				}
				d = loadWide(fn, m)
			}
			fn.VSUBPD(middle[v], d, d)
			switch {
			case squares && w != nil:
				wd := fn.Vec()
				fn.VMULPD(w, d, wd)
				fn.VFMADD231PD(wd, d, acc[v])
			case squares:
				fn.VFMADD231PD(d, d, acc[v])
			case w != nil:
				fn.VFMADD231PD(w, d, acc[v])
			default:
				fn.VADDPD(d, acc[v], acc[v])
			}
		}
	}
	next := func(label string) {
		fn.ADDQ(stride, x)
		fn.DECQ(rows)
		fn.JNE(operand.LabelRef(label))
	}
	fn.TESTQ(rows, rows)
	fn.JE(operand.LabelRef("store"))
	fn.TESTQ(weight, weight)
	fn.JNE(operand.LabelRef("weighted"))
	fn.Label("row")
	row(nil)
	next("row")
	fn.JMP(operand.LabelRef("store"))
	fn.Label("weighted")
	wi, number, w := fn.GP64(), fn.XMM(), fn.Vec()
	fn.MOVLQSX(operand.Mem{Base: weight}, wi)
	fn.ADDQ(operand.U8(4), weight)
	fn.TESTQ(wi, wi)
	fn.JE(operand.LabelRef("skip"))
	fn.VXORPS(number, number, number)
	fn.VCVTSI2SDQ(wi, number, number)
	fn.VBROADCASTSD(number, w)
	row(w)
	fn.Label("skip")
	next("weighted")
	fn.Label("store")
	for v := range acc {
		storeVector(fn, tail, acc[v], sum, v, vecs)
	}
	fn.End()
}

// momentsVectors lists how many vectors a block can have. Conversions from float32 need more of them to overlap, and with AVX2 the wider
// ones read two cache lines of a row, of which the machine fetches the next ahead.
func momentsVectors(l x86.Level, e x86.Elem) []int {
	switch {
	case e == x86.F64:
		return []int{2, 1}
	case l == x86.AVX2:
		return []int{8, 4, 2, 1}
	}
	return []int{4, 2, 1}
}
