package x86

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Batch describes a function of n small matrices at once, in structure-of-arrays form: entry e of matrix i stands at
// a[e·stride+i]. Its arithmetic is a sequence of stages, each a block of its own; between them values pass through
// locals, slots on the stack. A stage that says While or Again is repeated as long as any lane asks for it. The last stage gives the
// entries of the result as its outputs and may say for which lanes it has none: Hard.
type Batch struct {
	Name, Doc string
	Elem      Elem
	Unroll    map[Level]int // vectors side by side; 0 means 1; only functions of one stage
	Pinned    map[Level]int // constants kept in registers
	Square    int           // for k > 0, the first input is a k×k matrix, of which a negative n takes the transpose
	Tile      map[Level]int // how many vectors a stage computes before the next stage; 0 means 1
	Stages    []func(*Block)
}

// Load returns entry e of input array (1 or 2). It is read from memory when it is first needed, and again if registers are
// short.
func (b *Block) Load(array, e int) Value { return b.op(opLoad, uint64(array)<<8|uint64(e)) }

// Local returns what an earlier stage, or this one the last time, put into slot k.
func (b *Block) Local(k int) Value {
	if v, ok := b.known[k]; ok {
		return v
	}
	return b.op(opLocal, uint64(k))
}

// SetLocal puts v into slot k at the end of the stage.
func (b *Block) SetLocal(k int, v Value) {
	b.locals = max(b.locals, k+1)
	b.sets = append(b.sets, setLocal{k, v})
}

// Hard marks lanes whose result the function leaves to its caller.
func (b *Block) Hard(m Mask) {
	if b.hard != (Mask{}) {
		m = b.OrMask(b.hard, m)
	}
	b.hard = m
}

// Stops reports whether any lane may be hard.
func (b *Block) Stops() bool { return b.hard != (Mask{}) }

// While repeats the stage, no time at all included, while the mask is set in any lane. The stage computes it first, and reads it later.
func (b *Block) While(m Mask) { b.while = m }

// Again repeats the stage while the mask is set in any lane, which is known at its end.
func (b *Block) Again(m Mask) { b.again = m }

// blocks records the stages. Unless stages are apart, one that follows another once is in the same block, and reads its values instead of
// slots.
func (m *Batch) blocks(l Level, apart bool) (blocks []*Block) {
	var last *Block // if it can take another stage
	for _, body := range m.Stages {
		probe := NewBlock(l, m.Elem)
		body(probe)
		repeats := probe.while != (Mask{}) || probe.again != (Mask{})
		b := last
		if b == nil || repeats || apart {
			b = NewBlock(l, m.Elem)
			blocks = append(blocks, b)
		}
		b.known = map[int]Value{}
		for _, s := range b.sets {
			b.known[s.slot] = s.v
		}
		body(b)
		last = b
		if repeats {
			last = nil
		}
	}
	for _, b := range blocks {
		b.dropSets(blocks)
	}
	for _, b := range blocks {
		b.simplify()
		b.keep()
	}
	return blocks
}

// dropSets leaves out what is put into a slot that no block reads, or that the same block puts something else into later.
func (b *Block) dropSets(blocks []*Block) {
	read := map[int]bool{}
	for _, other := range blocks {
		for _, o := range other.ops {
			if o.code == opLocal {
				read[int(o.imm)] = true
			}
		}
	}
	for i := len(b.sets) - 1; i >= 0; i-- {
		k := b.sets[i].slot
		if !read[k] || slices.ContainsFunc(b.sets[i+1:], func(s setLocal) bool { return s.slot == k }) {
			b.sets = slices.Delete(b.sets, i, i+1)
		}
	}
}

// keep moves the stores into slots that the stage does not read to where their values are made. What is in a slot need not be
// spilled when registers are short.
func (b *Block) keep() {
	read, slots := map[int]bool{}, map[int][]int{}
	for _, o := range b.ops {
		if o.code == opLocal {
			read[int(o.imm)] = true
		}
	}
	b.sets = slices.DeleteFunc(b.sets, func(s setLocal) bool {
		early := s.v.c == nil && !read[s.slot]
		if early {
			slots[s.v.id] = append(slots[s.v.id], s.slot)
		}
		return early
	})
	ops := b.ops
	b.ops = nil
	for _, o := range ops {
		b.ops = append(b.ops, o)
		for _, slot := range slots[o.dst] {
			b.op(opKeep, uint64(slot), Value{id: o.dst})
		}
	}
}

// FlagLocal puts all ones into slot k where the mask is set, zeros elsewhere; FlagMask reads it back.
func (b *Block) FlagLocal(k int, m Mask) {
	b.SetLocal(k, b.Select(m, b.Bits("allOnes"+b.Elem.String(), b.ones()), b.Bits("noneSet"+b.Elem.String(), 0)))
}

// FlagMask is the mask that FlagLocal put into slot k.
func (b *Block) FlagMask(k int) Mask {
	return b.CmpI(GT, b.Bits("noneSet"+b.Elem.String(), 0), b.Local(k))
}

func (b *Block) ones() uint64 { return ^uint64(0) >> (64 - 8*b.Elem.Bytes()) }

type setLocal struct {
	slot int
	v    Value
}

const batchSignature = "func(dst, a, b *%s, n, stride int) (at, next int, hard uint64)"

// Batch writes the function at a level. The function computes n > 0 matrices in whole rounds of vectors: if n is not a
// multiple of a round, the arrays must be long enough for the last whole round. If every lane has a result, it returns
// at = next ≥ n. Otherwise it stops after the first round with hard lanes, which are matrices at to next-1, and leaves
// the matrices whose bits are set in hard as they were.
func (f *File) Batch(l Level, m Batch) {
	fn := f.Func(l, m.Elem, m.Name, fmt.Sprintf(batchSignature, m.Elem.GoType()), m.Doc)
	w := &batchWriter{fn: fn, copies: max(1, m.Unroll[l]), square: m.Square, tile: max(1, m.Tile[l])}
	slots := 0
	w.blocks = m.blocks(l, w.tile > 1)
	for _, b := range w.blocks {
		fn.pinBatch(b, m.Pinned[l])
		slots = max(slots, b.locals)
		w.entries.count(b)
	}
	check(w.copies == 1 || len(w.blocks) == 1, "only single stages unroll")
	check(w.tile == 1 || len(w.blocks) > 1, "a single stage has no tiles")
	w.locals = slots
	slots *= w.tile
	for _, b := range w.blocks {
		p := b.plan(w.copies, w.registers(l)-len(fn.hoisted))
		w.plans = append(w.plans, p)
		slots = max(slots, w.locals*w.tile+p.slots*w.copies)
	}
	w.write(slots)
	fn.allocateVectors(map[Level]int{AVX2: 16, AVX512: 32}[l])
}

// registers is how many vectors a plan may hold: all but those that single instructions need beside their operands.
func (w *batchWriter) registers(l Level) int { return map[Level]int{AVX2: 13, AVX512: 30}[l] }

func (f *Func) pinBatch(b *Block, n int) {
	needed, order := f.constants(b)
	all := append(needed, order...)
	load := &emitter{fn: f, b: b}
	for _, c := range all {
		if len(f.hoisted) >= n {
			return
		}
		if f.hoisted[c.name] == nil {
			f.hoisted[c.name] = load.load(c)
		}
	}
}

// entries computes the addresses of the entries of a function's arrays. Entry e lies e strides behind the first one. A register holds
// each odd multiple of the stride up to the last entry; the scale of an address multiplies it by a power of two. With manyEntries there
// are too few registers: then every ninth entry has a register with its address, and four multiples reach the eight entries behind it.
type entries struct {
	arrays int
	last   [3]int // the last entry of each array that is used
}

const (
	manyEntries = 17
	entryRow    = 9
)

// count notes what a block uses.
func (n *entries) count(b *Block) {
	n.last[0] = max(n.last[0], len(b.outputs)-1)
	for _, o := range b.ops {
		if o.code == opLoad {
			array := int(o.imm >> 8)
			n.arrays, n.last[array] = max(n.arrays, array), max(n.last[array], int(o.imm&0xff))
		}
	}
}

func (n *entries) max() int { return max(n.last[0], n.last[1], n.last[2]) }

func (n *entries) many() bool { return n.max()+1 >= manyEntries }

// rows is how many addresses an array has.
func (n *entries) rows(array int) int {
	if n.many() {
		return n.last[array]/entryRow + 1
	}
	return 1
}

// maxStep is the largest multiple of the stride that has a register; 0 if no multiple is used.
func (n *entries) maxStep() int {
	if n.many() {
		return entryRow - 2
	}
	return n.max()
}

// place returns where entry e lies: odd·2^double strides behind the address of a row.
func (n *entries) place(e int) (row, odd, double int) {
	if n.many() {
		row, e = e/entryRow, e%entryRow
	}
	for e > 0 && e%2 == 0 {
		e, double = e/2, double+1
	}
	return row, e, double
}

type batchWriter struct {
	fn     *Func
	blocks []*Block
	plans  []plan
	copies int
	locals int
	entries
	base    [3][]reg.GPVirtual   // where the arrays' current vectors start, and those of every ninth entry where there are manyEntries
	step    map[int]reg.Register // odd multiples of the stride, in bytes
	frame   reg.GPVirtual
	left    reg.GPVirtual
	all     operand.Op    // n, which tiles have no register for
	tile    int           // as in Batch
	vector  reg.GPVirtual // the locals of the current vector of a tile
	vectors operand.Mem   // how many of these a tile has
	square  int           // as in Batch
	column  reg.GPVirtual // from one column of the square matrix to the next
	lines   *Lines        // a loop over lines instead of a batch
}

func (w *batchWriter) write(slots int) {
	for i := 0; i <= w.arrays; i++ {
		w.base[i] = []reg.GPVirtual{w.fn.Arg([]string{"dst", "a", "b"}[i])}
	}
	w.left = w.fn.Arg("n")
	w.step = map[int]reg.Register{}
	if w.max() > 0 {
		s := w.fn.Arg("stride")
		w.fn.SHLQ(operand.U8(map[Elem]int{F32: 2, F64: 3}[w.fn.Elem]), s)
		w.step[1] = s
		var last reg.Register = s
		for k := 3; k <= w.maxStep(); k += 2 {
			r := w.fn.GP64()
			w.fn.LEAQ(operand.Mem{Base: last, Index: s, Scale: 2}, r)
			w.step[k], last = r, r
		}
		for i := range w.base {
			for k := 1; k < w.rows(i); k++ {
				r := w.fn.GP64()
				w.fn.LEAQ(operand.Mem{Base: w.base[i][k-1], Index: s, Scale: 8}, r)
				w.fn.ADDQ(s, r)
				w.base[i] = append(w.base[i], r)
			}
		}
	}
	if w.square > 0 {
		w.squareRows()
	}
	if slots > 0 {
		w.fn.Attributes(attr.Attribute(0)) // too large a frame for NOSPLIT
		local := w.fn.AllocLocal(slots*w.fn.Level.Bytes() + w.fn.Level.Bytes())
		local.Disp += w.fn.Level.Bytes() - 1
		w.frame = w.fn.GP64()
		w.fn.LEAQ(local, w.frame)
		w.fn.ANDQ(operand.I8(-w.fn.Level.Bytes()), w.frame)
	}
	if w.tile > 1 {
		w.vector, w.vectors, w.all = w.fn.GP64(), w.fn.AllocLocal(8), w.fn.AllocLocal(8)
		w.fn.MOVQ(w.left, w.all)
	} else {
		n := w.fn.GP64()
		w.fn.MOVQ(w.left, n)
		w.all = n
	}
	loop := w.fn.NewLabel("loop")
	w.fn.Label(loop)
	if w.tile > 1 {
		w.tileOfVectors()
		w.fn.TESTQ(w.left, w.left)
	} else {
		w.fetch()
		w.round()
	}
	w.fn.JG(operand.LabelRef(loop))
	n := w.total()
	w.fn.SUBQ(w.left, n) // n rounded up: what is left is at most 0
	zero := w.fn.GP64()
	w.fn.XORQ(zero, zero)
	w.fn.Store(n, w.fn.Return("at"))
	w.fn.Store(n, w.fn.Return("next"))
	w.fn.Store(zero, w.fn.Return("hard"))
	w.fn.End()
}

// total returns a register with n, which may be overwritten.
func (w *batchWriter) total() reg.GPVirtual {
	if n, ok := w.all.(reg.GPVirtual); ok {
		return n
	}
	r := w.fn.GP64()
	w.fn.MOVQ(w.all, r)
	return r
}

// squareRows makes base[1] the rows of the square matrix, or the columns where n is negative.
func (w *batchWriter) squareRows() {
	row, plain := w.fn.GP64(), w.fn.NewLabel("plain")
	w.column = w.fn.GP64()
	w.fn.MOVQ(w.step[1], w.column)
	w.fn.MOVQ(w.step[1], row)
	w.fn.IMUL3Q(operand.U8(w.square), row, row)
	w.fn.TESTQ(w.left, w.left)
	w.fn.JGE(operand.LabelRef(plain))
	w.fn.NEGQ(w.left)
	w.fn.XCHGQ(row, w.column)
	w.fn.Label(plain)
	for k := 1; k < w.square; k++ {
		r := w.fn.GP64()
		w.fn.LEAQ(operand.Mem{Base: w.base[1][k-1], Index: row, Scale: 1}, r)
		w.base[1] = append(w.base[1], r)
	}
}

// Results with at least fetchedStreams entries have their cache lines fetched fetchAhead rounds before they are stored.
// Each entry of a result is a stream of its own, and a store waits for its line if that is not in the first-level
// cache. exp of SO(3), with nine entries, takes 0.92 of the time for 4096 matrices and 0.87 for a million; functions
// with one or two entries gain nothing.
const (
	fetchedStreams = 4
	fetchAhead     = 2
)

// fetch prefetches the lines that a later round stores to. Near the end these lie beyond the arrays, which is harmless for a prefetch.
func (w *batchWriter) fetch() {
	entries := len(w.blocks[len(w.blocks)-1].outputs)
	if entries < fetchedStreams {
		return
	}
	for e := range entries {
		for u := range w.copies {
			m := w.address(0, e, u)
			m.Disp += fetchAhead * w.copies * w.fn.Level.Bytes()
			w.fn.PREFETCHT0(m)
		}
	}
}

// address returns where the vector u of entry e of an array stands.
func (w *batchWriter) address(array, e, u int) operand.Mem {
	if w.lines != nil {
		return operand.Mem{Base: w.base[array][0], Disp: w.lines.place(array, e) + u*w.fn.Level.Bytes()}
	}
	if k := w.square; k > 0 && array == 1 {
		m := operand.Mem{Base: w.base[1][e/k], Disp: u * w.fn.Level.Bytes()}
		if e%k > 0 {
			m.Index, m.Scale = w.column, uint8(e%k)
		}
		return m
	}
	row, odd, double := w.place(e)
	m := operand.Mem{Base: w.base[array][row], Disp: u * w.fn.Level.Bytes()}
	if odd > 0 {
		m.Index, m.Scale = w.step[odd], uint8(1<<double)
	}
	return m
}

// slot is where a spilled value stands, behind the locals of all vectors of a tile.
func (w *batchWriter) slot(k int) operand.Mem {
	return operand.Mem{Base: w.frame, Disp: (w.locals*w.tile + k) * w.fn.Level.Bytes()}
}

// local is where a local of the current vector stands.
func (w *batchWriter) local(k int) operand.Mem {
	m := operand.Mem{Base: w.frame, Disp: k * w.fn.Level.Bytes()}
	if w.tile > 1 {
		m.Base = w.vector
	}
	return m
}

// round computes some vectors.
func (w *batchWriter) round() {
	for i := range w.blocks {
		w.stage(i)
	}
	w.advance()
	w.fn.SUBQ(operand.I32(w.copies*w.fn.Lanes()), w.left)
}

// advance goes to the next round of all arrays.
func (w *batchWriter) advance() {
	for i := 0; i <= w.arrays; i++ {
		for _, row := range w.base[i] {
			w.fn.ADDQ(operand.I32(w.copies*w.fn.Level.Bytes()), row)
		}
	}
}

// tileOfVectors computes some vectors, or those that are left, stage by stage. The stages of one vector wait for each other, but a
// stage is short enough for the machine to begin the next vector's before it is done with one.
func (w *batchWriter) tileOfVectors() {
	k := w.fn.GP64()
	w.fn.LEAQ(operand.Mem{Base: w.left, Disp: w.fn.Lanes() - 1}, w.vector)
	w.fn.SHRQ(operand.U8(bits.TrailingZeros(uint(w.fn.Lanes()))), w.vector)
	w.fn.MOVQ(operand.I32(w.tile), k)
	w.fn.CMPQ(w.vector, k)
	w.fn.CMOVQLT(w.vector, k)
	w.fn.MOVQ(k, w.vectors)
	for i := range w.blocks {
		last, loop := i == len(w.blocks)-1, w.fn.NewLabel("vectors")
		w.fn.MOVQ(w.frame, w.vector)
		w.fn.MOVQ(w.vectors, k)
		w.fn.Label(loop)
		w.stage(i)
		if last {
			w.fn.SUBQ(operand.I32(w.fn.Lanes()), w.left)
		}
		w.advance()
		w.fn.ADDQ(operand.I32(w.locals*w.fn.Level.Bytes()), w.vector)
		w.fn.DECQ(k)
		w.fn.JNE(operand.LabelRef(loop))
		if last {
			continue
		}
		w.fn.MOVQ(w.vectors, k)
		w.fn.SHLQ(operand.U8(bits.TrailingZeros(uint(w.fn.Level.Bytes()))), k)
		for a := 0; a <= w.arrays; a++ {
			for _, row := range w.base[a] {
				w.fn.SUBQ(k, row)
			}
		}
	}
}

// stage writes stage i, of one round.
func (w *batchWriter) stage(i int) {
	b, start, done := w.blocks[i], w.fn.NewLabel("stage"), ""
	if b.while != (Mask{}) {
		done = w.fn.NewLabel("done")
	}
	if b.while != (Mask{}) || b.again != (Mask{}) {
		w.fn.Label(start)
	}
	e := &batchEmitter{emitter: w.fn.emitter(b, nil, nil, w.copies), w: w, done: done}
	e.last = b.lastUses()
	p := w.plans[i]
	e.steps(p.body)
	switch {
	case b.while != (Mask{}):
		e.steps(p.end)
		w.fn.JMP(operand.LabelRef(start))
		w.fn.Label(done)
	case b.again != (Mask{}):
		again := e.bits(e.mask[b.again.id][0])
		e.steps(p.end)
		w.fn.TESTL(again, again)
		w.fn.JNE(operand.LabelRef(start))
	case b.hard == (Mask{}):
		e.steps(p.end)
	default:
		e.finish(p.end)
	}
}

// lastUses lists the last operation that reads each value.
func (b *Block) lastUses() map[int]int {
	last := map[int]int{}
	for i, o := range b.ops {
		for _, id := range o.reads(AVX2) {
			last[id] = i
		}
	}
	for _, id := range b.endReads() {
		last[id] = len(b.ops)
	}
	return last
}

// endReads lists the values that are read when all operations are done.
func (b *Block) endReads() (ids []int) {
	for _, v := range b.outputs {
		if v.c == nil {
			ids = append(ids, v.id)
		}
	}
	for _, s := range b.sets {
		if s.v.c == nil {
			ids = append(ids, s.v.id)
		}
	}
	for _, m := range []Mask{b.hard, b.again} {
		if m != (Mask{}) {
			ids = append(ids, m.id)
		}
	}
	return ids
}

// batchEmitter writes out a planned block.
type batchEmitter struct {
	*emitter
	w    *batchWriter
	hard []reg.Register // masks of lanes not to store, in finish
	done string         // behind the stage
	held struct {       // the constant that was stored last
		c *constant
		r reg.VecVirtual
	}
}

func (e *batchEmitter) steps(steps []step) {
	e.held.c = nil // not every way leads through the steps before
	for _, s := range steps {
		switch s.kind {
		case doOp:
			o := e.b.ops[s.at]
			e.at = s.at
			for u := range e.copies {
				e.u = u
				switch {
				case o.code == opStore:
					e.store(e.result(o.args[0]), int(o.imm), u)
				case o.code == opKeep:
					e.w.fn.VMOVUPS(e.reg(o.args[0]), e.w.local(int(o.imm)))
				case o.mask:
					e.mask[o.dst] = append(e.mask[o.dst], e.cmp(o))
				default:
					e.vec[o.dst] = append(e.vec[o.dst], e.op(o))
				}
			}
			if e.b.while.id == o.dst {
				more := e.bits(e.mask[o.dst][0])
				e.w.fn.TESTL(more, more)
				e.w.fn.JE(operand.LabelRef(e.done))
			}
		case spill:
			for u := range e.copies {
				e.w.fn.VMOVUPS(e.where(s.id)[u], e.w.slot(s.slot*e.copies+u))
			}
		case fill:
			e.fill(s)
		case output:
			v := e.b.outputs[s.at]
			for u := range e.copies {
				e.u = u
				e.store(e.result(v), s.at, u)
			}
		case local:
			e.u = 0
			set := e.b.sets[s.at]
			e.w.fn.VMOVUPS(e.reg(set.v), e.w.local(set.slot))
		}
	}
}

// result is reg, but a constant that several entries in a row have is loaded once.
func (e *batchEmitter) result(v Value) reg.VecVirtual {
	if v.c == nil {
		return e.reg(v)
	}
	if e.held.c == nil || e.held.c.name != v.c.name {
		e.held.c, e.held.r = v.c, e.reg(v)
	}
	return e.held.r
}

// where returns the registers of a value or, on AVX2, mask.
func (e *batchEmitter) where(id int) (r []reg.VecVirtual) {
	if v := e.vec[id]; v != nil {
		return v
	}
	for _, m := range e.mask[id] {
		r = append(r, m.(reg.VecVirtual))
	}
	return r
}

func (e *batchEmitter) fill(s step) {
	var regs []reg.VecVirtual
	for u := range e.copies {
		r := e.fn.Vec()
		switch {
		case s.load == nil:
			e.w.fn.VMOVUPS(e.w.slot(s.slot*e.copies+u), r)
		case s.load.code == opLocal:
			e.w.fn.VMOVUPS(e.w.local(int(s.load.imm)), r)
		default:
			e.w.fn.VMOVUPS(e.w.address(int(s.load.imm>>8), int(s.load.imm&0xff), u), r)
		}
		regs = append(regs, r)
	}
	if s.mask {
		e.mask[s.id] = nil
		for _, r := range regs {
			e.mask[s.id] = append(e.mask[s.id], r)
		}
		return
	}
	e.vec[s.id] = regs
}

// store writes entry at of the result.
func (e *batchEmitter) store(r reg.VecVirtual, at, u int) {
	m, floats := e.w.address(0, at, u), e.fn.Elem.floats()
	switch {
	case e.hard != nil && e.fn.Level == AVX512:
		e.fn.Inst("VMOVU"+floats, r, e.hard[u], m)
	case e.hard != nil:
		e.fn.Inst("VMASKMOV"+floats, r, e.hard[u], m)
	default:
		e.w.fn.VMOVUPS(r, m)
	}
}

// bits moves a mask to a general register.
func (e *batchEmitter) bits(m reg.Register) reg.GPVirtual {
	r := e.fn.GP32()
	if e.fn.Level == AVX512 {
		e.fn.KMOVW(m, r)
	} else {
		e.fn.Inst("VMOVMSK"+e.fn.Elem.floats(), m, r)
	}
	return r
}

// finish stores the results. If a lane is hard, it stores those of the other lanes and returns from the function.
func (e *batchEmitter) finish(end []step) {
	w := e.w
	var any reg.GPVirtual
	hard := e.mask[e.b.hard.id]
	for u := range e.copies {
		r := e.bits(hard[u])
		if u == 0 {
			any = w.fn.GP64()
			w.fn.MOVL(r, any.As32())
			continue
		}
		w.fn.SHLQ(operand.U8(u*e.fn.Lanes()), r.As64())
		w.fn.ORQ(r.As64(), any)
	}
	easy := w.fn.NewLabel("easy")
	w.fn.TESTQ(any, any)
	w.fn.JE(operand.LabelRef(easy))
	vec, mask := clone(e.vec), clone(e.mask)
	for u := range e.copies {
		if e.fn.Level == AVX512 {
			k := w.fn.K()
			w.fn.KNOTW(hard[u], k)
			e.hard = append(e.hard, k)
			continue
		}
		// What VMASKMOV reads is the sign: of ones without the hard lanes.
		r := w.fn.Vec()
		w.fn.VPCMPEQD(r, r, r)
		w.fn.Inst("VXOR"+e.fn.Elem.floats(), hard[u], r, r)
		e.hard = append(e.hard, r)
	}
	e.steps(end)
	e.hard = nil
	at, next := w.fn.GP64(), w.fn.GP64()
	w.fn.MOVQ(w.all, at)
	w.fn.SUBQ(w.left, at)
	w.fn.LEAQ(operand.Mem{Base: at, Disp: e.copies * e.fn.Lanes()}, next)
	w.fn.Store(at, w.fn.Return("at"))
	w.fn.Store(next, w.fn.Return("next"))
	w.fn.Store(any, w.fn.Return("hard"))
	w.fn.End()
	w.fn.Label(easy)
	e.vec, e.mask = vec, mask
	e.steps(end)
}

func clone[V any](m map[int][]V) map[int][]V {
	c := map[int][]V{}
	for k, v := range m {
		c[k] = append([]V(nil), v...)
	}
	return c
}
