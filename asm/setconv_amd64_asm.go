package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

// In set convolutions a lane is a target: a vector holds the distances of as many targets to one point, whose coordinates and
// channels are repeated over all lanes. Targets come coordinate by coordinate, t[a·lanes + lane].

func setConvAMD64(f *x86.File) {
	for _, l := range levels {
		for _, c := range []int{8, 7, 6, 5, 4, 3, 2, 1} {
			setConvTile(f, l, x86.F32, c)
		}
		for _, c := range []int{4, 2, 1} {
			setConvTile(f, l, x86.F64, c)
		}
		setConvGrad(f, l, x86.F32)
		setConvGrad(f, l, x86.F64)
	}
}

// setConvRBF returns -gamma·|t - x|² of a point at all targets, rounded to the type of the function, and exp of it.
//
//	dist2 = Σ_a (t_a - x_a)²  in float64,  v = -gamma·dist2
type setConvRBF struct {
	fn     *x86.Func
	t, d   reg.GPVirtual
	factor reg.VecVirtual // -gamma in all float64 lanes
	block  *x86.Block
}

func newSetConvRBF(fn *x86.Func) *setConvRBF {
	r := &setConvRBF{fn: fn, t: fn.Arg("t"), d: fn.Arg("d"), factor: fn.Vec(), block: x86.NewBlock(fn.Level, fn.Elem)}
	p, err := fn.Param("factor").Resolve()
	if err != nil {
		panic(err)
	}
	fn.VBROADCASTSD(p.Addr, r.factor)
	v := r.block.Input()
	if fn.Elem == x86.F64 {
		r.block.Output(expF64(r.block, v))
	} else {
		r.block.Output(expF32(r.block, v))
	}
	r.block.Output(v)
	fn.Hoist(r.block)
	return r
}

// at returns both for the point that x points to, and moves x on to the next point.
func (r *setConvRBF) at(x reg.GPVirtual) (e, v reg.VecVirtual) {
	width := r.fn.Level.Bytes()
	sum := []reg.VecVirtual{r.fn.Zero()}
	if r.fn.Elem == x86.F32 { // of whose targets two vectors of float64 have the coordinates
		sum = append(sum, r.fn.Zero())
	}
	coordinate, left := r.fn.GP64(), r.fn.GP64()
	loop := r.fn.NewLabel("coordinates")
	r.fn.MOVQ(r.t, coordinate)
	r.fn.MOVQ(r.d, left)
	r.fn.Label(loop)
	xa := r.fn.Vec()
	r.fn.VBROADCASTSD(operand.Mem{Base: x}, xa)
	for h := range sum {
		diff := r.fn.Vec()
		r.fn.VSUBPD(operand.Mem{Base: coordinate, Disp: h * width}, xa, diff)
		r.fn.VFMADD231PD(diff, diff, sum[h])
	}
	r.fn.ADDQ(operand.U8(8), x)
	r.fn.ADDQ(operand.U32(len(sum)*width), coordinate)
	r.fn.DECQ(left)
	r.fn.JNE(operand.LabelRef(loop))
	for h := range sum {
		r.fn.VMULPD(r.factor, sum[h], sum[h])
	}
	v = r.fn.Vec()
	if r.fn.Elem == x86.F64 {
		r.fn.VMOVAPD(sum[0], v)
	} else if r.fn.Level == x86.AVX512 {
		low, high := r.fn.YMM(), r.fn.YMM()
		r.fn.VCVTPD2PS(sum[0], low)
		r.fn.VCVTPD2PS(sum[1], high)
		r.fn.VINSERTF64X4(operand.U8(1), high, low.AsZ(), v)
	} else {
		low, high := r.fn.XMM(), r.fn.XMM()
		r.fn.VCVTPD2PSY(sum[0], low)
		r.fn.VCVTPD2PSY(sum[1], high)
		r.fn.VINSERTF128(operand.U8(1), high, low.AsY(), v)
	}
	out := r.fn.Emit(r.block, [][]reg.VecVirtual{{v}}, nil)
	return out[0][0], out[1][0]
}

// setConvTile writes
//
//	h[j·lanes + lane] += Σ_n phi[n, j] · exp(-gamma·|t_lane - x_n|²),  j < c
//
// whose sums stay in registers in between.
func setConvTile(f *x86.File, l x86.Level, e x86.Elem, c int) {
	fn := f.Func(l, e, fmt.Sprintf("setConv%d%v", c, e),
		ofType("func(h *float32, t, x *float64, phi *float32, points, d, stride int, factor float64)", e),
		fmt.Sprintf("adds to h[j, lane] the sum Σ phi[n, j]·exp(factor·|t[lane] - x[n]|²) over n < points, for j < %d. "+
			"t is [d, lanes], x [points, d]; rows of phi lie stride bytes apart.", c))
	r := newSetConvRBF(fn)
	h, x, phi, points, stride := fn.Arg("h"), fn.Arg("x"), fn.Arg("phi"), fn.Arg("points"), fn.Arg("stride")
	acc := zeros(fn, c)
	for j := range acc {
		fn.VMOVUPS(operand.Mem{Base: h, Disp: j * l.Bytes()}, acc[j])
	}
	fn.TESTQ(points, points)
	fn.JE(operand.LabelRef("store"))
	fn.Label("points")
	kernel, _ := r.at(x)
	for j := range acc {
		multiplyAddRepeated(fn, operand.Mem{Base: phi, Disp: e.Bytes() * j}, []reg.VecVirtual{kernel}, acc[j:j+1])
	}
	fn.ADDQ(stride, phi)
	fn.DECQ(points)
	fn.JNE(operand.LabelRef("points"))
	fn.Label("store")
	for j := range acc {
		fn.VMOVUPS(acc[j], operand.Mem{Base: h, Disp: j * l.Bytes()})
	}
	fn.End()
}

// setConvGrad writes, for the gradient to scale and gamma, over the given points
//
//	sum[lane] = Σ_n e_n·q_n,  sum[lanes + lane] = Σ_n v_n·e_n·q_n,  q_n = Σ_j dh[j, lane]·phi[n, j]
//
// with v = -gamma·|t - x|² and e = exp v. Where e vanishes the product counts as 0, whatever v.
func setConvGrad(f *x86.File, l x86.Level, elem x86.Elem) {
	fn := f.Func(l, elem, "setConvGrad"+elem.String(),
		ofType("func(sum *float32, t, x *float64, phi, dh *float32, points, d, c, stride int, factor float64)", elem),
		"sets sum[lane] = Σ e·q and sum[lanes+lane] = Σ v·e·q over n < points, with v = factor·|t[lane] - x[n]|², e = exp(v) and q "+
			"= Σ dh[j, lane]·phi[n, j] over j < c. t is [d, lanes], x [points, d], dh [c, lanes]; rows of phi lie stride bytes apart.")
	r := newSetConvRBF(fn)
	sum, x, phi, g, points, stride := fn.Arg("sum"), fn.Arg("x"), fn.Arg("phi"), fn.Arg("dh"), fn.Arg("points"), fn.Arg("stride")
	acc := zeros(fn, 2)
	clearAll(fn, acc)
	// Below exp's range v is at least this, so that 0·v stays 0.
	least := fn.ConstVec("expMin", map[x86.Elem]float64{x86.F32: -104, x86.F64: -746}[elem])
	fn.TESTQ(points, points)
	fn.JE(operand.LabelRef("store"))
	fn.Label("points")
	e, v := r.at(x)
	q := fn.Zero()
	row, channel, left := fn.GP64(), fn.GP64(), fn.GP64()
	fn.MOVQ(phi, row)
	fn.MOVQ(g, channel)
	fn.MOVQ(fn.Arg("c"), left)
	fn.Label("channels")
	p := everywhere(fn, operand.Mem{Base: row})
	floats(fn, "VFMADD231", operand.Mem{Base: channel}, p, q)
	fn.ADDQ(operand.U8(elem.Bytes()), row)
	fn.ADDQ(operand.U32(l.Bytes()), channel)
	fn.DECQ(left)
	fn.JNE(operand.LabelRef("channels"))
	floats(fn, "VMUL", e, q, q)
	floats(fn, "VADD", q, acc[0], acc[0])
	floats(fn, "VMAX", v, least, v)
	floats(fn, "VFMADD231", v, q, acc[1])
	fn.ADDQ(stride, phi)
	fn.DECQ(points)
	fn.JNE(operand.LabelRef("points"))
	fn.Label("store")
	for j := range acc {
		fn.VMOVUPS(acc[j], operand.Mem{Base: sum, Disp: j * l.Bytes()})
	}
	fn.End()
}
