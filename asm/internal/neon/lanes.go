package neon

import "fmt"

// Lanes says how an instruction divides a register: into four lanes of 32 bits or two of 64. Generators that write a kernel for both
// types name the instruction and the lanes.
type Lanes int

const (
	S4 Lanes = iota
	D2
)

// Count is the number of lanes, Bits their size.
func (l Lanes) Count() int { return [...]int{4, 2}[l] }
func (l Lanes) Bits() int  { return [...]int{32, 64}[l] }

// wide is the bit of an instruction that chooses 64-bit lanes.
func (l Lanes) wide() uint32 { return uint32(l) * wideBit }

func (l Lanes) lower() string { return [...]string{"4s", "2d"}[l] }
func (l Lanes) upper() string { return [...]string{"S4", "D2"}[l] }

// The encodings for 32-bit lanes of instructions with three operands, with two, and of comparisons with zero; and the names of
// three-operand instructions that Go's assembler knows.
var (
	words3 = map[string]uint32{
		"fadd": 0x4e20d400, "fsub": 0x4ea0d400, "fmul": 0x6e20dc00, "fdiv": 0x6e20fc00,
		"fcmeq": 0x4e20e400, "fcmge": 0x6e20e400, "fcmgt": 0x6ea0e400, "cmeq": 0x6ea08c00, "cmgt": 0x4ea03400,
		"fmax": 0x4e20f400, "fmin": 0x4ea0f400, "faddp": 0x6e20d400,
	}
	words2 = map[string]uint32{"fneg": 0x6ea0f800, "fsqrt": 0x6ea1f800, "scvtf": 0x4e21d800, "fabs": 0x4ea0f800,
		"frintn": 0x4e218800, "frintm": 0x4e219800, "frintp": 0x4ea18800, "frintz": 0x4ea19800}
	zeros = map[string]uint32{
		"fcmeq": 0x4ea0d800, "fcmge": 0x6ea0c800, "fcmgt": 0x4ea0c800, "fcmle": 0x6ea0d800, "fcmlt": 0x4ea0e800,
		"cmlt": 0x4ea0a800,
	}
	known = map[string]string{"fmla": "VFMLA", "fmls": "VFMLS", "add": "VADD", "sub": "VSUB", "cmtst": "VCMTST"}
)

// Three writes d = op(a, b); fmla and fmls add the product to d or subtract it.
func (f *Func) Three(op string, l Lanes, d, a, b Vec) {
	if name, ok := known[op]; ok {
		f.known3(name, l.upper(), d, a, b)
		return
	}
	f.three(f.word3(words3, op)|l.wide(), op, l.lower(), d, a, b)
}

// MultiplyAdd adds the products of a with one lane of k's register to d, rounded once.
func (f *Func) MultiplyAdd(l Lanes, d, a Vec, k K) {
	if l == S4 {
		f.MlaK(d, a, k)
		return
	}
	for i := range d {
		vd, va := d[i], a.at(i)
		f.word(0x4fc01000|uint32(k.Lane)<<11|uint32(k.Reg)<<16|uint32(va)<<5|uint32(vd), "fmla v%d.2d, v%d.2d, v%d.d[%d]", vd, va,
			k.Reg, k.Lane)
	}
}

// Across puts the smallest lane of lo into its lane 0 and the greatest of hi into its; NaN wins.
func (f *Func) Across(l Lanes, lo, hi Vec) {
	if l == S4 {
		f.MinAcross(lo, lo)
		f.MaxAcross(hi, hi)
		return
	}
	f.word(0x7ef0f800|uint32(lo[0])<<5|uint32(lo[0]), "fminp d%d, v%d.2d", lo[0], lo[0])
	f.word(0x7e70f800|uint32(hi[0])<<5|uint32(hi[0]), "fmaxp d%d, v%d.2d", hi[0], hi[0])
}

// SplatArg loads a parameter of the lanes' type into all lanes of a new register.
func (f *Func) SplatArg(l Lanes, name string) Vec {
	if l == S4 {
		return f.Splat(name)
	}
	return f.SplatD(name)
}

// Type is the lanes' type in Go, Suffix how function names give it, and Letter how instructions on single numbers do.
func (l Lanes) Type() string   { return [...]string{"float32", "float64"}[l] }
func (l Lanes) Suffix() string { return [...]string{"F32", "F64"}[l] }
func (l Lanes) Letter() string { return [...]string{"S", "D"}[l] }

// Two writes d = op(a).
func (f *Func) Two(op string, l Lanes, d, a Vec) {
	f.two(f.word3(words2, op)|l.wide(), op, "", l.lower(), d, a)
}

// WithZero sets the lanes of d to all ones where a compares so with zero, and to zero elsewhere. It is false for NaN.
func (f *Func) WithZero(op string, l Lanes, d, a Vec) {
	zero := ", #0.0"
	if op == "cmlt" {
		zero = ", #0"
	}
	f.two(f.word3(zeros, op)|l.wide(), op, zero, l.lower(), d, a)
}

func (f *Func) word3(table map[string]uint32, op string) uint32 {
	w, ok := table[op]
	if !ok {
		panic("neon: " + f.name + ": no instruction " + op)
	}
	return w
}

// ShiftLeft and ShiftRight shift lanes and fill with zeros, ShiftSign copies the sign.
func (f *Func) ShiftLeft(l Lanes, d, a Vec, by int)  { f.shift("VSHL", l, d, a, by) }
func (f *Func) ShiftRight(l Lanes, d, a Vec, by int) { f.shift("VUSHR", l, d, a, by) }
func (f *Func) ShiftSign(l Lanes, d, a Vec, by int) {
	f.two(0x4f000400|uint32(2*l.Bits()-by)<<16, "sshr", fmt.Sprintf(", #%d", by), l.lower(), d, a)
}

func (f *Func) shift(op string, l Lanes, d, a Vec, by int) {
	for i := range d {
		f.Text("%s $%d, V%d.%s, V%d.%s", op, by, a.at(i), l.upper(), d[i], l.upper())
	}
}

// Not inverts all bits.
func (f *Func) Not(d, a Vec) { f.two(0x6e205800, "mvn", "", "16b", d, a) }

// SumInt puts the sum of the lanes of a, as integers, into lane 0 of d, and that into a general register.
func (f *Func) SumInt(r R, l Lanes, d, a Vec) {
	if l == S4 {
		f.word(0x4eb1b800|uint32(a[0])<<5|uint32(d[0]), "addv s%d, v%d.4s", d[0], a[0])
	} else {
		f.word(0x5ef1b800|uint32(a[0])<<5|uint32(d[0]), "addp d%d, v%d.2d", d[0], a[0])
	}
	f.Text("FMOVD F%d, %v", d[0], r)
}

// A Pool is a table of constants, each repeated over a vector register, that functions of a file share.
type Pool struct {
	table
	offsets map[string]int
}

// Pool starts a table.
func (f *File) Pool(name string) *Pool {
	p := &Pool{table{name: name}, map[string]int{}}
	f.tables = append(f.tables, &p.table)
	return p
}

// Add returns the offset of a pair of 64-bit words. A name must always stand for the same pair.
func (p *Pool) Add(name string, lo, hi uint64) int {
	offset, ok := p.offsets[name]
	if !ok {
		offset = 8 * len(p.wide)
		p.offsets[name] = offset
		p.wide = append(p.wide, Wide{lo, name}, Wide{hi, name})
	}
	if w := p.wide[offset/8:]; w[0].bits != lo || w[1].bits != hi {
		panic("neon: constant " + name + " has two values")
	}
	return offset
}

// Address loads the address of the pool into a new register.
func (f *Func) Address(p *Pool) R {
	r := f.R()
	f.Text("MOVD $%s<>(SB), %v", p.name, r)
	return r
}

// LoadAt loads a register from an offset to p, a multiple of 16.
func (f *Func) LoadAt(v V, p R, offset int) {
	if offset == 0 {
		f.Text("FMOVQ (%v), F%d", p, v)
		return
	}
	f.Text("FMOVQ %d(%v), F%d", offset, p, v)
}

// Slots makes room for n vector registers on the stack. With so large a frame the function is not NOSPLIT: the stack
// may have to grow first.
func (f *Func) Slots(n int) { f.frame = 8 + 16*n }

// StoreSlot and LoadSlot save and restore a register. The link register lies below the slots.
func (f *Func) StoreSlot(v V, slot int) { f.Text("FMOVQ F%d, %d(RSP)", v, 16+16*slot) }
func (f *Func) LoadSlot(v V, slot int)  { f.Text("FMOVQ %d(RSP), F%d", 16+16*slot, v) }

// Snapshot remembers which registers are taken; the function that it returns goes back to that.
func (f *Func) Snapshot() (restore func()) {
	v, r := f.freeV, f.freeR
	return func() { f.freeV, f.freeR = v, r }
}

// AddDoc adds a sentence to the end of the function's comment.
func (f *Func) AddDoc(format string, args ...any) { f.doc += fmt.Sprintf(" "+format, args...) }

// Zip1 takes the lower halves of a and b and alternates their lanes, Zip2 the upper halves; Unzip1 takes the even lanes of a, then of b,
// Unzip2 the odd ones.
func (f *Func) Zip1(l Lanes, d, a, b Vec)   { f.known3("VZIP1", l.upper(), d, a, b) }
func (f *Func) Zip2(l Lanes, d, a, b Vec)   { f.known3("VZIP2", l.upper(), d, a, b) }
func (f *Func) Unzip1(l Lanes, d, a, b Vec) { f.known3("VUZP1", l.upper(), d, a, b) }
func (f *Func) Unzip2(l Lanes, d, a, b Vec) { f.known3("VUZP2", l.upper(), d, a, b) }
