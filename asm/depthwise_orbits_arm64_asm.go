package main

import (
	"fmt"

	"github.com/equivcnp/equivcnp/asm/internal/neon"
)

// depthwiseOrbitsNEON writes the convolution of groups of up to six rows with four copies each, for four channels of a slice; see
// depthwiseOrbitsAMD64. The sums take 24 registers, the points of a step four.
func depthwiseOrbitsNEON(file *neon.File) {
	f := file.Func("depthwiseOrbitsF32NEON", "(out, f, w, scale *float32, code *int32, groups int)",
		"depthwiseOrbitsF32NEON sets four channels of rows of out to scale·Σ w·f over the groups of a plan, all of "+
			"whose rows have 16. The rows of w\n"+
			"follow in the order of their use.")
	out, feat, weight, scale, code, groups := f.Arg("out"), f.Arg("f"), f.Arg("w"), f.Arg("scale"), f.Arg("code"), f.Arg("groups")
	steps, fours, rows, mask, at := f.R(), f.R(), f.R(), f.R(), f.R()
	sums := make([]neon.Vec, orbitRows)
	for r := range sums {
		sums[r] = f.V(orbitCopies)
	}
	x, w := f.V(orbitCopies), f.V(1)

	group, step, stored, done := f.NewLabel("group"), f.NewLabel("step"), f.NewLabel("stored"), f.NewLabel("done")
	f.Text("CBZ %v, %s", groups, done)
	f.Label(group)
	f.Text("MOVWU (%v), %v", code, steps)
	f.Text("MOVWU 4(%v), %v", code, fours)
	f.Text("ADD $8, %v, %v", code, rows)
	f.Text("ADD %v<<4, %v, %v", fours, rows, code)
	for _, s := range sums {
		f.Clear(s)
	}
	f.Counted(step, 4*orbitRows*orbitCopies, "multiply-adds", func() {
		f.Text("MOVWU.P 4(%v), %v", code, mask)
		for c := range x {
			f.Text("MOVWU.P 4(%v), %v", code, at)
			f.Text("ADD %v<<6, %v, %v", at, feat, at)
			f.Text("FMOVQ (%v), F%d", at, x[c])
		}
		for r, s := range sums {
			lacks := f.NewLabel(fmt.Sprint("lacks", r))
			f.Text("TBZ $%d, %v, %s", r, mask, lacks)
			f.Text("FMOVQ (%v), F%d", weight, w[0])
			f.Text("ADD $64, %v", weight)
			for c := range x {
				f.Mla(s[c:c+1], w, x[c:c+1])
			}
			f.Label(lacks)
		}
		f.Text("SUBS $1, %v", steps)
		f.Text("BNE %s", step)
	})
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
	f.Text("SUBS $1, %v", groups)
	f.Text("BNE %s", group)
	f.Label(done)
	f.Text("RET")
}
