package neon

import "fmt"

// The instructions. Q is always set: whole registers of four float32 or two float64. Methods of Func work on four 32-bit lanes,
// those with a D at the end on two 64-bit lanes.

// wideBit selects 64-bit lanes in floating-point instructions.
const wideBit = 1 << 22

// three writes d = op(a, b) on every member.
func (f *Func) three(base uint32, op, lanes string, d, a, b Vec) {
	for i := range d {
		vd, va, vb := d[i], a.at(i), b.at(i)
		f.word(base|uint32(vb)<<16|uint32(va)<<5|uint32(vd), "%s v%d.%s, v%d.%s, v%d.%s", op, vd, lanes, va, lanes, vb, lanes)
	}
}

// two writes d = op(a) on every member.
func (f *Func) two(base uint32, op, suffix, lanes string, d, a Vec) {
	for i := range d {
		vd, va := d[i], a.at(i)
		f.word(base|uint32(va)<<5|uint32(vd), "%s v%d.%s, v%d.%s%s", op, vd, lanes, va, lanes, suffix)
	}
}

// element writes d = op(d, a, k) with one lane of k's register for all lanes of a.
func (f *Func) element(base uint32, op string, d, a Vec, k K) {
	index := uint32(k.Lane&1)<<21 | uint32(k.Lane>>1)<<11
	for i := range d {
		vd, va := d[i], a.at(i)
		f.word(base|index|uint32(k.Reg)<<16|uint32(va)<<5|uint32(vd), "%s v%d.4s, v%d.4s, v%d.s[%d]", op, vd, va, k.Reg, k.Lane)
	}
}

// known3 writes d = op(a, b) that Go's assembler knows; its operands stand in reverse order.
func (f *Func) known3(op, lanes string, d, a, b Vec) {
	for i := range d {
		f.Text("%s V%d.%s, V%d.%s, V%d.%s", op, b.at(i), lanes, a.at(i), lanes, d[i], lanes)
	}
}

// Add is d = a + b, and so on, each rounded once.
func (f *Func) Add(d, a, b Vec)  { f.three(0x4e20d400, "fadd", "4s", d, a, b) }
func (f *Func) AddD(d, a, b Vec) { f.three(0x4e20d400|wideBit, "fadd", "2d", d, a, b) }
func (f *Func) Sub(d, a, b Vec)  { f.three(0x4ea0d400, "fsub", "4s", d, a, b) }
func (f *Func) SubD(d, a, b Vec) { f.three(0x4ea0d400|wideBit, "fsub", "2d", d, a, b) }
func (f *Func) Mul(d, a, b Vec)  { f.three(0x6e20dc00, "fmul", "4s", d, a, b) }
func (f *Func) MulD(d, a, b Vec) { f.three(0x6e20dc00|wideBit, "fmul", "2d", d, a, b) }
func (f *Func) Div(d, a, b Vec)  { f.three(0x6e20fc00, "fdiv", "4s", d, a, b) }

// Max and Min give NaN if either is NaN, and order -0 below +0.
func (f *Func) Max(d, a, b Vec) { f.three(0x4e20f400, "fmax", "4s", d, a, b) }
func (f *Func) Min(d, a, b Vec) { f.three(0x4ea0f400, "fmin", "4s", d, a, b) }

// AddPairs puts the sums of neighbouring lanes of a, then of b, into d.
func (f *Func) AddPairs(d, a, b Vec) { f.three(0x6e20d400, "faddp", "4s", d, a, b) }

// Mla is d += a·b, Mls d -= a·b, rounded once.
func (f *Func) Mla(d, a, b Vec)  { f.known3("VFMLA", "S4", d, a, b) }
func (f *Func) MlaD(d, a, b Vec) { f.known3("VFMLA", "D2", d, a, b) }
func (f *Func) Mls(d, a, b Vec)  { f.known3("VFMLS", "S4", d, a, b) }
func (f *Func) MlsD(d, a, b Vec) { f.known3("VFMLS", "D2", d, a, b) }

// MulK is d = a·k, MlaK d += a·k, MlsK d -= a·k.
func (f *Func) MulK(d, a Vec, k K) { f.element(0x4f809000, "fmul", d, a, k) }
func (f *Func) MlaK(d, a Vec, k K) { f.element(0x4f801000, "fmla", d, a, k) }
func (f *Func) MlsK(d, a Vec, k K) { f.element(0x4f805000, "fmls", d, a, k) }

// Abs is d = |a|, Neg d = -a, Sqrt the correctly rounded root.
func (f *Func) Abs(d, a Vec)   { f.two(0x4ea0f800, "fabs", "", "4s", d, a) }
func (f *Func) Neg(d, a Vec)   { f.two(0x6ea0f800, "fneg", "", "4s", d, a) }
func (f *Func) NegD(d, a Vec)  { f.two(0x6ea0f800|wideBit, "fneg", "", "2d", d, a) }
func (f *Func) SqrtD(d, a Vec) { f.two(0x6ea1f800|wideBit, "fsqrt", "", "2d", d, a) }

// Round is d = a rounded to an integer, ties to even, as a 32-bit number; NaN becomes 0. FromInt converts back.
func (f *Func) Round(d, a Vec)    { f.two(0x4e21a800, "fcvtns", "", "4s", d, a) }
func (f *Func) FromInt(d, a Vec)  { f.two(0x4e21d800, "scvtf", "", "4s", d, a) }
func (f *Func) RoundD(d, a Vec)   { f.two(0x4e21a800|wideBit, "fcvtns", "", "2d", d, a) }
func (f *Func) FromIntD(d, a Vec) { f.two(0x4e21d800|wideBit, "scvtf", "", "2d", d, a) }

// Comparisons set a lane to all ones or to zero; they are false for NaN.
func (f *Func) GT(d, a, b Vec)    { f.three(0x6ea0e400, "fcmgt", "4s", d, a, b) }
func (f *Func) EQ(d, a, b Vec)    { f.three(0x4e20e400, "fcmeq", "4s", d, a, b) }
func (f *Func) GT0(d, a Vec)      { f.two(0x4ea0c800, "fcmgt", ", #0.0", "4s", d, a) }
func (f *Func) EQ0(d, a Vec)      { f.two(0x4ea0d800, "fcmeq", ", #0.0", "4s", d, a) }
func (f *Func) GTInt(d, a, b Vec) { f.three(0x4ea03400, "cmgt", "4s", d, a, b) }

// Widen is the lower two lanes of a as float64, WidenHigh the upper two.
func (f *Func) Widen(d, a Vec) {
	for i := range d {
		f.word(0x0e617800|uint32(a.at(i))<<5|uint32(d[i]), "fcvtl v%d.2d, v%d.2s", d[i], a.at(i))
	}
}

func (f *Func) WidenHigh(d, a Vec) {
	for i := range d {
		f.word(0x4e617800|uint32(a.at(i))<<5|uint32(d[i]), "fcvtl2 v%d.2d, v%d.4s", d[i], a.at(i))
	}
}

// Narrow rounds two float64 lanes of a to the lower lanes of d and clears the upper; NarrowHigh fills the upper lanes.
func (f *Func) Narrow(d, a Vec) {
	for i := range d {
		f.word(0x0e616800|uint32(a.at(i))<<5|uint32(d[i]), "fcvtn v%d.2s, v%d.2d", d[i], a.at(i))
	}
}

func (f *Func) NarrowHigh(d, a Vec) {
	for i := range d {
		f.word(0x4e616800|uint32(a.at(i))<<5|uint32(d[i]), "fcvtn2 v%d.4s, v%d.2d", d[i], a.at(i))
	}
}

// WidenShift16 puts the lower four 16-bit lanes of a into the upper halves of 32-bit lanes, the lower halves zero; WidenShift16High
// does so with the upper four.
func (f *Func) WidenShift16(d, a Vec) {
	for i := range d {
		f.word(0x2e613800|uint32(a.at(i))<<5|uint32(d[i]), "shll v%d.4s, v%d.4h, #16", d[i], a.at(i))
	}
}

func (f *Func) WidenShift16High(d, a Vec) {
	for i := range d {
		f.word(0x6e613800|uint32(a.at(i))<<5|uint32(d[i]), "shll2 v%d.4s, v%d.8h, #16", d[i], a.at(i))
	}
}

// NarrowInt keeps the low halves of two 64-bit integers of lo and two of hi, in that order.
func (f *Func) NarrowInt(d, lo, hi Vec) {
	for i := range d {
		f.Text("VUZP1 V%d.S4, V%d.S4, V%d.S4", hi.at(i), lo.at(i), d[i])
	}
}

// MinInt compares signed integers, MaxUint unsigned ones; AddInt and SubInt wrap.
func (f *Func) MinInt(d, a, b Vec)  { f.three(0x4ea06c00, "smin", "4s", d, a, b) }
func (f *Func) MaxUint(d, a, b Vec) { f.known3("VUMAX", "S4", d, a, b) }
func (f *Func) AddInt(d, a, b Vec)  { f.known3("VADD", "S4", d, a, b) }
func (f *Func) SubInt(d, a, b Vec)  { f.known3("VSUB", "S4", d, a, b) }

// TestInt sets a lane to all ones where a and b have a common bit.
func (f *Func) TestInt(d, a, b Vec) { f.known3("VCMTST", "S4", d, a, b) }

// Shl and Shr shift every lane, Sar copies the sign.
func (f *Func) Shl(d, a Vec, by int) {
	for i := range d {
		f.Text("VSHL $%d, V%d.S4, V%d.S4", by, a.at(i), d[i])
	}
}

func (f *Func) Shr(d, a Vec, by int) {
	for i := range d {
		f.Text("VUSHR $%d, V%d.S4, V%d.S4", by, a.at(i), d[i])
	}
}

func (f *Func) Sar(d, a Vec, by int) {
	f.two(0x4f000400|uint32(64-by)<<16, "sshr", fmt.Sprintf(", #%d", by), "4s", d, a)
}

// And, Or, Xor work on bits; AndNot is a with the bits of b cleared.
func (f *Func) And(d, a, b Vec)    { f.known3("VAND", "B16", d, a, b) }
func (f *Func) Or(d, a, b Vec)     { f.known3("VORR", "B16", d, a, b) }
func (f *Func) Xor(d, a, b Vec)    { f.known3("VEOR", "B16", d, a, b) }
func (f *Func) AndNot(d, a, b Vec) { f.three(0x4e601c00, "bic", "16b", d, a, b) }

// Select takes the bits of a where mask is set and those of b elsewhere, in mask's place. Insert replaces bits of d by those
// of a where mask is set, InsertNot where it is clear.
func (f *Func) Select(mask, a, b Vec)    { f.known3("VBSL", "B16", mask, a, b) }
func (f *Func) Insert(d, a, mask Vec)    { f.known3("VBIT", "B16", d, a, mask) }
func (f *Func) InsertNot(d, a, mask Vec) { f.known3("VBIF", "B16", d, a, mask) }

// Mov copies registers, Dup a constant's lane to all lanes, Clear sets to zero.
func (f *Func) Mov(d, a Vec) {
	for i := range d {
		f.Text("VMOV V%d.B16, V%d.B16", a.at(i), d[i])
	}
}

func (f *Func) Dup(d Vec, k K) {
	for i := range d {
		f.Text("VDUP V%d.S[%d], V%d.S4", k.Reg, k.Lane, d[i])
	}
}

func (f *Func) Clear(d Vec) {
	for i := range d {
		f.Text("VEOR V%d.B16, V%d.B16, V%d.B16", d[i], d[i], d[i])
	}
}

// LoadSplitD loads len(d) pairs of float64 at p and puts number i of each group of len(d) into register i, and moves p past
// them. The registers must follow each other.
func (f *Func) LoadSplitD(d Vec, p R) {
	list := ""
	for i, v := range d {
		if v != d[0]+V(i) {
			panic("neon: " + f.name + ": registers are not consecutive")
		}
		list += fmt.Sprintf(", V%d.D2", v)
	}
	f.Text("VLD%d.P %d(%v), [%s]", len(d), 16*len(d), p, list[2:])
}

// MaxAcross puts the greatest lane of a into lane 0 of d, MinAcross the smallest; NaN wins.
func (f *Func) MaxAcross(d, a Vec) {
	for i := range d {
		f.word(0x6e30f800|uint32(a.at(i))<<5|uint32(d[i]), "fmaxv s%d, v%d.4s", d[i], a.at(i))
	}
}

func (f *Func) MinAcross(d, a Vec) {
	for i := range d {
		f.word(0x6eb0f800|uint32(a.at(i))<<5|uint32(d[i]), "fminv s%d, v%d.4s", d[i], a.at(i))
	}
}

// SumD puts the sum of both float64 lanes of a into lane 0 of d.
func (f *Func) SumD(d, a Vec) {
	for i := range d {
		f.word(0x7e70d800|uint32(a.at(i))<<5|uint32(d[i]), "faddp d%d, v%d.2d", d[i], a.at(i))
	}
}

// AnySet puts the greatest lane of a, as unsigned numbers, into a general register: 0 if no mask is set.
func (f *Func) AnySet(r R, a, tmp Vec) {
	f.word(0x6eb0a800|uint32(a[0])<<5|uint32(tmp[0]), "umaxv s%d, v%d.4s", tmp[0], a[0])
	f.Text("FMOVS F%d, %v", tmp[0], r)
}

// Poly sets d = c[0] + x·c[1] + x²·c[2] + ..., two or more coefficients, by Horner's rule over pairs:
//
//	(c[0] + c[1]·x) + x2·((c[2] + c[3]·x) + x2·(...)),  x2 = x²
//
// A step of Horner's rule is two instructions, as the sum overwrites the coefficient; a pair is three this way instead of
// four, and half as deep. d must not be x or x2, tmp is another group.
func (f *Func) Poly(d, tmp, x, x2 Vec, c ...K) {
	// The pairs alternate between both groups so that the last one, c[0] + c[1]·x, ends in d.
	pairs := len(c) / 2
	to, other := d, tmp
	if pairs%2 == 0 {
		to, other = tmp, d
	}
	for i := pairs - 1; i >= 0; i-- {
		f.Dup(to, c[2*i])
		f.MlaK(to, x, c[2*i+1])
		if i < pairs-1 {
			f.Mla(to, x2, other)
		} else if len(c)%2 != 0 {
			f.MlaK(to, x2, c[len(c)-1])
		}
		to, other = other, to
	}
}

// ProductsI8 multiplies the lanes of eight bits, the lower half of them and the upper half; ProductsU8 unsigned ones.
func (f *Func) ProductsI8(low, high, a, b Vec) { f.products(0x0e20c000, "smull", low, high, a, b) }
func (f *Func) ProductsU8(low, high, a, b Vec) { f.products(0x2e20c000, "umull", low, high, a, b) }

func (f *Func) products(base uint32, op string, low, high, a, b Vec) {
	const upper = 1 << 30
	for i := range low {
		va, vb := a.at(i), b.at(i)
		operands := uint32(vb)<<16 | uint32(va)<<5
		f.word(base|operands|uint32(low[i]), "%s v%d.8h, v%d.8b, v%d.8b", op, low[i], va, vb)
		f.word(base|upper|operands|uint32(high[i]), "%s2 v%d.8h, v%d.16b, v%d.16b", op, high[i], va, vb)
	}
}

// DifferenceI8 is |a - b| of signed lanes of eight bits, as unsigned ones.
func (f *Func) DifferenceI8(d, a, b Vec) { f.three(0x4e207400, "sabd", "16b", d, a, b) }

// AddPairsI16 adds pairs of neighbouring lanes of 16 bits to lanes of 32, AddPairsU16 unsigned ones. PairsU8 sums pairs of eight bits.
func (f *Func) AddPairsI16(d, a Vec) { f.pairs(0x4e606800, "sadalp", "4s", "8h", d, a) }
func (f *Func) AddPairsU16(d, a Vec) { f.pairs(0x6e606800, "uadalp", "4s", "8h", d, a) }
func (f *Func) PairsU8(d, a Vec)     { f.pairs(0x6e202800, "uaddlp", "8h", "16b", d, a) }

func (f *Func) pairs(base uint32, op, wide, narrow string, d, a Vec) {
	for i := range d {
		f.word(base|uint32(a.at(i))<<5|uint32(d[i]), "%s v%d.%s, v%d.%s", op, d[i], wide, a.at(i), narrow)
	}
}
