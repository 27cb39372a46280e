package x86

import (
	"fmt"
	"slices"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Tail reads and writes vectors of which only the first lanes are in the slice: with an opmask on AVX-512, with masked moves
// on AVX2. Neither touches the memory of the other lanes.
type Tail struct {
	f      *Func
	mask   reg.Register
	single bool         // float32 in memory, float64 in registers
	Shift  reg.Register // of the last of several vectors on AVX2, in elements; see NewBlockTail
}

// NewTail builds the mask for n elements, 0 ≤ n < Lanes.
func (f *Func) NewTail(n reg.GPVirtual) Tail {
	if f.Level == AVX512 {
		// BZHI keeps the lowest n bits of all ones.
		ones, k := f.GP64(), f.K()
		f.MOVQ(operand.I32(-1), ones)
		f.BZHIQ(n, ones, ones)
		f.KMOVW(ones.As32(), k)
		return Tail{f: f, mask: k}
	}
	// The mask is read from a table of ones followed by zeros, starting n elements before the first zero.
	mask, bits := f.Vec(), make([]uint64, 2*f.Lanes())
	for i := range f.Lanes() {
		bits[i] = ^uint64(0) >> (64 - 8*f.Elem.Bytes())
	}
	f.tailMask(f.Data("tailMask"+f.Elem.String(), bits...), n, f.Elem.Bytes(), mask)
	return Tail{f: f, mask: mask}
}

// newSingleTail is NewTail for slices of float32 in a function of float64.
func (f *Func) newSingleTail(n reg.GPVirtual) Tail {
	if f.Level == AVX512 {
		t := f.NewTail(n)
		t.single = true
		return t
	}
	mask := f.XMM()
	f.tailMask(f.Data("tailMask4", ^uint64(0), ^uint64(0), 0, 0), n, F32.Bytes(), mask)
	return Tail{f: f, mask: mask, single: true}
}

// tailMask loads the mask of n elements of so many bytes from a table of ones for a vector's elements and as many zeros.
func (f *Func) tailMask(bits operand.Mem, n reg.GPVirtual, bytes int, mask reg.Register) {
	table, offset := f.GP64(), f.GP64()
	f.LEAQ(bits, table)
	f.MOVQ(n, offset)
	f.NEGQ(offset)
	f.VMOVUPS(operand.Mem{Base: table, Index: offset, Scale: uint8(bytes), Disp: f.Lanes() * bytes}, mask)
}

// NewBlockTail is NewTail for the last of several vectors, 1 ≤ n ≤ Lanes, in a function whose vectors do not mix lanes and
// whose results lie apart from what it reads. On AVX2, where a masked move takes ten times a plain one's time on some machines,
// the last vector ends with the slice instead and computes lanes of the vector before it once more, with the same bits.
// Tail.Shift then says how many elements it begins before its place, as a negative number.
func (f *Func) NewBlockTail(n reg.GPVirtual, vecs int) Tail {
	if vecs == 1 || f.Level == AVX512 {
		return f.NewTail(n)
	}
	shift := f.GP64()
	f.MOVQ(n, shift)
	f.SUBQ(operand.U8(f.Lanes()), shift)
	return Tail{f: f, Shift: shift}
}

// shifted is m moved by Shift.
func (t Tail) shifted(m operand.Mem) operand.Mem {
	check(m.Index == nil, "a shifted vector has no register for another index")
	m.Index, m.Scale = t.Shift, uint8(t.f.Elem.Bytes())
	return m
}

// Load reads the tail's lanes; the others become 0, or those before it.
func (t Tail) Load(m operand.Mem) reg.VecVirtual {
	r := t.f.Vec()
	t.LoadTo(r, m)
	return r
}

// LoadTo is Load into a given register.
func (t Tail) LoadTo(r reg.VecVirtual, m operand.Mem) {
	floats := t.f.Elem.floats()
	switch {
	case t.single && t.f.Level == AVX512:
		t.f.VCVTPS2PD_Z(m, t.mask, r)
	case t.single:
		half := t.f.XMM()
		t.f.VMASKMOVPS(m, t.mask, half)
		t.f.VCVTPS2PD(half, r)
	case t.Shift != nil:
		t.f.Inst("VMOVU"+floats, t.shifted(m), r)
	case t.f.Level == AVX512:
		t.f.Inst("VMOVU"+floats+"_Z", m, t.mask, r)
	default:
		t.f.Inst("VMASKMOV"+floats, m, t.mask, r)
	}
}

// Merge reads the tail's lanes, at AVX-512; the others stay as they are.
func (t Tail) Merge(r reg.VecVirtual, m operand.Mem) {
	t.f.Inst("VMOVU"+t.f.Elem.floats(), m, t.mask, r)
}

// Fill sets the lanes of r behind the tail's to those of v.
func (t Tail) Fill(v, r reg.VecVirtual) {
	floats := t.f.Elem.floats()
	if t.f.Level == AVX512 {
		t.f.Inst("VBLENDM"+floats, r, v, t.mask, r)
		return
	}
	t.f.Inst("VBLENDV"+floats, t.mask, r, v, r)
}

// Clear sets them to 0.
func (t Tail) Clear(r reg.VecVirtual) {
	floats := t.f.Elem.floats()
	if t.f.Level == AVX512 {
		t.f.Inst("VMOVA"+floats+"_Z", r, t.mask, r)
		return
	}
	t.f.Inst("VAND"+floats, t.mask, r, r)
}

// MultiplyAdd adds m·a to the tail's lanes of sum. On AVX-512 the multiply-add reads memory under the mask: a separate load would
// have to clear the other lanes, which costs one more operation.
func (t Tail) MultiplyAdd(m operand.Mem, a, sum reg.VecVirtual) {
	name := "VFMADD231" + t.f.Elem.floats()
	switch {
	case t.Shift != nil:
		t.f.Inst(name, t.shifted(m), a, sum)
	case t.f.Level == AVX512:
		t.f.Inst(name, m, a, t.mask, sum)
	default:
		t.f.Inst(name, t.Load(m), a, sum)
	}
}

// Store writes the tail's lanes.
func (t Tail) Store(r reg.VecVirtual, m operand.Mem) {
	floats := t.f.Elem.floats()
	switch {
	case t.single && t.f.Level == AVX512:
		t.f.VMOVUPS(t.f.toSingle(r), t.mask, m)
	case t.single:
		t.f.VMASKMOVPS(t.f.toSingle(r), t.mask, m)
	case t.Shift != nil:
		t.f.Inst("VMOVU"+floats, r, t.shifted(m))
	case t.f.Level == AVX512:
		t.f.Inst("VMOVU"+floats, r, t.mask, m)
	default:
		t.f.Inst("VMASKMOV"+floats, r, t.mask, m)
	}
}

// StoreOften is Store for every row of a loop: on AVX2 a masked store takes ten times a plain one's time on some machines, so it asks
// whether n, the number of lanes where it stands in memory, is all of them.
func (t Tail) StoreOften(r reg.VecVirtual, m, n operand.Mem) {
	if t.f.Level == AVX512 || t.Shift != nil {
		t.Store(r, m)
		return
	}
	part, done := t.f.NewLabel("part"), t.f.NewLabel("stored")
	t.f.CMPQ(n, operand.U8(t.f.Lanes()))
	t.f.JL(operand.LabelRef(part))
	t.f.Inst("VMOVU"+t.f.Elem.floats(), r, m)
	t.f.JMP(operand.LabelRef(done))
	t.f.Label(part)
	t.Store(r, m)
	t.f.Label(done)
}

// toSingle rounds a vector of float64 to float32, half as long.
func (f *Func) toSingle(r reg.VecVirtual) reg.VecVirtual {
	if f.Level == AVX512 {
		half := f.YMM()
		f.VCVTPD2PS(r, half)
		return half
	}
	half := f.XMM()
	f.VCVTPD2PSY(r, half)
	return half
}

// Map describes an elementwise function for Func.Map.
type Map struct {
	Block    *Block           // input i reads from In[i], result i goes to Out[i]
	Out, In  []reg.GPVirtual  // where the slices start
	N        reg.GPVirtual    // how many elements
	Uniforms []reg.VecVirtual // the block's uniforms
	Unroll   int              // how many vectors at a time; 0 means 1
	Pinned   int              // how many constants stay in registers throughout; see Func.Pin
	Single   bool             // the slices are float32, what is computed is float64

	// If Slow is set, a round in which Rare holds for any lane of the first input is computed by that block instead, vector by vector.
	// For lanes in which Rare does not hold, Slow must compute the same bits as Block does. Rare gets all vectors of a round.
	// Without Rare, rounds in which Block marks a lane as hard are computed by Slow, and so are the vectors behind the last round.
	Rare func(b *Block, x []Value) Mask
	Slow *Block
	// If Rare is set and Slow is not, the function stops before such a round and returns the index of its first element as done. If it
	// meets none, it returns n.
}

// sharedTail is from how many operations on the tail runs through the code for single vectors. That costs two branches a
// vector, which shorter blocks would notice; these are written once more for the tail.
const sharedTail = 8

// mapWriter writes the loops of a Map.
type mapWriter struct {
	fn *Func
	Map
	index, left  reg.GPVirtual // the next element, and how many there are from it on
	count        reg.GPVirtual // vectors that Slow is to compute
	resume, stop string
	later        []func() // what is written behind the function's return
}

// MapPast is Map for whole rounds alone, whose results, from the beginning of a cache line on, are stored past the caches.
func (f *Func) MapPast(m Map) {
	f.Pin(m.Block, m.Pinned)
	w := &mapWriter{fn: f, Map: m, index: f.GP64(), left: m.N}
	loop := f.NewLabel("loop")
	f.XORQ(w.index, w.index)
	f.Label(loop)
	w.round(m.Unroll, func(base reg.Register, u int) reg.VecVirtual {
		r := f.Vec()
		f.VMOVUPS(w.at(base, u), r)
		return r
	}, func(r reg.VecVirtual, base reg.Register, u int) { f.VMOVNTPS(r, w.at(base, u)) })
	w.advance(m.Unroll)
	f.JG(operand.LabelRef(loop))
	f.End()
}

// Map applies a block to every element and returns from the function. It takes Unroll vectors at a time, then single
// ones, then the tail, in which the lanes beyond the end read as 0. All inputs of a round are read before anything is
// written, so an output may be an input.
func (f *Func) Map(m Map) {
	check(len(m.Out) == len(m.Block.outputs), "block has %d outputs, got %d", len(m.Block.outputs), len(m.Out))
	f.Pin(m.Block, m.Pinned)
	w := &mapWriter{fn: f, Map: m, index: f.GP64(), left: f.GP64(), count: f.GP64(),
		resume: f.NewLabel("resume"), stop: f.NewLabel("stop")}
	f.XORQ(w.index, w.index)
	f.MOVQ(m.N, w.left)
	done, step := f.NewLabel("done"), f.NewLabel("step")
	if m.Slow != nil {
		f.Label(w.resume)
	}
	shared := len(m.Block.ops) >= sharedTail || m.Slow != nil
	if m.Unroll > 1 || w.marks() {
		w.whole(max(1, m.Unroll))
	}
	if w.marks() {
		f.MOVQ(operand.I32(1), w.count)
		f.TESTQ(w.left, w.left)
		f.JG(operand.LabelRef(w.slow()))
	} else if shared {
		f.TESTQ(w.left, w.left)
		f.JLE(operand.LabelRef(done))
		f.Label(step)
		w.vector(m.Block, done, true)
		w.advance(1)
		f.JG(operand.LabelRef(step))
	} else {
		w.whole(1)
		f.JE(operand.LabelRef(done))
		t := w.tail()
		w.round(1, func(base reg.Register, _ int) reg.VecVirtual { return t.Load(w.at(base, 0)) },
			func(r reg.VecVirtual, base reg.Register, _ int) { t.Store(r, w.at(base, 0)) })
	}
	f.Label(done)
	if w.stops() {
		f.MOVQ(m.N, w.index)
		f.Label(w.stop)
		f.Store(w.index, f.Return("done"))
	}
	f.End()
	if m.Slow != nil {
		w.slowly()
	}
	for _, write := range w.later {
		write()
	}
}

// slowly writes the way of rounds with a rare case.
func (w *mapWriter) slowly() {
	slow := w.slow()
	if w.Unroll > 1 || w.marks() { // from a loop over rounds
		vectors := max(1, w.Unroll)
		w.fn.Label(w.rare(vectors))
		w.fn.ADDQ(operand.I32(vectors*w.fn.Lanes()), w.left)
		w.fn.MOVQ(operand.I32(vectors), w.count)
	}
	if !w.marks() {
		if w.Unroll > 1 {
			w.fn.JMP(operand.LabelRef(slow))
		}
		w.fn.Label(w.rare(1))
		w.fn.MOVQ(operand.I32(1), w.count)
	}
	w.fn.Label(slow)
	w.vector(w.Map.Slow, "", false)
	w.advance(1)
	w.fn.DECQ(w.count)
	w.fn.JNE(operand.LabelRef(slow))
	w.fn.JMP(operand.LabelRef(w.resume))
}

// rare is where a round of so many vectors goes that Slow computes.
func (w *mapWriter) rare(copies int) string { return fmt.Sprintf("%sRare%d", w.resume, copies) }

// slow is where the single vectors are that Slow computes.
func (w *mapWriter) slow() string { return w.resume + "Slow" }

// marks reports whether the block itself says what it leaves to Slow.
func (w *mapWriter) marks() bool { return w.Map.Slow != nil && w.Rare == nil }

// at addresses vector u of a round.
func (w *mapWriter) at(base reg.Register, u int) operand.Mem {
	bytes := w.fn.Elem.Bytes()
	if w.Single {
		bytes = F32.Bytes()
	}
	return operand.Mem{Base: base, Index: w.index, Scale: uint8(bytes), Disp: u * w.fn.Lanes() * bytes}
}

func (w *mapWriter) load(m operand.Mem, r reg.VecVirtual) {
	if w.Single {
		w.fn.VCVTPS2PD(m, r)
		return
	}
	w.fn.VMOVUPS(m, r)
}

func (w *mapWriter) store(r reg.VecVirtual, m operand.Mem) {
	if w.Single {
		r = w.fn.toSingle(r)
	}
	w.fn.VMOVUPS(r, m)
}

func (w *mapWriter) tail() Tail {
	if w.Single {
		return w.fn.newSingleTail(w.left)
	}
	return w.fn.NewTail(w.left)
}

// inTurn reports whether the vectors of a round are computed one after the other. Where loads and stores bind, stores are spread over the
// cycles then: sums on Zen 3 take .85 of the time of four vectors side by side. What is computed in place loses.
func (w *mapWriter) inTurn() bool {
	inPlace := slices.ContainsFunc(w.Out, func(r reg.GPVirtual) bool { return slices.Contains(w.In, r) })
	return w.fn.Level == AVX2 && len(w.In) > 1 && !inPlace && len(w.Block.ops) < sharedTail && w.Rare == nil && w.Map.Slow == nil
}

// advance goes on by some vectors, and leaves the flags of what is left.
func (w *mapWriter) advance(vectors int) {
	w.fn.ADDQ(operand.I32(vectors*w.fn.Lanes()), w.index)
	w.fn.SUBQ(operand.I32(vectors*w.fn.Lanes()), w.left)
}

// whole writes the loop over rounds of whole vectors, and leaves the flags of what is left. In it, left counts what is left behind the
// round. Behind rounds of two there is one vector at most.
func (w *mapWriter) whole(copies int) {
	loop, next, step := w.fn.NewLabel("loop"), w.fn.NewLabel("next"), operand.I32(copies*w.fn.Lanes())
	once := copies == 1 && w.Unroll == 2
	w.fn.SUBQ(step, w.left)
	w.fn.JL(operand.LabelRef(next))
	if w.fn.Level == AVX2 && len(w.Block.ops) < sharedTail && copies == max(1, w.Unroll) {
		w.fn.Align()
	}
	if !once {
		w.fn.Label(loop)
	}
	rounds := 1
	if w.inTurn() {
		rounds, copies = copies, 1
	}
	for first := range rounds {
		w.round(copies, func(base reg.Register, u int) reg.VecVirtual {
			r := w.fn.Vec()
			w.load(w.at(base, first+u), r)
			return r
		}, func(r reg.VecVirtual, base reg.Register, u int) { w.store(r, w.at(base, first+u)) })
	}
	w.advance(rounds * copies)
	if !once {
		w.fn.JGE(operand.LabelRef(loop))
	}
	w.fn.Label(next)
	w.fn.ADDQ(step, w.left)
}

// round computes some vectors between load and store.
func (w *mapWriter) round(copies int, load func(base reg.Register, u int) reg.VecVirtual,
	store func(r reg.VecVirtual, base reg.Register, u int)) {
	regs := make([][]reg.VecVirtual, len(w.In))
	for i, base := range w.In {
		for u := range copies {
			regs[i] = append(regs[i], load(base, u))
		}
	}
	w.test(regs[0])
	e := w.fn.emitter(w.Block, regs, w.Uniforms, copies)
	e.run()
	if w.marks() {
		e.jumpIfHard(w.rare(copies))
	}
	for i, out := range e.results() {
		for u, r := range out {
			store(r, w.Out[i], u)
		}
	}
}

// test leaves for the rare case.
func (w *mapWriter) test(x []reg.VecVirtual) {
	switch {
	case w.Rare == nil:
	case w.Slow == nil:
		w.fn.jumpIfAny(w.Rare, x, w.stop)
	default:
		w.fn.jumpIfAny(w.Rare, x, w.rare(len(x)))
	}
}

// vector computes a vector that may be the tail, after which it goes to done.
func (w *mapWriter) vector(b *Block, done string, test bool) {
	whole, loaded, partStore := w.fn.NewLabel("whole"), w.fn.NewLabel("loaded"), w.fn.NewLabel("partStore")
	var in []reg.VecVirtual
	regs := make([][]reg.VecVirtual, len(w.In))
	for i := range regs {
		in = append(in, w.fn.Vec())
		regs[i] = in[i : i+1 : i+1]
	}
	w.fn.CMPQ(w.left, operand.I32(w.fn.Lanes()))
	w.fn.JGE(operand.LabelRef(whole))
	t := w.tail()
	for i, base := range w.In {
		t.LoadTo(in[i], w.at(base, 0))
	}
	w.fn.JMP(operand.LabelRef(loaded))
	w.fn.Label(whole)
	for i, base := range w.In {
		w.load(w.at(base, 0), in[i])
	}
	w.fn.Label(loaded)
	if test {
		w.test(regs[0])
	}
	out := w.fn.Emit(b, regs, w.Uniforms)
	w.fn.CMPQ(w.left, operand.I32(w.fn.Lanes()))
	w.fn.JL(operand.LabelRef(partStore))
	for i, r := range out {
		w.store(r[0], w.at(w.Out[i], 0))
	}
	w.later = append(w.later, func() {
		w.fn.Label(partStore)
		if w.fn.Level == AVX2 { // where the mask would have taken a register throughout
			t = w.tail()
		}
		for i, r := range out {
			t.Store(r[0], w.at(w.Out[i], 0))
		}
		if w.stops() {
			w.fn.JMP(operand.LabelRef(done))
		} else {
			w.fn.End()
		}
	})
}

// stops reports whether the function returns before a rare case.
func (w *mapWriter) stops() bool { return w.Rare != nil && w.Map.Slow == nil }

// jumpIfAny jumps to the label if the condition holds in any lane of the vectors, which it leaves unchanged.
func (f *Func) jumpIfAny(condition func(b *Block, x []Value) Mask, x []reg.VecVirtual, label string) {
	b := NewBlock(f.Level, f.Elem)
	for range x {
		b.Uniform()
	}
	mask := condition(b, b.uniforms)
	e := f.emitter(b, nil, x, 1)
	e.run()
	e.fn.jumpIf(e.maskOf(mask), label)
}

// jumpIf jumps to the label if a mask is set in any lane.
func (f *Func) jumpIf(mask reg.Register, label string) {
	if f.Level == AVX512 {
		f.KORTESTW(mask, mask) // no more lanes than these set any bit
		f.JNE(operand.LabelRef(label))
		return
	}
	r := f.GP32()
	f.Inst("VMOVMSK"+f.Elem.floats(), mask, r)
	f.TESTL(r, r)
	f.JNE(operand.LabelRef(label))
}

// Pin loads up to n constants of the block into registers, once before a loop: first those that some instruction needs in a
// register, then those with the most uses. The rest are read from memory where they are needed, which can limit the speed: of two
// operations per cycle, at most three in two cycles could have an operand in memory, as measured.
func (f *Func) Pin(b *Block, n int) {
	needed, order := f.constants(b)
	f.pin(b, append(needed, order...), n)
}

// Unpin ends the use of the registers that Pin and Hoist have loaded.
func (f *Func) Unpin() { clear(f.hoisted) }

// Hoist loads those constants of the block that some instruction needs in a register, on AVX-512; AVX2 has too few
// registers.
func (f *Func) Hoist(b *Block) {
	if f.Level == AVX512 {
		needed, _ := f.constants(b)
		f.pin(b, needed, len(needed))
	}
}

func (f *Func) pin(b *Block, constants []*constant, n int) {
	load := &emitter{fn: f, b: b}
	for _, c := range constants[:min(n, len(constants))] {
		if f.hoisted[c.name] == nil {
			f.hoisted[c.name] = load.load(c)
		}
	}
}

// constants lists the block's constants: those needed in a register, and the others by how often they are read.
func (f *Func) constants(b *Block) (needed, others []*constant) {
	uses, must := map[string]int{}, map[string]bool{}
	for _, o := range b.ops {
		for i, a := range o.args {
			if a.c == nil {
				continue
			}
			if uses[a.c.name] == 0 {
				others = append(others, a.c)
			}
			uses[a.c.name]++
			if i == 0 && !commutes[o.code] && fusedNames[o.code] == "" && o.code != opTernary && o.code != opFixup {
				must[a.c.name] = true
			}
		}
	}
	slices.SortStableFunc(others, func(a, b *constant) int { return uses[b.name] - uses[a.name] })
	for _, c := range others {
		if must[c.name] {
			needed = append(needed, c)
		}
	}
	return needed, slices.DeleteFunc(others, func(c *constant) bool { return must[c.name] })
}

// SumLanes adds all lanes of a vector, in a fixed order: halves onto each other until one is left. The sum stands in lane
// 0 of the result; v is overwritten.
func (f *Func) SumLanes(v reg.VecVirtual) reg.VecVirtual {
	add := "VADD" + f.Elem.floats()
	x := v.AsX()
	high := f.XMM()
	if f.Level == AVX512 {
		upper := f.YMM()
		f.VEXTRACTF64X4(operand.U8(1), v, upper)
		f.Inst(add, upper, v.AsY(), v.AsY())
	}
	f.VEXTRACTF128(operand.U8(1), v.AsY(), high)
	f.Inst(add, high, x, x)
	f.VPERMILPD(operand.U8(1), x, high)
	f.Inst(add, high, x, x)
	if f.Elem == F32 {
		f.VMOVSHDUP(x, high)
		f.VADDSS(high, x, x)
	}
	return v
}
