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
	}
}

func depthwiseOrbits(f *x86.File, l x86.Level) {
	copies, signature := orbitCopies, "func(out, f, w, scale *float32, code *int32, groups int)"
	doc := depthwiseOrbitsDoc
	if l == x86.AVX2 {
		copies, signature = 2, "func(out, f, w, scale *float32, code *int32, groups, first int)"
		doc += " It computes a half of the channels for two copies, the first of which is first bytes on among the numbers of four."
	}
	fn := f.Func(l, x86.F32, "depthwiseOrbitsF32", signature, doc)
	out, feat, weight, scales, code, groups := fn.Arg("out"), fn.Arg("f"), fn.Arg("w"), fn.Arg("scale"), fn.Arg("code"), fn.Arg("groups")
	var first reg.GPVirtual
	if l == x86.AVX2 {
		first = fn.Arg("first")
	}
	at := func(n int) operand.Mem { return operand.Mem{Base: code, Disp: 4 * n} }
	// number reads that of a row or point, and returns how many bytes these are: 16 channels each.
	number := func(base reg.GPVirtual, n int) reg.GPVirtual {
		r, m := fn.GP64(), operand.Mem{Base: base, Disp: 4 * n}
		if l == x86.AVX2 {
			m.Index, m.Scale = first, 1
		}
		fn.MOVL(m, r.As32())
		fn.SHLQ(operand.U8(6), r)
		return r
	}
	acc, x, v := zeros(fn, orbitRows*copies), zeros(fn, copies), fn.Vec()
	rows, steps, fours, mask := fn.GP64(), fn.GP64(), fn.GP64(), fn.GP64()

	fn.TESTQ(groups, groups)
	fn.JE(operand.LabelRef("done"))
	fn.Label("group")
	fn.MOVL(at(0), steps.As32())
	fn.MOVL(at(1), fours.As32())
	fn.LEAQ(at(2), rows)
	fn.MOVQ(fours, mask)
	fn.SHLQ(operand.U8(4), mask)
	fn.LEAQ(operand.Mem{Base: rows, Index: mask, Scale: 1}, code)
	clearAll(fn, acc)
	fn.Label("step")
	fn.MOVL(at(0), mask.As32())
	for c := range x {
		fn.VMOVUPS(operand.Mem{Base: feat, Index: number(code, 1+c), Scale: 1}, x[c])
	}
	for r := range orbitRows {
		skip := fmt.Sprint("lacks", r)
		fn.TESTB(operand.U8(1<<r), mask.As8())
		fn.JEQ(operand.LabelRef(skip))
		fn.VMOVUPS(operand.Mem{Base: weight}, v)
		fn.ADDQ(operand.U8(4*poseLanes), weight)
		for c := range x {
			fn.VFMADD231PS(x[c], v, acc[r*copies+c])
		}
		fn.Label(skip)
	}
	fn.ADDQ(operand.U8(4*(1+orbitCopies)), code)
	fn.DECQ(steps)
	fn.JNE(operand.LabelRef("step"))
	for r := range orbitRows {
		fn.VBROADCASTSS(operand.Mem{Base: scales}, v)
		fn.ADDQ(operand.U8(4), scales)
		for c := range x {
			a := acc[r*copies+c]
			fn.VMULPS(v, a, a)
			fn.VMOVUPS(a, operand.Mem{Base: out, Index: number(rows, r*orbitCopies+c), Scale: 1})
		}
		if r+1 < orbitRows {
			fn.DECQ(fours)
			fn.JE(operand.LabelRef("stored"))
		}
	}
	fn.Label("stored")
	fn.DECQ(groups)
	fn.JNE(operand.LabelRef("group"))
	fn.Label("done")
	fn.End()
}
