package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

// normAMD64 writes the passes of batch normalisation over the rows of a matrix. The parameters of a block of columns stay in
// registers while all rows go by.
func normAMD64(f *x86.File) {
	for _, e := range []x86.Elem{x86.F32, x86.F64} {
		for _, l := range levels {
			for _, vecs := range []int{2, 1} {
				normRows(f, l, e, vecs)
				normSums(f, l, e, vecs)
				normGrad(f, l, e, vecs)
			}
		}
	}
}

// normColumns says what the functions of this file have in common.
const normColumns = "for every row of a block of %d vectors of columns, of which the last has tail ones. Rows lie stride bytes apart."

// columnVectors reads the vectors of a block from every one of the named arguments.
func columnVectors(fn *x86.Func, tail x86.Tail, vecs int, names ...string) [][]reg.VecVirtual {
	var out [][]reg.VecVirtual
	for _, name := range names {
		p := fn.Arg(name)
		var block []reg.VecVirtual
		for v := range vecs {
			block = append(block, rowVector(fn, tail, p, v, vecs))
		}
		out = append(out, block)
	}
	return out
}

// centred reads vector v of row x and subtracts the mean, which is given in two parts.
func centred(fn *x86.Func, tail x86.Tail, x reg.Register, mean, low []reg.VecVirtual, v int) reg.VecVirtual {
	d := rowVector(fn, tail, x, v, len(mean))
	floats(fn, "VSUB", mean[v], d, d)
	floats(fn, "VSUB", low[v], d, d)
	return d
}

// storeEachRow is storeVector for what is stored in every row; the tail is the argument of that name.
func storeEachRow(fn *x86.Func, tail x86.Tail, r reg.VecVirtual, row reg.Register, v, vecs int) {
	if v < vecs-1 {
		storeVector(fn, tail, r, row, v, vecs)
		return
	}
	tail.StoreOften(r, operand.Mem{Base: row, Disp: v * fn.Level.Bytes()}, fn.ArgMem("tail"))
}

// normRows writes y = ((x - mean) - low)·scale + bias.
func normRows(f *x86.File, l x86.Level, e x86.Elem, vecs int) {
	fn := f.Func(l, e, fmt.Sprintf("norm%d%v", vecs, e), typed(e, "func(y, x, mean, low, scale, bias *float, rows, stride, tail int)"),
		"sets y = ((x - mean) - low)·scale + bias "+fmt.Sprintf(normColumns, vecs))
	tail := fn.NewTail(fn.Arg("tail"))
	p := columnVectors(fn, tail, vecs, "mean", "low", "scale", "bias")
	y, x, rows, stride := fn.Arg("y"), fn.Arg("x"), fn.Arg("rows"), fn.Arg("stride")
	fn.Label("row")
	for v := range vecs {
		d := centred(fn, tail, x, p[0], p[1], v)
		floats(fn, "VFMADD213", p[3][v], p[2][v], d)
		storeEachRow(fn, tail, d, y, v, vecs)
	}
	fn.ADDQ(stride, x)
	fn.ADDQ(stride, y)
	fn.DECQ(rows)
	fn.JNE(operand.LabelRef("row"))
	fn.End()
}

// normSums writes sum += dz and sumX += dz·((x - mean) - low), added up over the rows.
func normSums(f *x86.File, l x86.Level, e x86.Elem, vecs int) {
	fn := f.Func(l, e, fmt.Sprintf("normSums%d%v", vecs, e), typed(e, "func(sum, sumX, dz, x, mean, low *float, rows, stride, tail int)"),
		"adds dz to sum and dz·((x - mean) - low) to sumX "+fmt.Sprintf(normColumns, vecs))
	tail := fn.NewTail(fn.Arg("tail"))
	p := columnVectors(fn, tail, vecs, "mean", "low")
	sum, sumX := fn.Arg("sum"), fn.Arg("sumX")
	acc := make([][2]reg.VecVirtual, vecs)
	for v := range acc {
		acc[v] = [2]reg.VecVirtual{rowVector(fn, tail, sum, v, vecs), rowVector(fn, tail, sumX, v, vecs)}
	}
	dz, x, rows, stride := fn.Arg("dz"), fn.Arg("x"), fn.Arg("rows"), fn.Arg("stride")
	fn.Label("row")
	for v := range vecs {
		d := centred(fn, tail, x, p[0], p[1], v)
		g := rowVector(fn, tail, dz, v, vecs)
		floats(fn, "VADD", g, acc[v][0], acc[v][0])
		floats(fn, "VFMADD231", g, d, acc[v][1])
	}
	fn.ADDQ(stride, x)
	fn.ADDQ(stride, dz)
	fn.DECQ(rows)
	fn.JNE(operand.LabelRef("row"))
	for v := range acc {
		storeVector(fn, tail, acc[v][0], sum, v, vecs)
		storeVector(fn, tail, acc[v][1], sumX, v, vecs)
	}
	fn.End()
}

// normGrad writes dx = a·dz - weight·(p + q·((x - mean) - low)).
func normGrad(f *x86.File, l x86.Level, e x86.Elem, vecs int) {
	fn := f.Func(l, e, fmt.Sprintf("normGrad%d%v", vecs, e),
		typed(e, "func(dx, dz, x *float, weight *int32, mean, low, a, p, q *float, rows, stride, tail int)"),
		"sets dx = a·dz - weight·(p + q·((x - mean) - low)), without weight with 1, "+fmt.Sprintf(normColumns, vecs))
	tail := fn.NewTail(fn.Arg("tail"))
	c := columnVectors(fn, tail, vecs, "mean", "low", "a", "p", "q")
	dx, dz, x, weight := fn.Arg("dx"), fn.Arg("dz"), fn.Arg("x"), fn.Arg("weight")
	rows, stride := fn.Arg("rows"), fn.Arg("stride")
	w, wi := fn.ConstVec("one"+e.String(), 1), fn.GP64()
	fn.Label("row")
	fn.TESTQ(weight, weight)
	fn.JE(operand.LabelRef("unweighted"))
	if e == x86.F32 {
		fn.VPBROADCASTD(operand.Mem{Base: weight}, w)
		fn.VCVTDQ2PS(w, w)
	} else {
		fn.MOVLQSX(operand.Mem{Base: weight}, wi)
		fn.VCVTSI2SDQ(wi, w.AsX(), w.AsX())
		fn.VBROADCASTSD(w.AsX(), w)
	}
	fn.ADDQ(operand.U8(4), weight)
	fn.Label("unweighted")
	for v := range vecs {
		d := centred(fn, tail, x, c[0], c[1], v)
		floats(fn, "VFMADD213", c[3][v], c[4][v], d) // p + q·(x - mean)
		g := rowVector(fn, tail, dz, v, vecs)
		floats(fn, "VMUL", c[2][v], g, g)
		floats(fn, "VFNMADD231", d, w, g)
		storeEachRow(fn, tail, g, dx, v, vecs)
	}
	fn.ADDQ(stride, x)
	fn.ADDQ(stride, dz)
	fn.ADDQ(stride, dx)
	fn.DECQ(rows)
	fn.JNE(operand.LabelRef("row"))
	fn.End()
}
