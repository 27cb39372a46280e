package x86

import (
	"fmt"
	"slices"

	"github.com/equivcnp/equivcnp/asm/internal/neon"
)

// neonBatch writes a Batch for NEON. It is the counterpart of batchWriter; File.Batch documents arguments and results.
type neonBatch struct {
	*neon.Func
	elem   Elem
	lanes  neon.Lanes
	pool   *neon.Pool
	pinned map[string]neon.V
	blocks []*Block
	plans  []plan
	copies int
	locals int
	entries
	base             [3][]neon.R    // as in batchWriter
	step             map[int]neon.R // odd multiples of the stride, in bytes
	consts, left, at neon.R
	square           int      // as in Batch
	column           neon.R   // from one column of the square matrix to the next
	lines            *Lines   // a loop over lines instead of a batch
	later            []func() // what is written after the loops: the way of rounds with hard lanes
}

// neonRegisters is how many vectors a plan may hold, of 32: single instructions need some beside their operands.
const neonRegisters = 28

// BatchNEON writes the function with the unrolling that is meant for AVX-512, which has as many registers.
func BatchNEON(f *neon.File, pool *neon.Pool, m Batch) {
	name := m.Name + "NEON"
	fn := f.Func(name, fmt.Sprintf(batchSignature, m.Elem.GoType())[len("func"):], name+" "+m.Doc)
	w := &neonBatch{Func: fn, elem: m.Elem, lanes: lanesOf(m.Elem), pool: pool, copies: max(1, m.Unroll[AVX512]),
		square: m.Square, step: map[int]neon.R{}}
	w.blocks = m.blocks(AVX2, false)
	for _, b := range w.blocks {
		w.locals = max(w.locals, b.locals)
		w.entries.count(b)
	}
	check(w.copies == 1 || len(w.blocks) == 1, "only single stages unroll")
	for i := 0; i <= w.arrays; i++ {
		w.base[i] = []neon.R{w.Arg([]string{"dst", "a", "b"}[i])}
	}
	w.left, w.at = w.Arg("n"), w.R()
	w.consts = w.Address(pool)
	w.steps()
	w.pin()
	slots := w.locals
	for _, p := range w.plans {
		slots = max(slots, w.locals+p.slots*w.copies)
	}
	if slots > 0 {
		w.Slots(slots)
	}
	w.write()
}

// pin makes the plans and keeps as many constants in registers as possible: one more would force values to be loaded or saved
// once more.
func (w *neonBatch) pin() {
	constants := neonConstants(w.blocks...)
	least, _ := w.plan(0)
	for n := min(len(constants), mostPinned); ; n-- {
		moves, plans := w.plan(n)
		if moves == least || n == 0 {
			w.plans, w.pinned = plans, loadNEON(w.Func, w.pool, w.consts, constants[:n])
			return
		}
	}
}

// mostPinned limits the constants loaded before the loop, because small batches pay for these loads too.
const mostPinned = 12

// plan plans all blocks with that many constants pinned, and counts the loads and stores of values.
func (w *neonBatch) plan(pinned int) (moves int, plans []plan) {
	for _, b := range w.blocks {
		p := b.plan(w.copies, neonRegisters-pinned)
		for _, s := range append(slices.Clone(p.body), p.end...) {
			if s.kind == fill || s.kind == spill {
				moves++
			}
		}
		plans = append(plans, p)
	}
	return moves, plans
}

// steps makes the odd multiples of the stride and the addresses of further rows.
func (w *neonBatch) steps() {
	if w.max() == 0 {
		return
	}
	s := w.Arg("stride")
	w.Text("LSL $%d, %v", map[Elem]int{F32: 2, F64: 3}[w.elem], s)
	w.step[1] = s
	for k := 3; k <= w.maxStep(); k += 2 {
		w.step[k] = w.R()
		w.Text("ADD %v<<1, %v, %v", s, w.step[k-2], w.step[k])
	}
	if w.square > 0 {
		w.squareRows()
	}
	for i := range w.base {
		for k := 1; k < w.rows(i); k++ {
			r := w.R()
			w.Text("ADD %v<<3, %v, %v", s, w.base[i][k-1], r)
			w.Text("ADD %v, %v", s, r)
			w.base[i] = append(w.base[i], r)
		}
	}
}

// squareRows makes base[1] the rows of the square matrix, or the columns where n is negative.
func (w *neonBatch) squareRows() {
	row, plain := w.R(), w.NewLabel("plain")
	w.column = w.R()
	w.Text("MOVD %v, %v", w.step[1], w.column)
	w.Text("ADD %v<<%d, %v, %v", w.step[1], w.square/2, map[int]any{2: neon.Zero, 3: w.step[1]}[w.square], row)
	w.Text("TBZ $63, %v, %s", w.left, plain)
	w.Text("NEG %v, %v", w.left, w.left)
	w.Text("MOVD %v, %v", row, w.column)
	w.Text("MOVD %v, %v", w.step[1], row)
	w.Label(plain)
	for k := 1; k < w.square; k++ {
		r := w.R()
		w.Text("ADD %v, %v, %v", row, w.base[1][k-1], r)
		w.base[1] = append(w.base[1], r)
	}
	w.FreeR(row)
}

// count puts n, without the sign of a transposed matrix, into a register.
func (w *neonBatch) count(r neon.R) {
	w.LoadArg(r, "n")
	if w.square > 0 {
		w.Text("CMP $0, %v", r)
		w.Text("CNEG LT, %v, %v", r, r)
	}
}

func (w *neonBatch) write() {
	matrices, loop := w.copies*w.lanes.Count(), w.NewLabel("loop")
	w.Counted(loop, matrices, "matrices", func() {
		w.round()
		for i := 0; i <= w.arrays; i++ {
			for _, row := range w.base[i] {
				w.Text("ADD $%d, %v", 16*w.copies, row)
			}
		}
		w.Text("SUBS $%d, %v", matrices, w.left)
		w.Text("BGT %s", loop)
	})
	w.AddDoc("It takes %.3g instructions each.", w.PerUnit())
	w.count(w.at)
	w.Text("SUB %v, %v, %v", w.left, w.at, w.at) // n rounded up: what is left is at most 0
	w.Text("MOVD %v, at+40(FP)", w.at)
	w.Text("MOVD %v, next+48(FP)", w.at)
	w.ReturnR("hard", neon.Zero)
	for _, write := range w.later {
		write()
	}
}

// round computes some vectors.
func (w *neonBatch) round() {
	for i, b := range w.blocks {
		start, done := w.NewLabel("stage"), ""
		if b.while != (Mask{}) {
			done = w.NewLabel("done")
		}
		if b.while != (Mask{}) || b.again != (Mask{}) {
			w.Label(start)
		}
		e := &neonBatchEmitter{neonEmitter: newNEONEmitter(w.Func, b, w.pool, w.consts, w.pinned, w.copies), w: w, done: done}
		p := w.plans[i]
		e.run(p.body)
		e.ends = e.endUses()
		switch {
		case b.while != (Mask{}):
			e.run(p.end)
			w.Text("B %s", start)
			w.Label(done)
		case b.again != (Mask{}):
			again := e.any(b.again)
			e.run(p.end)
			w.Text("CBNZ %v, %s", again, start)
			w.FreeR(again)
		case b.hard != (Mask{}):
			e.finish(p.end)
		default:
			e.run(p.end)
		}
	}
}

// neonBatchEmitter writes out a planned block.
type neonBatchEmitter struct {
	*neonEmitter
	w    *neonBatch
	done string      // behind the stage
	hard neon.Vec    // masks of lanes not to store, in finish
	ends map[int]int // reads at the end that are still to come
}

// endUses counts how often outputs and locals read each value.
func (e *neonBatchEmitter) endUses() map[int]int {
	uses := map[int]int{}
	for _, v := range e.b.outputs {
		uses[v.id]++
	}
	for _, s := range e.b.sets {
		uses[s.v.id]++
	}
	return uses
}

func (e *neonBatchEmitter) run(steps []step) {
	for _, s := range steps {
		switch s.kind {
		case doOp:
			o := e.b.ops[s.at]
			if o.stores() {
				e.storeNow(s.at, o)
			} else {
				e.op(s.at)
			}
			if e.b.while.id == o.dst {
				more := e.any(e.b.while)
				e.w.Text("CBZ %v, %s", more, e.done)
				e.w.FreeR(more)
			}
		case spill, drop:
			for u, v := range e.vec[s.id] {
				if s.kind == spill {
					e.StoreSlot(v, e.w.locals+s.slot*e.copies+u)
				}
			}
			e.Free(e.vec[s.id])
			delete(e.vec, s.id)
		case fill:
			e.fill(s)
		case output:
			e.atEnd(e.b.outputs[s.at], func(r neon.Vec) { e.store(r, s.at) })
		case local:
			set := e.b.sets[s.at]
			e.atEnd(set.v, func(r neon.Vec) { e.StoreSlot(r[0], set.slot) })
		}
	}
}

// atEnd hands the registers of a value to do, and takes them back if nothing reads it any more.
func (e *neonBatchEmitter) atEnd(v Value, do func(r neon.Vec)) {
	if v.c != nil {
		r := e.load(v, 0)
		do(slices.Repeat(r, e.copies))
		e.Free(r)
		return
	}
	do(e.vec[v.id])
	e.ends[v.id]--
	if e.ends[v.id] == 0 {
		e.Free(e.vec[v.id])
		delete(e.vec, v.id)
	}
}

func (e *neonBatchEmitter) fill(s step) {
	r := e.V(e.copies)
	e.vec[s.id] = r
	switch {
	case s.load == nil:
		for u, v := range r {
			e.LoadSlot(v, e.w.locals+s.slot*e.copies+u)
		}
	case s.load.code == opLocal:
		e.LoadSlot(r[0], int(s.load.imm))
	default:
		e.move(int(s.load.imm>>8), int(s.load.imm&0xff), r, false)
	}
}

// move loads or stores the vectors of an entry of an array.
func (e *neonBatchEmitter) move(array, entry int, r neon.Vec, store bool) {
	w := e.w
	if w.lines != nil {
		at := fmt.Sprintf("%d(%v)", w.lines.place(array, entry), w.base[array][0])
		if store {
			w.Text("FMOVQ F%d, %s", r[0], at)
		} else {
			w.Text("FMOVQ %s, F%d", at, r[0])
		}
		return
	}
	row, odd, shift := w.place(entry)
	step := w.step[odd]
	if k := w.square; k > 0 && array == 1 {
		row, odd, shift, step = entry/k, entry%k, entry%k/2, w.column
	}
	base := w.base[array][row]
	p, moved := base, odd > 0
	if moved {
		p = w.R()
		if shift == 0 {
			w.Text("ADD %v, %v, %v", step, base, p)
		} else {
			w.Text("ADD %v<<%d, %v, %v", step, shift, base, p)
		}
	}
	switch {
	case len(r) == 2 && store:
		w.Text("FSTPQ (F%d, F%d), (%v)", r[0], r[1], p)
	case len(r) == 2:
		w.Text("FLDPQ (%v), (F%d, F%d)", p, r[0], r[1])
	case store:
		w.Text("FMOVQ F%d, (%v)", r[0], p)
	default:
		w.Text("FMOVQ (%v), F%d", p, r[0])
	}
	if moved {
		w.FreeR(p)
	}
}

// storeNow writes a value where a block says so.
func (e *neonBatchEmitter) storeNow(at int, o op) {
	id := o.args[0].id
	if o.code == opKeep {
		e.StoreSlot(e.vec[id][0], int(o.imm))
	} else {
		e.move(0, int(o.imm), e.vec[id], true)
	}
	if e.last[id] == at {
		e.Free(e.vec[id])
		delete(e.vec, id)
	}
}

// store writes an entry of the result. In hard lanes it writes back what was there.
func (e *neonBatchEmitter) store(r neon.Vec, entry int) {
	if e.hard == nil {
		e.move(0, entry, r, true)
		return
	}
	old := e.V(e.copies)
	e.move(0, entry, old, false)
	e.InsertNot(old, r, e.hard)
	e.move(0, entry, old, true)
	e.Free(old)
}

// any puts a number other than 0 into a new general register if the mask is set in any lane. A mask that nothing else reads gives
// its registers back.
func (e *neonBatchEmitter) any(m Mask) neon.R {
	r, t := e.w.R(), e.V(1)
	v := e.vec[m.id]
	all := v
	if len(v) == 2 {
		e.Or(t, v[:1], v[1:])
		all = t
	}
	e.AnySet(r, all, t)
	e.Free(t)
	if m == e.b.again {
		e.Free(v)
		delete(e.vec, m.id)
	}
	return r
}

// finish stores the results. If a lane is hard, it stores those of the other lanes and returns from the function.
func (e *neonBatchEmitter) finish(end []step) {
	w := e.w
	found, rare := e.any(e.b.hard), w.NewLabel("hard")
	w.Text("CBNZ %v, %s", found, rare)
	w.FreeR(found)
	hard := e.vec[e.b.hard.id]
	r := *e
	r.neonEmitter = &neonEmitter{}
	*r.neonEmitter = *e.neonEmitter
	r.vec, r.ends, r.hard = map[int]neon.Vec{}, e.endUses(), hard
	for id, v := range e.vec {
		r.vec[id] = slices.Clone(v)
	}
	here := w.Snapshot()
	w.later = append(w.later, func() {
		after := w.Snapshot()
		here()
		w.Label(rare)
		r.leave(end)
		after()
	})
	e.Free(hard)
	delete(e.vec, e.b.hard.id)
	e.run(end)
}

// leave stores what is not hard and returns.
func (e *neonBatchEmitter) leave(end []step) {
	w, lanes := e.w, e.w.lanes
	weights := func() int {
		if lanes == neon.S4 {
			return w.pool.Add("laneWeights", 1|2<<32, 4|8<<32)
		}
		return w.pool.Add("laneWeightsF64", 1, 2)
	}()
	e.run(end)
	// A bit for each lane.
	bits, next, t := w.R(), w.R(), e.V(2)
	w.Text("MOVD ZR, %v", bits)
	for u := range e.copies {
		e.LoadAt(t[0], w.consts, weights)
		e.And(t[:1], t[:1], e.hard[u:u+1])
		e.SumInt(next, lanes, t[1:], t[:1])
		w.Text("ORR %v<<%d, %v, %v", next, u*lanes.Count(), bits, bits)
	}
	w.count(w.at)
	w.Text("SUB %v, %v, %v", w.left, w.at, w.at)
	w.Text("ADD $%d, %v, %v", e.copies*lanes.Count(), w.at, next)
	w.Text("MOVD %v, at+40(FP)", w.at)
	w.Text("MOVD %v, next+48(FP)", next)
	w.ReturnR("hard", bits)
}
