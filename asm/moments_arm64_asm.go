package main

import "github.com/equivcnp/equivcnp/asm/internal/neon"

// momentsNEON writes both passes of the weighted moments.
func momentsNEON(file *neon.File) {
	momentNEON(file, "momentF32NEON", false,
		"momentF32NEON adds Σ_i weight[i]·(x[i, j] - center[j]) to sum[j], in float64, for j < c columns. Rows of "+
			"weight 0 are not read; a nil\n"+
			"weight means 1 for all. rows is positive.")
	momentNEON(file, "squaresF32NEON", true,
		"squaresF32NEON adds Σ_i weight[i]·(x[i, j] - center[j])² to sum[j], in float64, for j < c columns. Rows of "+
			"weight 0 are not read;\n"+
			"a nil weight means 1 for all. rows is positive.")
}

// momentNEON writes one pass. The sums of a block of columns stay in registers while all rows go by. Per row and 16 columns:
//
//	d = x - center,  sum += w·d (24 instructions)  or  sum += (w·d)·d (32)
//
// beside 2 loads of two registers and 8 for the weight and the loop.
func momentNEON(file *neon.File, name string, squares bool, doc string) {
	f := file.Func(name, "(sum, center *float64, x *float32, weight *int32, rows, c int)", doc)
	sum, center, x, left := f.Arg("sum"), f.Arg("center"), f.Arg("x"), f.Arg("c")
	stride, row, w, k, count := f.R(), f.R(), f.R(), f.R(), f.R()
	f.Text("LSL $2, %v, %v", left, stride)
	for _, cols := range neonRows(16) {
		block, next := f.NewLabel("block"), f.NewLabel("narrower")
		loop, weighted, skip := f.NewLabel("row"), f.NewLabel("weighted"), f.NewLabel("skip")
		f.Label(block)
		f.Text("CMP $%d, %v", cols.width, left)
		f.Text("BLT %s", next)
		wide := max(cols.width/2, 1)
		acc, mid, factor := f.V(wide), f.V(wide), f.V(1)
		doubles := func(op string, x neon.Vec, p neon.R) {
			for i := range x {
				switch {
				case cols.width == 1 && op == "load":
					f.Text("FMOVD (%v), F%d", p, x[i])
				case cols.width == 1:
					f.Text("FMOVD F%d, (%v)", x[i], p)
				case op == "load":
					f.Text("FMOVQ %d(%v), F%d", 16*i, p, x[i])
				default:
					f.Text("FMOVQ F%d, %d(%v)", x[i], 16*i, p)
				}
			}
		}
		doubles("load", acc, sum)
		doubles("load", mid, center)
		f.Text("FMOVD $1.0, F%d", factor[0])
		f.Text("VDUP V%d.D[0], V%d.D2", factor[0], factor[0])
		f.Text("MOVD %v, %v", x, row)
		f.LoadArg(w, "weight")
		f.LoadArg(count, "rows")

		f.Label(loop)
		f.Text("CBZ %v, %s", w, weighted)
		f.Text("MOVW.P 4(%v), %v", w, k)
		f.Text("CBZ %v, %s", k, skip)
		f.Text("SCVTFD %v, F%d", k, factor[0])
		f.Text("VDUP V%d.D[0], V%d.D2", factor[0], factor[0])
		f.Label(weighted)
		narrow, d := f.V(cols.regs), f.V(wide)
		cols.load(f, narrow, row, 0)
		for i := range d {
			if i%2 == 0 {
				f.Widen(d[i:i+1], narrow[i/2:i/2+1])
			} else {
				f.WidenHigh(d[i:i+1], narrow[i/2:i/2+1])
			}
		}
		f.SubD(d, d, mid)
		if squares {
			// The narrow registers are free again; one group at a time they hold w·d.
			for i := range d {
				t := narrow[i/2%len(narrow) : i/2%len(narrow)+1]
				f.MulD(t, d[i:i+1], factor)
				f.MlaD(acc[i:i+1], t, d[i:i+1])
			}
		} else {
			f.MlaD(acc, d, factor)
		}
		f.Label(skip)
		f.Text("ADD %v, %v", stride, row)
		f.Text("SUBS $1, %v", count)
		f.Text("BNE %s", loop)
		doubles("store", acc, sum)
		f.Free(acc, mid, factor, narrow, d)

		for _, p := range []neon.R{sum, center} {
			f.Text("ADD $%d, %v", 8*cols.width, p)
		}
		f.Text("ADD $%d, %v", 4*cols.width, x)
		f.Text("SUB $%d, %v", cols.width, left)
		f.Text("B %s", block)
		f.Label(next)
	}
	f.Text("RET")
}
