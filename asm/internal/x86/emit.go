package x86

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Emit writes the block out for several copies of its inputs: in[i][u] is copy u of input i, and likewise for the results.
// The registers of the inputs belong to the block from then on; those of the uniforms stay as they are.
func (f *Func) Emit(b *Block, in [][]reg.VecVirtual, uniforms []reg.VecVirtual) (out [][]reg.VecVirtual) {
	check(len(in) == len(b.inputs), "block has %d inputs, got %d", len(b.inputs), len(in))
	check(len(uniforms) == len(b.uniforms), "block has %d uniforms, got %d", len(b.uniforms), len(uniforms))
	check(b.Level == f.Level, "block for %v in a function for %v", b.Level, f.Level)
	copies := 1
	if len(in) > 0 {
		copies = len(in[0])
	}
	e := f.emitter(b, in, uniforms, copies)
	e.run()
	return e.results()
}

// results are the registers of the block's outputs.
func (e *emitter) results() (out [][]reg.VecVirtual) {
	for _, v := range e.b.outputs {
		if v.c != nil {
			out = append(out, slices.Repeat([]reg.VecVirtual{e.load(v.c)}, e.copies))
			continue
		}
		out = append(out, e.vec[v.id])
	}
	return out
}

// jumpIfHard jumps to the label if the block has marked a lane of any copy.
func (e *emitter) jumpIfHard(label string) {
	hard := e.mask[e.b.hard.id]
	for _, m := range hard[1:] {
		if e.fn.Level == AVX512 {
			e.fn.KORW(m, hard[0], hard[0])
		} else {
			e.fn.Inst(e.logical("OR"), m, hard[0], hard[0])
		}
	}
	e.fn.jumpIf(hard[0], label)
}

// emitter returns an emitter for a block.
func (f *Func) emitter(b *Block, in [][]reg.VecVirtual, uniforms []reg.VecVirtual, copies int) *emitter {
	e := &emitter{fn: f, b: b, copies: copies,
		last: map[int]int{}, vec: map[int][]reg.VecVirtual{}, mask: map[int][]reg.Register{}}
	for i, v := range b.inputs {
		// A copy of the list: values take over registers, and the caller may emit another block for the same inputs.
		e.vec[v.id] = slices.Clone(in[i])
	}
	for i, v := range b.uniforms {
		e.vec[v.id] = slices.Repeat([]reg.VecVirtual{uniforms[i]}, copies)
		e.last[v.id] = len(b.ops)
	}
	for i, o := range b.ops {
		for _, a := range o.args {
			if a.c == nil {
				e.last[a.id] = max(e.last[a.id], i)
			}
		}
	}
	for _, v := range b.outputs {
		e.last[v.id] = len(b.ops)
	}
	return e
}

// run writes all operations, each for all copies before the next.
func (e *emitter) run() {
	for i, o := range e.b.ops {
		e.at = i
		for u := range e.copies {
			e.u = u
			if o.mask {
				e.mask[o.dst] = append(e.mask[o.dst], e.cmp(o))
			} else {
				e.vec[o.dst] = append(e.vec[o.dst], e.op(o))
			}
		}
	}
}

// emitter writes one block out.
type emitter struct {
	fn     *Func
	b      *Block
	copies int
	at     int         // the operation
	u      int         // the copy
	last   map[int]int // last use of each value
	vec    map[int][]reg.VecVirtual
	mask   map[int][]reg.Register
}

// dies reports whether this operation is the last to read the value.
func (e *emitter) dies(v Value) bool { return v.c == nil && e.last[v.id] == e.at }

// load brings a constant into a fresh register.
func (e *emitter) load(c *constant) reg.VecVirtual {
	r := e.fn.Vec()
	switch {
	case e.fn.Level == AVX2 || len(c.bits) > 1:
		e.fn.Inst("VMOVUPS", e.fn.data(c), r)
	case e.b.Elem == F64:
		e.fn.Inst("VBROADCASTSD", e.fn.data(c), r)
	default:
		e.fn.Inst("VBROADCASTSS", e.fn.data(c), r)
	}
	return r
}

// reg returns the register of a value of the current copy.
func (e *emitter) reg(v Value) reg.VecVirtual {
	if v.c == nil {
		return e.vec[v.id][e.u]
	}
	if r, ok := e.fn.hoisted[v.c.name]; ok {
		return r
	}
	return e.load(v.c)
}

// own returns a register with the value that may be overwritten: its own, if this is its last use, or a copy.
func (e *emitter) own(v Value) reg.VecVirtual {
	if v.c != nil {
		return e.load(v.c)
	}
	if e.dies(v) {
		return e.reg(v)
	}
	r := e.fn.Vec()
	e.fn.Inst("VMOVAPS", e.reg(v), r)
	return r
}

// src returns a value as the operand that may be in memory, and what that adds to the instruction's name.
func (e *emitter) src(v Value) (suffix string, o operand.Op) {
	switch {
	case v.c == nil || e.fn.hoisted[v.c.name] != nil:
		return "", e.reg(v)
	case e.fn.Level == AVX512 && len(v.c.bits) == 1:
		return "_BCST", e.fn.data(v.c)
	}
	return "", e.fn.data(v.c)
}

// three writes an instruction dst = x op y, with immediate operands before y.
func (e *emitter) three(name string, x, y Value, imm ...operand.Op) reg.VecVirtual {
	suffix, o := e.src(y)
	xr := e.reg(x)
	dst := e.fn.Vec()
	e.fn.Inst(name+suffix, append(imm, o, xr, dst)...)
	return dst
}

// two writes an instruction dst = op x.
func (e *emitter) two(name string, x Value, imm ...operand.Op) reg.VecVirtual {
	xr := e.reg(x)
	dst := e.fn.Vec()
	e.fn.Inst(name, append(imm, xr, dst)...)
	return dst
}

// maskOf returns the register of a mask of the current copy.
func (e *emitter) maskOf(m Mask) reg.Register { return e.mask[m.id][e.u] }

// newMask returns a fresh register for a mask.
func (e *emitter) newMask() reg.Register {
	if e.fn.Level == AVX512 {
		return e.fn.K()
	}
	return e.fn.Vec()
}

// cmp writes an operation whose result is a mask.
func (e *emitter) cmp(o op) reg.Register {
	floats, ints := e.b.Elem.floats(), e.b.Elem.ints()
	if o.code == opOrMask {
		m, n, dst := e.maskOf(o.m), e.maskOf(o.m2), e.newMask()
		if e.fn.Level == AVX512 {
			e.fn.KORW(m, n, dst)
		} else {
			e.fn.Inst(e.logical("OR"), m, n, dst)
		}
		return dst
	}
	x := e.reg(o.args[0])
	if o.code == opBit {
		return e.bit(x, o.imm)
	}
	suffix, y := e.src(o.args[1])
	dst := e.newMask()
	switch {
	case o.code == opCmp:
		e.fn.Inst("VCMP"+floats+suffix, operand.Imm(o.imm), y, x, dst)
	case o.code == opTest && e.fn.Level == AVX512:
		e.fn.Inst("VPTESTM"+ints+suffix, y, x, dst)
	case o.code == opTest:
		// A selection reads the sign bit of the mask, but here any common bit counts: compare with 0.
		both, zero := e.fn.Vec(), e.fn.Vec()
		e.fn.Inst(e.logical("AND"), y, x, both)
		e.fn.Inst(e.logical("XOR"), zero, zero, zero)
		e.fn.Inst("VPCMPEQ"+ints, zero, both, dst)
		ones := e.fn.Vec()
		e.fn.Inst("VPCMPEQ"+ints, ones, ones, ones)
		e.fn.Inst(e.logical("XOR"), ones, dst, dst)
	default:
		name := map[uint64]string{EQ: "VPCMPEQ", GT: "VPCMPGT"}[o.imm]
		e.fn.Inst(name+ints+suffix, y, x, dst)
	}
	return dst
}

// bit makes a mask of one bit. Of a mask on AVX2 only the sign bits are read by selections.
func (e *emitter) bit(x reg.VecVirtual, n uint64) reg.Register {
	dst, bits := e.newMask(), uint64(8*e.b.Elem.Bytes())
	if e.fn.Level == AVX512 {
		c := (&Block{Elem: e.b.Elem}).Bits(fmt.Sprintf("bit%d", n), 1<<n)
		suffix, y := e.src(c)
		e.fn.Inst("VPTESTM"+e.b.Elem.ints()+suffix, y, x, dst)
		return dst
	}
	e.fn.Inst("VPSLL"+e.b.Elem.ints(), operand.Imm(bits-1-n), x, dst)
	return dst
}

// logical returns the name of a bitwise instruction: AVX-512 has it for integer lanes in its base set.
func (e *emitter) logical(name string) string {
	if e.fn.Level == AVX512 {
		return "VP" + name + e.b.Elem.ints()
	}
	return "V" + name + e.b.Elem.floats()
}

// floatNames and intNames are the instructions of plain operations of two operands.
var (
	floatNames = map[opcode]string{opAdd: "VADD", opSub: "VSUB", opMul: "VMUL", opDiv: "VDIV", opMin: "VMIN", opMax: "VMAX",
		opScale: "VSCALEF"}
	intNames     = map[opcode]string{opAddI: "VPADD", opSubI: "VPSUB", opMaxI: "VPMAXS", opMinI: "VPMINS"}
	logicalNames = map[opcode]string{opAnd: "AND", opOr: "OR", opXor: "XOR", opAndNot: "ANDN"}
	shiftNames   = map[opcode]string{opShl: "VPSLL", opShr: "VPSRL", opSar: "VPSRA"}
	fusedNames   = map[opcode]string{opFMA: "VFMADD", opFNMA: "VFNMADD", opFMS: "VFMSUB"}
	commutes     = map[opcode]bool{opAdd: true, opMul: true, opAnd: true, opOr: true, opXor: true, opAddI: true, opMaxI: true, opMinI: true}
)

func (e *emitter) op(o op) reg.VecVirtual {
	floats, ints, imm := e.b.Elem.floats(), e.b.Elem.ints(), operand.Imm(o.imm)
	a := slices.Clone(o.args)
	if commutes[o.code] && a[0].c != nil {
		a[0], a[1] = a[1], a[0]
	}
	if name, ok := floatNames[o.code]; ok {
		return e.three(name+floats, a[0], a[1])
	}
	if name, ok := intNames[o.code]; ok {
		return e.three(name+ints, a[0], a[1])
	}
	if name, ok := logicalNames[o.code]; ok {
		return e.three(e.logical(name), a[0], a[1])
	}
	if name, ok := shiftNames[o.code]; ok {
		return e.two(name+ints, a[0], imm)
	}
	if name, ok := fusedNames[o.code]; ok {
		return e.fused(name, floats, a[0], a[1], a[2])
	}
	switch o.code {
	case opRcp:
		if e.fn.Level == AVX512 {
			return e.two("VRCP14"+floats, a[0])
		}
		return e.two("VRCP"+floats, a[0])
	case opRsqrt:
		if e.fn.Level == AVX512 {
			return e.two("VRSQRT14"+floats, a[0])
		}
		return e.two("VRSQRT"+floats, a[0])
	case opSqrt:
		return e.two("VSQRT"+floats, a[0])
	case opRound:
		const quiet = 8 // no exception for what was not whole
		if e.fn.Level == AVX512 {
			return e.two("VRNDSCALE"+floats, a[0], operand.U8(quiet|o.imm))
		}
		return e.two("VROUND"+floats, a[0], operand.U8(quiet|o.imm))
	case opSelect:
		no, m := e.reg(a[0]), e.maskOf(o.m)
		suffix, yes := e.src(a[1])
		dst := e.fn.Vec()
		if e.fn.Level == AVX512 {
			e.fn.Inst("VBLENDM"+floats+suffix, yes, no, m, dst)
		} else {
			e.fn.Inst("VBLENDV"+floats, m, yes, no, dst)
		}
		return dst
	case opKeepIf, opFlipIf, opOrBits:
		check(e.fn.Level == AVX2, "masks of AVX-512 are no vectors")
		_, x := e.src(a[0])
		dst := e.fn.Vec()
		e.fn.Inst(e.logical(map[opcode]string{opKeepIf: "AND", opFlipIf: "XOR", opOrBits: "OR"}[o.code]), x, e.maskOf(o.m), dst)
		return dst
	case opFromInt:
		return e.two("VCVTDQ2PS", a[0])
	case opAddIf:
		return e.conditional("VADD"+floats, o.m, a[0], a[1])
	case opXorIf:
		return e.conditional(e.logical("XOR"), o.m, a[0], a[1])
	}

	if o.code == opLookup && e.fn.Level == AVX2 {
		check(len(a) == 2 && e.b.Elem == F32, "AVX2 has tables of eight float32")
		_, table := e.src(a[1])
		i, dst := e.reg(a[0]), e.fn.Vec()
		e.fn.Inst("VPERMPS", table, i, dst)
		return dst
	}
	check(e.fn.Level == AVX512, "operation %d is for AVX-512 only", o.code)
	switch o.code {
	case opGetExp:
		return e.two("VGETEXP"+floats, a[0])
	case opGetMant:
		return e.two("VGETMANT"+floats, a[0], imm)
	case opReduce:
		return e.two("VREDUCE"+floats, a[0], imm)
	case opAddDown:
		x, y, dst := e.reg(a[0]), e.reg(a[1]), e.fn.Vec()
		e.fn.Inst("VADD"+floats+"_RD_SAE", y, x, dst)
		return dst
	case opLookup:
		if len(a) == 2 {
			table, i, dst := e.reg(a[1]), e.reg(a[0]), e.fn.Vec()
			e.fn.Inst("VPERM"+floats, table, i, dst)
			return dst
		}
		lo, hi := e.reg(a[1]), e.reg(a[2])
		dst := e.own(a[0])
		e.fn.Inst("VPERMI2"+floats, hi, lo, dst)
		return dst
	case opRange:
		return e.three("VRANGE"+floats, a[0], a[1], imm)
	case opSumIf:
		x, y, dst := e.reg(a[1]), e.reg(a[2]), e.own(a[0])
		e.fn.Inst("VADD"+floats, y, x, e.maskOf(o.m), dst)
		return dst
	case opTernary, opFixup:
		name := map[opcode]string{opTernary: "VPTERNLOG" + ints, opFixup: "VFIXUPIMM" + floats}[o.code]
		suffix, z := e.src(a[2])
		y := e.reg(a[1])
		dst := e.own(a[0])
		e.fn.Inst(name+suffix, imm, z, y, dst)
		return dst
	}
	panic("x86: unknown operation")
}

// conditional writes x = x op y for the lanes of a mask.
func (e *emitter) conditional(name string, m Mask, x, y Value) reg.VecVirtual {
	suffix, o := e.src(y)
	if e.fn.Level == AVX512 {
		dst := e.own(x)
		e.fn.Inst(name+suffix, o, dst, e.maskOf(m), dst)
		return dst
	}
	part, dst := e.fn.Vec(), e.fn.Vec()
	e.fn.Inst(e.logical("AND"), o, e.maskOf(m), part)
	e.fn.Inst(name, part, e.reg(x), dst)
	return dst
}

// fused writes x·y + z (or one of its variants) in the form that overwrites an operand which is not needed any more:
// 213 is x = y·x + z, 132 is x = x·y + z with y in memory, 231 is z = x·y + z.
func (e *emitter) fused(name, floats string, x, y, z Value) reg.VecVirtual {
	if x.c != nil && y.c == nil {
		x, y = y, x
	}
	var dst reg.VecVirtual
	form := func(digits string, last, middle Value) reg.VecVirtual {
		suffix, l := e.src(last)
		e.fn.Inst(name+digits+floats+suffix, l, e.reg(middle), dst)
		return dst
	}
	switch {
	case z.c == nil && e.dies(z):
		dst = e.reg(z)
		return form("231", y, x)
	case y.c != nil && z.c == nil && e.dies(x):
		dst = e.reg(x)
		return form("132", y, z)
	case y.c == nil && e.dies(x):
		dst = e.reg(x)
		return form("213", z, y)
	case y.c == nil && e.dies(y):
		dst = e.reg(y)
		return form("213", z, x)
	case y.c != nil && z.c != nil:
		// x lives on: the factor goes to a register and the addend stays in memory.
		dst = e.load(y.c)
		return form("213", z, x)
	}
	dst = e.own(z)
	return form("231", y, x)
}

// Inst adds the instruction of that name, which is only known now.
func (f *Func) Inst(name string, ops ...operand.Op) {
	m := reflect.ValueOf(f.Context).MethodByName(name)
	check(m.IsValid(), "avo has no instruction %s", name)
	args := make([]reflect.Value, len(ops))
	for i, o := range ops {
		args[i] = reflect.ValueOf(o)
	}
	m.Call(args)
}
