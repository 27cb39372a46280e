package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

// nearSum writes the bits of the points with |u0 - x0| + |u1 - x1| ≤ r in 16-bit integers; see diff.
func nearSum(f *x86.File, l x86.Level) {
	w := newNear(f, l, "nearSum2", "func(bits *uint64, x *int16, stride, words int, u0, u1 int16, r uint16)",
		"writes, for 64·words points, the bits of those with |u0 - x0| + |u1 - x1| ≤ r.")
	u := []reg.VecVirtual{w.broadcast("u0"), w.broadcast("u1")}
	r := w.broadcast("r")
	w.run(func(at int) reg.Register {
		a, b := w.diff(u[0], 0, at), w.diff(u[1], 1, at)
		w.VPADDUSW(b, a, a)
		return w.atMost(a, r, nil)
	})
}

// nearBox writes the bits of the points with |u_c - x_c| ≤ r_c for all of d coordinates.
func nearBox(f *x86.File, l x86.Level, d int) {
	us, rs := []string{"u0", "u1", "u2"}[:d], []string{"r0", "r1", "r2"}[:d]
	signature := "func(bits *uint64, x *int16, stride, words int"
	for c := range d {
		signature += fmt.Sprintf(", %s int16, %s uint16", us[c], rs[c])
	}
	w := newNear(f, l, fmt.Sprintf("nearBox%d", d), signature+")",
		"writes, for 64·words points, the bits of those with |u_c - x_c| ≤ r_c for every c.")
	var u, r []reg.VecVirtual
	for c := range d {
		u, r = append(u, w.broadcast(us[c])), append(r, w.broadcast(rs[c]))
	}
	w.run(func(at int) reg.Register {
		var m reg.Register
		for c := range d {
			m = w.atMost(w.diff(u[c], c, at), r[c], m)
		}
		return m
	})
}

// near is a function under construction.
type near struct {
	*x86.Func
	bits, x, stride, words reg.GPVirtual
}

func newNear(f *x86.File, l x86.Level, name, signature, doc string) *near {
	fn := f.Func(l, x86.F32, name, signature, doc)
	w := &near{fn, fn.Arg("bits"), fn.Arg("x"), fn.Arg("stride"), fn.Arg("words")}
	w.ADDQ(w.stride, w.stride) // in bytes
	return w
}

// broadcast loads a 16-bit argument into all lanes.
func (w *near) broadcast(name string) reg.VecVirtual {
	p, err := w.Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	r := w.Vec()
	w.VPBROADCASTW(p.Addr, r)
	return r
}

// diff is |u - x_c| of the points at bytes from the current ones, modulo 2^16 for c = 0 and saturated for the others; |-2^15| is
// 2^15 without sign.
func (w *near) diff(u reg.VecVirtual, c, at int) reg.VecVirtual {
	m := entryAt(w.x, w.stride, c)
	m.Disp = at
	r := w.Vec()
	if c == 0 {
		w.VPSUBW(m, u, r)
	} else {
		w.VPSUBSW(m, u, r)
	}
	w.VPABSW(r, r)
	return r
}

// atMost is the mask of a ≤ r, without sign, where m, if there is one, is set.
func (w *near) atMost(a, r reg.VecVirtual, m reg.Register) reg.Register {
	if w.Level == x86.AVX512 {
		k := w.K()
		if m == nil {
			w.VPCMPUW(operand.U8(2), r, a, k)
		} else {
			w.VPCMPUW(operand.U8(2), r, a, m, k)
		}
		return k
	}
	// The smaller of both is a.
	small := w.Vec()
	w.VPMINUW(r, a, small)
	w.VPCMPEQW(a, small, small)
	if m != nil {
		w.VPAND(small, m, small)
	}
	return small
}

// run writes the loop over words; test makes the mask of the vector that starts so many bytes from x.
func (w *near) run(test func(at int) reg.Register) {
	loop, done := w.NewLabel("loop"), w.NewLabel("done")
	w.TESTQ(w.words, w.words)
	w.JE(operand.LabelRef(done))
	w.Label(loop)
	if w.Level == x86.AVX512 {
		low, high := test(0), test(64)
		k := w.K()
		w.KUNPCKDQ(low, high, k)
		w.KMOVQ(k, operand.Mem{Base: w.bits})
	} else {
		for half := range 2 {
			low, high := test(64*half).(reg.VecVirtual), test(64*half+32).(reg.VecVirtual)
			bytes, r := w.Vec(), w.GP32()
			// Packing interleaves the halves of both registers; the permutation puts them in order.
			w.VPACKSSWB(high, low, bytes)
			w.VPERMQ(operand.U8(0xd8), bytes, bytes)
			w.VPMOVMSKB(bytes, r)
			w.MOVL(r, operand.Mem{Base: w.bits, Disp: 4 * half})
		}
	}
	w.ADDQ(operand.U32(128), w.x)
	w.ADDQ(operand.U8(8), w.bits)
	w.DECQ(w.words)
	w.JNE(operand.LabelRef(loop))
	w.Label(done)
	w.End()
}
