package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

// What schedule.OrbitRows and its neighbours say.
const (
	orbitRows   = 6
	orbitCopies = 4
)

const depthwiseOrbitsDoc = "sets rows of out to scale·Σ w·f over the groups of a plan, for a slice of 16 channels. The rows of w follow in the order of their use."

const depthwiseOrbitsGradWDoc = "adds Σ f·x over the four rows of a group to each pose of dw, for a slice of 16 channels. x has a vector for each row. The rows of dw follow in the order of their use; what they held is kept in the bits that keep has."

// depthwiseOrbitsAMD64 writes a convolution of groups of up to six rows with four copies each, which package schedule describes. All sums of a
// group stay in registers. A step loads its points, and for each row that has them a vector of weights, which serves all copies:
//
//	                registers: sums + points + weights    loads per FMA of a full step
//	AVX-512                    24 + 4 + 1                 10/24, and 5 numbers of the code
//	AVX2, two copies           12 + 2 + 1                  8/12, and 3
//
// So the FMA limit the speed, and not the cache that points and weights come from. Rows that lack the points of a step jump over it. Steps with
// the same mask follow each other, so the processor knows the jumps.
func depthwiseOrbitsAMD64(f *x86.File) {
	for _, l := range levels {
		depthwiseOrbits(f, l)
		depthwiseOrbitsGradW(f, l)
	}
}

func depthwiseOrbits(f *x86.File, l x86.Level) {
	o := newOrbitGroups(f, l, "depthwiseOrbitsF32", "out, f, w, scale *float32, code *int32", depthwiseOrbitsDoc)
	fn, out, weight, scales, acc, v := o.Func, o.Arg("out"), o.Arg("w"), o.Arg("scale"), o.held, o.Vec()
	o.each(func() { clearAll(fn, acc) }, func(r int) {
		fn.VMOVUPS(operand.Mem{Base: weight}, v)
		fn.ADDQ(operand.U8(4*poseLanes), weight)
		for c := range o.x {
			fn.VFMADD231PS(o.x[c], v, acc[r*o.copies+c])
		}
	}, func() {
		o.eachFour("stored", func(r int) {
			fn.VBROADCASTSS(operand.Mem{Base: scales}, v)
			fn.ADDQ(operand.U8(4), scales)
			for c := range o.x {
				a := acc[r*o.copies+c]
				fn.VMULPS(v, a, a)
				fn.VMOVUPS(a, operand.Mem{Base: out, Index: o.number(o.rows, r*orbitCopies+c), Scale: 1})
			}
		})
	})
}

// depthwiseOrbitsGradW writes the gradient to the weights. What stays in registers during a group is the rows' vectors, and a step adds four
// products to what it finds of each pose.
func depthwiseOrbitsGradW(f *x86.File, l x86.Level) {
	o := newOrbitGroups(f, l, "depthwiseOrbitsGradWF32", "dw, x, f *float32, keep, code *int32", depthwiseOrbitsGradWDoc)
	fn, dw, rows, keep, v := o.Func, o.Arg("dw"), o.Arg("x"), o.Vec(), o.Vec()
	fn.VPBROADCASTD(operand.Mem{Base: o.Arg("keep")}, keep)
	o.each(func() {
		o.eachFour("loaded", func(r int) {
			for c := range o.x {
				fn.VMOVUPS(operand.Mem{Base: rows, Index: o.number(o.rows, r*orbitCopies+c), Scale: 1}, o.held[r*o.copies+c])
			}
		})
	}, func(r int) {
		fn.VANDPS(operand.Mem{Base: dw}, keep, v)
		for c := range o.x {
			fn.VFMADD231PS(o.x[c], o.held[r*o.copies+c], v)
		}
		fn.VMOVUPS(v, operand.Mem{Base: dw})
		fn.ADDQ(operand.U8(4*poseLanes), dw)
	}, func() {})
}

// orbitGroups is a kernel that goes through groups. held is a register for each row of a group, x for each point of a step.
type orbitGroups struct {
	*x86.Func
	level                                              x86.Level
	copies                                             int // how many of a four's rows a call computes
	feat, code, groups, first, rows, steps, fours, has reg.GPVirtual
	held, x                                            []reg.VecVirtual
}

func newOrbitGroups(f *x86.File, l x86.Level, name, args, doc string) *orbitGroups {
	o := &orbitGroups{level: l, copies: orbitCopies}
	args += ", groups"
	if l == x86.AVX2 {
		o.copies = 2
		args += ", first"
		doc += " It takes a half of the channels and two copies, the first of which is first bytes on among the numbers of four."
	}
	o.Func = f.Func(l, x86.F32, name, "func("+args+" int)", doc)
	o.feat, o.code, o.groups = o.Arg("f"), o.Arg("code"), o.Arg("groups")
	if l == x86.AVX2 {
		o.first = o.Arg("first")
	}
	o.held, o.x = zeros(o.Func, orbitRows*o.copies), zeros(o.Func, o.copies)
	o.rows, o.steps, o.fours, o.has = o.GP64(), o.GP64(), o.GP64(), o.GP64()
	return o
}

// number reads that of a row or point, and returns how many bytes these are: 16 channels each.
func (o *orbitGroups) number(base reg.GPVirtual, n int) reg.GPVirtual {
	r, m := o.GP64(), operand.Mem{Base: base, Disp: 4 * n}
	if o.level == x86.AVX2 {
		m.Index, m.Scale = o.first, 1
	}
	o.MOVL(m, r.As32())
	o.SHLQ(operand.U8(6), r)
	return r
}

// eachFour emits f for each four of the group; code behind it is at the label.
func (o *orbitGroups) eachFour(label string, f func(r int)) {
	for r := range orbitRows {
		f(r)
		if r+1 < orbitRows {
			o.DECQ(o.fours)
			o.JE(operand.LabelRef(label))
		}
	}
	o.Label(label)
}

// each emits the loops over groups and steps, and the function's end: before and after stand around the steps of a group, and four is for one that has the
// points of a step, which x has then.
func (o *orbitGroups) each(before func(), four func(r int), after func()) {
	at := func(n int) operand.Mem { return operand.Mem{Base: o.code, Disp: 4 * n} }
	o.TESTQ(o.groups, o.groups)
	o.JE(operand.LabelRef("done"))
	o.Label("group")
	o.MOVL(at(0), o.steps.As32())
	o.MOVL(at(1), o.fours.As32())
	o.LEAQ(at(2), o.rows)
	o.MOVQ(o.fours, o.has)
	o.SHLQ(operand.U8(4), o.has)
	o.LEAQ(operand.Mem{Base: o.rows, Index: o.has, Scale: 1}, o.code)
	before()
	o.Label("step")
	o.MOVL(at(0), o.has.As32())
	for c := range o.x {
		o.VMOVUPS(operand.Mem{Base: o.feat, Index: o.number(o.code, 1+c), Scale: 1}, o.x[c])
	}
	for r := range orbitRows {
		skip := fmt.Sprint("lacks", r)
		o.TESTB(operand.U8(1<<r), o.has.As8())
		o.JEQ(operand.LabelRef(skip))
		four(r)
		o.Label(skip)
	}
	o.ADDQ(operand.U8(4*(1+orbitCopies)), o.code)
	o.DECQ(o.steps)
	o.JNE(operand.LabelRef("step"))
	after()
	o.DECQ(o.groups)
	o.JNE(operand.LabelRef("group"))
	o.Label("done")
	o.End()
}
