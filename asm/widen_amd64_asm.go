package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

// wideLanes is the length of a row of package batch's buffer of wide matrices: one for each bit of a word.
const wideLanes = 64

// widenAMD64 writes what takes 3×3 matrices from float32 to float64 and back, for operations whose steps float32 has too few digits
// for. Those of 64 matrices take part whose bits are set in lanes; the float32 memory of others is not touched.
func widenAMD64(f *x86.File) {
	for _, l := range levels {
		fn := f.Func(l, x86.F64, "widen3x3", "func(dst *float64, src *float32, stride int, lanes uint64)",
			"sets dst[64e+i] = src[stride·e+i] for e < 9 and every i whose bit is set in lanes.")
		wide, narrow := fn.Arg("dst"), fn.Arg("src")
		eachWide(fn, wide, narrow, func(wide, narrow operand.Mem, mask reg.Register) {
			r := fn.Vec()
			if l == x86.AVX512 {
				fn.VCVTPS2PD_Z(narrow, mask, r)
			} else {
				half := fn.XMM()
				fn.VMASKMOVPS(narrow, mask, half)
				fn.VCVTPS2PD(half, r)
			}
			fn.VMOVUPD(r, wide)
		})
	}
	for _, l := range levels {
		fn := f.Func(l, x86.F64, "narrow3x3", "func(dst *float32, src *float64, stride int, lanes uint64)",
			"sets dst[stride·e+i] = src[64e+i], rounded, for e < 9 and every i whose bit is set in lanes.")
		narrow, wide := fn.Arg("dst"), fn.Arg("src")
		eachWide(fn, wide, narrow, func(wide, narrow operand.Mem, mask reg.Register) {
			if l == x86.AVX512 {
				half := fn.YMM()
				fn.VCVTPD2PS(wide, half)
				fn.VMOVUPS(half, mask, narrow)
				return
			}
			half := fn.XMM()
			fn.VCVTPD2PSY(wide, half)
			fn.VMASKMOVPS(half, mask, narrow)
		})
	}
}

// eachWide goes through the matrices a vector of float64 at a time, and through the nine entries of these.
func eachWide(fn *x86.Func, wide, narrow reg.GPVirtual, convert func(wide, narrow operand.Mem, mask reg.Register)) {
	stride, lanes := fn.Arg("stride"), fn.Arg("lanes")
	fn.SHLQ(operand.U8(2), stride)
	loop, done := fn.NewLabel("loop"), fn.NewLabel("done")
	fn.TESTQ(lanes, lanes)
	fn.JE(operand.LabelRef(done))
	var each reg.VecVirtual
	if fn.Level == x86.AVX2 {
		each = fn.XMM()
		fn.VMOVDQU(fn.Data("laneBits", 2<<32|1, 8<<32|4), each)
	}
	fn.Label(loop)
	var mask reg.Register
	if fn.Level == x86.AVX512 {
		k := fn.K()
		fn.KMOVW(lanes.As32(), k) // of which eight lanes read eight bits
		mask = k
	} else {
		m := fn.XMM()
		fn.VMOVD(lanes.As32(), m)
		fn.VPBROADCASTD(m, m)
		fn.VPAND(each, m, m)
		fn.VPCMPEQD(each, m, m)
		mask = m
	}
	at := fn.GP64()
	fn.MOVQ(narrow, at)
	for e := range 9 {
		convert(operand.Mem{Base: wide, Disp: 8 * wideLanes * e}, operand.Mem{Base: at}, mask)
		if e < 8 {
			fn.ADDQ(stride, at)
		}
	}
	fn.ADDQ(operand.U8(8*fn.Lanes()), wide)
	fn.ADDQ(operand.U8(4*fn.Lanes()), narrow)
	fn.SHRQ(operand.U8(fn.Lanes()), lanes)
	fn.JNE(operand.LabelRef(loop))
	fn.Label(done)
	fn.End()
}
