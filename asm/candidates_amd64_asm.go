package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

func candidatesAMD64(f *x86.File) {
	for _, l := range levels {
		for d := 1; d <= 3; d++ {
			candidates(f, l, d)
		}
	}
}

// candidates writes the bits of the points with hi_c - x_c ≤ width_c for all of d coordinates, in 16 bits without sign: two
// instructions a coordinate, for 32 points on AVX-512.
func candidates(f *x86.File, l x86.Level, d int) {
	signature := "func(bits *uint64, x *uint16, stride, words int"
	for c := range d {
		signature += fmt.Sprintf(", hi%d, width%[1]d uint16", c)
	}
	fn := f.Func(l, x86.F32, fmt.Sprintf("candidates%d", d), signature+")",
		"writes, for 64·words points, the bits of those with hi_c - x_c ≤ width_c modulo 2^16 for every c.")
	bits, x, stride, words := fn.Arg("bits"), fn.Arg("x"), fn.Arg("stride"), fn.Arg("words")
	fn.ADDQ(stride, stride) // in bytes
	broadcast := func(name string) reg.VecVirtual {
		p, err := fn.Param(name).Resolve()
		if err != nil {
			panic(err)
		}
		r := fn.Vec()
		fn.VPBROADCASTW(p.Addr, r)
		return r
	}
	var hi, width []reg.VecVirtual
	for c := range d {
		hi, width = append(hi, broadcast(fmt.Sprintf("hi%d", c))), append(width, broadcast(fmt.Sprintf("width%d", c)))
	}
	gap := func(c, at int) reg.VecVirtual {
		m, r := entryAt(x, stride, c), fn.Vec()
		m.Disp = at
		fn.VPSUBW(m, hi[c], r)
		return r
	}
	loop, done := fn.NewLabel("loop"), fn.NewLabel("done")
	fn.TESTQ(words, words)
	fn.JE(operand.LabelRef(done))
	zero := fn.Zero()
	fn.Label(loop)
	if l == x86.AVX512 {
		const atMost = 2
		// One port alone computes masks. So a comparison is made under the mask of the one before it, instead of joining two masks
		// by a further instruction on that port.
		for h := range 2 {
			k := fn.K()
			fn.VPCMPUW(operand.U8(atMost), width[0], gap(0, 64*h), k)
			for c := 1; c < d; c++ {
				fn.VPCMPUW(operand.U8(atMost), width[c], gap(c, 64*h), k, k)
			}
			fn.KMOVD(k, operand.Mem{Base: bits, Disp: 4 * h})
		}
	} else {
		// A saturating difference, gap - width, is 0 just where the gap is not above the width.
		test := func(at int) reg.VecVirtual {
			var over reg.VecVirtual
			for c := range d {
				g := gap(c, at)
				fn.VPSUBUSW(width[c], g, g)
				if c > 0 {
					fn.VPOR(over, g, g)
				}
				over = g
			}
			fn.VPCMPEQW(zero, over, over)
			return over
		}
		for h := range 2 {
			low, high, r := test(64*h), test(64*h+32), fn.GP32()
			// Packing interleaves the halves of both registers; the permutation puts them in order.
			fn.VPACKSSWB(high, low, low)
			fn.VPERMQ(operand.U8(0xd8), low, low)
			fn.VPMOVMSKB(low, r)
			fn.MOVL(r, operand.Mem{Base: bits, Disp: 4 * h})
		}
	}
	fn.ADDQ(operand.U32(128), x)
	fn.ADDQ(operand.U8(8), bits)
	fn.DECQ(words)
	fn.JNE(operand.LabelRef(loop))
	fn.Label(done)
	fn.End()
}
