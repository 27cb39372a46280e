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

const depthwiseOrbitsDoc = "sets rows of out to scale·Σ w·f over the groups of a plan, for a slice of 16 channels. The " +
	"rows of w follow in the order of their use."

// depthwiseOrbitsAMD64 writes a convolution of groups of up to six rows with four copies each, which package schedule
// describes. A step loads its points, and for each row that has them a vector of weights, which serves all copies:
//
//	                registers: sums + points + weights    loads per FMA of a full step
//	AVX-512                    24 + 4 + 1                 10/24, and 5 numbers of the code
//	AVX2, two copies           12 + 2 + 1                  8/12, and 2
//
// So the FMA limit the speed, and not the cache that points and weights come from. With AVX-512 all sums of a group
// stay in registers, and rows that lack the points of a step jump over it. Steps with the same mask follow each other,
// so the processor knows the jumps.
func depthwiseOrbitsAMD64(f *x86.File) {
	for _, l := range levels {
		if l == x86.AVX2 {
			depthwiseOrbitsAVX2(f)
		} else {
			depthwiseOrbits(f, l)
		}
	}
}

// lineNumber returns how many bytes the number of a row or point stands for: 16 channels each.
func lineNumber(fn *x86.Func, base counter, n int) reg.GPVirtual {
	r := fn.GP64()
	fn.MOVL(operand.Mem{Base: base, Disp: 4 * n}, r.As32())
	fn.SHLQ(operand.U8(6), r)
	return r
}

func depthwiseOrbits(f *x86.File, l x86.Level) {
	fn := f.Func(l, x86.F32, "depthwiseOrbitsF32", "func(out, f, w, scale *float32, code *int32, groups int)", depthwiseOrbitsDoc)
	out, feat, weight, scales, code, groups := fn.Arg("out"), fn.Arg("f"), fn.Arg("w"), fn.Arg("scale"), fn.Arg("code"), fn.Arg("groups")
	acc, x, v := zeros(fn, orbitRows*orbitCopies), zeros(fn, orbitCopies), fn.Vec()
	rows, steps, fours, mask := fn.GP64(), fn.GP64(), fn.GP64(), fn.GP64()
	o := &orbitGroups{fn: fn, code: code, rows: rows, fours: fours, mask: mask, weight: weight, scales: scales, v: v,
		acc: vectors(acc), copies: orbitCopies}
	o.each(groups, func() {
		o.begin(steps)
		fn.Label("step")
		fn.MOVL(o.number(0), mask.As32())
		for c := range x {
			fn.VMOVUPS(operand.Mem{Base: feat, Index: lineNumber(fn, code, 1+c), Scale: 1}, x[c])
		}
		o.step("lacks", 4*poseLanes, func() { fn.VMOVUPS(operand.Mem{Base: weight}, v) },
			func(sum vector, c int) { fn.VFMADD231PS(x[c], v, sum) })
		o.next("step", 1+orbitCopies, steps)
		o.store("stored", func(r, c int) operand.Mem {
			return operand.Mem{Base: out, Index: lineNumber(fn, rows, r*orbitCopies+c), Scale: 1}
		})
		fn.Label("stored")
	})
	fn.End()
}

// depthwiseOrbitsAVX2 has registers for a quarter of a group's sums: half of the channels of two copies. A run of steps
// with the same mask goes four times through the loop for its number of rows, once for each quarter, and so for every
// image, before the next run begins. So lines of weights come from the second-level cache once for all images, those of
// points once and not four times, and no step jumps, which half of a step's time went to on a Zen 3. In between, sums
// wait in memory. A step fetches the next image's points.
func depthwiseOrbitsAVX2(f *x86.File) {
	const (
		vectorBytes = 32
		halves      = 2                    // of the channels, and of the copies
		fourBytes   = halves * vectorBytes // of a four's sums in a quarter
		slots       = 16                   // numbers of 8 bytes before the sums
	)
	fn := f.Func(x86.AVX2, x86.F32, "depthwiseOrbitsF32",
		"func(out, f, w, scale *float32, code, runs, masks *int32, sums *float32, groups, images, outNext, fNext int)",
		depthwiseOrbitsDoc+" It does so for images, at least one, whose out and f begin that many bytes after each "+
			"other. runs are the number of runs of each group, then for each the mask and the number of steps. "+
			"masks has eight numbers for each mask: where the sums of each of its fours lie, in bytes, and in the last "+
			"place their number. sums is scratch memory: 128 bytes, and 16 channels for each row of a group and each image.")
	weights, code, sums := fn.Arg("w"), fn.Arg("code"), fn.Arg("sums")
	slot := func(k int) operand.Mem { return operand.Mem{Base: sums, Disp: 8 * k} }
	// What the loops have no registers for.
	outSlot, featSlot, scaleSlot, rowsSlot, foursSlot, groupsSlot, imagesSlot := slot(0), slot(1), slot(2), slot(3), slot(4),
		slot(5), slot(6)
	masksSlot, runsSlot, leftSlot, imageSlot, quarterSlot, nextSlot, ownFeatSlot, stepsSlot := slot(7), slot(8), slot(9),
		slot(10), slot(11), slot(12), slot(13), slot(14)
	for _, s := range []struct {
		arg string
		to  operand.Mem
	}{{"out", outSlot}, {"f", featSlot}, {"scale", scaleSlot}, {"images", imagesSlot}, {"fNext", nextSlot}, {"masks", masksSlot},
		{"runs", runsSlot}} {
		fn.MOVQ(fn.Arg(s.arg), s.to)
	}
	acc, x, v := zeros(fn, orbitRows*halves), zeros(fn, halves), fn.Vec()
	groups, rows, fours, mask, steps := fn.Arg("groups"), fn.GP64(), fn.GP64(), fn.GP64(), fn.GP64()
	o := &orbitGroups{fn: fn, code: code, rows: rows, fours: fours, mask: mask, v: v, acc: vectors(acc), copies: halves}
	fn.TESTQ(groups, groups)
	fn.JE(operand.LabelRef("done"))
	fn.MOVQ(groups, groupsSlot)
	own := fn.GP64() // the sums of a quarter
	// quarters writes begin and body as a loop over the quarters of every image, and image for the end of each. A
	// quarter is half of the channels, lane bytes on in a line, of two copies, half bytes on among the numbers of four.
	// Before the end of a quarter stands the label "next".
	quarters := func(label string, image, body func(), begin func(lane, half reg.GPVirtual)) {
		n := fn.GP64()
		fn.MOVQ(imagesSlot, n)
		fn.MOVQ(n, imageSlot)
		fn.LEAQ(operand.Mem{Base: sums, Disp: 8 * slots}, own)
		fn.Label(label + "image")
		fn.MOVQ(operand.U32(0), quarterSlot)
		fn.Label(label + "quarter")
		lane, half := fn.GP64(), fn.GP64()
		fn.MOVQ(quarterSlot, lane)
		fn.MOVQ(lane, half)
		fn.ANDQ(operand.U8(1), lane)
		fn.SHLQ(operand.U8(5), lane)
		fn.ANDQ(operand.U8(2), half)
		fn.SHLQ(operand.U8(2), half)
		begin(lane, half)
		body()
		fn.Label(label + "next")
		fn.ADDQ(operand.U32(orbitRows*fourBytes), own)
		fn.ADDQ(operand.U8(1), quarterSlot)
		fn.CMPQ(quarterSlot, operand.U8(halves*halves))
		fn.JNE(operand.LabelRef(label + "quarter"))
		image()
		fn.DECQ(imageSlot)
		fn.JNE(operand.LabelRef(label + "image"))
	}
	fn.Label("group")
	o.begin(steps)
	fn.MOVQ(rows, rowsSlot)
	fn.MOVQ(fours, foursSlot)
	quarters("clear", func() {}, func() {
		for i, a := range acc {
			fn.VMOVUPS(a, operand.Mem{Base: own, Disp: vectorBytes * i})
		}
	}, func(_, _ reg.GPVirtual) {})
	fn.MOVQ(runsSlot, mask)
	fn.MOVL(operand.Mem{Base: mask}, steps.As32())
	fn.MOVQ(steps, leftSlot)
	fn.ADDQ(operand.U8(4), mask)
	fn.MOVQ(mask, runsSlot)

	fn.Label("run")
	table, run, count, feat := fn.GP64(), fn.GP64(), fn.GP64(), fn.GP64()
	fn.MOVQ(runsSlot, run)
	fn.MOVL(operand.Mem{Base: run}, table.As32())
	fn.SHLQ(operand.U8(5), table)
	fn.ADDQ(masksSlot, table)
	fn.MOVL(operand.Mem{Base: run, Disp: 4}, count.As32())
	fn.MOVQ(count, stepsSlot)
	fn.ADDQ(operand.U8(8), run)
	fn.MOVQ(run, runsSlot)
	fn.MOVQ(featSlot, feat)
	fn.MOVQ(feat, ownFeatSlot)
	weight, step := fn.GP64(), fn.GP64()
	next, present := fn.GP64(), fn.GP64()
	quarters("run", func() {
		fn.MOVQ(ownFeatSlot, feat)
		fn.ADDQ(nextSlot, feat)
		fn.MOVQ(feat, ownFeatSlot)
	}, func() {
		loop := func(n int) string { return fmt.Sprint("fours", n) }
		for n := range orbitRows - 1 {
			fn.CMPL(present.As32(), operand.U8(n+1))
			fn.JEQ(operand.LabelRef(loop(n + 1)))
		}
		for n := orbitRows; n > 0; n-- {
			sum := func(r int, do func(h int, at operand.Mem)) {
				at := fn.GP64()
				fn.MOVL(operand.Mem{Base: table, Disp: 4 * r}, at.As32())
				for h := range halves {
					do(h, operand.Mem{Base: own, Index: at, Scale: 1, Disp: vectorBytes * h})
				}
			}
			fn.Label(loop(n))
			for r := range n {
				sum(r, func(h int, at operand.Mem) { fn.VMOVUPS(at, acc[r*halves+h]) })
			}
			fn.Label(loop(n) + "step")
			for c := range x {
				point := lineNumber(fn, step, 1+c)
				fn.VMOVUPS(operand.Mem{Base: feat, Index: point, Scale: 1}, x[c])
				fn.PREFETCHT0(operand.Mem{Base: next, Index: point, Scale: 1})
			}
			for r := range n {
				fn.VMOVUPS(operand.Mem{Base: weight, Disp: 4 * r * poseLanes}, v)
				for c := range x {
					fn.VFMADD231PS(x[c], v, acc[r*halves+c])
				}
			}
			fn.ADDQ(operand.U32(4*poseLanes*n), weight)
			fn.ADDQ(operand.U8(4*(1+orbitCopies)), step)
			fn.DECQ(count)
			fn.JNE(operand.LabelRef(loop(n) + "step"))
			for r := range n {
				sum(r, func(h int, at operand.Mem) { fn.VMOVUPS(acc[r*halves+h], at) })
			}
			if n > 1 {
				fn.JMP(operand.LabelRef("runnext"))
			}
		}
	}, func(lane, half reg.GPVirtual) {
		fn.MOVQ(ownFeatSlot, feat)
		fn.ADDQ(lane, feat)
		fn.MOVQ(nextSlot, next)
		fn.ADDQ(feat, next)
		fn.LEAQ(operand.Mem{Base: weights, Index: lane, Scale: 1}, weight)
		fn.LEAQ(operand.Mem{Base: code, Index: half, Scale: 1}, step)
		fn.MOVQ(stepsSlot, count)
		fn.MOVL(operand.Mem{Base: table, Disp: 4 * 7}, present.As32())
	})
	// The last quarter has gone through the steps of the run, half of a line and of four numbers on.
	fn.LEAQ(operand.Mem{Base: weight, Disp: -vectorBytes}, weights)
	fn.LEAQ(operand.Mem{Base: step, Disp: -4 * halves}, code)
	fn.DECQ(leftSlot)
	fn.JNE(operand.LabelRef("run"))

	out, scales := fn.GP64(), fn.GP64()
	o.scales = scales
	to := fn.GP64()
	fn.MOVQ(outSlot, out)
	quarters("store", func() {
		by := fn.Arg("outNext")
		fn.ADDQ(by, out)
	}, func() {
		o.store("storenext", func(r, c int) operand.Mem {
			return operand.Mem{Base: to, Index: lineNumber(fn, rows, r*orbitCopies+c), Scale: 1}
		})
	}, func(lane, half reg.GPVirtual) {
		fn.MOVQ(rowsSlot, rows)
		fn.ADDQ(half, rows)
		fn.LEAQ(operand.Mem{Base: out, Index: lane, Scale: 1}, to)
		fn.MOVQ(scaleSlot, scales)
		fn.MOVQ(foursSlot, fours)
		for i, a := range acc {
			fn.VMOVUPS(operand.Mem{Base: own, Disp: vectorBytes * i}, a)
		}
	})
	fn.MOVQ(scales, scaleSlot)
	fn.DECQ(groupsSlot)
	fn.JNE(operand.LabelRef("group"))
	fn.Label("done")
	fn.End()
}
