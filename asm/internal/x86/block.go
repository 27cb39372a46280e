package x86

import (
	"math"
	"strings"
)

// Block is a piece of arithmetic on vectors, recorded as a list of operations. It holds for any number of vectors side by
// side: Emit and Map write it out for as many as they are asked for, interleaved, so that the machine finds independent work.
//
// A method that records an operation returns its result. Each value is written once; which register it gets, and
// whether an operation may overwrite an operand, follows from its last use.
type Block struct {
	Level Level
	Elem  Elem

	ops      []op
	values   int
	inputs   []Value
	uniforms []Value
	outputs  []Value

	// For Batch.
	sets               []setLocal
	known              map[int]Value // what is in slots, if this block put it there
	locals             int
	hard, while, again Mask
}

// Value is a vector, or a constant in all lanes.
type Value struct {
	id int
	c  *constant // nil for what is computed
}

// Is reports whether both are the same value or constant.
func (v Value) Is(w Value) bool {
	if v.c != nil && w.c != nil {
		return v.c.name == w.c.name
	}
	return v == w
}

// Mask has a truth value per lane: an opmask register on AVX-512, a vector of ones or zeros on AVX2.
type Mask struct{ id int }

// constant is a constant in memory: one element in all lanes, or a table.
type constant struct {
	name string
	elem Elem
	bits []uint64 // one or, for a table, several

	within *constant // a table whose part this is, from byte at on; nil: none
	at     int
}

type op struct {
	code opcode
	dst  int
	mask bool // dst is a mask
	args []Value
	m    Mask // the mask read by select and masked operations
	m2   Mask // the other operand of operations on masks
	imm  uint64
}

// stores reports whether an operation has no result but what it leaves in memory.
func (o op) stores() bool { return o.code == opStore || o.code == opKeep }

type opcode int

const (
	opAdd opcode = iota
	opSub
	opMul
	opDiv
	opMin
	opMax
	opSqrt
	opFMA
	opFNMA
	opFMS
	opAnd
	opOr
	opXor
	opAndNot
	opAddI
	opSubI
	opShl
	opShr
	opSar
	opCmp
	opSelect
	opScale
	opRcp
	opGetExp
	opGetMant
	opTernary
	opRange
	opFixup
	opReduce
	opRound
	opAddIf
	opSumIf
	opXorIf
	opMaxI
	opMinI
	opFromInt
	opCmpI
	opOrMask
	opTest
	opRsqrt
	opLoad
	opLocal
	opBit
	opAddDown
	opLookup
	opStore
	opKeep
	opKeepIf
	opFlipIf
	opOrBits
)

// NewBlock starts an empty block.
func NewBlock(l Level, e Elem) *Block { return &Block{Level: l, Elem: e} }

// Input declares the next vector that the block reads. Its register belongs to the block, which may overwrite it.
func (b *Block) Input() Value {
	v := b.fresh()
	b.inputs = append(b.inputs, v)
	return v
}

// Uniform declares the next vector that is the same for all copies of the block, such as a broadcast argument. The block
// leaves it unchanged.
func (b *Block) Uniform() Value {
	v := b.fresh()
	b.uniforms = append(b.uniforms, v)
	return v
}

// Output declares the next result.
func (b *Block) Output(v Value) { b.outputs = append(b.outputs, v) }

func (b *Block) fresh() Value {
	b.values++
	return Value{id: b.values}
}

func (b *Block) op(code opcode, imm uint64, args ...Value) Value {
	v := b.fresh()
	b.ops = append(b.ops, op{code: code, dst: v.id, args: args, imm: imm})
	return v
}

// Const is a number in all lanes. The name says what it means and becomes the name of the datum in the assembly file;
// the same name must always stand for the same number. Write numbers in hex, as they are rounded to the element type.
func (b *Block) Const(name string, x float64) Value {
	if b.Elem == F32 {
		return b.Bits(name, uint64(math.Float32bits(float32(x))))
	}
	return b.Bits(name, math.Float64bits(x))
}

// Bits is a bit pattern in all lanes.
func (b *Block) Bits(name string, bits uint64) Value {
	if b.Elem == F64 && !strings.HasSuffix(name, "F64") {
		name += "F64" // a file may have both
	}
	return Value{c: &constant{name: name, elem: b.Elem, bits: []uint64{bits}}}
}

// Add returns x + y.
func (b *Block) Add(x, y Value) Value { return b.op(opAdd, 0, x, y) }

// Sub returns x - y.
func (b *Block) Sub(x, y Value) Value { return b.op(opSub, 0, x, y) }

// Mul returns x·y.
func (b *Block) Mul(x, y Value) Value { return b.op(opMul, 0, x, y) }

// Div returns x / y.
func (b *Block) Div(x, y Value) Value { return b.op(opDiv, 0, x, y) }

// Min returns the smaller of x and y: y, if either is NaN or both are zeros.
func (b *Block) Min(x, y Value) Value { return b.op(opMin, 0, x, y) }

// Max returns the larger of x and y: y, if either is NaN or both are zeros.
func (b *Block) Max(x, y Value) Value { return b.op(opMax, 0, x, y) }

// Sqrt returns the square root.
func (b *Block) Sqrt(x Value) Value { return b.op(opSqrt, 0, x) }

// FMA returns x·y + z, rounded once.
func (b *Block) FMA(x, y, z Value) Value { return b.op(opFMA, 0, x, y, z) }

// FNMA returns z - x·y, rounded once.
func (b *Block) FNMA(x, y, z Value) Value { return b.op(opFNMA, 0, x, y, z) }

// FMS returns x·y - z, rounded once.
func (b *Block) FMS(x, y, z Value) Value { return b.op(opFMS, 0, x, y, z) }

// And returns the bits that are set in both.
func (b *Block) And(x, y Value) Value { return b.op(opAnd, 0, x, y) }

// Or returns the bits that are set in either.
func (b *Block) Or(x, y Value) Value { return b.op(opOr, 0, x, y) }

// Xor returns the bits that differ.
func (b *Block) Xor(x, y Value) Value { return b.op(opXor, 0, x, y) }

// AndNot returns the bits of y that are not set in x.
func (b *Block) AndNot(x, y Value) Value { return b.op(opAndNot, 0, x, y) }

// AddI adds lanes as integers.
func (b *Block) AddI(x, y Value) Value { return b.op(opAddI, 0, x, y) }

// SubI subtracts lanes as integers.
func (b *Block) SubI(x, y Value) Value { return b.op(opSubI, 0, x, y) }

// MaxI returns the larger of lanes as signed 32-bit integers (AVX2 has no 64-bit form).
func (b *Block) MaxI(x, y Value) Value { return b.op(opMaxI, 0, x, y) }

// MinI returns the smaller of lanes as signed 32-bit integers.
func (b *Block) MinI(x, y Value) Value { return b.op(opMinI, 0, x, y) }

// Shl shifts lanes left by n bits.
func (b *Block) Shl(x Value, n uint64) Value { return b.op(opShl, n, x) }

// Shr shifts lanes right by n bits, filling with zeros.
func (b *Block) Shr(x Value, n uint64) Value { return b.op(opShr, n, x) }

// Sar shifts lanes right by n bits, filling with the sign (AVX2 has no 64-bit form).
func (b *Block) Sar(x Value, n uint64) Value { return b.op(opSar, n, x) }

// Comparisons of floats, for Cmp. All are false for NaN but those that say otherwise.
const (
	EQ        = 0x00
	LT        = 0x11
	LE        = 0x12
	Unordered = 0x03
	NLE       = 0x16 // not less or equal: greater, or NaN
	NGE       = 0x19 // not greater or equal: less, or NaN
	GT        = 0x1e
)

// Cmp compares x with y.
func (b *Block) Cmp(predicate uint64, x, y Value) Mask {
	v := b.fresh()
	b.ops = append(b.ops, op{code: opCmp, dst: v.id, mask: true, args: []Value{x, y}, imm: predicate})
	return Mask{v.id}
}

func (b *Block) masked(code opcode, m Mask, args ...Value) Value {
	v := b.fresh()
	b.ops = append(b.ops, op{code: code, dst: v.id, args: args, m: m})
	return v
}

// Select returns yes where the mask is set and no elsewhere.
func (b *Block) Select(m Mask, yes, no Value) Value { return b.masked(opSelect, m, no, yes) }

// KeepIf returns x where the mask, of a comparison, is set and +0 elsewhere. AVX2 and NEON only.
func (b *Block) KeepIf(m Mask, x Value) Value { return b.masked(opKeepIf, m, x) }

// FlipIf returns x with all bits flipped where the mask, of a comparison, is set, and x elsewhere. AVX2 and NEON only.
func (b *Block) FlipIf(m Mask, x Value) Value { return b.masked(opFlipIf, m, x) }

// OrBits returns all ones where the mask, of a comparison, is set and x elsewhere. AVX2 and NEON only.
func (b *Block) OrBits(m Mask, x Value) Value { return b.masked(opOrBits, m, x) }

// AddIf returns x + y where the mask is set and x elsewhere (on AVX2 x + 0 there, so -0 becomes 0).
func (b *Block) AddIf(m Mask, x, y Value) Value { return b.masked(opAddIf, m, x, y) }

// SumIf returns x + y where the mask is set and no elsewhere. AVX-512 only.
func (b *Block) SumIf(m Mask, no, x, y Value) Value { return b.masked(opSumIf, m, no, x, y) }

// XorIf returns x ^ y where the mask is set and x elsewhere.
func (b *Block) XorIf(m Mask, x, y Value) Value { return b.masked(opXorIf, m, x, y) }

// CmpI compares lanes as signed integers: EQ or GT.
func (b *Block) CmpI(predicate uint64, x, y Value) Mask {
	check(predicate == EQ || predicate == GT, "integers compare EQ or GT")
	v := b.fresh()
	b.ops = append(b.ops, op{code: opCmpI, dst: v.id, mask: true, args: []Value{x, y}, imm: predicate})
	return Mask{v.id}
}

// OrMask is set where either mask is.
func (b *Block) OrMask(m, n Mask) Mask {
	v := b.fresh()
	b.ops = append(b.ops, op{code: opOrMask, dst: v.id, mask: true, m: m, m2: n})
	return Mask{v.id}
}

// TestBits is set where x and y have a common bit.
func (b *Block) TestBits(x, y Value) Mask {
	v := b.fresh()
	b.ops = append(b.ops, op{code: opTest, dst: v.id, mask: true, args: []Value{x, y}})
	return Mask{v.id}
}

// Bit is set where bit n of x is. On AVX2 only Select may use it.
func (b *Block) Bit(x Value, n uint64) Mask {
	v := b.fresh()
	b.ops = append(b.ops, op{code: opBit, dst: v.id, mask: true, args: []Value{x}, imm: n})
	return Mask{v.id}
}

// FromInt converts 32-bit integers to floats.
func (b *Block) FromInt(x Value) Value { return b.op(opFromInt, 0, x) }

// Rcp returns 1/x within a relative error of 2^-14; on AVX2, where it exists for F32 only, of 1.5·2^-12.
func (b *Block) Rcp(x Value) Value { return b.op(opRcp, 0, x) }

// Rsqrt returns 1/sqrt(x) within a relative error of 2^-14; on AVX2, where it exists for F32 only, of 1.5·2^-12.
func (b *Block) Rsqrt(x Value) Value { return b.op(opRsqrt, 0, x) }

// The following exist on AVX-512 only.

// Scale returns x·2^floor(n), rounded once.
func (b *Block) Scale(x, n Value) Value { return b.op(opScale, 0, x, n) }

// GetExp returns floor(log2|x|) as a float.
func (b *Block) GetExp(x Value) Value { return b.op(opGetExp, 0, x) }

// GetMant returns the mantissa of x; imm chooses interval and sign as VGETMANTPS does.
func (b *Block) GetMant(imm uint64, x Value) Value { return b.op(opGetMant, imm, x) }

// Ternary returns, bit by bit, the truth table imm at (x, y, z), as VPTERNLOGD does; it overwrites x.
func (b *Block) Ternary(imm uint64, x, y, z Value) Value { return b.op(opTernary, imm, x, y, z) }

// Range is VRANGEPS: minimum or maximum, of values or of magnitudes, with a chosen sign.
func (b *Block) Range(imm uint64, x, y Value) Value { return b.op(opRange, imm, x, y) }

// Fixup returns x with the lanes replaced whose y is special, as the table in each lane says (VFIXUPIMMPS).
func (b *Block) Fixup(x, y, table Value) Value { return b.op(opFixup, 0, x, y, table) }

// Reduce returns x minus x rounded as imm says (VREDUCEPS).
func (b *Block) Reduce(imm uint64, x Value) Value { return b.op(opReduce, imm, x) }

// Round returns x rounded to a whole number: to even, down, up or towards zero for 0 to 3.
func (b *Block) Round(mode uint64, x Value) Value { return b.op(opRound, mode, x) }

// AddDown returns x + y, rounded towards -Inf.
func (b *Block) AddDown(x, y Value) Value { return b.op(opAddDown, 0, x, y) }

// Lookup returns, in each lane, the element of a table that the lowest bits of i number. The table is one vector, or, on AVX-512, two of
// which lo has the first elements. On AVX2 it exists for F32 only.
func (b *Block) Lookup(i Value, table ...Value) Value {
	return b.op(opLookup, 0, append([]Value{i}, table...)...)
}

// Table is a vector with an element of its own in each lane.
func (b *Block) Table(name string, x []float64) Value {
	c := &constant{name: name, elem: b.Elem}
	for _, v := range x {
		if b.Elem == F32 {
			c.bits = append(c.bits, uint64(math.Float32bits(float32(v))))
		} else {
			c.bits = append(c.bits, math.Float64bits(v))
		}
	}
	return Value{c: c}
}

// Half is the lower (0) or upper (1) half of a table of 16 float32, as a table for AVX2. Tables of both levels share memory.
func (b *Block) Half(table Value, k int) Value {
	whole := table.c
	part := whole.bits[8*k : 8*k+8]
	return Value{c: &constant{name: whole.name + [2]string{"lower", "upper"}[k], elem: F32, bits: part, within: whole, at: 32 * k}}
}

// Horner returns c[0] + x·(c[1] + x·(c[2] + ...)).
func (b *Block) Horner(x Value, c ...Value) Value {
	p := c[len(c)-1]
	for i := len(c) - 2; i >= 0; i-- {
		p = b.FMA(p, x, c[i])
	}
	return p
}
