package x86

import (
	"fmt"
	"slices"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// File is an assembly file and its stubs under construction.
type File struct {
	*build.Context
	Levels map[string]Level // by function name
	Bits   []Bit            // what the bits of the functions' modes are called in Go
	consts map[string]datum
	shared *Constants
}

// Bit is a bit of an argument mode. The generator tests its value, and callers find it in the file of declarations.
type Bit struct {
	Name  string
	Value int
	Doc   string
}

type datum struct {
	bits []uint64
	mem  operand.Mem
}

// NewFile starts a file for machines of that family, unless assembly is switched off. Its constants are among those of c, which may
// belong to several files of a package.
func NewFile(c *Constants) *File {
	f := &File{Context: build.NewContext(), Levels: map[string]Level{}, consts: map[string]datum{}, shared: c}
	f.ConstraintExpr("!purego")
	return f
}

// Func is the function being written. It has avo's instructions; the methods added here write sequences that many kernels
// have in common. What holds one names the field, as fn: a type in which it is embedded has avo's 2,800 methods, and the compiler
// would write a function for each.
type Func struct {
	*File
	Level Level
	Elem  Elem

	hoisted map[string]reg.VecVirtual
	labels  int
}

// Func starts the function name+level with that signature, as in Func(AVX512, F32, "expF32", "func(dst, x *float32, n int)"). The
// doc, formatted with the function's name, becomes the stub's comment.
func (f *File) Func(l Level, e Elem, name, signature, doc string) *Func {
	name += l.String()
	f.Levels[name] = l
	f.Function(name)
	f.Attributes(attr.NOSPLIT)
	f.SignatureExpr(signature)
	f.Pragma("noescape")
	f.Doc(name + " " + doc)
	return &Func{File: f, Level: l, Elem: e, hoisted: map[string]reg.VecVirtual{}}
}

// Lanes returns how many elements a vector holds.
func (f *Func) Lanes() int { return f.Level.Bytes() / f.Elem.Bytes() }

// Vec returns a fresh vector register of the level's size.
func (f *Func) Vec() reg.VecVirtual {
	if f.Level == AVX512 {
		return f.ZMM()
	}
	return f.YMM()
}

// Arg loads an integer or pointer argument into a register.
func (f *Func) Arg(name string) reg.GPVirtual {
	r := f.GP64()
	f.Load(f.Param(name), r)
	return r
}

// ArgMem addresses an integer argument where it stands.
func (f *Func) ArgMem(name string) operand.Mem {
	p, err := f.Param(name).Resolve()
	check(err == nil, "argument %s: %v", name, err)
	return p.Addr
}

// BroadcastArg loads a float argument into all lanes of a register.
func (f *Func) BroadcastArg(name string) reg.VecVirtual {
	p, err := f.Param(name).Resolve()
	check(err == nil, "argument %s: %v", name, err)
	r := f.Vec()
	if f.Elem == F64 {
		f.VBROADCASTSD(p.Addr, r)
	} else {
		f.VBROADCASTSS(p.Addr, r)
	}
	return r
}

// NewLabel returns a label that the function has not used.
func (f *Func) NewLabel(name string) string {
	f.labels++
	return fmt.Sprintf("%s%d", name, f.labels)
}

// End writes the return instruction. Before it VZEROUPPER clears the upper halves of the registers, because SSE code that runs later
// would be slow otherwise.
func (f *Func) End() {
	f.VZEROUPPER()
	f.RET()
}

// data returns the constant's place in memory. Single numbers fill 32 bytes, as AVX2 has no operands that repeat an element.
func (f *File) data(c *constant) operand.Mem {
	if c.within != nil {
		return f.data(c.within).Offset(c.at)
	}
	if d, ok := f.consts[c.name]; ok {
		check(slices.Equal(d.bits, c.bits), "constant %s has two values", c.name)
		return d.mem
	}
	check(c.name != "", "a constant needs a name")
	bits := c.bits
	if len(bits) == 1 {
		bits = slices.Repeat(bits, 32/c.elem.Bytes())
	}
	d := datum{bits: c.bits, mem: f.shared.place(c.name, c.elem, bits)}
	f.consts[c.name] = d
	return d.mem
}

// Data returns the address of a static table of 32-bit or, for F64 functions, 64-bit numbers. The same name must always
// stand for the same table.
func (f *Func) Data(name string, bits ...uint64) operand.Mem {
	return f.data(&constant{name: name, elem: f.Elem, bits: bits})
}

// Const returns the address of a number repeated over 32 bytes: an operand in memory for AVX2, an operand that repeats its
// first element (the _BCST forms) for AVX-512.
func (f *Func) Const(name string, x float64) operand.Mem {
	b := NewBlock(f.Level, f.Elem)
	return f.data(b.Const(name, x).c)
}

// ConstVec loads a number into all lanes of a fresh register.
func (f *Func) ConstVec(name string, x float64) reg.VecVirtual {
	b := NewBlock(f.Level, f.Elem)
	return (&emitter{fn: f, b: b}).load(b.Const(name, x).c)
}

// Zero returns a fresh register with zeros.
func (f *Func) Zero() reg.VecVirtual {
	r := f.Vec()
	if f.Level == AVX512 {
		f.VPXORD(r, r, r)
	} else {
		f.VXORPS(r, r, r)
	}
	return r
}

// Align starts what follows on a line of the instruction cache, so that a loop's speed does not depend on what stands before. A short loop
// that is split over two lines takes twice as long on a Zen 3 whose other thread is busy. A label must not stand right before it: the
// assembler of Go 1.26 never ends on a forward jump to PCALIGN.
func (f *Func) Align() {
	f.Instruction(&ir.Instruction{Opcode: "PCALIGN", Operands: []operand.Op{operand.Imm(64)}})
}
