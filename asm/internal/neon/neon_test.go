package neon

import (
	"strings"
	"testing"
)

// mustPanic runs f and wants a panic that mentions want.
func mustPanic(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if got, _ := recover().(string); !strings.Contains(got, want) {
			t.Errorf("panic %q, want %q", got, want)
		}
	}()
	f()
}

// TestLayout checks the frame offsets of parameters and results against Go's rules: each aligned to its size, results on a
// word.
func TestLayout(t *testing.T) {
	for _, c := range []struct {
		signature string
		offsets   map[string]int
		size      int
	}{
		{"(dst, x *float32, n int)", map[string]int{"dst": 0, "x": 8, "n": 16}, 24},
		{"(dst *float32, a float32, x *float32, n int)", map[string]int{"dst": 0, "a": 8, "x": 16, "n": 24}, 32},
		{"(alpha, beta float32, m int, last float32)", map[string]int{"alpha": 0, "beta": 4, "m": 8, "last": 16}, 20},
		{"(x *float32, a float32) (lo, hi float32)", map[string]int{"x": 0, "a": 8, "lo": 16, "hi": 20}, 24},
		{"(x *int32, n int) uint32", map[string]int{"x": 0, "n": 8, "ret": 16}, 20},
	} {
		f := NewFile("p", "arm64").Func("f", c.signature, "f is a test.")
		for name, offset := range c.offsets {
			if got := f.arg(name).offset; got != offset {
				t.Errorf("%s: %s is at %d, want %d", c.signature, name, got, offset)
			}
		}
		if f.argSize != c.size {
			t.Errorf("%s takes %d bytes, want %d", c.signature, f.argSize, c.size)
		}
	}
}

// TestRegisters takes all registers there are, and no other.
func TestRegisters(t *testing.T) {
	f := NewFile("p", "arm64").Func("f", "(n int)", "f is a test.")
	for range 23 {
		switch r := f.R(); r {
		case 16, 17, 18, 26, 27, 28, 29, 30, 31:
			t.Errorf("%v is not free to use", r)
		}
	}
	mustPanic(t, "out of general registers", func() { f.R() })
	x := f.V(32)
	mustPanic(t, "out of vector registers", func() { f.V(1) })
	f.Free(x[4:6])
	if y := f.V(2); y[0] != 4 || y[1] != 5 {
		t.Errorf("got %v back", y)
	}
	f.FreeR(0)
	mustPanic(t, "no parameter x", func() { f.Arg("x") })
	mustPanic(t, "not consecutive", func() { f.LoadSplitD(Vec{1, 3}, 0) })
}

// TestPoly follows Poly through its registers for every number of coefficients: the result must end in d, and every coefficient
// must be used once.
func TestPoly(t *testing.T) {
	for n := 2; n <= 12; n++ {
		f := NewFile("p", "arm64").Func("f", "(n int)", "f is a test.")
		c := make([]K, n)
		for i := range c {
			c[i] = K{Reg: V(10 + i/4), Lane: i % 4}
		}
		f.Poly(Vec{0}, Vec{1}, Vec{2}, Vec{3}, c...)
		// The text is evaluated on polynomials: a register holds its coefficients.
		regs := map[string]map[int]int{} // power of x -> 1 + number of the coefficient
		for line := range strings.Lines(f.body.String()) {
			evaluate(t, regs, strings.TrimSpace(line))
		}
		for i := range n {
			if regs["v0"][i] != i+1 {
				t.Errorf("%d coefficients: that of x^%d is number %d", n, i, regs["v0"][i]-1)
			}
		}
		if len(regs["v0"]) != n {
			t.Errorf("%d coefficients: result has %d terms", n, len(regs["v0"]))
		}
	}
}

// evaluate applies one of the instructions that Poly writes.
func evaluate(t *testing.T, regs map[string]map[int]int, line string) {
	t.Helper()
	coefficient := func(operand string) int { // v11.s[2] is number 6
		operand = strings.ToLower(operand)
		return 4*int(operand[2]-'0') + int(operand[strings.Index(operand, "[")+1]-'0') + 1
	}
	reg := func(operand string) string {
		name, _, _ := strings.Cut(strings.ToLower(operand), ".")
		return name
	}
	if _, mnemonic, ok := strings.Cut(line, "// fmla "); ok { // d += x·k or d += x²·k
		o := strings.Split(mnemonic, ", ")
		regs[reg(o[0])][map[string]int{"v2": 1, "v3": 2}[reg(o[1])]] = coefficient(o[2])
		return
	}
	op, rest, _ := strings.Cut(line, " ")
	o := strings.Split(rest, ", ")
	switch op {
	case "VDUP":
		regs[reg(o[1])] = map[int]int{0: coefficient(o[0])}
	case "VFMLA": // d += x²·other
		for power, c := range regs[reg(o[0])] {
			regs[reg(o[2])][power+2] = c
		}
	default:
		t.Fatalf("unexpected instruction %q", line)
	}
}

// TestWords wants every WORD found, and one that lacks its mnemonic to be an error.
func TestWords(t *testing.T) {
	words, err := Words([]byte("TEXT\n\tWORD $0x4e23f4c6 // fmax v6.4s, v6.4s, v3.4s\n\tRET\n"))
	if err != nil || len(words) != 1 || words[0] != (Word{0x4e23f4c6, "fmax v6.4s, v6.4s, v3.4s"}) {
		t.Errorf("got %v, %v", words, err)
	}
	if _, err := Words([]byte("\tWORD $0x4e23f4c6\n")); err == nil {
		t.Error("no error for a WORD without its mnemonic")
	}
}
