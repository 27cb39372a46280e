package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"strings"
)

// wasmMap is an elementwise function of the table: y from x, and from a second slice w or a number a where its parameters
// say so. The body is that of the portable twin in package simd, written for vectors: assignments of +, -, *, / and the
// functions of wasmCalls, in the same order, so that the results are bit-identical. An expression without variables is a
// constant.
type wasmMap struct {
	name   string
	params string // "x", "x w" or "a x"; of "x" and y for "y a x", which adds to the destination
	body   string
	types  []wasmType
}

// wasmReduce is expReduceF32: exp(v) = (1 + p)·2^n.
const wasmReduce = `
	z := v*log2e + roundF32
	k := z - roundF32
	r := v - k*ln2HiF32 - k*ln2LoF32
	p := r + r*r*(expC2+r*(expC3+r*(expC4+r*(expC5+r*expC6))))
	n := bits(z) - roundF32Bits
`

// wasmHalf prepares factors of 2^n that are normal numbers.
const wasmHalf = `
	h := half(n)
`

// wasmDenominator is denominatorF32: 2^-n + 1 + p.
const wasmDenominator = `
	c := pow2(-least(n, sigmoidShiftF32))
	s := 1 + c
	d := s + (p + (c - (s - 1)))
`

var (
	onlyF32   = []wasmType{wasmF32}
	bothTypes = []wasmType{wasmF32, wasmF64}
)

var wasmMaps = []wasmMap{
	{"add", "x w", `y := x + w`, bothTypes},
	{"sub", "x w", `y := x - w`, bothTypes},
	{"mul", "x w", `y := x * w`, bothTypes},
	{"div", "x w", `y := x / w`, bothTypes},
	{"sqrt", "x", `y := sqrt(x)`, bothTypes},
	{"scale", "a x", `y := a * x`, bothTypes},
	{"axpy", "y a x", `y = y + a*x`, bothTypes},
	{"relu", "x", `y := max(x, 0)`, onlyF32},
	{"exp", "x", `
	v := max(min(x, expMaxF32), expMinF32)` + wasmReduce + wasmHalf + `
	y := (1 + p) * pow2(h) * pow2(n-h)`, onlyF32},
	{"sigmoid", "x", `
	v := -max(min(x, sigmoidMaxF32), sigmoidMinF32)` + wasmReduce + wasmHalf + wasmDenominator + `
	y := 1 / d * pow2(-h) * pow2(h-n)`, onlyF32},
	{"swish", "x", `
	u := max(x, sigmoidMinF32)
	v := -min(u, sigmoidMaxF32)` + wasmReduce + wasmHalf + wasmDenominator + `
	y := u / d * pow2(-h) * pow2(h-n)`, onlyF32},
	{"softplus", "x", `
	v := -min(abs(x), -expMinF32)` + wasmReduce + wasmHalf + `
	t := 1 + p
	e := t * pow2(h) * pow2(n-h)
	l := (1 - t + p) * pow2(h) * pow2(n-h)
	above := e > math.Sqrt2-1
	f := pick(above, 0.5*(e-1), e)
	q := f * f
	g := logP0 + f*(logP1+f*(logP2+f*(logP3+f*(logP4+f*(logP5+f*(logP6+f*(logP7+f*logP8)))))))
	g = q*f*g - 0.5*q
	y := max(x, 0) + (pick(above, ln2HiF32, 0) + (f + (g + pick(above, ln2LoF32, 0) + pick(above, 0.5*l, l))))`, onlyF32},
	{"tanh", "x", `
	b := abs(x)
	q := b * b
	near := b + b*(q*(tanhP0+q*(tanhP1+q*(tanhP2+q*(tanhP3+q*tanhP4)))))
	v := -2 * min(b, tanhMaxF32)` + wasmReduce + `
	t := (1 + p) * pow2(n)
	y := signed(pick(b < tanhSplitF32, near, 1-2*t/(1+t)), x)`, onlyF32},
}

// The kinds of values of a body.
type wasmKind string

const (
	wasmNumber wasmKind = "number" // the same for all elements
	wasmFloat  wasmKind = "float"
	wasmInt    wasmKind = "int32"
	wasmMask   wasmKind = "mask"
)

// wasmCalls lists the functions that bodies may call: what they become, with $1 for the first argument, and the kinds of
// arguments and result.
var wasmCalls = map[string]struct {
	args   []wasmKind
	result wasmKind
	text   string
}{
	"abs":  {[]wasmKind{wasmFloat}, wasmFloat, "$1.Abs()"},
	"sqrt": {[]wasmKind{wasmFloat}, wasmFloat, "$1.Sqrt()"},
	"min":  {[]wasmKind{wasmFloat, wasmFloat}, wasmFloat, "$1.Min($2)"},
	"max":  {[]wasmKind{wasmFloat, wasmFloat}, wasmFloat, "$1.Max($2)"},
	"bits": {[]wasmKind{wasmFloat}, wasmInt, "$1.ToBits().BitsToInt32()"},
	// half is n >> 1, least the smaller one of integers.
	"half":  {[]wasmKind{wasmInt}, wasmInt, "$1.ShiftAllRight(1)"},
	"least": {[]wasmKind{wasmInt, wasmInt}, wasmInt, "$1.Min($2)"},
	"pow2":  {[]wasmKind{wasmInt}, wasmFloat, "$1.Add(archsimd.BroadcastInt32x4(127)).ShiftAllLeft(23).ToBits().BitsToFloat32()"},
	"pick":  {[]wasmKind{wasmMask, wasmFloat, wasmFloat}, wasmFloat, "$2.IfElse($1, $3)"},
	// signed is the first number, which is not negative, with the sign of the second.
	"signed": {[]wasmKind{wasmFloat, wasmFloat}, wasmFloat,
		"$1.ToBits().Or($2.ToBits().And(archsimd.BroadcastUint32x4(1 << 31))).BitsToFloat32()"},
}

var wasmOperators = map[token.Token]string{token.ADD: "Add", token.SUB: "Sub", token.MUL: "Mul", token.QUO: "Div",
	token.LSS: "Less", token.GTR: "Greater"}

// wasmBody translates the body of a function.
type wasmBody struct {
	t     wasmType
	kinds map[string]wasmKind // of the variables so far
}

func (b *wasmBody) translate(body string) (string, error) {
	f, err := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc f() {\n"+body+"\n}", 0)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for _, s := range f.Decls[0].(*ast.FuncDecl).Body.List {
		a, ok := s.(*ast.AssignStmt)
		if !ok || len(a.Lhs) != 1 {
			return "", fmt.Errorf("not an assignment: %s", source(s))
		}
		text, kind, err := b.expr(a.Rhs[0])
		if err != nil {
			return "", err
		}
		name := a.Lhs[0].(*ast.Ident).Name
		b.kinds[name] = kind
		fmt.Fprintf(&out, "%s %s %s\n", name, a.Tok, text)
	}
	return out.String(), nil
}

// expr returns the Go text of an expression, and its kind.
func (b *wasmBody) expr(e ast.Expr) (string, wasmKind, error) {
	if b.constant(e) {
		return source(e), wasmNumber, nil
	}
	switch e := e.(type) {
	case *ast.ParenExpr:
		return b.expr(e.X)
	case *ast.Ident:
		return e.Name, b.kinds[e.Name], nil
	case *ast.UnaryExpr:
		x, kind, err := b.expr(e.X)
		return x + ".Neg()", kind, err
	case *ast.BinaryExpr:
		x, kind, err := b.expr(e.X)
		if err != nil {
			return "", "", err
		}
		first := kind
		y, other, err := b.expr(e.Y)
		if kind == wasmNumber {
			kind = other
		}
		if err == nil && other != kind && other != wasmNumber || wasmOperators[e.Op] == "" {
			err = fmt.Errorf("no %s %s %s: %s", kind, e.Op, other, source(e))
		}
		result := kind
		if e.Op == token.LSS || e.Op == token.GTR {
			result = wasmMask
		}
		return fmt.Sprintf("%s.%s(%s)", b.spread(x, first, kind), wasmOperators[e.Op], b.spread(y, other, kind)), result, err
	case *ast.CallExpr:
		name := source(e.Fun)
		call, ok := wasmCalls[name]
		if !ok || len(call.args) != len(e.Args) {
			return "", "", fmt.Errorf("no function %s of %d arguments", name, len(e.Args))
		}
		text := call.text
		for i, a := range e.Args {
			x, kind, err := b.expr(a)
			if err != nil {
				return "", "", err
			}
			if kind != call.args[i] && kind != wasmNumber {
				return "", "", fmt.Errorf("%s: %s is a %s", name, source(a), kind)
			}
			text = strings.ReplaceAll(text, fmt.Sprintf("$%d", i+1), b.spread(x, kind, call.args[i]))
		}
		return text, call.result, nil
	}
	return "", "", fmt.Errorf("cannot translate %s", source(e))
}

// spread makes a vector of a constant.
func (b *wasmBody) spread(text string, kind, want wasmKind) string {
	switch {
	case kind != wasmNumber:
		return text
	case want == wasmInt:
		return "archsimd.BroadcastInt32x4(" + text + ")"
	}
	return fmt.Sprintf("archsimd.Broadcast%s(%s)", b.t.V, text)
}

// constant reports whether an expression has no variable and no call in it.
func (b *wasmBody) constant(e ast.Expr) bool {
	is := true
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			is = false
		case *ast.Ident:
			is = is && b.kinds[n.Name] == ""
		}
		return is
	})
	return is
}

// source is the text of a piece of syntax.
func source(n ast.Node) string {
	var b bytes.Buffer
	if err := printer.Fprint(&b, token.NewFileSet(), n); err != nil {
		panic(err)
	}
	return b.String()
}

// writeWASMMaps writes all functions of the table, each with its dispatcher, which copies the elements after the last whole
// vector.
func writeWASMMaps(out *bytes.Buffer) error {
	out.WriteString("import (\n\"math\"\n\"simd/archsimd\"\n\"unsafe\"\n)\n")
	for _, m := range wasmMaps {
		for _, t := range m.types {
			if err := m.write(out, t); err != nil {
				return fmt.Errorf("%s%s: %w", m.name, t.S, err)
			}
		}
	}
	return nil
}

func (m wasmMap) write(out *bytes.Buffer, t wasmType) error {
	has := func(p string) bool { return strings.Contains(m.params, p) }
	body := wasmBody{t, map[string]wasmKind{"x": wasmFloat}}
	twin := m.name + t.S + "Generic"
	if len(m.types) > 1 || m.name == "relu" {
		twin = m.name + "Generic" // of both types
	}
	params, args, kernel := "dst, x []"+t.T, "dst, x", "dst, x *"+t.T
	first, rest := "&dst[0], &x[0], ", "&d[0], &v[0], "
	if has("w") {
		params, args, kernel = "dst, x, w []"+t.T, "dst, x, w", "dst, x, w *"+t.T
		first, rest = "&dst[0], &x[0], &w[0], ", "&d[0], &v[0], &u[0], "
		body.kinds["w"] = wasmFloat
	}
	if has("a") {
		params, args = fmt.Sprintf("dst []%s, a %s, x []%s", t.T, t.T, t.T), "dst, a, x"
		kernel = fmt.Sprintf("dst *%s, number %s, x *%s", t.T, t.T, t.T)
		first, rest = "&dst[0], a, &x[0], ", "&d[0], a, &v[0], "
		body.kinds["a"] = wasmFloat
	}
	if has("y") {
		body.kinds["y"] = wasmFloat
	}
	text, err := body.translate(m.body)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\nfunc %s%s(%s) {\nif level == Generic {\n%s(%s)\nreturn\n}\n", m.name, t.S, params, twin, args)
	fmt.Fprintf(out, "n := len(x) &^ %d\nif n > 0 {\n%s%sWASM128(%sn)\n}\n", t.N-1, m.name, t.S, first)
	fmt.Fprintf(out, "if n < len(x) {\nvar d, v [%d]%s\ncopy(v[:], x[n:])\n", t.N, t.T)
	if has("w") {
		fmt.Fprintf(out, "var u [%d]%s\ncopy(u[:], w[n:])\n", t.N, t.T)
	}
	if has("y") {
		out.WriteString("copy(d[:], dst[n:])\n")
	}
	fmt.Fprintf(out, "%s%sWASM128(%s%d)\ncopy(dst[n:], d[:])\n}\n}\n", m.name, t.S, rest, t.N)
	fmt.Fprintf(out, "\n// %s%sWASM128 is %s for n elements, a multiple of %d.\n", m.name, t.S, twin, t.N)
	fmt.Fprintf(out, "func %s%sWASM128(%s, n int) {\nto, from := unsafe.Pointer(dst), unsafe.Pointer(x)\n", m.name, t.S, kernel)
	if has("w") {
		out.WriteString("other := unsafe.Pointer(w)\n")
	}
	if has("a") {
		fmt.Fprintf(out, "a := archsimd.Broadcast%s(number)\n", t.V)
	}
	fmt.Fprintf(out, "for ; n > 0; n -= %d {\nx := %s\n", t.N, t.Load("from", 0))
	if has("w") {
		fmt.Fprintf(out, "w := %s\nother = unsafe.Add(other, %d)\n", t.Load("other", 0), t.Size())
	}
	if has("y") {
		fmt.Fprintf(out, "y := %s\n", t.Load("to", 0))
	}
	fmt.Fprintf(out, "%s%s\nto, from = unsafe.Add(to, %d), unsafe.Add(from, %d)\n}\n}\n", text, t.Store("y", "to", 0), t.Size(), t.Size())
	return nil
}
