package main

import (
	"fmt"
	"strings"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

// planRows is how many neighbouring rows a planned convolution computes together. The code of such a group begins with
// planHeader numbers, which count what follows: the runs of all rows, the ramps up, the ramps down, then the steps of
// each half of the rows, of each quarter and of each single row. A run is written as {steps, x, q of each step}, a ramp
// as {first k, steps, x, q of each step}, any other step as {x, q}.
const (
	planRows   = 8
	planHeader = 2*planRows + 1
)

func depthwisePlanAMD64(f *x86.File) {
	for _, grad := range []bool{false, true} {
		depthwisePlan(f, x86.AVX512, grad, 2, false)
		for _, l := range levels {
			depthwisePlan(f, l, grad, 1, false)
			depthwisePlan(f, l, grad, 1, true)
		}
	}
	for _, l := range levels {
		depthwisePlanGradRow(f, l, 4, false)
		depthwisePlanGradRow(f, l, 1, false)
		depthwisePlanGradRow(f, l, 1, true)
		for _, vecs := range []int{2, 1} {
			depthwiseRows(f, l, x86.F32, depthwiseVariant{name: "depthwiseSeq", single: true,
				doc: "is depthwise, with one accumulator for an element as in planned rows"}, vecs)
		}
	}
}

// plan is one function for a group of eight rows whose pairs were arranged beforehand. In a step {x, q} all rows have
// the same pose q, and row r has point x+r:
//
//	out[r] += w[q] · f[x+r],  r < 8
//
// In a run, x grows by one from step to step, so every row moves on to the point that its neighbour had before. Seven points are kept in
// registers, which take turns: in step s of a run, point x+s+r is in register (s+r) mod 7. The new point, that of row 7, goes into the
// register of row 0 as soon as row 0 has used it. So a step reads one vector of w and one of f for eight multiply-adds. That matters:
// a machine that does two multiply-adds a cycle from registers did only 1.3 where each had an operand in memory.
//
// The gradient to w keeps the rows' own gradients in registers in place of the sums,
//
//	w[q] += Σ_r out[r] · f[x+r]
//
// which costs one store more. At the border of a grid some rows have no point at the beginning of a run, and others none at its end. The
// steps there are ramps, each with one row more or less than the step before it, k = 1 .. 7:
//
//	out[r] += w[q_k] · f[x+r-k],    k ≤ r < 8      up
//	out[r] += w[q_k] · f[x+r+k-1],  0 ≤ r < 8-k    down
//
// Ramps, and the steps of fewer rows that come after them, read f from memory. The sum of a row is added up in this
// order: runs, ramps, other steps.
type plan struct {
	fn           *x86.Func
	grad         bool
	vecs         int
	masked       bool
	tail         x86.Tail
	k            reg.OpmaskVirtual
	feat, weight reg.GPVirtual
	code         reg.GPVirtual
	strides      map[int]reg.GPVirtual // multiples of the row's length: 1, 3, 5, 7
	rows         [][]reg.VecVirtual    // a row's sums, or its gradient
	wv           []reg.VecVirtual
}

func depthwisePlan(f *x86.File, l x86.Level, grad bool, vecs int, masked bool) {
	name, doc := "depthwisePlan", "sets out to eight planned rows of a convolution, row r times inv[r],"
	signature := "func(out, f, w *float32, code *int32, stride int, inv *float32)"
	if masked {
		signature = "func(out, f, w *float32, code *int32, stride, tail int, inv *float32)"
	}
	if grad {
		name, doc = "depthwisePlanGrad", "adds to w what eight planned rows, row r times inv[r], give for its gradient,"
	}
	name = fmt.Sprintf("%s%dF32", name, vecs)
	channels := fmt.Sprintf("%d vectors of channels", vecs)
	if masked {
		// Loads under a mask would make it a tenth slower, so whole vectors have functions of their own.
		name, channels = strings.Replace(name, fmt.Sprint(vecs), "Tail", 1), "the first tail channels of a vector"
	}
	fn := f.Func(l, x86.F32, name, signature,
		fmt.Sprintf("%s for %s. Rows lie stride bytes apart.", doc, channels))
	p := &plan{fn: fn, grad: grad, vecs: vecs, masked: masked, strides: map[int]reg.GPVirtual{}}
	if masked {
		p.newTail()
	}
	p.feat, p.weight, p.code = fn.Arg("f"), fn.Arg("w"), fn.Arg("code")
	stride := fn.Arg("stride")
	p.strides[1] = stride
	for _, n := range []int{3, 5, 7} {
		p.strides[n] = fn.GP64()
	}
	fn.LEAQ(operand.Mem{Base: stride, Index: stride, Scale: 2}, p.strides[3])
	fn.LEAQ(operand.Mem{Base: stride, Index: stride, Scale: 4}, p.strides[5])
	fn.LEAQ(operand.Mem{Base: p.strides[3], Index: stride, Scale: 4}, p.strides[7])
	p.rows, p.wv = make([][]reg.VecVirtual, planRows), zeros(fn, vecs)
	for r := range p.rows {
		p.rows[r] = zeros(fn, vecs)
		if !grad {
			clearAll(fn, p.rows[r])
		}
	}
	if grad {
		p.eachRow(func(r int, out operand.Mem, v int) {
			m := out
			m.Disp += v * l.Bytes()
			p.load(m, p.rows[r][v])
			p.scale(r, v)
		})
	}

	counts := fn.GP64()
	fn.MOVQ(p.code, counts)
	fn.ADDQ(operand.U8(4*planHeader), p.code)
	p.runs(counts)
	p.ramps(counts, 1, true)
	p.ramps(counts, 2, false)
	at := 3
	for rows := planRows / 2; rows > 0; rows /= 2 {
		for lo := 0; lo < planRows; lo += rows {
			p.steps(counts, at, lo, lo+rows)
			at++
		}
	}

	if !grad {
		p.eachRow(func(r int, out operand.Mem, v int) {
			m := out
			m.Disp += v * l.Bytes()
			p.scale(r, v)
			if p.masked {
				p.tail.Store(p.rows[r][v], m)
			} else {
				fn.VMOVUPS(p.rows[r][v], m)
			}
		})
	}
	fn.End()
}

// newTail builds the mask of the argument tail.
func (p *plan) newTail() {
	tail := p.fn.Arg("tail")
	p.tail = p.fn.NewTail(tail)
	if p.fn.Level == x86.AVX512 { // as an operand of multiply-adds
		ones := p.fn.GP64()
		p.k = p.fn.K()
		p.fn.MOVQ(operand.I32(-1), ones)
		p.fn.BZHIQ(tail, ones, ones)
		p.fn.KMOVW(ones.As32(), p.k)
	}
}

// eachRow goes through the rows of out.
func (p *plan) eachRow(body func(r int, out operand.Mem, v int)) {
	out := p.fn.Arg("out")
	for r := range p.rows {
		for v := range p.vecs {
			body(r, operand.Mem{Base: out}, v)
		}
		p.fn.ADDQ(p.strides[1], out)
	}
}

// scale multiplies a vector of row r by inv[r].
func (p *plan) scale(r, v int) {
	if v == 0 {
		p.fn.VBROADCASTSS(operand.Mem{Base: p.fn.Arg("inv"), Disp: 4 * r}, p.wv[0])
	}
	p.fn.VMULPS(p.wv[0], p.rows[r][v], p.rows[r][v])
}

func (p *plan) load(m operand.Mem, r reg.VecVirtual) {
	switch {
	case !p.masked:
		p.fn.VMOVUPS(m, r)
	case p.fn.Level == x86.AVX512:
		p.fn.VMOVUPS_Z(m, p.k, r)
	default:
		p.fn.VMOVAPS(p.tail.Load(m), r)
	}
}

// multiplyAdd adds m·a to sum.
func (p *plan) multiplyAdd(m operand.Mem, a, sum reg.VecVirtual) {
	switch {
	case !p.masked:
		p.fn.VFMADD231PS(m, a, sum)
	case p.fn.Level == x86.AVX512:
		p.fn.VFMADD231PS(m, a, p.k, sum)
	default:
		p.fn.VFMADD231PS(p.tail.Load(m), a, sum)
	}
}

// point addresses the row of f that is n rows behind base.
func (p *plan) point(base reg.GPVirtual, n, v int) operand.Mem {
	m := operand.Mem{Base: base, Disp: v * p.fn.Level.Bytes()}
	switch n {
	case 0:
	case 2, 4:
		m.Index, m.Scale = p.strides[1], uint8(n)
	case 6:
		m.Index, m.Scale = p.strides[3], 2
	default:
		m.Index, m.Scale = p.strides[n], 1
	}
	return m
}

// runs writes the loop over the runs, whose number the header's first entry is.
func (p *plan) runs(counts reg.GPVirtual) {
	window := planRows - 1
	if p.masked && p.fn.Level == x86.AVX2 {
		window = 5 // of seven registers, the mask takes one, and a point that is read from memory another
	}
	done, left, steps, next, poses := p.fn.NewLabel("done"), p.fn.GP64(), p.fn.GP64(), p.fn.GP64(), p.fn.GP64()
	points := make([][]reg.VecVirtual, window)
	for i := range points {
		points[i] = zeros(p.fn, p.vecs)
	}
	p.fn.MOVL(operand.Mem{Base: counts}, left.As32())
	p.fn.TESTQ(left, left)
	p.fn.JE(operand.LabelRef(done))
	p.fn.Label("run")
	p.fn.MOVL(operand.Mem{Base: p.code}, steps.As32())
	first := rowAddress(p.fn, operand.Mem{Base: p.code, Disp: 4}, p.feat, p.strides[1])
	p.fn.LEAQ(operand.Mem{Base: p.code, Disp: 8}, poses)
	p.fn.LEAQ(operand.Mem{Base: p.code, Index: steps, Scale: 4, Disp: 8}, p.code)
	for i := range points {
		for v := range p.vecs {
			p.load(p.point(first, i, v), points[i][v])
		}
	}
	p.fn.LEAQ(p.point(first, window, 0), next)
	p.fn.Label("steps")
	for s := range window {
		wq := p.loadWeights(pairAt(poses, s))
		for r := range planRows {
			for v := range p.vecs {
				a, sum := p.wv[v], p.rows[r][v]
				if p.grad {
					a, sum = sum, a
				}
				if r > window {
					p.multiplyAdd(p.point(next, s+r-window, v), a, sum)
					continue
				}
				x := points[(s+r)%window][v]
				p.fn.VFMADD231PS(x, a, sum)
				if r == 0 {
					p.load(p.point(next, s, v), x)
				}
			}
		}
		p.storeWeights(wq)
		if s < window-1 {
			p.fn.DECQ(steps)
			p.fn.JE(operand.LabelRef("ended"))
		}
	}
	p.fn.ADDQ(p.strides[window], next)
	p.fn.ADDQ(operand.U8(4*window), poses)
	p.fn.DECQ(steps)
	p.fn.JNE(operand.LabelRef("steps"))
	p.fn.Label("ended")
	p.fn.DECQ(left)
	p.fn.JNE(operand.LabelRef("run"))
	p.fn.Label(done)
}

// loadWeights loads the row of w whose number is in memory, and returns where it lies.
func (p *plan) loadWeights(pose operand.Mem) operand.Mem {
	offset := p.fn.GP64()
	p.fn.MOVL(pose, offset.As32())
	p.fn.IMULQ(p.strides[1], offset)
	wq := operand.Mem{Base: p.weight, Index: offset, Scale: 1}
	for v := range p.vecs {
		m := wq
		m.Disp = v * p.fn.Level.Bytes()
		p.load(m, p.wv[v])
	}
	return wq
}

// storeWeights stores the gradient to a row of w, if that is what the function computes.
func (p *plan) storeWeights(wq operand.Mem) {
	for v := range p.vecs {
		m := wq
		m.Disp = v * p.fn.Level.Bytes()
		switch {
		case !p.grad:
		case p.masked:
			p.tail.Store(p.wv[v], m)
		default:
			p.fn.VMOVUPS(p.wv[v], m)
		}
	}
}

// step writes a step of rows lo to hi that reads f from memory, from the row that is n behind base.
func (p *plan) step(base reg.GPVirtual, n int, pose operand.Mem, lo, hi int) {
	wq := p.loadWeights(pose)
	for r := lo; r < hi; r++ {
		for v := range p.vecs {
			a, sum := p.wv[v], p.rows[r][v]
			if p.grad {
				a, sum = sum, a
			}
			p.multiplyAdd(p.point(base, n+r-lo, v), a, sum)
		}
	}
	p.storeWeights(wq)
}

// ramps writes the loop over the ramps up or down; their number is the header's entry at. A ramp begins with any k.
func (p *plan) ramps(counts reg.GPVirtual, at int, up bool) {
	loop, next, done := p.fn.NewLabel("ramp"), p.fn.NewLabel("ramped"), p.fn.NewLabel("done")
	left, first, steps, x := p.fn.GP64(), p.fn.GP64(), p.fn.GP64(), p.fn.GP64()
	p.fn.MOVL(operand.Mem{Base: counts, Disp: 4 * at}, left.As32())
	p.fn.TESTQ(left, left)
	p.fn.JE(operand.LabelRef(done))
	p.fn.Label(loop)
	p.fn.MOVL(operand.Mem{Base: p.code}, first.As32())
	p.fn.MOVL(operand.Mem{Base: p.code, Disp: 4}, steps.As32())
	p.fn.MOVLQSX(operand.Mem{Base: p.code, Disp: 8}, x) // of a k that does not occur, it may lie before f
	p.fn.IMULQ(p.strides[1], x)
	p.fn.ADDQ(p.feat, x)
	p.fn.ADDQ(operand.U8(12), p.code)
	for k := 1; k < planRows; k++ {
		skip := p.fn.NewLabel("skip")
		if k < planRows-1 { // the last one is not skipped
			p.fn.CMPQ(first, operand.U8(k))
			p.fn.JG(operand.LabelRef(skip))
		}
		if up {
			p.step(x, 0, operand.Mem{Base: p.code}, k, planRows)
		} else {
			p.step(x, k-1, operand.Mem{Base: p.code}, 0, planRows-k)
		}
		p.fn.ADDQ(operand.U8(4), p.code)
		if k < planRows-1 {
			p.fn.DECQ(steps)
			p.fn.JE(operand.LabelRef(next))
			p.fn.Label(skip)
		}
	}
	p.fn.Label(next)
	p.fn.DECQ(left)
	p.fn.JNE(operand.LabelRef(loop))
	p.fn.Label(done)
}

// steps writes the loop over the steps of rows lo to hi; their number is the header's entry at.
func (p *plan) steps(counts reg.GPVirtual, at, lo, hi int) {
	loop, done, left := p.fn.NewLabel("step"), p.fn.NewLabel("done"), p.fn.GP64()
	p.fn.MOVL(operand.Mem{Base: counts, Disp: 4 * at}, left.As32())
	p.fn.TESTQ(left, left)
	p.fn.JE(operand.LabelRef(done))
	p.fn.Label(loop)
	fx := rowAddress(p.fn, operand.Mem{Base: p.code}, p.feat, p.strides[1])
	p.step(fx, 0, operand.Mem{Base: p.code, Disp: 4}, lo, hi)
	p.fn.ADDQ(operand.U8(8), p.code)
	p.fn.DECQ(left)
	p.fn.JNE(operand.LabelRef(loop))
	p.fn.Label(done)
}

// depthwisePlanGradRow writes the gradient to w of a row by itself: out stays in registers while w passes by.
func depthwisePlanGradRow(f *x86.File, l x86.Level, vecs int, masked bool) {
	name, args, channels := fmt.Sprintf("depthwisePlanGradRow%dF32", vecs), "stride int", fmt.Sprintf("%d vectors of channels", vecs)
	if masked {
		name, args, channels = "depthwisePlanGradRowTailF32", "stride, tail int", "the first tail channels of a vector"
	}
	fn := f.Func(l, x86.F32, name, "func(out, f, w *float32, index, pose *int32, n, "+args+", inv float32)",
		fmt.Sprintf("adds inv·out·f[index] to w[pose] for n pairs and %s. Rows lie stride bytes apart.", channels))
	p := &plan{fn: fn, grad: true, vecs: vecs, masked: masked, strides: map[int]reg.GPVirtual{1: fn.Arg("stride")}}
	p.feat, p.weight = fn.Arg("f"), fn.Arg("w")
	p.wv, p.rows = zeros(fn, vecs), [][]reg.VecVirtual{zeros(fn, vecs)}
	if masked {
		p.newTail()
	}
	out, inv := fn.Arg("out"), fn.BroadcastArg("inv")
	for v, r := range p.rows[0] {
		p.load(operand.Mem{Base: out, Disp: v * l.Bytes()}, r)
		fn.VMULPS(inv, r, r)
	}
	index, pose, n := fn.Arg("index"), fn.Arg("pose"), fn.Arg("n")
	fn.Label("pair")
	fx := rowAddress(fn, pairAt(index, 0), p.feat, p.strides[1])
	p.step(fx, 0, pairAt(pose, 0), 0, 1)
	fn.ADDQ(operand.U8(4), index)
	fn.ADDQ(operand.U8(4), pose)
	fn.DECQ(n)
	fn.JNE(operand.LabelRef("pair"))
	fn.End()
}
