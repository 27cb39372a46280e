package main

import (
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
	// number reads that of a row or point, and returns how many bytes these are: 16 channels each.
	number := func(base counter, n int) reg.GPVirtual {
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
	o := &orbitGroups{fn: fn, code: code, rows: rows, fours: fours, mask: mask, weight: weight, scales: scales, v: v, acc: vectors(acc), copies: copies}
	o.each(groups, func() {
		o.begin(steps)
		fn.Label("step")
		fn.MOVL(o.number(0), mask.As32())
		for c := range x {
			fn.VMOVUPS(operand.Mem{Base: feat, Index: number(code, 1+c), Scale: 1}, x[c])
		}
		o.step("lacks", 4*poseLanes, func() { fn.VMOVUPS(operand.Mem{Base: weight}, v) }, func(sum vector, c int) { fn.VFMADD231PS(x[c], v, sum) })
		o.next("step", 1+orbitCopies, steps)
		o.store(func(n int) operand.Mem { return operand.Mem{Base: out, Index: number(rows, n), Scale: 1} })
	})
	fn.End()
}
