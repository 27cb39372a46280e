package main

import (
	"strings"

	"github.com/equivcnp/equivcnp/asm/internal/neon"
)

// pointConvNEON writes the outer products and their gradients.
func pointConvNEON(file *neon.File) {
	for _, l := range []neon.Lanes{neon.S4, neon.D2} {
		pointConvRowNEON(file, l)
		pointConvGradFNEON(file, l)
		pointConvGradWNEON(file, l)
	}
}

// pointConvText rewrites a name, a signature or a doc of float32 for the type of the lanes.
func pointConvText(l neon.Lanes, text string) string {
	return strings.NewReplacer("float32", l.Type(), "F32", l.Suffix()).Replace(text)
}

// pointConvRuns are the runs of at most so many columns: in float64 only the widest and single columns.
func pointConvRuns(l neon.Lanes, most int) []neonRow {
	rows := neonRowsOf(l, most)
	if l == neon.D2 {
		return []neonRow{rows[0], rows[len(rows)-1]}
	}
	return rows
}

// pointConvRowNEON writes the outer products of one row. A tile of input channels by weight channels stays in registers while all pairs
// go by:
//
//	p[a, b] = (p[a, b] or 0) + Σ_k f[index[k], a]·w[pose[k], b]
//
// Each lane of a register of f is a factor for the whole run of w. Tiles are 8 x 8 or 4 x 16 where there are as many channels,
// and smaller powers of two at the edges. Per pair and tile of 8 x 8: 16 multiply-adds and 8 other instructions, 0.38 per
// multiply-add of one element.
func pointConvRowNEON(file *neon.File, l neon.Lanes) {
	f := file.Func(pointConvText(l, "pointConvRowF32NEON"),
		pointConvText(l, "(p, f, w *float32, index, pose *int32, pairs, ci, cm, more int)"),
		pointConvText(l, "pointConvRowF32NEON sets p[a*cm+b] = Σ f[index[k], a]·w[pose[k], b] for a < ci, b < cm and k < pairs, "+
			"pairs > 0. If more is 1,\nthe sum begins with p[a*cm+b]."))
	p, leftA, cm := f.Arg("p"), f.Arg("ci"), f.Arg("cm")
	g := neonGather{f: f, feat: f.Arg("f"), index: f.Arg("index"), pose: f.Arg("pose"), pairs: f.Arg("pairs"),
		weight: f.R(), featStride: f.R(), weightStride: f.R(), ix: f.R(), ps: f.R(), count: f.R(), fj: f.R(), wj: f.R()}
	shift := 2 + int(l)
	f.Text("LSL $%d, %v, %v", shift, leftA, g.featStride)
	f.Text("LSL $%d, %v, %v", shift, cm, g.weightStride)
	more := f.Arg("more")
	tile, leftB, at := f.R(), f.R(), f.R()

	most := 8
	if l == neon.D2 {
		most = 4
	}
	for _, rows := range pointConvRuns(l, most) {
		blockA, nextA := f.NewLabel("rows"), f.NewLabel("fewerRows")
		f.Label(blockA)
		f.Text("CMP $%d, %v", rows.width, leftA)
		f.Text("BLT %s", nextA)
		f.Text("MOVD %v, %v", p, tile)
		f.Text("MOVD %v, %v", cm, leftB)
		f.LoadArg(g.weight, "w")
		for _, cols := range pointConvRuns(l, min(2*most, 8*most/rows.width)) {
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
			eachRow(func(x neon.Vec) { cols.load(f, x, at, 0) })
			f.Label(begin)

			fv, wv := f.V(rows.regs), f.V(cols.regs)
			g.each(1, rows.width*cols.width, func(int) {
				rows.load(f, fv, g.fj, 0)
				cols.load(f, wv, g.wj, 0)
				for a := range acc {
					f.MultiplyAdd(l, acc[a], wv, neon.K{Reg: fv[a/l.Count()], Lane: a % l.Count()})
				}
			})
			f.Free(fv, wv)
			eachRow(func(x neon.Vec) { cols.store(f, x, at) })
			f.Free(acc...)

			f.Text("ADD $%d, %v", cols.bytes(), tile)
			f.Text("ADD $%d, %v", cols.bytes(), g.weight)
			f.Text("SUB $%d, %v", cols.width, leftB)
			f.Text("B %s", blockB)
			f.Label(nextB)
		}
		for range rows.width {
			f.Text("ADD %v, %v", g.weightStride, p)
		}
		f.Text("ADD $%d, %v", rows.bytes(), g.feat)
		f.Text("SUB $%d, %v", rows.width, leftA)
		f.Text("B %s", blockA)
		f.Label(nextA)
	}
	f.Text("RET")
}

// pointConvGradFNEON writes the gradient to the features of one point. For a block of input channels
//
//	df[a] = (df[a] or 0) + Σ_k Σ_b w[pose[k], b]·dp[index[k], a·cm+b]
//
// each channel sums in four lanes of its own, which are added at the end. Per pair and 8 channels of 16 weight channels: 32
// multiply-adds, 18 loads of two registers and 20 instructions for addresses and the loops, 0.55 per multiply-add of one element.
func pointConvGradFNEON(file *neon.File, l neon.Lanes) {
	f := file.Func(pointConvText(l, "pointConvGradFRowF32NEON"),
		pointConvText(l, "(df, dp, w *float32, index, pose *int32, pairs, ci, cm, more int)"),
		pointConvText(l, "pointConvGradFRowF32NEON sets df[a] = Σ w[pose[k], b]·dp[index[k], a*cm+b] over k < pairs and b < cm, for "+
			"a < ci, pairs > 0. If\nmore is 1, the sum begins with df[a]."))
	df, left, cm := f.Arg("df"), f.Arg("ci"), f.Arg("cm")
	g := neonGather{f: f, feat: f.Arg("dp"), weight: f.Arg("w"), index: f.Arg("index"), pose: f.Arg("pose"), pairs: f.Arg("pairs"),
		featStride: f.R(), weightStride: f.R(), ix: f.R(), ps: f.R(), count: f.R(), fj: f.R(), wj: f.R()}
	f.Text("LSL $%d, %v, %v", 2+int(l), cm, g.weightStride)
	f.Text("MUL %v, %v, %v", left, g.weightStride, g.featStride)
	more, cols, at := f.Arg("more"), f.R(), f.R()
	for _, rows := range pointConvRuns(l, 8/int(1+l)) {
		block, next := f.NewLabel("rows"), f.NewLabel("fewerRows")
		f.Label(block)
		f.Text("CMP $%d, %v", rows.width, left)
		f.Text("BLT %s", next)
		acc := f.V(rows.width)
		f.Clear(acc)
		g.each(1, 0, func(int) {
			f.Text("MOVD %v, %v", cm, cols)
			for _, run := range pointConvRuns(l, 16/int(1+l)) {
				if run.width == 8 && l == neon.S4 { // two of 4 do as well
					continue
				}
				loop, done := f.NewLabel("cols"), f.NewLabel("fewerCols")
				wv, dv := f.V(run.regs), f.V(run.regs)
				f.Label(loop)
				f.Text("CMP $%d, %v", run.width, cols)
				f.Text("BLT %s", done)
				run.load(f, wv, g.wj, 0)
				f.Text("MOVD %v, %v", g.fj, at)
				for a := range acc {
					run.load(f, dv, at, 0)
					for i := range dv {
						run.mla(f, acc[a:a+1], dv[i:i+1], wv[i:i+1])
					}
					if a < len(acc)-1 {
						f.Text("ADD %v, %v", g.weightStride, at)
					}
				}
				f.Text("ADD $%d, %v", run.bytes(), g.wj)
				f.Text("ADD $%d, %v", run.bytes(), g.fj)
				f.Text("SUB $%d, %v", run.width, cols)
				f.Text("B %s", loop)
				f.Label(done)
				f.Free(wv, dv)
			}
		})

		// Lane sums: pairs of lanes of pairs of channels, until each register holds the sums of as many channels as it has lanes.
		sums := acc
		for lanes := l.Count(); lanes > 1; lanes /= 2 {
			half := max(1, len(sums)/2)
			for i := range half {
				f.Three("faddp", l, sums[i:i+1], sums[2*i%len(sums):][:1], sums[(2*i+1)%len(sums):][:1])
			}
			sums = sums[:half]
		}
		begin := f.NewLabel("begin")
		old := f.V(rows.regs)
		f.Text("CBZ %v, %s", more, begin)
		rows.load(f, old, df, 0)
		f.Three("fadd", l, sums, sums, old)
		f.Label(begin)
		rows.store(f, sums, df)
		f.Free(acc, old)

		f.Text("ADD $%d, %v", rows.bytes(), df)
		for range rows.width {
			f.Text("ADD %v, %v", g.weightStride, g.feat)
		}
		f.Text("SUB $%d, %v", rows.width, left)
		f.Text("B %s", block)
		f.Label(next)
	}
	f.Text("RET")
}

// pointConvGradWNEON writes the gradient to the weights of one pose. For a run of weight channels
//
//	dw[b] = (dw[b] or 0) + Σ_k Σ_a f[index[k], a]·dp[row[k], a·cm+b]
//
// the sums stay in registers, in two sets that take turns. Per pair and 4 input channels of 16 weight channels: 16 multiply-adds, 9
// loads and 7 instructions for addresses and the loop, 0.5 per multiply-add of one element.
func pointConvGradWNEON(file *neon.File, l neon.Lanes) {
	f := file.Func(pointConvText(l, "pointConvGradWRowF32NEON"),
		pointConvText(l, "(dw, dp, f *float32, row, index *int32, pairs, ci, cm, more int)"),
		pointConvText(l, "pointConvGradWRowF32NEON sets dw[b] = Σ f[index[k], a]·dp[row[k], a*cm+b] over k < pairs and a < ci, for b "+
			"< cm, pairs > 0. If more\nis 1, the sum begins with dw[b]."))
	dw, ci, left := f.Arg("dw"), f.Arg("ci"), f.Arg("cm")
	g := neonGather{f: f, feat: f.Arg("dp"), weight: f.Arg("f"), index: f.Arg("row"), pose: f.Arg("index"), pairs: f.Arg("pairs"),
		featStride: f.R(), weightStride: f.R(), ix: f.R(), ps: f.R(), count: f.R(), fj: f.R(), wj: f.R()}
	step, rows := f.R(), f.R()
	shift, size := 2+int(l), l.Bits()/8
	f.Text("LSL $%d, %v, %v", shift, ci, g.weightStride)
	f.Text("LSL $%d, %v, %v", shift, left, step)
	f.Text("MUL %v, %v, %v", ci, step, g.featStride)
	more := f.Arg("more")
	for _, run := range pointConvRuns(l, 16/int(1+l)) {
		block, next, begin := f.NewLabel("cols"), f.NewLabel("fewerCols"), f.NewLabel("begin")
		f.Label(block)
		f.Text("CMP $%d, %v", run.width, left)
		f.Text("BLT %s", next)
		acc := []neon.Vec{f.V(run.regs), f.V(run.regs)}
		f.Clear(acc[0])
		f.Clear(acc[1])
		f.Text("CBZ %v, %s", more, begin)
		run.load(f, acc[0], dw, 0)
		f.Label(begin)
		factor, dv := f.V(1), f.V(run.regs)
		g.each(1, 0, func(int) {
			loop, rest, single, done := f.NewLabel("rows"), f.NewLabel("rest"), f.NewLabel("row"), f.NewLabel("rowsDone")
			many := l.Count()
			f.Text("SUBS $%d, %v, %v", many, ci, rows)
			f.Text("BLT %s", rest)
			f.Label(loop)
			f.Text("FMOVQ.P 16(%v), F%d", g.wj, factor[0])
			for a := range many {
				run.load(f, dv, g.fj, 0)
				f.Text("ADD %v, %v", step, g.fj)
				f.MultiplyAdd(l, acc[a%2], dv, neon.K{Reg: factor[0], Lane: a})
			}
			f.Text("SUBS $%d, %v", many, rows)
			f.Text("BGE %s", loop)
			f.Label(rest)
			f.Text("ADDS $%d, %v", many, rows)
			f.Text("BEQ %s", done)
			f.Label(single)
			f.Text("FMOV%s.P %d(%v), F%d", l.Letter(), size, g.wj, factor[0])
			run.load(f, dv, g.fj, 0)
			f.Text("ADD %v, %v", step, g.fj)
			f.MultiplyAdd(l, acc[0], dv, neon.K{Reg: factor[0]})
			f.Text("SUBS $1, %v", rows)
			f.Text("BNE %s", single)
			f.Label(done)
		})
		f.Three("fadd", l, acc[0], acc[0], acc[1])
		run.store(f, acc[0], dw)
		f.Free(acc[0], acc[1], factor, dv)
		for _, p := range []neon.R{dw, g.feat} {
			f.Text("ADD $%d, %v", run.bytes(), p)
		}
		f.Text("SUB $%d, %v", run.width, left)
		f.Text("B %s", block)
		f.Label(next)
	}
	f.Text("RET")
}
