package x86

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/equivcnp/equivcnp/asm/internal/neon"
)

// Lines is a loop over groups of lines of 64 bytes, in float32. Its arithmetic takes the numbers at one place of each
// line of a group to those at the same place of other lines, for all places; so lanes never mix. All lines lie at fixed
// distances, unlike the entries of a Batch.
type Lines struct {
	Body    func(*Block)    // Load(1, e) reads line e, and Store(e, v) writes one
	In, Out func(e int) int // where line e of a group stands
	// From a group to the next. The loop leaves its addresses behind the last group.
	NextIn, NextOut int
}

const lineBytes = 64

// Store writes v to line e of a group. The loop must not read what it has written.
func (b *Block) Store(e int, v Value) { b.op(opStore, uint64(e), v) }

// place is where a line stands, in bytes, of what is written (0) or read (1).
func (m *Lines) place(array, e int) int {
	return lineBytes * []func(int) int{m.Out, m.In}[array](e)
}

// Lines writes the loop over n > 0 groups. It uses all three registers up.
func (f *Func) Lines(m Lines, dst, src, n reg.GPVirtual) {
	b := NewBlock(f.Level, F32)
	m.Body(b)
	w := &batchWriter{fn: f, blocks: []*Block{b}, copies: 1, tile: 1, lines: &m, base: [3][]reg.GPVirtual{{dst}, {src}}}
	f.pinBatch(b, map[Level]int{AVX512: 4}[f.Level])
	p := b.plan(1, w.registers(f.Level)-len(f.hoisted))
	if p.slots > 0 {
		f.Attributes(attr.Attribute(0)) // too large a frame for NOSPLIT
		local := f.AllocLocal((p.slots + 1) * f.Level.Bytes())
		local.Disp += f.Level.Bytes() - 1
		w.frame = f.GP64()
		f.LEAQ(local, w.frame)
		f.ANDQ(operand.I8(-f.Level.Bytes()), w.frame)
	}
	loop, parts := f.NewLabel("group"), lineBytes/f.Level.Bytes()
	part := f.GP64()
	if parts > 1 {
		f.XORQ(part, part)
	}
	f.Label(loop)
	e := &batchEmitter{emitter: w.fn.emitter(b, nil, nil, 1), w: w}
	e.last = b.lastUses()
	e.steps(p.body)
	if parts > 1 {
		f.ADDQ(operand.I32(f.Level.Bytes()), dst)
		f.ADDQ(operand.I32(f.Level.Bytes()), src)
		f.XORQ(operand.I8(1), part)
		f.JNE(operand.LabelRef(loop))
		m.NextOut, m.NextIn = m.NextOut-1, m.NextIn-1
	}
	f.ADDQ(operand.I32(lineBytes*m.NextOut), dst)
	f.ADDQ(operand.I32(lineBytes*m.NextIn), src)
	f.DECQ(n)
	f.JNE(operand.LabelRef(loop))
	f.Unpin()
}

// AllocateVectors ends a function with loops over lines, whose registers are then assigned.
func (f *Func) AllocateVectors() {
	f.allocateVectors(map[Level]int{AVX2: 16, AVX512: 32}[f.Level])
}

// LinesNEON writes the loop for NEON. It uses all three registers up; slots is the number of slots of the stack that
// the function has so far, and the result that which it needs.
func LinesNEON(f *neon.Func, pool *neon.Pool, m Lines, dst, src, n neon.R, slots int) int {
	b := NewBlock(AVX2, F32)
	m.Body(b)
	w := &neonBatch{Func: f, elem: F32, lanes: neon.S4, pool: pool, blocks: []*Block{b}, copies: 1, lines: &m,
		base: [3][]neon.R{{dst}, {src}}}
	w.consts = f.Address(pool)
	before := f.Snapshot()
	w.pin()
	part, loop := f.R(), f.NewLabel("group")
	f.Text("MOVD ZR, %v", part)
	f.Counted(loop, lineBytes/16, "lines", func() {
		e := &neonBatchEmitter{neonEmitter: newNEONEmitter(f, b, pool, w.consts, w.pinned, 1), w: w}
		e.run(w.plans[0].body)
		f.Text("ADD $16, %v", dst)
		f.Text("ADD $16, %v", src)
		f.Text("ADD $1, %v", part)
		f.Text("TST $3, %v", part)
		f.Text("BNE %s", loop)
		f.Text("ADD $%d, %v", lineBytes*(m.NextOut-1), dst)
		f.Text("ADD $%d, %v", lineBytes*(m.NextIn-1), src)
		f.Text("SUBS $1, %v", n)
		f.Text("BNE %s", loop)
	})
	before()
	f.FreeR(w.consts)
	return max(slots, w.plans[0].slots)
}
