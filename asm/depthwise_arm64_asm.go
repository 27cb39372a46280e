package main

import "github.com/equivcnp/equivcnp/asm/internal/neon"

// depthwiseNEON writes the sums of one row. A block of channels stays in registers while all pairs go by:
//
//	out[j] = scale · (out[j] or 0 + Σ_k w[pose[k], j]·f[index[k], j])
//
// Blocks are 64 channels wide, then 32, 16 and so on down to one. Per pair and 64 channels: 16 multiply-adds, 16 loads of two
// registers and 6 instructions for addresses and the loop, 0.59 per channel. Narrow blocks take several sets of
// accumulators in turn, since one pair's multiply-add must not wait for the previous one's.
func depthwiseNEON(file *neon.File) {
	f := file.Func("depthwiseRowF32NEON", "(out, f, w *float32, index, pose *int32, pairs, c, more int, scale float32)",
		"depthwiseRowF32NEON sets out[j] = scale·Σ w[pose[k], j]·f[index[k], j] for j < c channels, k < pairs, pairs > 0. If more is 1, the\n"+
			"sum begins with out[j].")
	out, left := f.Arg("out"), f.Arg("c")
	g := neonGather{f: f, feat: f.Arg("f"), weight: f.Arg("w"), index: f.Arg("index"), pose: f.Arg("pose"), pairs: f.Arg("pairs"),
		featStride: f.R(), ix: f.R(), ps: f.R(), count: f.R(), fj: f.R(), wj: f.R()}
	g.weightStride = g.featStride
	f.Text("LSL $2, %v, %v", left, g.featStride)
	more, scale := f.Arg("more"), f.Splat("scale")

	for _, row := range neonRows(64) {
		block, next := f.NewLabel("block"), f.NewLabel("narrower")
		f.Label(block)
		f.Text("CMP $%d, %v", row.width, left)
		f.Text("BLT %s", next)
		sets := max(1, min(4, 8/row.regs))
		acc := make([]neon.Vec, sets)
		for s := range acc {
			acc[s] = f.V(row.regs)
			f.Clear(acc[s])
		}
		begin := f.NewLabel("begin")
		f.Text("CBZ %v, %s", more, begin)
		row.load(f, acc[0], out)
		f.Label(begin)

		// Half of a wide block's rows at a time, or registers would not suffice.
		part := min(row.regs, 6)
		fv, wv := f.V(part), f.V(part)
		g.each(sets, row.width, func(u int) {
			if row.regs < 2 {
				row.load(f, fv, g.fj)
				row.load(f, wv, g.wj)
				f.Mla(acc[u], fv, wv)
				return
			}
			for i := 0; i < row.regs; i += 2 {
				a, b := fv[i%part:i%part+2], wv[i%part:i%part+2]
				f.Text("FLDPQ %d(%v), (F%d, F%d)", 16*i, g.fj, a[0], a[1])
				f.Text("FLDPQ %d(%v), (F%d, F%d)", 16*i, g.wj, b[0], b[1])
				f.Mla(acc[u][i:i+2], a, b)
			}
		})
		f.Free(fv, wv)

		// The sets are added in pairs.
		for n := sets; n > 1; n /= 2 {
			for s := range n / 2 {
				f.Add(acc[s], acc[s], acc[s+n/2])
			}
		}
		f.Mul(acc[0], acc[0], scale)
		row.store(f, acc[0], out)
		f.Free(acc...)
		for _, p := range []neon.R{out, g.feat, g.weight} {
			f.Text("ADD $%d, %v", 4*row.width, p)
		}
		f.Text("SUB $%d, %v", row.width, left)
		f.Text("B %s", block)
		f.Label(next)
	}
	f.Text("RET")
}
