package main

import "github.com/equivcnp/equivcnp/asm/internal/neon"

// pointConvNEON writes the outer products of one row. A tile of input channels by weight channels stays in registers while all pairs
// go by:
//
//	p[a, b] = (p[a, b] or 0) + Σ_k f[index[k], a]·w[pose[k], b]
//
// Each lane of a register of f is a factor for the whole run of w. Tiles are 8 x 8 or 4 x 16 where there are as many channels,
// and smaller powers of two at the edges. Per pair and tile of 8 x 8: 16 multiply-adds and 8 other instructions, 0.38 per
// multiply-add of one element.
func pointConvNEON(file *neon.File) {
	f := file.Func("pointConvRowF32NEON", "(p, f, w *float32, index, pose *int32, pairs, ci, cm, more int)",
		"pointConvRowF32NEON sets p[a*cm+b] = Σ f[index[k], a]·w[pose[k], b] for a < ci, b < cm and k < pairs, pairs > 0. If more is 1,\n"+
			"the sum begins with p[a*cm+b].")
	p, leftA, cm := f.Arg("p"), f.Arg("ci"), f.Arg("cm")
	g := neonGather{f: f, feat: f.Arg("f"), index: f.Arg("index"), pose: f.Arg("pose"), pairs: f.Arg("pairs"),
		weight: f.R(), featStride: f.R(), weightStride: f.R(), ix: f.R(), ps: f.R(), count: f.R(), fj: f.R(), wj: f.R()}
	f.Text("LSL $2, %v, %v", leftA, g.featStride)
	f.Text("LSL $2, %v, %v", cm, g.weightStride)
	more := f.Arg("more")
	tile, leftB, at := f.R(), f.R(), f.R()

	for _, rows := range neonRows(8) {
		blockA, nextA := f.NewLabel("rows"), f.NewLabel("fewerRows")
		f.Label(blockA)
		f.Text("CMP $%d, %v", rows.width, leftA)
		f.Text("BLT %s", nextA)
		f.Text("MOVD %v, %v", p, tile)
		f.Text("MOVD %v, %v", cm, leftB)
		f.LoadArg(g.weight, "w")
		for _, cols := range neonRows(min(16, 64/rows.width)) {
			blockB, nextB := f.NewLabel("cols"), f.NewLabel("fewerCols")
			f.Label(blockB)
			f.Text("CMP $%d, %v", cols.width, leftB)
			f.Text("BLT %s", nextB)

			acc := make([]neon.Vec, rows.width)
			begin := f.NewLabel("begin")
			for a := range acc {
				acc[a] = f.V(cols.regs)
				f.Clear(acc[a])
			}
			f.Text("CBZ %v, %s", more, begin)
			eachRow := func(row func(x neon.Vec)) {
				f.Text("MOVD %v, %v", tile, at)
				for a := range acc {
					row(acc[a])
					if a < len(acc)-1 {
						f.Text("ADD %v, %v", g.weightStride, at)
					}
				}
			}
			eachRow(func(x neon.Vec) { cols.load(f, x, at) })
			f.Label(begin)

			fv, wv := f.V(rows.regs), f.V(cols.regs)
			g.each(1, rows.width*cols.width, func(int) {
				rows.load(f, fv, g.fj)
				cols.load(f, wv, g.wj)
				for a := range acc {
					f.MlaK(acc[a], wv, neon.K{Reg: fv[a/4], Lane: a % 4})
				}
			})
			f.Free(fv, wv)
			eachRow(func(x neon.Vec) { cols.store(f, x, at) })
			f.Free(acc...)

			f.Text("ADD $%d, %v", 4*cols.width, tile)
			f.Text("ADD $%d, %v", 4*cols.width, g.weight)
			f.Text("SUB $%d, %v", cols.width, leftB)
			f.Text("B %s", blockB)
			f.Label(nextB)
		}
		for range rows.width {
			f.Text("ADD %v, %v", g.weightStride, p)
		}
		f.Text("ADD $%d, %v", 4*rows.width, g.feat)
		f.Text("SUB $%d, %v", rows.width, leftA)
		f.Text("B %s", blockA)
		f.Label(nextA)
	}
	f.Text("RET")
}
