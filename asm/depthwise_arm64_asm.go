package main

import "github.com/equivcnp/equivcnp/asm/internal/neon"

// neonDepthwise is what distinguishes the functions.
type neonDepthwise struct {
	name, signature, doc string
	lanes                neon.Lanes
	half                 bool // w is bfloat16
	single               bool // one set of accumulators, whatever the width
}

// depthwiseNEON writes the sums of one row. A block of channels stays in registers while all pairs go by:
//
//	out[j] = scale · (out[j] or 0 + Σ_k w[pose[k], j]·f[index[k], j])
//
// Blocks are 64 channels wide, then 32, 16 and so on down to one. Per pair and 64 channels: 16 multiply-adds, 16 loads of two
// registers and 6 instructions for addresses and the loop, 0.59 per channel. Narrow blocks take several sets of
// accumulators in turn, since one pair's multiply-add must not wait for the previous one's. In float64 blocks are up to 16 wide.
//
// Weights in bfloat16 cost another 16 to widen them, 0.84 per channel.
func depthwiseNEON(file *neon.File) {
	for _, d := range []neonDepthwise{
		{name: "depthwiseRowF32NEON", signature: "(out, f, w *float32, index, pose *int32, pairs, c, more int, scale float32)",
			doc: "depthwiseRowF32NEON sets out[j] = scale·Σ w[pose[k], j]·f[index[k], j] for j < c channels, k < " +
				"pairs, pairs > 0. If more is 1, the\n" +
				"sum begins with out[j]."},
		{name: "depthwiseBF16RowF32NEON",
			signature: "(out, f *float32, w *uint16, index, pose *int32, pairs, c, more int, scale float32)", half: true,
			doc: "depthwiseBF16RowF32NEON is depthwiseRowF32NEON with w in bfloat16."},
		{name: "depthwiseRowF64NEON", signature: "(out, f, w *float64, index, pose *int32, pairs, c, more int, scale float64)",
			doc: "depthwiseRowF64NEON is depthwiseRowF32NEON for float64.", lanes: neon.D2},
	} {
		depthwiseRowNEON(file, d)
	}
}

func depthwiseRowNEON(file *neon.File, d neonDepthwise) {
	f := file.Func(d.name, d.signature, d.doc)
	out, left := f.Arg("out"), f.Arg("c")
	g := neonGather{f: f, feat: f.Arg("f"), weight: f.Arg("w"), index: f.Arg("index"), pose: f.Arg("pose"), pairs: f.Arg("pairs"),
		featStride: f.R(), ix: f.R(), ps: f.R(), count: f.R(), fj: f.R(), wj: f.R()}
	size, widest := d.lanes.Bits()/8, 64
	if d.lanes == neon.D2 {
		widest = 16
	}
	f.Text("LSL $%d, %v, %v", size/4+1, left, g.featStride)
	g.weightStride = g.featStride
	wsize := size
	if d.half {
		wsize = 2
		g.weightStride = f.R()
		f.Text("LSL $1, %v, %v", left, g.weightStride)
	}
	more, scale := f.Arg("more"), f.SplatArg(d.lanes, "scale")

	for _, row := range neonRowsOf(d.lanes, widest) {
		block, next := f.NewLabel("block"), f.NewLabel("narrower")
		f.Label(block)
		f.Text("CMP $%d, %v", row.width, left)
		f.Text("BLT %s", next)
		sets := max(1, min(4, 8/row.regs))
		if d.single {
			sets = 1
		}
		acc := make([]neon.Vec, sets)
		for s := range acc {
			acc[s] = f.V(row.regs)
			f.Clear(acc[s])
		}
		begin := f.NewLabel("begin")
		f.Text("CBZ %v, %s", more, begin)
		row.load(f, acc[0], out, 0)
		f.Label(begin)

		// A wide block is read two registers at a time, or registers would not suffice.
		step := min(row.regs, 2)
		fv, wv := f.V(min(row.regs, 6)), f.V(min(row.regs, 6))
		g.each(sets, row.width, func(u int) {
			for i := 0; i < row.regs; i += step {
				at := i % len(fv)
				a, b := fv[at:at+step], wv[at:at+step]
				part := neonRow{step, row.width / row.regs * step, row.lanes}
				part.load(f, a, g.fj, 16*i)
				if d.half {
					part.loadHalf(f, b, g.wj, 8*i)
				} else {
					part.load(f, b, g.wj, 16*i)
				}
				row.mla(f, acc[u][i:i+step], a, b)
			}
		})
		f.Free(fv, wv)

		// The sets are added in pairs.
		for n := sets; n > 1; n /= 2 {
			for s := range n / 2 {
				f.Three("fadd", d.lanes, acc[s], acc[s], acc[s+n/2])
			}
		}
		f.Three("fmul", d.lanes, acc[0], acc[0], scale)
		row.store(f, acc[0], out)
		f.Free(acc...)
		for _, p := range []neon.R{out, g.feat} {
			f.Text("ADD $%d, %v", row.bytes(), p)
		}
		f.Text("ADD $%d, %v", wsize*row.width, g.weight)
		f.Text("SUB $%d, %v", row.width, left)
		f.Text("B %s", block)
		f.Label(next)
	}
	f.Text("RET")
}
