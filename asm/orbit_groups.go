package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

// counter and vector are registers of either kind: those that avo chooses, and those that are chosen where it does not
// know the instructions.
type (
	counter interface {
		reg.GP
		reg.Register
	}
	vector interface {
		reg.Vec
		reg.Register
	}
)

// vectors brings registers under that name.
func vectors[R vector](from []R) (all []vector) {
	for _, v := range from {
		all = append(all, v)
	}
	return all
}

// orbitGroups are the registers of a kernel over groups of up to orbitRows fours, and write what such kernels share,
// whatever they multiply.
type orbitGroups struct {
	fn                *x86.Func
	code, rows, fours counter // the head of a group, then its steps; the rows of its fours; fours to be stored
	mask              counter // of a step: the fours that have it
	weight, scales    counter
	v                 vector   // the weights of a four, later its scale
	acc               []vector // [orbitRows, copies]
	copies            int      // or other sums that a four has
}

func (o *orbitGroups) number(n int) operand.Mem { return operand.Mem{Base: o.code, Disp: 4 * n} }

// begin reads the head of a group: how often each loop over its steps runs, the number of fours, and their rows. Sums are zero.
func (o *orbitGroups) begin(loops ...counter) {
	for i, n := range append(loops, o.fours) {
		o.fn.MOVL(o.number(i), n.As32())
	}
	o.fn.LEAQ(o.number(len(loops)+1), o.rows)
	o.fn.MOVQ(o.fours, o.mask)
	o.fn.SHLQ(operand.U8(4), o.mask)
	o.fn.LEAQ(operand.Mem{Base: o.rows, Index: o.mask, Scale: 1}, o.code)
	clearAll(o.fn, o.acc)
}

// step adds to the sums of the fours that the mask has. Each loads its weights, so many bytes, into v; those of the others are not there.
func (o *orbitGroups) step(label string, bytes uint8, load func(), add func(sum vector, copy int)) {
	for r := range orbitRows {
		skip := fmt.Sprint(label, r)
		o.fn.TESTB(operand.U8(1<<r), o.mask.As8())
		o.fn.JEQ(operand.LabelRef(skip))
		load()
		o.fn.ADDQ(operand.U8(bytes), o.weight)
		for c := range o.copies {
			add(o.acc[r*o.copies+c], c)
		}
		o.fn.Label(skip)
	}
}

// next ends a step, which took so many numbers of the code, and begins the next one of left.
func (o *orbitGroups) next(loop string, numbers int, left counter) {
	o.fn.ADDQ(operand.U8(4*numbers), o.code)
	o.fn.DECQ(left)
	o.fn.JNE(operand.LabelRef(loop))
}

// store scales the sums of four r and stores the c-th one at row(r, c). Where the group has no more fours, it goes on
// at the label done, which follows.
func (o *orbitGroups) store(done string, row func(r, c int) operand.Mem) {
	for r := range orbitRows {
		o.fn.VBROADCASTSS(operand.Mem{Base: o.scales}, o.v)
		o.fn.ADDQ(operand.U8(4), o.scales)
		for c := range o.copies {
			a := o.acc[r*o.copies+c]
			o.fn.VMULPS(o.v, a, a)
			o.fn.VMOVUPS(a, row(r, c))
		}
		if r+1 < orbitRows {
			o.fn.DECQ(o.fours)
			o.fn.JE(operand.LabelRef(done))
		}
	}
}

// each writes body as a loop over groups, of which there may be none.
func (o *orbitGroups) each(groups counter, body func()) {
	o.fn.TESTQ(groups, groups)
	o.fn.JE(operand.LabelRef("done"))
	o.fn.Label("group")
	body()
	o.fn.DECQ(groups)
	o.fn.JNE(operand.LabelRef("group"))
	o.fn.Label("done")
}
