package x86

import (
	"slices"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Tail reads and writes vectors of which only the first lanes are in the slice: with an opmask on AVX-512, with masked moves
// on AVX2. Neither touches the memory of the other lanes.
type Tail struct {
	f     *Func
	mask  reg.Register
	Shift reg.Register // of the last of several vectors on AVX2, in elements; see NewBlockTail
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
	table, offset, mask := f.GP64(), f.GP64(), f.Vec()
	lanes := f.Lanes()
	bits := make([]uint64, 2*lanes)
	for i := range lanes {
		bits[i] = ^uint64(0) >> (64 - 8*f.Elem.Bytes())
	}
	f.LEAQ(f.Data("tailMask"+f.Elem.String(), bits...), table)
	f.MOVQ(n, offset)
	f.NEGQ(offset)
	f.VMOVUPS(operand.Mem{Base: table, Index: offset, Scale: uint8(f.Elem.Bytes()), Disp: f.Level.Bytes()}, mask)
	return Tail{f: f, mask: mask}
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
	floats := t.f.Elem.floats()
	switch {
	case t.Shift != nil:
		t.f.Inst("VMOVU"+floats, t.shifted(m), r)
	case t.f.Level == AVX512:
		t.f.Inst("VMOVU"+floats+"_Z", m, t.mask, r)
	default:
		t.f.Inst("VMASKMOV"+floats, m, t.mask, r)
	}
	return r
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
	case t.Shift != nil:
		t.f.Inst("VMOVU"+floats, r, t.shifted(m))
	case t.f.Level == AVX512:
		t.f.Inst("VMOVU"+floats, r, t.mask, m)
	default:
		t.f.Inst("VMASKMOV"+floats, r, t.mask, m)
	}
}

// Map describes an elementwise function for Func.Map.
type Map struct {
	Block    *Block           // input i reads from In[i], result i goes to Out[i]
	Out, In  []reg.GPVirtual  // where the slices start
	N        reg.GPVirtual    // how many elements
	Uniforms []reg.VecVirtual // the block's uniforms
	Unroll   int              // how many vectors at a time; 0 means 1
	Pinned   int              // how many constants stay in registers throughout; see Func.Pin

	// If Slow is set, a round in which Rare holds for any lane of the first input is computed by that block instead. For
	// lanes in which Rare does not hold, Slow must compute the same bits as Block does. Rare gets all vectors of a round.
	Rare func(b *Block, x []Value) Mask
	Slow *Block
	// If Rare is set and Slow is not, the function stops before such a round and returns the index of its first element as done. If it
	// meets none, it returns n.
}

// Map applies a block to every element and returns from the function. It takes Unroll vectors at a time, then single
// ones, then the tail, in which the lanes beyond the end read as 0. All inputs of a round are read before anything is
// written, so an output may be an input.
func (f *Func) Map(m Map) {
	b := m.Block
	check(len(m.Out) == len(b.outputs), "block has %d outputs, got %d", len(b.outputs), len(m.Out))
	f.Pin(b, m.Pinned)
	index, left, lanes := f.GP64(), f.GP64(), f.Lanes()
	f.XORQ(index, index)
	f.MOVQ(m.N, left)
	at := func(base reg.Register, u int) operand.Mem {
		return operand.Mem{Base: base, Index: index, Scale: uint8(f.Elem.Bytes()), Disp: u * f.Level.Bytes()}
	}
	stop := f.NewLabel("stop")
	var later []func()
	// round computes some vectors between load and store; store is called once or, with a rare case, twice.
	round := func(load func(base reg.Register, u int) reg.VecVirtual, store func(r reg.VecVirtual, base reg.Register, u int), copies int) {
		regs := make([][]reg.VecVirtual, len(m.In))
		for i, base := range m.In {
			for u := range copies {
				regs[i] = append(regs[i], load(base, u))
			}
		}
		// emit writes a block out for the vectors from..to of the round.
		emit := func(b *Block, from, to int) {
			part := make([][]reg.VecVirtual, len(regs))
			for i := range regs {
				part[i] = regs[i][from:to]
			}
			for i, r := range f.Emit(b, part, m.Uniforms) {
				for u := from; u < to; u++ {
					store(r[u-from], m.Out[i], u)
				}
			}
		}
		if m.Rare != nil && m.Slow == nil {
			f.jumpIfAny(m.Rare, regs[0], stop)
		}
		if m.Slow != nil {
			rare, stored := f.NewLabel("rare"), f.NewLabel("stored")
			f.jumpIfAny(m.Rare, regs[0], rare)
			later = append(later, func() {
				f.Label(rare)
				for u := range copies {
					emit(m.Slow, u, u+1) // one by one, as it needs more registers
				}
				f.JMP(operand.LabelRef(stored))
			})
			defer f.Label(stored)
		}
		emit(b, 0, copies)
	}
	sizes := []int{m.Unroll, 1}
	if m.Unroll <= 1 {
		sizes = []int{1}
	}
	for _, copies := range sizes {
		loop, next := f.NewLabel("loop"), f.NewLabel("next")
		step := operand.I32(copies * lanes)
		f.SUBQ(step, left)
		f.JL(operand.LabelRef(next))
		f.Label(loop)
		round(func(base reg.Register, u int) reg.VecVirtual {
			r := f.Vec()
			f.VMOVUPS(at(base, u), r)
			return r
		}, func(r reg.VecVirtual, base reg.Register, u int) { f.VMOVUPS(r, at(base, u)) }, copies)
		f.ADDQ(step, index)
		f.SUBQ(step, left)
		f.JGE(operand.LabelRef(loop))
		f.Label(next)
		f.ADDQ(step, left)
	}
	done := f.NewLabel("done")
	f.TESTQ(left, left)
	f.JE(operand.LabelRef(done))
	t := f.NewTail(left)
	round(func(base reg.Register, _ int) reg.VecVirtual { return t.Load(at(base, 0)) },
		func(r reg.VecVirtual, base reg.Register, _ int) { t.Store(r, at(base, 0)) }, 1)
	f.Label(done)
	if m.Rare != nil && m.Slow == nil {
		f.MOVQ(m.N, index)
		f.Label(stop)
		f.Store(index, f.Return("done"))
	}
	f.End()
	for _, write := range later {
		write()
	}
}

// jumpIfAny jumps to the label if the condition holds in any lane of the vectors, which it leaves unchanged.
func (f *Func) jumpIfAny(condition func(b *Block, x []Value) Mask, x []reg.VecVirtual, label string) {
	b := NewBlock(f.Level, f.Elem)
	for range x {
		b.Uniform()
	}
	mask := condition(b, b.uniforms)
	e := f.emitter(b, nil, x, 1)
	e.run()
	k := e.maskOf(mask)
	if f.Level == AVX512 {
		f.KORTESTW(k, k) // no more lanes than these set any bit
		f.JNE(operand.LabelRef(label))
		return
	}
	r := f.GP32()
	f.Inst("VMOVMSK"+f.Elem.floats(), k, r)
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
	load := &emitter{Func: f, b: b}
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
