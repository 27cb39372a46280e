package main

import "github.com/equivcnp/equivcnp/asm/internal/neon"

// neonGather walks through the pairs of a row: for each, the addresses of the row of f and of the row of w that it names.
type neonGather struct {
	f             *neon.Func
	index, pose   neon.R // the row's first pair
	pairs         neon.R
	feat, weight  neon.R // where the block's columns begin
	featStride    neon.R // bytes
	weightStride  neon.R
	ix, ps, count neon.R // the current pair
	fj, wj        neon.R
}

// each emits a loop over the pairs, unroll at a time, and then one over those that remain, one at a time. body computes
// the pair whose rows are at fj and wj; u says which pair of its turn that is, 0 for those that remain. work is how
// many multiply-adds a pair takes, 0 if body has loops of its own.
func (g neonGather) each(unroll, work int, body func(u int)) {
	f := g.f
	loop, rest, single, end := f.NewLabel("pairs"), f.NewLabel("pairsLeft"), f.NewLabel("pair"), f.NewLabel("pairsDone")
	f.Text("MOVD %v, %v", g.index, g.ix)
	f.Text("MOVD %v, %v", g.pose, g.ps)
	pair := func(u int) {
		f.Text("MOVWU.P 4(%v), %v", g.ix, g.fj)
		f.Text("MOVWU.P 4(%v), %v", g.ps, g.wj)
		f.Text("MADD %v, %v, %v, %v", g.fj, g.feat, g.featStride, g.fj)
		f.Text("MADD %v, %v, %v, %v", g.wj, g.weight, g.weightStride, g.wj)
		body(u)
	}
	f.Text("SUBS $%d, %v, %v", unroll, g.pairs, g.count)
	f.Text("BLT %s", rest)
	turn := func() {
		for u := range unroll {
			pair(u)
		}
		f.Text("SUBS $%d, %v", unroll, g.count)
		f.Text("BGE %s", loop)
	}
	if work > 0 {
		f.Counted(loop, unroll*work, "multiply-adds", turn)
	} else {
		f.Label(loop)
		turn()
	}
	f.Label(rest)
	if unroll == 1 {
		return
	}
	f.Text("ADDS $%d, %v", unroll, g.count)
	f.Text("BEQ %s", end)
	f.Label(single)
	pair(0)
	f.Text("SUBS $1, %v", g.count)
	f.Text("BNE %s", single)
	f.Label(end)
}

// neonRow is a run of columns: whole registers, or the lower lanes of one.
type neonRow struct {
	regs  int
	width int // columns
	lanes neon.Lanes
}

// neonRows returns the runs of at most so many columns of float32, widest first: powers of two.
func neonRows(most int) []neonRow { return neonRowsOf(neon.S4, most) }

// neonRowsOf is neonRows for either type.
func neonRowsOf(l neon.Lanes, most int) []neonRow {
	var rows []neonRow
	for w := most; w > 0; w /= 2 {
		rows = append(rows, neonRow{max(w/l.Count(), 1), w, l})
	}
	return rows
}

// bytes is the length of the run.
func (r neonRow) bytes() int { return r.width * r.lanes.Bits() / 8 }

// mla adds a·b to d, lane by lane.
func (r neonRow) mla(f *neon.Func, d, a, b neon.Vec) { f.Three("fmla", r.lanes, d, a, b) }

// load loads the columns that lie at bytes from p.
func (r neonRow) load(f *neon.Func, x neon.Vec, p neon.R, at int) {
	switch r.bytes() {
	case 4:
		f.Text("FMOVS %d(%v), F%d", at, p, x[0])
	case 8:
		f.Text("FMOVD %d(%v), F%d", at, p, x[0])
	case 16:
		f.Text("FMOVQ %d(%v), F%d", at, p, x[0])
	default:
		for i := 0; i < r.regs; i += 2 {
			f.Text("FLDPQ %d(%v), (F%d, F%d)", at+16*i, p, x[i], x[i+1])
		}
	}
}

// loadHalf loads columns of bfloat16 that lie at bytes from p: the same bits with sixteen zeros below them. A single column lies at p.
func (r neonRow) loadHalf(f *neon.Func, x neon.Vec, p neon.R, at int) {
	switch r.width {
	case 1:
		f.Clear(x)
		f.Text("VLD1 (%v), V%d.H[0]", p, x[0])
		f.WidenShift16(x, x)
	case 2:
		f.Text("FMOVS %d(%v), F%d", at, p, x[0])
		f.WidenShift16(x, x)
	case 4:
		f.Text("FMOVD %d(%v), F%d", at, p, x[0])
		f.WidenShift16(x, x)
	default:
		for i := 0; i < r.regs; i += 2 {
			f.Text("FMOVQ %d(%v), F%d", at+8*i, p, x[i+1])
			f.WidenShift16(x[i:i+1], x[i+1:i+2])
			f.WidenShift16High(x[i+1:i+2], x[i+1:i+2])
		}
	}
}

// store stores the columns at p.
func (r neonRow) store(f *neon.Func, x neon.Vec, p neon.R) {
	switch r.bytes() {
	case 4:
		f.Text("FMOVS F%d, (%v)", x[0], p)
	case 8:
		f.Text("FMOVD F%d, (%v)", x[0], p)
	case 16:
		f.Text("FMOVQ F%d, (%v)", x[0], p)
	default:
		for i := 0; i < r.regs; i += 2 {
			f.Text("FSTPQ (F%d, F%d), %d(%v)", x[i], x[i+1], 16*i, p)
		}
	}
}

// gatherNEON writes the search for the largest index, by which callers check that all are in range: one instruction for 4 indices
// beside loads.
func gatherNEON(file *neon.File) {
	f := file.Func("gatherMaxNEON", "(x *int32, n int) (most uint32)",
		"gatherMaxNEON returns the largest of n numbers, taken as unsigned; 0 if there are none.")
	most := f.V(1)
	f.Clear(most)
	x, n := f.Arg("x"), f.Arg("n")
	f.Each(neon.Loop{N: n, In: []neon.R{x}, Unroll: 4, Body: func(in []neon.Vec) []neon.Vec {
		// Within the group first, so that only one step waits for the last turn.
		for u := len(in[0]); u > 1; u /= 2 {
			f.MaxUint(in[0][:u/2], in[0][:u/2], in[0][u/2:u])
		}
		f.MaxUint(most, most, in[0][:1])
		return nil
	}})
	r := f.R()
	f.AnySet(r, most, most)
	f.ReturnR("most", r)
}
