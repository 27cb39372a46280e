package x86

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Neither avo nor Go's assembler knows tiles and bfloat16. So these instructions are written as numbers, with the
// mnemonic beside them, which a test compares with what a disassembler reads.

// tileFeatures are the extensions that level AMX has beyond AVX512.
var tileFeatures = []string{"AVX512BF16", "AMXTILE", "AMXBF16"}

// Tile is a tile register.
type Tile int

// TileBytes is the size of a full tile: 16 rows of 64 bytes.
const TileBytes = 16 * 64

// encoded writes an instruction by its bytes. what is read are the registers that it uses beside tiles.
func (f *Func) encoded(isa, mnemonic string, read, written []operand.Op, code ...byte) {
	var b strings.Builder
	for rest := code; len(rest) > 0; {
		if len(rest) < len(code) {
			b.WriteString("; ")
		}
		switch {
		case len(rest) >= 4:
			fmt.Fprintf(&b, "LONG $%#08x", binary.LittleEndian.Uint32(rest))
			rest = rest[4:]
		case len(rest) >= 2:
			fmt.Fprintf(&b, "WORD $%#04x", binary.LittleEndian.Uint16(rest))
			rest = rest[2:]
		default:
			fmt.Fprintf(&b, "BYTE $%#02x", rest[0])
			rest = rest[1:]
		}
	}
	f.Instruction(&ir.Instruction{Opcode: b.String() + " // " + mnemonic, Inputs: read, Outputs: written, ISA: []string{isa}})
}

// The prefixes of instructions: which table of opcodes they are in.
const (
	prefixNone = iota
	prefix66
	prefixF3
	prefixF2
)

// vex begins an instruction of map 0F38, given the numbers of the registers in its fields reg, index and base, and its second source.
func vex(prefix, r, x, b, second, opcode byte) []byte {
	inverted := func(high byte) byte { return ^high & 1 }
	return []byte{0xc4, inverted(r>>3)<<7 | inverted(x>>3)<<6 | inverted(b>>3)<<5 | 2, (^second&15)<<3 | prefix, opcode}
}

// number is that of a general register in the encoding.
func number(r reg.GPPhysical) byte { return byte(r.PhysicalIndex()) }

// tileAddress encodes the address base + stride + disp for field reg.
func tileAddress(prefix byte, t Tile, opcode byte, base, stride reg.GPPhysical, disp int) []byte {
	b, x := number(base), number(stride)
	code := append(vex(prefix, 0, x, b, 0, opcode), 0x84|byte(t)<<3, x&7<<3|b&7)
	return binary.LittleEndian.AppendUint32(code, uint32(disp))
}

// TileConfig gives tiles the shapes that the 64 bytes at an address describe.
func (f *Func) TileConfig(at reg.GPPhysical) {
	check(number(at) < 4, "the address of a configuration is in one of the first registers")
	f.encoded("AMXTILE", fmt.Sprintf("LDTILECFG (%s)", at.Asm()), []operand.Op{at}, nil, append(vex(prefixNone, 0, 0, 0, 0, 0x49),
		number(at))...)
}

// TileRelease gives the tiles back: what a thread saves becomes small again.
func (f *Func) TileRelease() {
	f.encoded("AMXTILE", "TILERELEASE", nil, nil, append(vex(prefixNone, 0, 0, 0, 0, 0x49), 0xc0)...)
}

// TileZero clears a tile.
func (f *Func) TileZero(t Tile) {
	f.encoded("AMXTILE", fmt.Sprintf("TILEZERO tmm%d", t), nil, nil, append(vex(prefixF2, 0, 0, 0, 0, 0x49), 0xc0|byte(t)<<3)...)
}

// TileLoad loads a tile whose rows begin at base + disp, stride bytes apart.
func (f *Func) TileLoad(t Tile, base, stride reg.GPPhysical, disp int) {
	f.encoded("AMXTILE", fmt.Sprintf("TILELOADD %#x(%s)(%s*1), tmm%d", disp, base.Asm(), stride.Asm(), t), []operand.Op{base, stride}, nil,
		tileAddress(prefixF2, t, 0x4b, base, stride, disp)...)
}

// TileStore stores a tile whose rows begin at base + disp, stride bytes apart.
func (f *Func) TileStore(t Tile, base, stride reg.GPPhysical, disp int) {
	f.encoded("AMXTILE", fmt.Sprintf("TILESTORED tmm%d, %#x(%s)(%s*1)", t, disp, base.Asm(), stride.Asm()), []operand.Op{base, stride}, nil,
		tileAddress(prefixF3, t, 0x4b, base, stride, disp)...)
}

// TileMultiply adds to sum the product of a [16, 32] and b [32, 16] in bfloat16; b has pairs of rows side by side, [16, 16, 2].
func (f *Func) TileMultiply(sum, a, b Tile) {
	f.encoded("AMXBF16", fmt.Sprintf("TDPBF16PS tmm%d, tmm%d, tmm%d", b, a, sum), nil, nil,
		append(vex(prefixF3, 0, 0, 0, byte(b), 0x5c), 0xc0|byte(sum)<<3|byte(a))...)
}

// evex encodes an instruction of map 0F38 on three 512-bit registers: dst is in field reg, base in field r/m, second in vvvv.
func evex(prefix, dst, second, base, opcode byte) []byte {
	inverted := func(r, bit byte) byte { return ^r >> bit & 1 }
	return []byte{0x62, inverted(dst, 3)<<7 | inverted(base, 4)<<6 | inverted(base, 3)<<5 | inverted(dst, 4)<<4 | 2,
		(^second&15)<<3 | 4 | prefix, 0x40 | inverted(second, 4)<<3, opcode, 0xc0 | dst&7<<3 | base&7}
}

// wide writes an instruction on three 512-bit registers.
func (f *Func) wide(name string, prefix, opcode byte, dst, second, base reg.VecPhysical, read ...operand.Op) {
	d, s, b := byte(dst.PhysicalIndex()), byte(second.PhysicalIndex()), byte(base.PhysicalIndex())
	f.encoded("AVX512BF16", fmt.Sprintf("%s Z%d, Z%d, Z%d", name, b, s, d), append(read, base, second), []operand.Op{dst},
		evex(prefix, d, s, b, opcode)...)
}

// RoundBF16 sets dst to the lanes of low, and then those of high, rounded to bfloat16. Subnormals become 0.
func (f *Func) RoundBF16(dst, low, high reg.VecPhysical) {
	f.wide("VCVTNE2PS2BF16", prefixF2, 0x72, dst, high, low)
}

// DotBF16 adds to each lane of sum the products of its two bfloat16 numbers of a and b.
func (f *Func) DotBF16(sum, a, b reg.VecPhysical) {
	f.wide("VDPBF16PS", prefixF3, 0x52, sum, a, b, sum)
}
