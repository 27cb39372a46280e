package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

// adamAMD64 writes a step of Adam. Half a vector of float32 becomes a vector of float64, in which every operation is rounded as in
// the portable twin: the results have the same bits. Each parameter needs a division and a
// square root, which keep the divider busy all the time, so unrolling would gain nothing.
//
//	m = beta1·m + (1-beta1)·g,  v = beta2·v + (1-beta2)·g²,  p = p - step·m/(√v·root + eps)
func adamAMD64(f *x86.File) {
	for _, l := range levels {
		adamOf(f, l, x86.F32)
		adamOf(f, l, x86.F64)
	}
}

// adamOf writes the step for a level and a type.
func adamOf(f *x86.File, l x86.Level, e x86.Elem) {
	fn := f.Func(l, e, "adam"+e.String(), "func(p, m, v, grad *"+e.GoType()+", k *float64, n int)",
		"is a step of Adam on n parameters, n a positive multiple of the float64 in a vector; k has step, beta1, "+
			"1-beta1, beta2, 1-beta2, root and eps.")
	p, m, v, g, k, n := fn.Arg("p"), fn.Arg("m"), fn.Arg("v"), fn.Arg("grad"), fn.Arg("k"), fn.Arg("n")
	var c [7]reg.VecVirtual
	for i := range c {
		c[i] = fn.Vec()
		fn.VBROADCASTSD(operand.Mem{Base: k, Disp: 8 * i}, c[i])
	}
	step, beta1, rest1, beta2, rest2, root, eps := c[0], c[1], c[2], c[3], c[4], c[5], c[6]
	load := func(from reg.Register) reg.VecVirtual {
		x := fn.Vec()
		if e == x86.F64 {
			fn.VMOVUPS(operand.Mem{Base: from}, x)
		} else {
			fn.VCVTPS2PD(operand.Mem{Base: from}, x)
		}
		return x
	}
	store := func(x reg.VecVirtual, to reg.Register) {
		if e == x86.F64 {
			fn.VMOVUPS(x, operand.Mem{Base: to})
			return
		}
		if l == x86.AVX512 {
			half := fn.YMM()
			fn.VCVTPD2PS(x, half)
			fn.VMOVUPS(half, operand.Mem{Base: to})
			return
		}
		half := fn.XMM()
		fn.VCVTPD2PSY(x, half)
		fn.VMOVUPS(half, operand.Mem{Base: to})
	}
	fn.Label("loop")
	d, a, b, x := load(g), load(m), load(v), load(p)
	t := fn.Vec()
	fn.VMULPD(rest1, d, t)
	fn.VMULPD(beta1, a, a)
	fn.VADDPD(t, a, a)
	store(a, m)
	fn.VMULPD(d, d, d)
	fn.VMULPD(rest2, d, d)
	fn.VMULPD(beta2, b, b)
	fn.VADDPD(d, b, b)
	store(b, v)
	fn.VSQRTPD(b, b)
	fn.VMULPD(root, b, b)
	fn.VADDPD(eps, b, b)
	fn.VMULPD(step, a, a)
	fn.VDIVPD(b, a, a)
	fn.VSUBPD(a, x, x)
	store(x, p)
	for _, at := range []reg.Register{p, m, v, g} {
		fn.ADDQ(operand.U8(l.Bytes()/8*e.Bytes()), at)
	}
	fn.SUBQ(operand.U8(l.Bytes()/8), n)
	fn.JNE(operand.LabelRef("loop"))
	fn.End()
}
