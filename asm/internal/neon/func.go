package neon

import (
	"bytes"
	"fmt"
	"math/bits"
	"strings"
)

// R is a general register, V a vector register.
type (
	R uint8
	V uint8
)

// Zero reads as 0.
const Zero R = 31

func (r R) String() string {
	if r == Zero {
		return "ZR"
	}
	return fmt.Sprintf("R%d", uint8(r))
}

// Vec is a group of vector registers to which the same instructions are applied, one register after the other, so that a machine which
// executes in order finds independent work. A group of one register combines with a longer group: its register serves every member.
type Vec []V

// at returns the member for position i of a longer group.
func (x Vec) at(i int) V {
	if len(x) == 1 {
		return x[0]
	}
	return x[i]
}

// K is one 32-bit lane of a vector register that holds a constant or a factor.
type K struct {
	Reg  V
	Lane int
}

// Func is a function under construction. A method's first register is the destination, as in the machine's own notation.
type Func struct {
	file                 *File
	name, signature, doc string
	argSize, frame       int
	args                 map[string]arg
	body                 bytes.Buffer
	freeV, freeR         uint32
	labels               map[string]int
	instructions         int
	each                 float64 // instructions per element of the loop that Counted wrote last
}

type arg struct {
	offset int
	typ    string
}

// usableR are the general registers that Go leaves to a leaf function: not the platform's R18, the assembler's own R27 and
// R16, R17, the closure's R26, g, and the frame and link registers.
const usableR = 0x0000ffff | 0x03f80000

// Func adds a function with a Go signature such as "(dst, x *float32, n int)"; every parameter and result takes 8 bytes but
// float32, bool and the 32-bit integers. doc is one sentence or more, without comment signs.
func (f *File) Func(name, signature, doc string) *Func {
	fn := &Func{file: f, name: name, signature: signature, doc: doc,
		args: map[string]arg{}, freeV: ^uint32(0), freeR: usableR, labels: map[string]int{}}
	fn.layout()
	f.funcs = append(f.funcs, fn)
	return fn
}

// layout assigns the frame offsets of Go's stack-based calling convention for assembly.
func (f *Func) layout() {
	params, results, _ := strings.Cut(strings.TrimPrefix(f.signature, "("), ")")
	for part, list := range []string{params, strings.Trim(results, " ()")} {
		if part == 1 && list != "" { // results begin on a word
			f.argSize = (f.argSize + 7) / 8 * 8
		}
		var pending []string
		for _, p := range strings.Split(list, ",") {
			name, typ, found := strings.Cut(strings.TrimSpace(p), " ")
			if name == "" {
				continue
			}
			if part == 1 && !strings.Contains(list, " ") { // an unnamed result
				name, typ, found = "ret", name, true
			}
			pending = append(pending, name)
			if !found {
				continue
			}
			size := 8
			switch typ {
			case "float32", "int32", "uint32":
				size = 4
			}
			for _, n := range pending {
				f.argSize = (f.argSize + size - 1) / size * size
				f.args[n] = arg{f.argSize, typ}
				f.argSize += size
			}
			pending = nil
		}
	}
}

func (f *Func) print(b *bytes.Buffer) {
	attributes := "NOSPLIT"
	if f.frame > 0 {
		attributes = "0"
	}
	fmt.Fprintf(b, "\n// func %s%s\nTEXT ·%s(SB), %s, $%d-%d\n", f.name, f.signature, f.name, attributes, f.frame, f.argSize)
	b.Write(f.body.Bytes())
}

// R takes a free general register.
func (f *Func) R() R {
	if f.freeR == 0 {
		panic("neon: " + f.name + ": out of general registers")
	}
	r := bits.TrailingZeros32(f.freeR)
	f.freeR &^= 1 << r
	return R(r)
}

// FreeR gives general registers back.
func (f *Func) FreeR(rs ...R) {
	for _, r := range rs {
		f.freeR |= 1 << r
	}
}

// V takes u free vector registers.
func (f *Func) V(u int) Vec {
	x := make(Vec, u)
	for i := range x {
		if f.freeV == 0 {
			panic("neon: " + f.name + ": out of vector registers")
		}
		v := bits.TrailingZeros32(f.freeV)
		f.freeV &^= 1 << v
		x[i] = V(v)
	}
	return x
}

// Free gives vector registers back.
func (f *Func) Free(xs ...Vec) {
	for _, x := range xs {
		for _, v := range x {
			f.freeV |= 1 << v
		}
	}
}

// Text writes one instruction in Go's notation.
func (f *Func) Text(format string, args ...any) {
	f.instructions++
	fmt.Fprintf(&f.body, "\t"+format+"\n", args...)
}

// word writes one instruction as a number and its mnemonic.
func (f *Func) word(bits uint32, format string, args ...any) {
	f.instructions++
	fmt.Fprintf(&f.body, "\tWORD $0x%08x // %s\n", bits, fmt.Sprintf(format, args...))
}

// Comment writes a comment line.
func (f *Func) Comment(format string, args ...any) {
	fmt.Fprintf(&f.body, "\t// "+format+"\n", args...)
}

// NewLabel returns a label of that stem that is unique in the function.
func (f *Func) NewLabel(stem string) string {
	f.labels[stem]++
	if n := f.labels[stem]; n > 1 {
		return fmt.Sprintf("%s%d", stem, n)
	}
	return stem
}

// Label places a label.
func (f *Func) Label(l string) { fmt.Fprintf(&f.body, "%s:\n", l) }

// Arg loads a parameter into a new general register.
func (f *Func) Arg(name string) R {
	r := f.R()
	f.LoadArg(r, name)
	return r
}

// LoadArg loads a parameter into a general register.
func (f *Func) LoadArg(r R, name string) {
	a := f.arg(name)
	op := "MOVD"
	if a.typ == "int32" {
		op = "MOVW"
	}
	f.Text("%s %s+%d(FP), %v", op, name, a.offset, r)
}

// Splat loads a float32 parameter into all lanes of a new register.
func (f *Func) Splat(name string) Vec {
	x := f.V(1)
	f.Text("FMOVS %s+%d(FP), F%d", name, f.arg(name).offset, x[0])
	f.Text("VDUP V%d.S[0], V%d.S4", x[0], x[0])
	return x
}

// SplatD loads a float64 parameter into both lanes of a new register.
func (f *Func) SplatD(name string) Vec {
	x := f.V(1)
	f.Text("FMOVD %s+%d(FP), F%d", name, f.arg(name).offset, x[0])
	f.Text("VDUP V%d.D[0], V%d.D2", x[0], x[0])
	return x
}

// Return stores lane 0 of the named registers as results, float32 or float64, and returns.
func (f *Func) Return(results ...Result) {
	for _, r := range results {
		a := f.arg(r.Name)
		op := "FMOVD"
		if a.typ == "float32" {
			op = "FMOVS"
		}
		f.Text("%s F%d, %s+%d(FP)", op, r.X[0], r.Name, a.offset)
	}
	f.Text("RET")
}

// ReturnR stores a general register as the named result and returns.
func (f *Func) ReturnR(name string, r R) {
	a, op := f.arg(name), "MOVD"
	if a.typ == "uint32" || a.typ == "int32" {
		op = "MOVW"
	}
	f.Text("%s %v, %s+%d(FP)", op, r, name, a.offset)
	f.Text("RET")
}

// Result names the register that holds a result.
type Result struct {
	Name string
	X    Vec
}

func (f *Func) arg(name string) arg {
	a, ok := f.args[name]
	if !ok {
		panic("neon: " + f.name + " has no parameter " + name)
	}
	return a
}

// Consts places constants in a table of their own and loads them, four to a register.
func (f *Func) Consts(cs ...Const) []K {
	t := &table{name: fmt.Sprintf("%sConst", f.name)}
	t.data = append(t.data, cs...)
	for len(t.data)%4 != 0 {
		t.data = append(t.data, Bits(0, "unused"))
	}
	f.file.tables = append(f.file.tables, t)
	r := f.R()
	f.Text("MOVD $%s<>(SB), %v", t.name, r)
	ks := make([]K, len(cs))
	for i := 0; i < len(t.data); i += 4 {
		v := f.V(1)
		f.Text("FMOVQ %d(%v), F%d", 4*i, r, v[0])
		for j := i; j < min(i+4, len(cs)); j++ {
			ks[j] = K{v[0], j - i}
		}
	}
	f.FreeR(r)
	return ks
}

// Splats places 32-bit constants in all lanes of a register each.
func (f *Func) Splats(ks ...K) []Vec {
	xs := make([]Vec, len(ks))
	for i, k := range ks {
		xs[i] = f.V(1)
		f.Dup(xs[i], k)
	}
	return xs
}

// ConstsD places float64 constants in a table of their own and loads each into both lanes of a register.
func (f *Func) ConstsD(cs ...Wide) []Vec {
	t := &table{name: f.name + "Wide", wide: cs}
	f.file.tables = append(f.file.tables, t)
	r := f.R()
	f.Text("MOVD $%s<>(SB), %v", t.name, r)
	xs := make([]Vec, len(cs))
	for i := range cs {
		xs[i] = f.V(1)
		f.Text("VLD1R.P 8(%v), [V%d.D2]", r, xs[i][0])
	}
	f.FreeR(r)
	return xs
}
