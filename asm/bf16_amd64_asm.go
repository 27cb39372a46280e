package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

func bf16AMD64(f *x86.File) {
	for _, l := range levels {
		bf16FromF32(f, l)
		f32FromBF16(f, l)
	}
}

// bf16Round leaves the rounded upper halves of the lanes of v in their lower halves.
//
//	(u + 0x7fff + (u>>16 & 1)) >> 16,  for NaN (u>>16 | 0x40)
//
// It works on integers: instructions that convert flush subnormals.
func bf16Round(fn *x86.Func, v reg.VecVirtual) reg.VecVirtual {
	u, nan := fn.Vec(), fn.Vec()
	constant := func(name string, bits uint64) operand.Op {
		m := fn.Data(name, bits)
		r := fn.Vec()
		fn.VPBROADCASTD(m, r)
		return r
	}
	fn.VPSRLD(operand.U8(16), v, u)
	if fn.Level == x86.AVX512 {
		k := fn.K()
		fn.VCMPPS(operand.U8(3), v, v, k)
		fn.VPORD(constant("quiet", 0x40), u, nan)
		fn.VPANDD(constant("one", 1), u, u)
		fn.VPADDD(constant("half", 0x7fff), u, u)
		fn.VPADDD(u, v, u)
		fn.VPSRLD(operand.U8(16), u, u)
		fn.VMOVDQA32(nan, k, u)
		return u
	}
	unordered := fn.Vec()
	fn.VCMPPS(operand.U8(3), v, v, unordered)
	fn.VPOR(constant("quiet", 0x40), u, nan)
	fn.VPAND(constant("one", 1), u, u)
	fn.VPADDD(constant("half", 0x7fff), u, u)
	fn.VPADDD(u, v, u)
	fn.VPSRLD(operand.U8(16), u, u)
	fn.VBLENDVPS(unordered, nan, u, u)
	return u
}

func bf16FromF32(f *x86.File, l x86.Level) {
	fn := f.Func(l, x86.F32, "bf16FromF32", "func(dst *uint16, x *float32, n int)", "sets dst[i] = x[i], rounded to bfloat16, for i < n.")
	dst, x, n := fn.Arg("dst"), fn.Arg("x"), fn.Arg("n")
	loop, tail, done := fn.NewLabel("loop"), fn.NewLabel("tail"), fn.NewLabel("done")
	step := operand.U8(fn.Lanes())
	// store packs the lanes' lower halves.
	pack := func(u reg.VecVirtual) reg.VecVirtual {
		if l == x86.AVX512 {
			half := fn.YMM()
			fn.VPMOVDW(u, half)
			return half
		}
		// The lanes are below 2^16, so packing saturates nothing. Packing treats the two halves of a register separately.
		high := fn.XMM()
		fn.VEXTRACTI128(operand.U8(1), u, high)
		fn.VPACKUSDW(high, u.AsX(), u.AsX())
		return u
	}
	fn.SUBQ(step, n)
	fn.JL(operand.LabelRef(tail))
	fn.Label(loop)
	v := fn.Vec()
	fn.VMOVUPS(operand.Mem{Base: x}, v)
	r := pack(bf16Round(fn, v))
	if l == x86.AVX512 {
		fn.VMOVDQU(r, operand.Mem{Base: dst})
	} else {
		fn.VMOVDQU(r.AsX(), operand.Mem{Base: dst})
	}
	fn.ADDQ(operand.U8(l.Bytes()), x)
	fn.ADDQ(operand.U8(l.Bytes()/2), dst)
	fn.SUBQ(step, n)
	fn.JGE(operand.LabelRef(loop))
	fn.Label(tail)
	fn.ADDQ(step, n)
	fn.JE(operand.LabelRef(done))
	r = pack(bf16Round(fn, fn.NewTail(n).Load(operand.Mem{Base: x})))
	if l == x86.AVX512 {
		ones, k := fn.GP64(), fn.K()
		fn.MOVQ(operand.I32(-1), ones)
		fn.BZHIQ(n, ones, ones)
		fn.KMOVW(ones.As32(), k)
		fn.VMOVDQU16(r, k, operand.Mem{Base: dst})
	} else {
		// One number at a time, shifted down.
		one := fn.NewLabel("one")
		fn.Label(one)
		fn.VPEXTRW(operand.U8(0), r.AsX(), operand.Mem{Base: dst})
		fn.VPSRLDQ(operand.U8(2), r.AsX(), r.AsX())
		fn.ADDQ(operand.U8(2), dst)
		fn.DECQ(n)
		fn.JNE(operand.LabelRef(one))
	}
	fn.Label(done)
	fn.End()
}

func f32FromBF16(f *x86.File, l x86.Level) {
	fn := f.Func(l, x86.F32, "f32FromBF16", "func(dst *float32, x *uint16, n int)", "sets dst[i] = x[i] for i < n.")
	dst, x, n := fn.Arg("dst"), fn.Arg("x"), fn.Arg("n")
	loop, tail, done := fn.NewLabel("loop"), fn.NewLabel("tail"), fn.NewLabel("done")
	step := operand.U8(fn.Lanes())
	fn.SUBQ(step, n)
	fn.JL(operand.LabelRef(tail))
	fn.Label(loop)
	v := fn.Vec()
	fn.VPMOVZXWD(operand.Mem{Base: x}, v)
	fn.VPSLLD(operand.U8(16), v, v)
	fn.VMOVUPS(v, operand.Mem{Base: dst})
	fn.ADDQ(operand.U8(l.Bytes()/2), x)
	fn.ADDQ(operand.U8(l.Bytes()), dst)
	fn.SUBQ(step, n)
	fn.JGE(operand.LabelRef(loop))
	fn.Label(tail)
	fn.ADDQ(step, n)
	fn.JE(operand.LabelRef(done))
	half := newDepthwiseHalf(fn, n)
	fn.NewTail(n).Store(half.load(operand.Mem{Base: x}, true), operand.Mem{Base: dst})
	fn.Label(done)
	fn.End()
}
