package x86

import (
	"fmt"
	"slices"

	"github.com/equivcnp/equivcnp/asm/internal/neon"
)

// Blocks are written for NEON too, from what they record for AVX2, as long as they use operations that any vector unit has. On NEON a mask
// is a vector whose lanes are all ones or zero. Constants come from a table in memory that repeats each over a register. A fused
// multiply-add always overwrites its addend, so x·y + c needs a load of c and one more instruction.

// neonEmitter writes one block out. Registers are handed out as it goes and taken back after the last use.
type neonEmitter struct {
	*neon.Func
	b      *Block
	lanes  neon.Lanes
	copies int
	pool   *neon.Pool
	base   neon.R // where the pool is
	pinned map[string]neon.V

	at   int               // the operation
	u    int               // the copy
	last map[int]int       // last use of each value
	vec  map[int]neon.Vec  // values and masks, a register for each copy
	temp map[string]neon.V // constants that were loaded for the operation
}

// lanesOf is the type of a block as package neon names it.
func lanesOf(e Elem) neon.Lanes { return map[Elem]neon.Lanes{F32: neon.S4, F64: neon.D2}[e] }

// EmitNEON writes the block for several copies of its inputs; in[i][u] is copy u of input i. The block may overwrite the registers of its
// inputs. Constants lie in the pool, whose address is in base, except those that are pinned. A mask of hard lanes follows the results.
func (b *Block) EmitNEON(f *neon.Func, pool *neon.Pool, base neon.R, pinned map[string]neon.V, in ...neon.Vec) []neon.Vec {
	check(len(in) == len(b.inputs), "block has %d inputs, got %d", len(b.inputs), len(in))
	e := newNEONEmitter(f, b, pool, base, pinned, len(in[0]))
	for i, v := range b.inputs {
		e.vec[v.id] = append(neon.Vec{}, in[i]...)
	}
	for i := range b.ops {
		e.op(i)
	}
	var out []neon.Vec
	for _, v := range b.outputs {
		out = append(out, e.vec[v.id])
	}
	if b.hard != (Mask{}) {
		out = append(out, e.vec[b.hard.id])
	}
	return out
}

func newNEONEmitter(f *neon.Func, b *Block, pool *neon.Pool, base neon.R, pinned map[string]neon.V, copies int) *neonEmitter {
	check(b.Level == AVX2, "NEON needs a block recorded for AVX2")
	return &neonEmitter{Func: f, b: b, lanes: lanesOf(b.Elem), copies: copies, pool: pool, base: base, pinned: pinned,
		last: b.lastUses(), vec: map[int]neon.Vec{}, temp: map[string]neon.V{}}
}

// PinNEON loads the n constants of a block that are read most into registers.
func (b *Block) PinNEON(f *neon.Func, pool *neon.Pool, base neon.R, n int) map[string]neon.V {
	all := neonConstants(b)
	return loadNEON(f, pool, base, all[:min(n, len(all))])
}

func loadNEON(f *neon.Func, pool *neon.Pool, base neon.R, constants []*constant) map[string]neon.V {
	pinned := map[string]neon.V{}
	for _, c := range constants {
		r := f.V(1)
		f.LoadAt(r[0], base, poolOffset(pool, c, 0))
		pinned[c.name] = r[0]
	}
	return pinned
}

// neonConstants lists the constants of blocks that are worth a register, the most read ones first. Addends and operands of selections do
// not count: instructions overwrite those, so a constant must be loaded there every time anyway.
func neonConstants(blocks ...*Block) (all []*constant) {
	uses := map[string]int{}
	for _, b := range blocks {
		for _, o := range b.ops {
			for i, a := range o.args {
				if a.c == nil || (i == 2 && fusedNames[o.code] != "") || o.code == opSelect {
					continue
				}
				if uses[a.c.name] == 0 {
					all = append(all, a.c)
				}
				uses[a.c.name]++
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *constant) int { return uses[b.name] - uses[a.name] })
	return all
}

// poolOffset is where a constant lies in the pool, with some bits flipped.
func poolOffset(pool *neon.Pool, c *constant, flip uint64) int {
	check(len(c.bits) == 1, "NEON has no tables")
	w, name := c.bits[0]^flip, c.name
	if flip != 0 {
		name = "minus " + name
	}
	if c.elem == F32 {
		w |= w << 32
	}
	return pool.Add(name, w, w)
}

// load brings a constant into a new register.
func (e *neonEmitter) load(v Value, flip uint64) neon.Vec {
	r := e.V(1)
	if p, ok := e.pinned[v.c.name]; ok && flip == 0 {
		e.Mov(r, neon.Vec{p})
		return r
	}
	e.LoadAt(r[0], e.base, poolOffset(e.pool, v.c, flip))
	return r
}

// reg returns the register of a value of the current copy; that of a constant serves all copies and is given back after the
// operation.
func (e *neonEmitter) reg(v Value) neon.Vec {
	if v.c == nil {
		return neon.Vec{e.vec[v.id][e.u]}
	}
	if p, ok := e.pinned[v.c.name]; ok {
		return neon.Vec{p}
	}
	r, ok := e.temp[v.c.name]
	if !ok {
		r = e.load(v, 0)[0]
		e.temp[v.c.name] = r
	}
	return neon.Vec{r}
}

func (e *neonEmitter) maskOf(m Mask) neon.Vec { return neon.Vec{e.vec[m.id][e.u]} }

// dies reports whether this operation is the last to read the value.
func (e *neonEmitter) dies(id int) bool { return e.last[id] == e.at }

// fresh returns a register for a result: that of an operand which is not read again, as instructions read their operands before they
// write, or a new one.
func (e *neonEmitter) fresh(args ...Value) neon.Vec {
	for _, a := range args {
		if a.c == nil && e.dies(a.id) {
			return e.reg(a)
		}
	}
	return e.V(1)
}

// copyOf returns a register with the value that may be overwritten.
func (e *neonEmitter) copyOf(v Value) neon.Vec {
	switch {
	case v.c != nil:
		return e.load(v, 0)
	case e.dies(v.id):
		return e.reg(v)
	}
	r := e.V(1)
	e.Mov(r, e.reg(v))
	return r
}

// op writes operation i for all copies.
func (e *neonEmitter) op(i int) {
	o := e.b.ops[i]
	e.at = i
	dst := make(neon.Vec, 0, e.copies)
	for e.u = range e.copies {
		d := e.write(o)
		dst = append(dst, d[0])
		freed := map[int]bool{}
		for _, id := range o.reads(AVX2) {
			if e.dies(id) && !freed[id] {
				freed[id] = true
				if r := e.vec[id][e.u]; r != d[0] {
					e.Free(neon.Vec{r})
				}
			}
		}
	}
	for _, r := range e.temp {
		e.Free(neon.Vec{r})
	}
	clear(e.temp)
	if _, used := e.last[o.dst]; !used {
		e.Free(dst)
		return
	}
	e.vec[o.dst] = dst
}

// neonNames are the instructions of plain operations of two operands.
var neonNames = map[opcode]string{opAdd: "fadd", opSub: "fsub", opMul: "fmul", opDiv: "fdiv", opAddI: "add", opSubI: "sub", opTest: "cmtst"}

// write writes an operation for the current copy and returns the register of the result.
func (e *neonEmitter) write(o op) neon.Vec {
	l, a := e.lanes, o.args
	if name, ok := neonNames[o.code]; ok {
		x, y := e.reg(a[0]), e.reg(a[1])
		d := e.fresh(a...)
		e.Three(name, l, d, x, y)
		return d
	}
	switch o.code {
	case opFMA:
		d := e.copyOf(a[2])
		e.Three("fmla", l, d, e.reg(a[0]), e.reg(a[1]))
		return d
	case opFNMA:
		d := e.copyOf(a[2])
		e.Three("fmls", l, d, e.reg(a[0]), e.reg(a[1]))
		return d
	case opFMS:
		return e.fms(a[0], a[1], a[2])
	case opSqrt:
		d := e.fresh(a...)
		e.Two("fsqrt", l, d, e.reg(a[0]))
		return d
	case opFromInt:
		d := e.fresh(a...)
		e.Two("scvtf", l, d, e.reg(a[0]))
		return d
	case opMin, opMax:
		// If either is NaN or both are zeros, x86 returns the second operand. NEON's own minimum does not, so it is not used.
		x, y := e.reg(a[0]), e.reg(a[1])
		d := e.V(1)
		if o.code == opMin {
			e.Three("fcmgt", l, d, y, x)
		} else {
			e.Three("fcmgt", l, d, x, y)
		}
		e.Select(d, x, y)
		return d
	case opAnd, opOr, opXor, opAndNot:
		x, y := e.reg(a[0]), e.reg(a[1])
		d := e.fresh(a...)
		switch o.code {
		case opAnd:
			e.And(d, x, y)
		case opOr:
			e.Or(d, x, y)
		case opXor:
			e.Xor(d, x, y)
		default:
			e.AndNot(d, y, x)
		}
		return d
	case opShl:
		d := e.fresh(a...)
		e.ShiftLeft(l, d, e.reg(a[0]), int(o.imm))
		return d
	case opShr:
		d := e.fresh(a...)
		e.ShiftRight(l, d, e.reg(a[0]), int(o.imm))
		return d
	case opSar:
		d := e.fresh(a...)
		e.ShiftSign(l, d, e.reg(a[0]), int(o.imm))
		return d
	case opBit:
		// The bit becomes the sign, and the sign fills the lane.
		d, x := e.fresh(a...), e.reg(a[0])
		if by := l.Bits() - 1 - int(o.imm); by > 0 {
			e.ShiftLeft(l, d, x, by)
			x = d
		}
		e.WithZero("cmlt", l, d, x)
		return d
	case opCmp, opCmpI:
		return e.compare(o)
	case opOrMask:
		m, n := e.maskOf(o.m), e.maskOf(o.m2)
		d := e.freshMask(o.m, o.m2)
		e.Or(d, m, n)
		return d
	case opSelect:
		return e.choose(o.m, a[1], a[0])
	case opKeepIf, opFlipIf, opOrBits:
		x, d := e.reg(a[0]), e.freshMask(o.m)
		map[opcode]func(d, x, y neon.Vec){opKeepIf: e.And, opFlipIf: e.Xor, opOrBits: e.Or}[o.code](d, e.maskOf(o.m), x)
		return d
	case opAddIf, opXorIf:
		part := e.freshMask(o.m)
		e.And(part, e.maskOf(o.m), e.reg(a[1]))
		if o.code == opAddIf {
			e.Three("fadd", l, part, e.reg(a[0]), part)
		} else {
			e.Xor(part, e.reg(a[0]), part)
		}
		return part
	}
	panic(fmt.Sprintf("x86: operation %d does not exist on NEON", o.code))
}

func (e *neonEmitter) freshMask(masks ...Mask) neon.Vec {
	for _, m := range masks {
		if e.dies(m.id) {
			return e.maskOf(m)
		}
	}
	return e.V(1)
}

// fms is x·y - z: the negative of z, to which the product is added.
func (e *neonEmitter) fms(x, y, z Value) neon.Vec {
	var d neon.Vec
	switch {
	case z.c != nil:
		d = e.load(z, 1<<(e.lanes.Bits()-1))
	case e.dies(z.id) && !z.Is(x) && !z.Is(y):
		d = e.reg(z)
		e.Two("fneg", e.lanes, d, d)
	default:
		d = e.V(1)
		e.Two("fneg", e.lanes, d, e.reg(z))
	}
	e.Three("fmla", e.lanes, d, e.reg(x), e.reg(y))
	return d
}

// choose returns yes where the mask is set and no elsewhere, in the register of whichever operand is not needed any more.
func (e *neonEmitter) choose(m Mask, yes, no Value) neon.Vec {
	mask := e.maskOf(m)
	gone := func(v Value) bool {
		if v.c != nil {
			_, kept := e.pinned[v.c.name]
			return !kept
		}
		return e.dies(v.id)
	}
	switch {
	case yes.Is(no):
		return e.copyOf(yes)
	case gone(no):
		d := e.copyOf(no)
		e.Insert(d, e.reg(yes), mask)
		return d
	case gone(yes):
		d := e.copyOf(yes)
		e.InsertNot(d, e.reg(no), mask)
		return d
	}
	if e.dies(m.id) {
		e.Select(mask, e.reg(yes), e.reg(no))
		return mask
	}
	d := e.copyOf(no)
	e.Insert(d, e.reg(yes), mask)
	return d
}

// compare writes a comparison. Comparisons that hold for NaN are written as the opposite of one that does not.
func (e *neonEmitter) compare(o op) neon.Vec {
	l, a := e.lanes, o.args
	zero := func(v Value) bool { return v.c != nil && v.c.bits[0] == 0 }
	if o.code == opCmpI {
		name := map[uint64]string{EQ: "cmeq", GT: "cmgt"}[o.imm]
		if o.imm == GT && zero(a[0]) {
			d := e.fresh(a[1])
			e.WithZero("cmlt", l, d, e.reg(a[1]))
			return d
		}
		x, y := e.reg(a[0]), e.reg(a[1])
		d := e.fresh(a...)
		e.Three(name, l, d, x, y)
		return d
	}
	if o.imm == Unordered {
		return e.unordered(a[0], a[1])
	}
	c := map[uint64]struct {
		name, zero string
		swap, not  bool
	}{
		EQ: {"fcmeq", "fcmeq", false, false}, GT: {"fcmgt", "fcmgt", false, false}, LT: {"fcmgt", "fcmlt", true, false},
		LE: {"fcmge", "fcmle", true, false}, NLE: {"fcmge", "fcmle", true, true}, NGE: {"fcmge", "fcmge", false, true},
	}[o.imm]
	check(c.name != "", "comparison %#x does not exist on NEON", o.imm)
	var d neon.Vec
	if zero(a[1]) {
		d = e.fresh(a[0])
		e.WithZero(c.zero, l, d, e.reg(a[0]))
	} else {
		x, y := e.reg(a[0]), e.reg(a[1])
		d = e.fresh(a...)
		if c.swap {
			x, y = y, x
		}
		e.Three(c.name, l, d, x, y)
	}
	if c.not {
		e.Not(d, d)
	}
	return d
}

// unordered is true where x or y is NaN: not equal to itself.
func (e *neonEmitter) unordered(x, y Value) neon.Vec {
	d := e.V(1)
	e.Three("fcmeq", e.lanes, d, e.reg(x), e.reg(x))
	if !x.Is(y) {
		t := e.V(1)
		e.Three("fcmeq", e.lanes, t, e.reg(y), e.reg(y))
		e.And(d, d, t)
		e.Free(t)
	}
	e.Not(d, d)
	return d
}
