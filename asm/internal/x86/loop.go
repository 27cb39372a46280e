package x86

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Tail reads and writes vectors of which only the first lanes are in the slice: with an opmask on AVX-512, with masked moves
// on AVX2. Neither touches the memory of the other lanes.
type Tail struct {
	f    *Func
	mask reg.Register
}

// NewTail builds the mask for n elements, 0 ≤ n < Lanes.
func (f *Func) NewTail(n reg.GPVirtual) Tail {
	if f.Level == AVX512 {
		// BZHI keeps the lowest n bits of all ones.
		ones, k := f.GP64(), f.K()
		f.MOVQ(operand.I32(-1), ones)
		f.BZHIQ(n, ones, ones)
		f.KMOVW(ones.As32(), k)
		return Tail{f, k}
	}
	// A window on a table of ones followed by zeros, n elements before the border.
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
	return Tail{f, mask}
}

// Load reads the tail's lanes; the others become 0.
func (t Tail) Load(m operand.Mem) reg.VecVirtual {
	r := t.f.Vec()
	floats := t.f.Elem.floats()
	if t.f.Level == AVX512 {
		t.f.Inst("VMOVU"+floats+"_Z", m, t.mask, r)
	} else {
		t.f.Inst("VMASKMOV"+floats, m, t.mask, r)
	}
	return r
}

// Store writes the tail's lanes.
func (t Tail) Store(r reg.VecVirtual, m operand.Mem) {
	floats := t.f.Elem.floats()
	if t.f.Level == AVX512 {
		t.f.Inst("VMOVU"+floats, r, t.mask, m)
	} else {
		t.f.Inst("VMASKMOV"+floats, r, t.mask, m)
	}
}

// Map applies the block to every element: input i of the block reads from in[i], result i goes to out[i]. It takes unroll
// vectors at a time, then single ones, then the tail; all inputs of a round are read before anything is written, so an
// output may be an input.
func (f *Func) Map(b *Block, n reg.GPVirtual, out, in []reg.GPVirtual, uniforms []reg.VecVirtual, unroll int) {
	check(len(out) == len(b.outputs), "block has %d outputs, got %d", len(b.outputs), len(out))
	f.Hoist(b)
	index, left, lanes := f.GP64(), f.GP64(), f.Lanes()
	tail, done := f.NewLabel("tail"), f.NewLabel("done")
	f.XORQ(index, index)
	f.MOVQ(n, left)
	at := func(base reg.Register, u int) operand.Mem {
		return operand.Mem{Base: base, Index: index, Scale: uint8(f.Elem.Bytes()), Disp: u * f.Level.Bytes()}
	}
	for _, copies := range []int{unroll, 1} {
		if copies == 1 && unroll == 1 && copies != unroll {
			break
		}
		loop, next := f.NewLabel("loop"), f.NewLabel("next")
		step := operand.I32(copies * lanes)
		f.SUBQ(step, left)
		f.JL(operand.LabelRef(next))
		f.Label(loop)
		regs := make([][]reg.VecVirtual, len(in))
		for i, base := range in {
			for u := range copies {
				r := f.Vec()
				f.VMOVUPS(at(base, u), r)
				regs[i] = append(regs[i], r)
			}
		}
		for i, r := range f.Emit(b, regs, uniforms) {
			for u := range copies {
				f.VMOVUPS(r[u], at(out[i], u))
			}
		}
		f.ADDQ(step, index)
		f.SUBQ(step, left)
		f.JGE(operand.LabelRef(loop))
		f.Label(next)
		f.ADDQ(step, left)
		if unroll == 1 {
			break
		}
	}
	f.Label(tail)
	f.TESTQ(left, left)
	f.JE(operand.LabelRef(done))
	t := f.NewTail(left)
	regs := make([][]reg.VecVirtual, len(in))
	for i, base := range in {
		regs[i] = append(regs[i], t.Load(at(base, 0)))
	}
	for i, r := range f.Emit(b, regs, uniforms) {
		t.Store(r[0], at(out[i], 0))
	}
	f.Label(done)
}

// Hoist loads the constants that some instruction needs in a register, once before a loop. AVX2 has too few registers; there,
// they are loaded where they are needed.
func (f *Func) Hoist(b *Block) {
	if f.Level == AVX2 {
		return
	}
	load := &emitter{Func: f, b: b}
	for _, o := range b.ops {
		if commutes[o.code] || fusedNames[o.code] != "" || o.code == opTernary || o.code == opFixup {
			continue
		}
		if c := o.args[0].c; c != nil && f.hoisted[c.name] == nil {
			f.hoisted[c.name] = load.load(c)
		}
	}
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
