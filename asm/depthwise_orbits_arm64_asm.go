package main

import (
	"fmt"

	"github.com/equivcnp/equivcnp/asm/internal/neon"
)

// depthwiseOrbitsNEON writes the convolution of groups of up to six rows with four copies each, for four channels of a slice; see
// depthwiseOrbitsAMD64. The sums take 24 registers, the points of a step four.
func depthwiseOrbitsNEON(file *neon.File) {
	f := file.Func("depthwiseOrbitsF32NEON", "(out, f, w, scale *float32, code *int32, groups int)",
		"depthwiseOrbitsF32NEON sets four channels of rows of out to scale·Σ w·f over the groups of a plan, all of whose rows have 16. The rows of w\n"+
			"follow in the order of their use.")
	out, feat, weight, scale := f.Arg("out"), f.Arg("f"), f.Arg("w"), f.Arg("scale")
	sums, w := orbitVectors(f), f.V(1)
	orbitGroupsNEON(f, feat, func(rows, fours, at neon.R) {
		for _, s := range sums {
			f.Clear(s)
		}
	}, func(r int, x neon.Vec) {
		f.Text("FMOVQ (%v), F%d", weight, w[0])
		f.Text("ADD $64, %v", weight)
		for c := range x {
			f.Mla(sums[r][c:c+1], w, x[c:c+1])
		}
	}, func(rows, fours, at neon.R) {
		stored := f.NewLabel("stored")
		for r, s := range sums {
			f.Text("FMOVS.P 4(%v), F%d", scale, w[0])
			f.MulK(s, s, neon.K{Reg: w[0]})
			for c := range s {
				f.Text("MOVWU.P 4(%v), %v", rows, at)
				f.Text("ADD %v<<6, %v, %v", at, out, at)
				f.Text("FMOVQ F%d, (%v)", s[c], at)
			}
			if r+1 < orbitRows {
				f.Text("SUBS $1, %v", fours)
				f.Text("BEQ %s", stored)
			}
		}
		f.Label(stored)
	})
	gradWOrbitsNEON(file)
}

// gradWOrbitsNEON writes the gradient to the weights; see depthwiseOrbitsGradW. It always keeps what it finds.
func gradWOrbitsNEON(file *neon.File) {
	f := file.Func("depthwiseOrbitsGradWF32NEON", "(dw, x, f *float32, code *int32, groups int)",
		"depthwiseOrbitsGradWF32NEON adds Σ f·x over the four rows of a group to four channels of each pose of dw, all of which have 16. x has a vector for\n"+
			"each row. The rows of dw follow in the order of their use.")
	dw, vectors, feat := f.Arg("dw"), f.Arg("x"), f.Arg("f")
	held, w := orbitVectors(f), f.V(1)
	orbitGroupsNEON(f, feat, func(rows, fours, at neon.R) {
		loaded := f.NewLabel("loaded")
		for r, h := range held {
			for c := range h {
				f.Text("MOVWU.P 4(%v), %v", rows, at)
				f.Text("ADD %v<<6, %v, %v", at, vectors, at)
				f.Text("FMOVQ (%v), F%d", at, h[c])
			}
			if r+1 < orbitRows {
				f.Text("SUBS $1, %v", fours)
				f.Text("BEQ %s", loaded)
			}
		}
		f.Label(loaded)
	}, func(r int, x neon.Vec) {
		f.Text("FMOVQ (%v), F%d", dw, w[0])
		for c := range x {
			f.Mla(w, held[r][c:c+1], x[c:c+1])
		}
		f.Text("FMOVQ F%d, (%v)", w[0], dw)
		f.Text("ADD $64, %v", dw)
	}, func(rows, fours, at neon.R) {})
}

// orbitVectors are registers for the rows of a group.
func orbitVectors(f *neon.Func) []neon.Vec {
	v := make([]neon.Vec, orbitRows)
	for r := range v {
		v[r] = f.V(orbitCopies)
	}
	return v
}

// orbitGroupsNEON emits the loops over groups and steps, and the function's end: before and after stand around the steps of a group, and four is for one
// that has the points of a step, which x has then. before and after may change rows, which has where the numbers of the group's rows are, and fours, how many there are; at is scratch.
func orbitGroupsNEON(f *neon.Func, feat neon.R, before func(rows, fours, at neon.R), four func(r int, x neon.Vec), after func(rows, fours, at neon.R)) {
	code, groups := f.Arg("code"), f.Arg("groups")
	steps, fours, rows, mask, at := f.R(), f.R(), f.R(), f.R(), f.R()
	x := f.V(orbitCopies)
	group, step, done := f.NewLabel("group"), f.NewLabel("step"), f.NewLabel("done")
	f.Text("CBZ %v, %s", groups, done)
	f.Label(group)
	f.Text("MOVWU (%v), %v", code, steps)
	f.Text("MOVWU 4(%v), %v", code, fours)
	f.Text("ADD $8, %v, %v", code, rows)
	f.Text("ADD %v<<4, %v, %v", fours, rows, code)
	before(rows, fours, at)
	f.Counted(step, 4*orbitRows*orbitCopies, "multiply-adds", func() {
		f.Text("MOVWU.P 4(%v), %v", code, mask)
		for c := range x {
			f.Text("MOVWU.P 4(%v), %v", code, at)
			f.Text("ADD %v<<6, %v, %v", at, feat, at)
			f.Text("FMOVQ (%v), F%d", at, x[c])
		}
		for r := range orbitRows {
			lacks := f.NewLabel(fmt.Sprint("lacks", r))
			f.Text("TBZ $%d, %v, %s", r, mask, lacks)
			four(r, x)
			f.Label(lacks)
		}
		f.Text("SUBS $1, %v", steps)
		f.Text("BNE %s", step)
	})
	after(rows, fours, at)
	f.Text("SUBS $1, %v", groups)
	f.Text("BNE %s", group)
	f.Label(done)
	f.Text("RET")
}
