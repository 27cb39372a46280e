package main

import (
	"fmt"

	"github.com/equivcnp/equivcnp/asm/internal/neon"
)

// bicubicNEON writes interpolation between four by four nodes, and its transpose; see bicubic and bicubicGrad, its
// models for amd64. The factors of a spot stay in two registers, of which a multiply-add takes a lane: 16 nodes of 16
// channels are 80 multiply-adds and 32 loads of two registers.
func bicubicNEON(file *neon.File) {
	row := neonRow{4, 16, neon.S4}
	for _, grad := range []bool{false, true} {
		name, args, doc := "bicubicF32NEON", "(dst, nodes *float32, spots *int32, n, stride, line, step int)",
			"sets 16 channels of a row of dst for every spot, n > 0 of them."
		rows := "dst"
		if grad {
			name, args, doc = "bicubicGradF32NEON", "(nodes, src *float32, spots *int32, n, stride, line, step int)",
				"adds 16 channels of a row of src to the nodes around every spot, n > 0 of them."
			rows = "src"
		}
		f := file.Func(name, args, fmt.Sprintf("%s %s A spot is {node, row, then as float32 the factors of\n"+
			"four rows of nodes, and those of four nodes in a row}; the node is the first of four by four. Nodes begin "+
			"stride bytes after each\n"+
			"other, rows of the grid line bytes, rows of %s step bytes.", name, doc, rows))
		nodes, spots, n, base := f.Arg("nodes"), f.Arg("spots"), f.Arg("n"), f.Arg(rows)
		stride, line, step := f.Arg("stride"), f.Arg("line"), f.Arg("step")
		at, own, p := f.R(), f.R(), f.R()
		x, part, sum, cu, cv := f.V(4), f.V(4), f.V(4), f.V(1), f.V(1)
		spot := f.NewLabel("spot")
		f.Counted(spot, 1, "spots", func() {
			f.Text("MOVWU (%v), %v", spots, at)
			f.Text("MOVWU 4(%v), %v", spots, own)
			f.Text("MADD %v, %v, %v, %v", at, nodes, stride, at)
			f.Text("MADD %v, %v, %v, %v", own, base, step, own)
			f.Text("FMOVQ 8(%v), F%d", spots, cu[0])
			f.Text("FMOVQ 24(%v), F%d", spots, cv[0])
			f.Text("ADD $%d, %v", 4*bicubicEntry, spots)
			if grad {
				row.load(f, sum, own, 0)
			}
			for a := range 4 {
				f.Text("MOVD %v, %v", at, p)
				if grad {
					f.MulK(part, sum, neon.K{Reg: cu[0], Lane: a})
				}
				for b := range 4 {
					k := neon.K{Reg: cv[0], Lane: b}
					row.load(f, x, p, 0)
					switch {
					case grad:
						f.MlaK(x, part, k)
						row.store(f, x, p)
					case b == 0:
						f.MulK(part, x, k)
					default:
						f.MlaK(part, x, k)
					}
					if b < 3 {
						f.Text("ADD %v, %v", stride, p)
					}
				}
				if !grad {
					if k := (neon.K{Reg: cu[0], Lane: a}); a == 0 {
						f.MulK(sum, part, k)
					} else {
						f.MlaK(sum, part, k)
					}
				}
				if a < 3 {
					f.Text("ADD %v, %v", line, at)
				}
			}
			if !grad {
				row.store(f, sum, own)
			}
			f.Text("SUBS $1, %v", n)
			f.Text("BNE %s", spot)
		})
		f.Text("RET")
	}
}
