package main

import "github.com/equivcnp/equivcnp/asm/internal/neon"

// neonPlan is one function for a group of eight planned rows; see plan, its model for amd64, for what is computed and how the code is
// laid out. A block of 8 channels takes 16 registers for the rows, 14 for the seven points of a run and 2 for the weights: a step is 16
// multiply-adds, two loads of two registers and 7 other instructions, 0.36 per multiply-add, where rows one by one take 0.59.
type neonPlan struct {
	f                 *neon.Func
	grad              bool
	row               neonRow // the block's columns
	rows              []neon.Vec
	points            []neon.Vec
	wv                neon.Vec
	feat, weight      neon.R
	stride            neon.R // bytes from row to row
	pc, counts        neon.R // what comes next in the code, and the next of the header's numbers
	count, left, a, b neon.R
}

func depthwisePlanNEON(file *neon.File) {
	for _, grad := range []bool{false, true} {
		depthwisePlanGroupNEON(file, grad)
	}
	depthwisePlanGradRowNEON(file)
	depthwiseRowNEON(file, neonDepthwise{name: "depthwiseSeqRowF32NEON",
		signature: "(out, f, w *float32, index, pose *int32, pairs, c, more int, scale float32)",
		doc:       "depthwiseSeqRowF32NEON is depthwiseRowF32NEON with one accumulator for an element, as in planned rows.", single: true})
}

func depthwisePlanGroupNEON(file *neon.File, grad bool) {
	name, doc := "depthwisePlanF32NEON", "sets out to eight planned rows of a convolution, row r times inv[r],"
	if grad {
		name, doc = "depthwisePlanGradF32NEON", "adds to w what eight planned rows, row r times inv[r], give for its gradient,"
	}
	f := file.Func(name, "(out, f, w *float32, code *int32, channels, stride int, inv *float32)",
		name+" "+doc+" for that many channels. Rows lie stride bytes apart.")
	out, left, code, inv := f.Arg("out"), f.Arg("channels"), f.Arg("code"), f.Arg("inv")
	p := &neonPlan{f: f, grad: grad, feat: f.Arg("f"), weight: f.Arg("w"), stride: f.Arg("stride"),
		pc: f.R(), counts: f.R(), count: f.R(), left: f.R(), a: f.R(), b: f.R()}
	o, scale := f.R(), f.R()
	for _, row := range neonRows(8) {
		block, next := f.NewLabel("block"), f.NewLabel("narrower")
		f.Label(block)
		f.Text("CMP $%d, %v", row.width, left)
		f.Text("BLT %s", next)
		p.row, p.wv = row, f.V(row.regs)
		p.rows, p.points = make([]neon.Vec, planRows), make([]neon.Vec, planRows-1)
		for r := range p.rows {
			p.rows[r] = f.V(row.regs)
		}
		for i := range p.points {
			p.points[i] = f.V(row.regs)
		}
		// eachRow goes through the rows of out with their factors.
		eachRow := func(body func(r neon.Vec, factor neon.K)) {
			f.Text("MOVD %v, %v", out, o)
			f.Text("MOVD %v, %v", inv, scale)
			for r := range p.rows {
				f.Text("FMOVS.P 4(%v), F%d", scale, p.wv[0])
				body(p.rows[r], neon.K{Reg: p.wv[0]})
				f.Text("ADD %v, %v", p.stride, o)
			}
		}
		if grad {
			eachRow(func(r neon.Vec, factor neon.K) {
				row.load(f, r, o, 0)
				f.MulK(r, r, factor)
			})
		} else {
			for _, r := range p.rows {
				f.Clear(r)
			}
		}
		f.Text("MOVD %v, %v", code, p.counts)
		f.Text("ADD $%d, %v, %v", 4*planHeader, code, p.pc)
		p.runs()
		p.ramps(true)
		p.ramps(false)
		for rows := planRows / 2; rows > 0; rows /= 2 {
			for lo := 0; lo < planRows; lo += rows {
				p.steps(p.rows[lo : lo+rows])
			}
		}
		if !grad {
			eachRow(func(r neon.Vec, factor neon.K) {
				f.MulK(r, r, factor)
				row.store(f, r, o)
			})
		}
		f.Free(p.wv)
		f.Free(p.rows...)
		f.Free(p.points...)
		for _, base := range []neon.R{out, p.feat, p.weight} {
			f.Text("ADD $%d, %v", 4*row.width, base)
		}
		f.Text("SUB $%d, %v", row.width, left)
		f.Text("B %s", block)
		f.Label(next)
	}
	f.Text("RET")
}

// address sets r to base + stride·(the next number of the code).
func (p *neonPlan) address(r, base neon.R) {
	p.f.Text("MOVWU.P 4(%v), %v", p.pc, r)
	p.f.Text("MADD %v, %v, %v, %v", r, base, p.stride, r)
}

// multiplyAdd adds x·w to a row's sums, or x·row to the gradient of w.
func (p *neonPlan) multiplyAdd(row, x neon.Vec) {
	if p.grad {
		p.f.Mla(p.wv, x, row)
	} else {
		p.f.Mla(row, x, p.wv)
	}
}

// storeWeights stores the gradient to the row of w at q, if that is what the function computes.
func (p *neonPlan) storeWeights(q neon.R) {
	if p.grad {
		p.row.store(p.f, p.wv, q)
	}
}

// runs emits the loop over the runs of all rows.
func (p *neonPlan) runs() {
	f, window := p.f, len(p.points)
	run, steps, ended, done := f.NewLabel("run"), f.NewLabel("steps"), f.NewLabel("ended"), f.NewLabel("runsDone")
	f.Text("MOVWU.P 4(%v), %v", p.counts, p.count)
	f.Text("CBZ %v, %s", p.count, done)
	f.Label(run)
	f.Text("MOVWU.P 4(%v), %v", p.pc, p.left)
	p.address(p.a, p.feat)
	for _, x := range p.points {
		p.row.load(f, x, p.a, 0)
		f.Text("ADD %v, %v", p.stride, p.a)
	}
	f.Counted(steps, window*planRows*p.row.width, "multiply-adds", func() {
		for s := range window {
			p.address(p.b, p.weight)
			p.row.load(f, p.wv, p.b, 0)
			for r, row := range p.rows {
				x := p.points[(s+r)%window]
				p.multiplyAdd(row, x)
				if r == 0 { // whose place the point of the last row takes
					p.row.load(f, x, p.a, 0)
				}
			}
			p.storeWeights(p.b)
			f.Text("ADD %v, %v", p.stride, p.a)
			f.Text("SUBS $1, %v", p.left)
			if s < window-1 {
				f.Text("BEQ %s", ended)
			}
		}
		f.Text("BNE %s", steps)
	})
	f.Label(ended)
	f.Text("SUBS $1, %v", p.count)
	f.Text("BNE %s", run)
	f.Label(done)
}

// ramps emits the loop over the ramps up or down.
func (p *neonPlan) ramps(up bool) {
	f := p.f
	loop, next, done := f.NewLabel("ramp"), f.NewLabel("ramped"), f.NewLabel("rampsDone")
	first, x := f.R(), f.R()
	f.Text("MOVWU.P 4(%v), %v", p.counts, p.count)
	f.Text("CBZ %v, %s", p.count, done)
	f.Label(loop)
	f.Text("MOVWU.P 4(%v), %v", p.pc, first)
	f.Text("MOVWU.P 4(%v), %v", p.pc, p.left)
	f.Text("MOVW.P 4(%v), %v", p.pc, x) // of a k that does not occur, it may lie before f
	f.Text("MADD %v, %v, %v, %v", x, p.feat, p.stride, x)
	for k := 1; k < planRows; k++ {
		skip := f.NewLabel("skip")
		if k < planRows-1 { // the last one is not skipped
			f.Text("CMP $%d, %v", k, first)
			f.Text("BGT %s", skip)
		}
		rows := p.rows[:planRows-k]
		if up {
			rows = p.rows[k:]
		}
		p.step(rows, x)
		if k < planRows-1 {
			f.Text("SUBS $1, %v", p.left)
			f.Text("BEQ %s", next)
			f.Label(skip)
			if !up {
				f.Text("ADD %v, %v", p.stride, x)
			}
		}
	}
	f.Label(next)
	f.Text("SUBS $1, %v", p.count)
	f.Text("BNE %s", loop)
	f.Label(done)
	f.FreeR(first, x)
}

// step emits a step of some rows, the first of which has the row of f at x.
func (p *neonPlan) step(rows []neon.Vec, x neon.R) {
	f := p.f
	f.Text("MOVD %v, %v", x, p.a)
	p.address(p.b, p.weight)
	p.row.load(f, p.wv, p.b, 0)
	for r, row := range rows {
		if r > 0 {
			f.Text("ADD %v, %v", p.stride, p.a)
		}
		p.row.load(f, p.points[r], p.a, 0)
		p.multiplyAdd(row, p.points[r])
	}
	p.storeWeights(p.b)
}

// steps emits the loop over the steps of some rows, whose points are read from memory.
func (p *neonPlan) steps(rows []neon.Vec) {
	f := p.f
	loop, done := f.NewLabel("step"), f.NewLabel("stepsDone")
	f.Text("MOVWU.P 4(%v), %v", p.counts, p.count)
	f.Text("CBZ %v, %s", p.count, done)
	f.Label(loop)
	p.address(p.left, p.feat)
	p.step(rows, p.left)
	f.Text("SUBS $1, %v", p.count)
	f.Text("BNE %s", loop)
	f.Label(done)
}

// depthwisePlanGradRowNEON writes the gradient to w of a row by itself: out stays in registers while w passes by.
func depthwisePlanGradRowNEON(file *neon.File) {
	f := file.Func("depthwisePlanGradRowF32NEON", "(out, f, w *float32, index, pose *int32, pairs, channels, stride int, inv float32)",
		"depthwisePlanGradRowF32NEON adds inv·out·f[index] to w[pose] for that many pairs and channels. Rows lie stride bytes apart.")
	out, left, inv := f.Arg("out"), f.Arg("channels"), f.Splat("inv")
	g := neonGather{f: f, feat: f.Arg("f"), weight: f.Arg("w"), index: f.Arg("index"), pose: f.Arg("pose"), pairs: f.Arg("pairs"),
		featStride: f.Arg("stride"), ix: f.R(), ps: f.R(), count: f.R(), fj: f.R(), wj: f.R()}
	g.weightStride = g.featStride
	for _, row := range neonRows(32) {
		block, next := f.NewLabel("block"), f.NewLabel("narrower")
		f.Label(block)
		f.Text("CMP $%d, %v", row.width, left)
		f.Text("BLT %s", next)
		d, x, w := f.V(row.regs), f.V(row.regs), f.V(row.regs)
		row.load(f, d, out, 0)
		for i := range d {
			f.Mul(d[i:i+1], d[i:i+1], inv)
		}
		g.each(1, row.width, func(int) {
			row.load(f, x, g.fj, 0)
			row.load(f, w, g.wj, 0)
			f.Mla(w, d, x)
			row.store(f, w, g.wj)
		})
		f.Free(d, x, w)
		for _, p := range []neon.R{out, g.feat, g.weight} {
			f.Text("ADD $%d, %v", 4*row.width, p)
		}
		f.Text("SUB $%d, %v", row.width, left)
		f.Text("B %s", block)
		f.Label(next)
	}
	f.Text("RET")
}
