package main

import "github.com/equivcnp/equivcnp/asm/internal/neon"

// bf16NEON writes the conversions to and from bfloat16: 2.4 and 0.6 instructions per number.
func bf16NEON(file *neon.File) {
	bf16FromF32NEON(file)
	f32FromBF16NEON(file)
}

// bf16FromF32NEON rounds on integers, as there is no instruction on all machines:
//
//	the upper half of u + 0x7fff + (u>>16 & 1),  for NaN of u | 0x400000
func bf16FromF32NEON(file *neon.File) {
	f := file.Func("bf16FromF32NEON", "(dst *uint16, x *float32, n int)",
		"bf16FromF32NEON sets dst[i] = x[i], rounded to bfloat16, for n numbers.")
	k := f.Splats(f.Consts(neon.Bits(0x7fff, "just less than half"), neon.Bits(1, "the lowest bit that stays"),
		neon.Bits(0x400000, "quiet NaN"))...)
	half, one, quiet := repeated(k[0]), repeated(k[1]), repeated(k[2])
	dst, x, n := f.Arg("dst"), f.Arg("x"), f.Arg("n")
	u, odd, nan, number := f.V(2), f.V(2), f.V(2), f.V(2)
	round := func() {
		f.EQ(number, u, u)
		f.Or(nan, u, quiet)
		f.Shr(odd, u, 16)
		f.And(odd, odd, one)
		f.AddInt(u, u, half)
		f.AddInt(u, u, odd)
		f.InsertNot(u, nan, number)
		f.Text("VUZP2 V%d.H8, V%d.H8, V%d.H8", u[1], u[0], u[0])
	}
	loop, tail, each, done := f.NewLabel("loop"), f.NewLabel("tail"), f.NewLabel("each"), f.NewLabel("done")
	f.Text("SUBS $8, %v", n)
	f.Text("BLT %s", tail)
	f.Counted(loop, 8, "numbers", func() {
		f.Text("FLDPQ.P 32(%v), (F%d, F%d)", x, u[0], u[1])
		round()
		f.Text("FMOVQ.P F%d, 16(%v)", u[0], dst)
		f.Text("SUBS $8, %v", n)
		f.Text("BGE %s", loop)
	})
	f.Label(tail)
	f.Text("ADDS $8, %v", n)
	f.Text("BEQ %s", done)
	f.LoadUpTo8(u, x, n)
	round()
	f.Label(each)
	f.Text("VST1.P V%d.H[0], 2(%v)", u[0], dst)
	f.Text("VEXT $2, V%d.B16, V%d.B16, V%d.B16", u[0], u[0], u[0])
	f.Text("SUBS $1, %v", n)
	f.Text("BNE %s", each)
	f.Label(done)
	f.Text("RET")
}

// repeated is a list of one register, two times.
func repeated(x neon.Vec) neon.Vec { return neon.Vec{x[0], x[0]} }

func f32FromBF16NEON(file *neon.File) {
	f := file.Func("f32FromBF16NEON", "(dst *float32, x *uint16, n int)", "f32FromBF16NEON sets dst[i] = x[i] for n numbers.")
	dst, x, n, one := f.Arg("dst"), f.Arg("x"), f.Arg("n"), f.R()
	v := f.V(4)
	loop, tail, each, done := f.NewLabel("loop"), f.NewLabel("tail"), f.NewLabel("each"), f.NewLabel("done")
	f.Text("SUBS $16, %v", n)
	f.Text("BLT %s", tail)
	f.Counted(loop, 16, "numbers", func() {
		f.Text("FLDPQ.P 32(%v), (F%d, F%d)", x, v[1], v[3])
		for i := 0; i < len(v); i += 2 {
			f.WidenShift16(v[i:i+1], v[i+1:i+2])
			f.WidenShift16High(v[i+1:i+2], v[i+1:i+2])
			f.Text("FSTPQ.P (F%d, F%d), 32(%v)", v[i], v[i+1], dst)
		}
		f.Text("SUBS $16, %v", n)
		f.Text("BGE %s", loop)
	})
	f.Label(tail)
	f.Text("ADDS $16, %v", n)
	f.Text("BEQ %s", done)
	f.Label(each) // at most fifteen
	f.Text("MOVHU.P 2(%v), %v", x, one)
	f.Text("LSL $16, %v", one)
	f.Text("MOVW.P %v, 4(%v)", one, dst)
	f.Text("SUBS $1, %v", n)
	f.Text("BNE %s", each)
	f.Label(done)
	f.Text("RET")
}
