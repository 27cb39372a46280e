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
	bf16FromF32Past(f)
	f32FromBF16Past(f)
}

// bf16FromF32 writes the conversion to bfloat16, rounded to the nearest, ties to even:
//
//	(u + 0x7fff + (u>>16 & 1)) >> 16,  for NaN (u | 0x400000) >> 16
//
// It works on integers: instructions that convert flush subnormals.
func bf16FromF32(f *x86.File, l x86.Level) {
	fn := f.Func(l, x86.F32, "bf16FromF32", "func(dst *uint16, x *float32, n int)", "sets dst[i] = x[i], rounded to bfloat16, for i < n.")
	if l == x86.AVX512 {
		bf16FromF32AVX512(fn)
	} else {
		bf16FromF32AVX2(fn)
	}
	fn.End()
}

// bf16FromF32AVX512 takes the upper halves of two vectors at once, so they need not be shifted down. The last vectors
// are read and written under masks.
func bf16FromF32AVX512(fn *x86.Func) {
	const step = 32 // two vectors
	dst, x, n := fn.Arg("dst"), fn.Arg("x"), fn.Arg("n")
	constant := func(name string, bits uint64) reg.VecVirtual {
		r := fn.Vec()
		fn.VPBROADCASTD(fn.Data(name, bits), r)
		return r
	}
	quiet, last, half, one := constant("quietF32", 1<<22), constant("sixteenth", 1<<16), constant("half", 0x7fff), constant("one", 1)
	odd, places := make([]uint64, 16), fn.Vec()
	for i := range odd {
		odd[i] = uint64(4*i+3)<<16 | uint64(4*i+1)
	}
	fn.VMOVUPS(fn.Data("oddWords", odd...), places)
	rounded := func(v reg.VecVirtual) reg.VecVirtual {
		up, nan, u := fn.K(), fn.K(), fn.Vec()
		fn.VPTESTMD(last, v, up)
		fn.VCMPPS(operand.U8(3), v, v, nan)
		fn.VPADDD(half, v, u)
		fn.VPADDD(one, u, up, u)
		fn.VPORD(quiet, v, nan, u)
		return u
	}
	pair := func(load func(at int) reg.VecVirtual) reg.VecVirtual {
		low, high := rounded(load(0)), rounded(load(1))
		fn.VPERMT2W(high, places, low)
		return low
	}
	fn.SUBQ(operand.U8(step), n)
	fn.JL(operand.LabelRef("tail"))
	fn.Label("loop")
	fn.VMOVUPS(pair(func(at int) reg.VecVirtual {
		v := fn.Vec()
		fn.VMOVUPS(operand.Mem{Base: x, Disp: 64 * at}, v)
		return v
	}), operand.Mem{Base: dst})
	fn.ADDQ(operand.U32(4*step), x)
	fn.ADDQ(operand.U8(2*step), dst)
	fn.SUBQ(operand.U8(step), n)
	fn.JGE(operand.LabelRef("loop"))
	fn.Label("tail")
	fn.ADDQ(operand.U8(step), n)
	fn.JE(operand.LabelRef("done"))
	ones, all := fn.GP64(), fn.K()
	fn.MOVQ(operand.I32(-1), ones)
	fn.BZHIQ(n, ones, ones)
	fn.KMOVD(ones.As32(), all)
	masks := []reg.OpmaskVirtual{fn.K(), fn.K()}
	fn.KMOVW(ones.As32(), masks[0])
	fn.SHRL(operand.U8(16), ones.As32())
	fn.KMOVW(ones.As32(), masks[1])
	words := pair(func(at int) reg.VecVirtual {
		v := fn.Vec()
		fn.VMOVUPS_Z(operand.Mem{Base: x, Disp: 64 * at}, masks[at], v)
		return v
	})
	fn.VMOVDQU16(words, all, operand.Mem{Base: dst})
	fn.Label("done")
}

// bf16Rounded returns what leaves the rounded upper halves of the lanes of v in their lower halves.
func bf16Rounded(fn *x86.Func) func(v reg.VecVirtual) reg.VecVirtual {
	constant := func(name string, bits uint64) reg.VecVirtual {
		r := fn.Vec()
		fn.VPBROADCASTD(fn.Data(name, bits), r)
		return r
	}
	quiet, one, half := constant("quiet", 0x40), constant("one", 1), constant("half", 0x7fff)
	return func(v reg.VecVirtual) reg.VecVirtual {
		u, nan, unordered := fn.Vec(), fn.Vec(), fn.Vec()
		fn.VPSRLD(operand.U8(16), v, u)
		fn.VCMPPS(operand.U8(3), v, v, unordered)
		fn.VPOR(quiet, u, nan)
		fn.VPAND(one, u, u)
		fn.VPADDD(half, u, u)
		fn.VPADDD(u, v, u)
		fn.VPSRLD(operand.U8(16), u, u)
		fn.VBLENDVPS(unordered, nan, u, u)
		return u
	}
}

// bf16FromF32AVX2 packs two vectors at once, half by half, and the middle quarters change places.
func bf16FromF32AVX2(fn *x86.Func) {
	dst, x, n := fn.Arg("dst"), fn.Arg("x"), fn.Arg("n")
	loop, tail, done := fn.NewLabel("loop"), fn.NewLabel("tail"), fn.NewLabel("done")
	lanes, bytes := fn.Lanes(), fn.Level.Bytes()
	rounded := bf16Rounded(fn)
	load := func(u int) reg.VecVirtual {
		v := fn.Vec()
		fn.VMOVUPS(operand.Mem{Base: x, Disp: u * bytes}, v)
		return rounded(v)
	}
	// pack packs the lanes' lower halves. They are below 2^16, so packing saturates nothing. It treats the two halves of a
	// register separately.
	pack := func(u reg.VecVirtual) {
		high := fn.XMM()
		fn.VEXTRACTI128(operand.U8(1), u, high)
		fn.VPACKUSDW(high, u.AsX(), u.AsX())
	}
	rest := fn.NewLabel("one")
	fn.SUBQ(operand.U8(2*lanes), n)
	fn.JL(operand.LabelRef(rest))
	fn.Label(loop)
	low, high := load(0), load(1)
	fn.VPACKUSDW(high, low, low)
	fn.VPERMQ(operand.U8(0xd8), low, low)
	fn.VMOVDQU(low, operand.Mem{Base: dst})
	fn.ADDQ(operand.U8(2*bytes), x)
	fn.ADDQ(operand.U8(bytes), dst)
	fn.SUBQ(operand.U8(2*lanes), n)
	fn.JGE(operand.LabelRef(loop))
	fn.Label(rest)
	fn.ADDQ(operand.U8(2*lanes), n)
	fn.SUBQ(operand.U8(lanes), n)
	fn.JL(operand.LabelRef(tail))
	r := load(0)
	pack(r)
	fn.VMOVDQU(r.AsX(), operand.Mem{Base: dst})
	fn.ADDQ(operand.U8(bytes), x)
	fn.ADDQ(operand.U8(bytes/2), dst)
	fn.SUBQ(operand.U8(lanes), n)
	fn.Label(tail)
	fn.ADDQ(operand.U8(lanes), n)
	fn.JE(operand.LabelRef(done))
	r = rounded(fn.NewTail(n).Load(operand.Mem{Base: x}))
	pack(r)
	// One number at a time, shifted down.
	each := fn.NewLabel("each")
	fn.Label(each)
	fn.VPEXTRW(operand.U8(0), r.AsX(), operand.Mem{Base: dst})
	fn.VPSRLDQ(operand.U8(2), r.AsX(), r.AsX())
	fn.ADDQ(operand.U8(2), dst)
	fn.DECQ(n)
	fn.JNE(operand.LabelRef(each))
	fn.Label(done)
}

// bf16FetchAhead is how many bytes ahead of what it reads bf16FromF32Past fetches lines.
const bf16FetchAhead = 2048

// bf16FromF32Past writes the conversion of large arrays to bfloat16, a cache line of results at a time.
func bf16FromF32Past(f *x86.File) {
	fn := f.Func(x86.AVX2, x86.F32, "bf16FromF32Past", "func(dst *uint16, x *float32, n int)",
		"is bf16FromF32 for a multiple of two cache lines that begins with a line, stored past the caches.")
	dst, x, n, bytes := fn.Arg("dst"), fn.Arg("x"), fn.Arg("n"), fn.Level.Bytes()
	rounded := bf16Rounded(fn)
	fn.Label("loop")
	for line := range 2 {
		fn.PREFETCHT0(operand.Mem{Base: x, Disp: bf16FetchAhead + line*cacheLine})
		var v [2]reg.VecVirtual
		for u := range v {
			r := fn.Vec()
			fn.VMOVUPS(operand.Mem{Base: x, Disp: line*cacheLine + u*bytes}, r)
			v[u] = rounded(r)
		}
		fn.VPACKUSDW(v[1], v[0], v[0])
		fn.VPERMQ(operand.U8(0xd8), v[0], v[0])
		fn.VMOVNTDQ(v[0], operand.Mem{Base: dst, Disp: line * bytes})
	}
	fn.ADDQ(operand.U32(2*cacheLine), x)
	fn.ADDQ(operand.U32(cacheLine), dst)
	fn.SUBQ(operand.U8(4*fn.Lanes()), n)
	fn.JG(operand.LabelRef("loop"))
	fn.End()
}

// f32FromBF16Past writes the conversion of large arrays from bfloat16, two cache lines of results at a time.
func f32FromBF16Past(f *x86.File) {
	const copies = 4
	fn := f.Func(x86.AVX2, x86.F32, "f32FromBF16Past", "func(dst *float32, x *uint16, n int)",
		"is f32FromBF16 for a multiple of two cache lines that begins with a line, stored past the caches.")
	dst, x, n, bytes := fn.Arg("dst"), fn.Arg("x"), fn.Arg("n"), fn.Level.Bytes()
	fn.Label("loop")
	for u := range copies {
		v := fn.Vec()
		fn.VPMOVZXWD(operand.Mem{Base: x, Disp: u * bytes / 2}, v)
		fn.VPSLLD(operand.U8(16), v, v)
		fn.VMOVNTPS(v, operand.Mem{Base: dst, Disp: u * bytes})
	}
	fn.ADDQ(operand.U32(copies*bytes/2), x)
	fn.ADDQ(operand.U32(copies*bytes), dst)
	fn.SUBQ(operand.U8(copies*fn.Lanes()), n)
	fn.JG(operand.LabelRef("loop"))
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
