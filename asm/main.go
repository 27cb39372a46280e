// Command asm writes the assembly kernels, with the Go declarations of their functions: package simd's and those of the packages that
// the registries name.
//
//	go run . -o ../simd
package main

import (
	"bytes"
	"flag"
	"fmt"
	"log"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

// output is one file to be written.
type output struct {
	name string
	text []byte
}

func main() {
	log.SetFlags(0)
	dir := flag.String("o", "../simd", "folder to write to")
	only := flag.String("only", "", "write the amd64, arm64 and wasm files of kernels whose names start with this, "+
		"the constants of amd64, and nothing else")
	flag.Parse()
	files, functions, err := renderAMD64()
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range files {
		if strings.HasPrefix(f.name, *only) || path.Base(f.name) == constantsFile {
			write(*dir, f)
		}
	}
	for _, g := range neonRegistry {
		if !strings.HasPrefix(g.file, *only) {
			continue
		}
		for _, f := range renderNEON(g) {
			write(*dir, f)
		}
	}
	for _, g := range wasmRegistry {
		if !strings.HasPrefix(g.file, *only) {
			continue
		}
		f, err := renderWASM(g)
		if err != nil {
			log.Fatal(err)
		}
		write(*dir, f)
	}
	if *only != "" {
		return
	}
	write(*dir, renderLevels())
	for _, f := range slices.Concat(renderDispatch(functions), matrixDispatch(), treeDispatch(), renderMaps(), []output{renderAdapters()}) {
		write(*dir, f)
	}
	write(*dir, renderNEONCounts())
}

// write leaves a file alone that is right already, so that the Go command need not rebuild.
func write(dir string, f output) {
	name := filepath.Join(dir, f.name)
	if old, err := os.ReadFile(name); err == nil && bytes.Equal(old, f.text) {
		return
	}
	if err := os.WriteFile(name, f.text, 0o644); err != nil {
		log.Fatal(err)
	}
}

// packageOf returns the package that a file of a registry belongs to.
func packageOf(file string) string {
	if dir := path.Dir(file); dir != "." {
		return path.Base(dir)
	}
	return "simd"
}

// function is what the test wants to know about a generated function.
type function struct {
	level x86.Level
	*ir.Function
}

// constantsFile is where the constants of a package's amd64 kernels stand.
const constantsFile = "zconstants_amd64.s"

// renderAMD64 writes every file of the registry in memory, and the constants of each package.
func renderAMD64() (files []output, functions []function, err error) {
	constants := map[string]*x86.Constants{}
	var dirs []string
	for _, g := range registry {
		dir := path.Dir(g.file)
		if constants[dir] == nil {
			constants[dir], dirs = x86.NewConstants(), append(dirs, dir)
		}
		made, fns, err := render(g, constants[dir])
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", g.file, err)
		}
		files, functions = append(files, made...), append(functions, fns...)
	}
	for _, dir := range dirs {
		file, err := constants[dir].Result()
		if err != nil {
			return nil, nil, err
		}
		if len(file.Sections) == 0 {
			continue
		}
		if err := pass.Compile.Execute(file); err != nil {
			return nil, nil, err
		}
		text, err := printer.NewGoAsm(printerConfig("")).Print(file)
		if err != nil {
			return nil, nil, err
		}
		text = blankLines.ReplaceAll(text, []byte("\n$1"))
		files = append(files, output{path.Join(dir, constantsFile), shortConstants(text)})
	}
	return files, functions, nil
}

// blankLines are those before a label and between constants: a line that does not begin with a tab is seen without them.
var blankLines = regexp.MustCompile(`(?m)(?:\n\n)(\w+:$|DATA .*\+0\(SB\))`)

// constant32 are the lines of a constant of 32 bytes.
var constant32 = regexp.MustCompile(`DATA (·\w+)\+0\(SB\)/8, \$(0x\w+)\nDATA .*\+8\(SB\)/8, \$(0x\w+)\n` +
	`DATA .*\+16\(SB\)/8, \$(0x\w+)\nDATA .*\+24\(SB\)/8, \$(0x\w+)\nGLOBL .*\(SB\), RODATA\|NOPTR, \$32\n`)

// fourWords and eightWords are four and eight lines of a longer table.
var fourWords, eightWords = wordLines(4), wordLines(8)

func wordLines(n int) *regexp.Regexp {
	return regexp.MustCompile(`DATA (·\w+)\+(\d+)\(SB\)/8, \$0x0*(\w+)\n` + strings.Repeat(`DATA .*/8, \$0x0*(\w+)\n`, n-1))
}

// shortConstants writes each constant that is the same number four times, which are most, in one line, and others four numbers a line,
// or eight where they are short.
func shortConstants(text []byte) []byte {
	short := constant32.ReplaceAllFunc(text, func(lines []byte) []byte {
		m := constant32.FindSubmatch(lines)
		for _, bits := range m[3:] {
			if !bytes.Equal(bits, m[2]) {
				return lines
			}
		}
		return fmt.Appendf(nil, "FOUR(%s, %s)\n", m[1], m[2])
	})
	if eight := eightALine(short); bytes.Count(eight, []byte("\nEIGHT")) > 5 { // the macro takes five lines
		short = eight
	}
	short = fourWords.ReplaceAll(short, []byte("WORDS($1, $2, 0x$3, 0x$4, 0x$5, 0x$6)\n"))
	macros := "#include \"textflag.h\"\n"
	for _, m := range constantMacros {
		if bytes.Contains(short, []byte("\n"+m.name+"(")) {
			macros += m.text
		}
	}
	return bytes.Replace(short, []byte("#include \"textflag.h\"\n"), []byte(macros), 1)
}

// eightALine writes eight numbers a line where they are short.
func eightALine(text []byte) []byte {
	const columns = 140
	return eightWords.ReplaceAllFunc(text, func(lines []byte) []byte {
		m := eightWords.FindSubmatch(lines)
		if line := fmt.Appendf(nil, "EIGHT(%s, %s, 0x%s)\n", m[1], m[2], bytes.Join(m[3:], []byte(", 0x"))); len(line) <= columns {
			return line
		}
		return lines
	})
}

// constantMacros are those of shortConstants.
var constantMacros = []struct{ name, text string }{
	{"FOUR", `
// A constant of 32 bytes: a number of 8 bytes, or two of 4, four times.
#define FOUR(name, bits) \
	DATA name+0(SB)/8, $bits; DATA name+8(SB)/8, $bits; DATA name+16(SB)/8, $bits; DATA name+24(SB)/8, $bits; \
	GLOBL name(SB), RODATA|NOPTR, $32
`},
	{"WORDS", `
// Four numbers of 8 bytes of a table.
#define WORDS(name, at, a, b, c, d) \
	DATA name+at(SB)/8, $a; DATA name+at+8(SB)/8, $b; DATA name+at+16(SB)/8, $c; DATA name+at+24(SB)/8, $d
`},
	{"EIGHT", `
// Eight of them.
#define EIGHT(name, at, a, b, c, d, e, f, g, h) \
	DATA name+at(SB)/8, $a; DATA name+at+8(SB)/8, $b; DATA name+at+16(SB)/8, $c; DATA name+at+24(SB)/8, $d; \
	DATA name+at+32(SB)/8, $e; DATA name+at+40(SB)/8, $f; DATA name+at+48(SB)/8, $g; DATA name+at+56(SB)/8, $h
`},
}

func printerConfig(pkg string) printer.Config {
	return printer.Config{Argv: []string{"go", "generate"}, Pkg: pkg}
}

// render writes one file of the registry in memory.
func render(g generator, c *x86.Constants) (files []output, functions []function, err error) {
	f := x86.NewFile(c)
	g.write(f)
	file, err := f.Result()
	if err != nil {
		return nil, nil, err
	}
	if err := pass.Compile.Execute(file); err != nil {
		return nil, nil, err
	}
	cfg := printerConfig(packageOf(g.file))
	for ext, p := range map[string]printer.Printer{".s": printer.NewGoAsm(cfg), ".go": printer.NewStubs(cfg)} {
		text, err := p.Print(file)
		if err != nil {
			return nil, nil, err
		}
		if ext == ".go" {
			text = append(text, declareBits(f.Bits)...)
		} else {
			text = blankLines.ReplaceAll(text, []byte("\n$1"))
		}
		files = append(files, output{g.file + "_amd64" + ext, text})
	}
	for _, fn := range file.Functions() {
		functions = append(functions, function{f.Levels[fn.Name], fn})
	}
	return files, functions, nil
}

// declareBits declares the bits of modes.
func declareBits(bits []x86.Bit) string {
	if len(bits) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n// The bits of the argument mode.\nconst (\n")
	for i, bit := range bits {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "\t// %s %s\n\t%s = %d\n", bit.Name, bit.Doc, bit.Name, bit.Value)
	}
	b.WriteString(")\n")
	return b.String()
}

// renderLevels writes down what each level's kernels need.
func renderLevels() output {
	var b strings.Builder
	b.WriteString("// Code generated by command: go generate. DO NOT EDIT.\n\n//go:build !purego\n\npackage cpu\n\n")
	b.WriteString("// levelFeatures lists the instruction set extensions that the kernels of each level use, lowest level first.\n")
	b.WriteString("var levelFeatures = []struct {\n\tlevel    Level\n\tfeatures []string\n}{\n")
	for _, l := range append(levels, x86.AMX) {
		fmt.Fprintf(&b, "\t{%v, []string{\"%s\"}},\n", l, strings.Join(l.Features(), `", "`))
	}
	b.WriteString("}\n")
	return output{"../internal/cpu/zlevels_amd64.go", []byte(b.String())}
}
