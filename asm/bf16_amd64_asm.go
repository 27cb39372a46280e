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

// bf16Constants holds what round needs in registers.
type bf16Constants struct {
	*x86.Func
	quiet, one, half reg.VecVirtual
}

func newBF16Constants(fn *x86.Func) *bf16Constants {
	constant := func(name string, bits uint64) reg.VecVirtual {
		r := fn.Vec()
		fn.VPBROADCASTD(fn.Data(name, bits), r)
		return r
	}
	return &bf16Constants{fn, constant("quiet", 0x40), constant("one", 1), constant("half", 0x7fff)}
}

// round leaves the rounded upper halves of the lanes of v in their lower halves.
//
//	(u + 0x7fff + (u>>16 & 1)) >> 16,  for NaN (u>>16 | 0x40)
//
// It works on integers: instructions that convert flush subnormals.
func (c *bf16Constants) round(v reg.VecVirtual) reg.VecVirtual {
	fn := c.Func
	u, nan := fn.Vec(), fn.Vec()
	fn.VPSRLD(operand.U8(16), v, u)
	if fn.Level == x86.AVX512 {
		k := fn.K()
		fn.VCMPPS(operand.U8(3), v, v, k)
		fn.VPORD(c.quiet, u, nan)
		fn.VPANDD(c.one, u, u)
		fn.VPADDD(c.half, u, u)
		fn.VPADDD(u, v, u)
		fn.VPSRLD(operand.U8(16), u, u)
		fn.VMOVDQA32(nan, k, u)
		return u
	}
	unordered := fn.Vec()
	fn.VCMPPS(operand.U8(3), v, v, unordered)
	fn.VPOR(c.quiet, u, nan)
	fn.VPAND(c.one, u, u)
	fn.VPADDD(c.half, u, u)
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
	constants := newBF16Constants(fn)
	load := func(u int) reg.VecVirtual {
		v := fn.Vec()
		fn.VMOVUPS(operand.Mem{Base: x, Disp: u * l.Bytes()}, v)
		return constants.round(v)
	}
	if l == x86.AVX2 {
		// Two vectors are packed at once, half by half, and the middle quarters change places.
		two, one := fn.NewLabel("two"), fn.NewLabel("one")
		fn.SUBQ(operand.U8(2*fn.Lanes()), n)
		fn.JL(operand.LabelRef(one))
		fn.Label(two)
		low, high := load(0), load(1)
		fn.VPACKUSDW(high, low, low)
		fn.VPERMQ(operand.U8(0xd8), low, low)
		fn.VMOVDQU(low, operand.Mem{Base: dst})
		fn.ADDQ(operand.U8(2*l.Bytes()), x)
		fn.ADDQ(operand.U8(l.Bytes()), dst)
		fn.SUBQ(operand.U8(2*fn.Lanes()), n)
		fn.JGE(operand.LabelRef(two))
		fn.Label(one)
		fn.ADDQ(operand.U8(2*fn.Lanes()), n)
	}
	fn.SUBQ(step, n)
	fn.JL(operand.LabelRef(tail))
	fn.Label(loop)
	r := pack(load(0))
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
	r = pack(constants.round(fn.NewTail(n).Load(operand.Mem{Base: x})))
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
	for i, copies := range []int{4, 1} {
		loop, next := []string{"four", loop}[i], []string{"rest", tail}[i]
		step := operand.U8(copies * fn.Lanes())
		fn.SUBQ(step, n)
		fn.JL(operand.LabelRef(next))
		fn.Label(loop)
		for u := range copies {
			v := fn.Vec()
			fn.VPMOVZXWD(operand.Mem{Base: x, Disp: u * l.Bytes() / 2}, v)
			fn.VPSLLD(operand.U8(16), v, v)
			fn.VMOVUPS(v, operand.Mem{Base: dst, Disp: u * l.Bytes()})
		}
		fn.ADDQ(operand.U32(copies*l.Bytes()/2), x)
		fn.ADDQ(operand.U32(copies*l.Bytes()), dst)
		fn.SUBQ(step, n)
		fn.JGE(operand.LabelRef(loop))
		fn.Label(next)
		fn.ADDQ(step, n)
	}
	fn.TESTQ(n, n)
	fn.JE(operand.LabelRef(done))
	half := newDepthwiseHalf(fn, n, nil)
	fn.NewTail(n).Store(half.load(operand.Mem{Base: x}, true), operand.Mem{Base: dst})
	fn.Label(done)
	fn.End()
}
