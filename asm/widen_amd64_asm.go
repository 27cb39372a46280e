package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

// wideLanes is the length of a row of package batch's buffer of wide matrices: one for each bit of a word.
const wideLanes = 64

// widenAMD64 writes what takes 3×3 matrices from float32 to float64 and back, for operations whose steps float32 has too few digits
// for. Those of 64 matrices take part whose bits are set in lanes; the float32 memory of others is not touched.
func widenAMD64(f *x86.File) {
	moveAMD64(f)
	moveRowsAMD64(f)
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

// moveAMD64 writes what takes the entries of less than a round of matrices into a buffer, and results out of one.
func moveAMD64(f *x86.File) {
	for _, e := range []x86.Elem{x86.F32, x86.F64} {
		for _, l := range levels {
			fn := f.Func(l, e, "move"+e.String(),
				fmt.Sprintf("func(dst, src *%s, dstStride, srcStride, entries int, lanes uint64)", e.GoType()),
				"sets dst[dstStride·e+i] = src[srcStride·e+i] for e < entries, at least one, and every i whose bit is "+
					"set in lanes. Of these there are as "+
					"many as elements in a vector, on AVX-512 in two.")
			dst, src, entries, lanes := fn.Arg("dst"), fn.Arg("src"), fn.Arg("entries"), fn.Arg("lanes")
			dstStride, srcStride := fn.Arg("dstStride"), fn.Arg("srcStride")
			shift := operand.U8(map[x86.Elem]int{x86.F32: 2, x86.F64: 3}[e])
			fn.SHLQ(shift, dstStride)
			fn.SHLQ(shift, srcStride)
			var masks []reg.Register
			if l == x86.AVX512 {
				masks = []reg.Register{fn.K(), fn.K()}
				fn.KMOVW(lanes.As32(), masks[0])
				fn.SHRQ(operand.U8(fn.Lanes()), lanes)
				fn.KMOVW(lanes.As32(), masks[1])
			} else {
				masks = []reg.Register{bitMask(fn, lanes)}
			}
			loop := fn.NewLabel("loop")
			fn.Label(loop)
			for u, k := range masks {
				r, disp := fn.Vec(), u*l.Bytes()
				floats := map[x86.Elem]string{x86.F32: "PS", x86.F64: "PD"}[e]
				if l == x86.AVX512 {
					fn.Inst("VMOVU"+floats+"_Z", operand.Mem{Base: src, Disp: disp}, k, r)
					fn.Inst("VMOVU"+floats, r, k, operand.Mem{Base: dst, Disp: disp})
				} else {
					fn.Inst("VMASKMOV"+floats, operand.Mem{Base: src}, k, r)
					fn.Inst("VMASKMOV"+floats, r, k, operand.Mem{Base: dst})
				}
			}
			fn.ADDQ(srcStride, src)
			fn.ADDQ(dstStride, dst)
			fn.DECQ(entries)
			fn.JNE(operand.LabelRef(loop))
			fn.End()
		}
	}
}

// rowBytes is what moveRows takes of an entry: four cache lines.
const rowBytes = 512

// moveRowsAMD64 writes what takes the entries of many matrices into a buffer, and results out of one, with one vector size for both
// levels.
func moveRowsAMD64(f *x86.File) {
	fn := f.Func(x86.AVX2, x86.F64, "moveRows", "func(dst, src *uint64, dstStride, srcStride, entries int)",
		fmt.Sprintf("copies %d bytes from src+srcStride·e to dst+dstStride·e, in bytes, for e < entries, at least one.", rowBytes))
	dst, src, entries := fn.Arg("dst"), fn.Arg("src"), fn.Arg("entries")
	dstStride, srcStride := fn.Arg("dstStride"), fn.Arg("srcStride")
	loop := fn.NewLabel("loop")
	fn.Label(loop)
	// A store waits for its line: fetch those of the entry after the next.
	for line := 0; line < rowBytes; line += 64 {
		fn.PREFETCHT0(operand.Mem{Base: dst, Index: dstStride, Scale: 4, Disp: line})
	}
	for at := 0; at < rowBytes; at += x86.AVX2.Bytes() {
		r := fn.YMM()
		fn.VMOVUPS(operand.Mem{Base: src, Disp: at}, r)
		fn.VMOVUPS(r, operand.Mem{Base: dst, Disp: at})
	}
	fn.ADDQ(srcStride, src)
	fn.ADDQ(dstStride, dst)
	fn.DECQ(entries)
	fn.JNE(operand.LabelRef(loop))
	fn.End()
}

// bitMask is, on AVX2, a vector with all ones in the lanes whose bits are set.
func bitMask(fn *x86.Func, lanes reg.GPVirtual) reg.Register {
	each, m, x := fn.YMM(), fn.YMM(), fn.XMM()
	fn.VMOVQ(lanes, x)
	if fn.Elem == x86.F64 {
		fn.VMOVDQU(fn.Data("eachBitF64", 1, 2, 4, 8), each)
		fn.VPBROADCASTQ(x, m)
		fn.VPAND(each, m, m)
		fn.VPCMPEQQ(each, m, m)
		return m
	}
	fn.VMOVDQU(fn.Data("eachBit", 1, 2, 4, 8, 16, 32, 64, 128), each)
	fn.VPBROADCASTD(x, m)
	fn.VPAND(each, m, m)
	fn.VPCMPEQD(each, m, m)
	return m
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
