// Command arm64 compares the NEON kernels with what a C compiler makes of plain C, without an arm64 machine: it counts the instructions
// that an emulator executes, and asks llvm-mca how many cycles a Neoverse V1 would need for the loops. Neither knows memory, caches
// or branches: this orders candidates, and no time follows from it.
//
//	go run ./bench/arm64 -out bench/results/arm64.md
//
// Debian: qemu-user, gcc-aarch64-linux-gnu, libc6-dev-arm64-cross, llvm-19 (any llvm-mca; -mca names it).
package main

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// kernels are what is compared, and how many elements (or multiply-adds) a call has.
var kernels = []struct {
	name, unit string
	elements   int
}{
	{"gemm", "multiply-add", 64 * 64 * 64}, {"depthwise", "multiply-add", 64 * 16 * 128},
	{"exp", "element", 4096}, {"swish", "element", 4096},
	{"log", "element", 4096}, {"sincos", "element", 4096}, {"relu", "element", 4096}, {"add", "element", 4096}, {"axpy", "element", 4096},
	{"dot", "element", 4096}, {"adam", "element", 4096},
}

// A build is one program that has all kernels.
type build struct {
	title, path string
	symbols     func(name string) bool // those whose instructions are counted
	low, high   uint64                 // their addresses
	mark        string                 // the function that the program calls before and after the call that counts
	marked      uint64                 // its address
	text        map[uint64]string      // the instructions
	calls       []map[uint64]int       // of each kernel, how often a call executes the instruction at an address
}

func main() {
	out, mca, qemu, gcc := flag.String("out", "", "write the page to this file"), flag.String("mca", "llvm-mca-19", "llvm-mca"),
		flag.String("qemu", "qemu-aarch64", "the emulator"), flag.String("gcc", "aarch64-linux-gnu-gcc", "the C compiler")
	flag.Parse()
	if err := run(*out, *mca, *qemu, *gcc); err != nil {
		fmt.Fprintln(os.Stderr, "arm64:", err)
		os.Exit(1)
	}
}

func run(out, mca, qemu, gcc string) error {
	dir, err := os.MkdirTemp("", "equivcnp-arm64")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	builds, err := compile(dir, gcc)
	if err != nil {
		return err
	}
	var page bytes.Buffer
	if err := head(&page, mca, qemu, gcc, builds); err != nil {
		return err
	}
	for _, b := range builds {
		if err := b.trace(dir, qemu); err != nil {
			return fmt.Errorf("%s: %w", b.title, err)
		}
	}
	for i, k := range kernels {
		fmt.Fprintf(&page, "| %s | %s |", k.name, k.unit)
		var instructions, cycles []string
		for _, b := range builds {
			m, err := b.measure(mca, b.calls[i], k.elements)
			if err != nil {
				return fmt.Errorf("%s: %s: %w", b.title, k.name, err)
			}
			instructions = append(instructions, fmt.Sprintf(" %.3f |", m.instructions))
			cycles = append(cycles, fmt.Sprintf(" %.3f |", m.cycles))
			fmt.Fprintf(os.Stderr, "%s: %s: %.3f instructions, %.3f cycles (%.0f %% in the loops)\n", k.name, b.title, m.instructions,
				m.cycles, 100*m.share)
		}
		fmt.Fprintln(&page, strings.Join(instructions, "")+strings.Join(cycles, ""))
	}
	if out == "" {
		_, err = os.Stdout.Write(page.Bytes())
		return err
	}
	return os.WriteFile(out, page.Bytes(), 0o666)
}

// compile builds ours and the C program, for NEON and for the V1's own vectors of 256 bits.
func compile(dir, gcc string) ([]*build, error) {
	ours := &build{title: "ours", path: filepath.Join(dir, "ours"),
		symbols: func(s string) bool { return strings.HasPrefix(s, "github.com/equivcnp/equivcnp/simd.") }, mark: "main.mark"}
	cmd := exec.Command("go", "build", "-o", ours.path, "./bench/arm64/ours")
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0")
	if b, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w: %s", err, b)
	}
	builds := []*build{ours}
	for _, c := range []struct {
		title string
		flags []string
	}{
		{"gcc, NEON", []string{"-mcpu=neoverse-v1+nosve"}},
		{"gcc, SVE of 256 bits", []string{"-mcpu=neoverse-v1", "-msve-vector-bits=256"}},
	} {
		b := &build{title: c.title, path: filepath.Join(dir, fmt.Sprintf("c%d", len(builds))),
			symbols: func(s string) bool { return strings.HasPrefix(s, "k_") }, mark: "mark"}
		args := append([]string{"-O3", "-static", "-fno-math-errno", "-fno-trapping-math", "-o", b.path,
			"bench/arm64/plain/kernels.c", "-lm"}, c.flags...)
		if out, err := exec.Command(gcc, args...).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s: %w: %s", gcc, err, out)
		}
		builds = append(builds, b)
	}
	for _, b := range builds {
		if err := b.locate(); err != nil {
			return nil, err
		}
	}
	return builds, nil
}

// locate finds the addresses between which all counted functions lie.
func (b *build) locate() error {
	out, err := exec.Command("go", "tool", "nm", "-size", b.path).Output()
	if err != nil {
		return fmt.Errorf("go tool nm %s: %w", b.path, err)
	}
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) < 4 || f[2] != "T" && f[2] != "t" || !b.symbols(f[3]) && f[3] != b.mark {
			continue
		}
		at, err1 := strconv.ParseUint(f[0], 16, 64)
		size, err2 := strconv.ParseUint(f[1], 10, 64)
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		if f[3] == b.mark {
			b.marked = at
			continue
		}
		if b.low == 0 || at < b.low {
			b.low = at
		}
		b.high = max(b.high, at+max(size, 4))
	}
	if b.low == 0 || b.marked == 0 {
		return fmt.Errorf("%s has none of the functions, or no %s", b.path, b.mark)
	}
	return b.disassemble()
}

// measured is a kernel's instructions and modelled cycles for one element.
type measured struct {
	instructions, cycles, share float64
}

// measure counts the instructions of a call, and models its loops, each as if it went round for ever.
func (b *build) measure(mca string, counts map[uint64]int, elements int) (measured, error) {
	total := 0
	for _, n := range counts {
		total += n
	}
	m := measured{instructions: float64(total) / float64(elements)}
	for _, l := range blocks(counts) {
		share := float64(len(l.at)*l.times) / float64(total)
		if share < leastShare {
			continue
		}
		var code strings.Builder
		for _, at := range l.at {
			fmt.Fprintln(&code, b.text[at])
		}
		cycles, err := model(mca, code.String())
		if err != nil {
			return m, err
		}
		m.cycles += cycles * float64(l.times) / float64(elements)
		m.share += share
	}
	return m, nil
}

// leastShare is the part of a call's instructions below which a block is left out of the model.
const leastShare = 0.02

var (
	traced       = regexp.MustCompile(`\[[0-9a-f]+/([0-9a-f]+)/`)
	disassembled = regexp.MustCompile(`^\s*([0-9a-f]+):\s+[0-9a-f]{8}\s+(.*)$`)
	target       = regexp.MustCompile(`\b[0-9a-f]+ <[^>]*>`)
	branch       = regexp.MustCompile(`^(b|bl|br|blr|ret|b\.\w+|cbn?z|tbn?z|svc)\b`)
)

// disassemble reads the instructions of all counted functions, branches without their targets.
func (b *build) disassemble() error {
	out, err := exec.Command("aarch64-linux-gnu-objdump", "-d", fmt.Sprintf("--start-address=0x%x", b.low),
		fmt.Sprintf("--stop-address=0x%x", b.high), b.path).Output()
	if err != nil {
		return fmt.Errorf("objdump: %w", err)
	}
	b.text = map[uint64]string{}
	for line := range strings.Lines(string(out)) {
		m := disassembled.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if m == nil {
			continue
		}
		at, err := strconv.ParseUint(m[1], 16, 64)
		if err != nil {
			return err
		}
		text, _, _ := strings.Cut(m[2], "//")
		b.text[at] = strings.TrimSpace(target.ReplaceAllString(text, "#0"))
	}
	return nil
}

// trace runs all kernels in the emulator, which tells the beginning of every block of instructions that it executes, and counts how often
// each instruction is executed between two marks. A block ends with a branch or a page.
func (b *build) trace(dir, qemu string) error {
	log := filepath.Join(dir, "trace")
	cmd := exec.Command(qemu, "-cpu", "max,sve-default-vector-length=32", "-d", "exec,nochain", "-dfilter",
		fmt.Sprintf("0x%x..0x%x,0x%x..0x%x", b.low, b.high, b.marked, b.marked), "-D", log, b.path)
	for _, k := range kernels {
		cmd.Args = append(cmd.Args, k.name)
	}
	cmd.Env = append(os.Environ(), "GODEBUG=asyncpreemptoff=1") // a signal would cut a block in two
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", qemu, err, out)
	}
	f, err := os.Open(log)
	if err != nil {
		return err
	}
	defer f.Close()
	marks := 0
	for lines := bufio.NewScanner(f); lines.Scan(); {
		m := traced.FindSubmatch(lines.Bytes())
		if m == nil {
			continue
		}
		at, err := strconv.ParseUint(string(m[1]), 16, 64)
		if err != nil {
			return err
		}
		if at == b.marked {
			if marks++; marks%2 == 1 {
				b.calls = append(b.calls, map[uint64]int{})
			}
			continue
		}
		if marks%2 == 0 || at < b.low || at >= b.high {
			continue
		}
		for counts := b.calls[len(b.calls)-1]; ; at += 4 {
			counts[at]++
			if branch.MatchString(b.text[at]) || at%4096 == 4092 || b.text[at] == "" {
				break
			}
		}
	}
	if len(b.calls) != len(kernels) || marks != 2*len(kernels) {
		return fmt.Errorf("%d marks in the emulator's log, need %d", marks, 2*len(kernels))
	}
	return nil
}

// A block is a run of successive instructions that were executed equally often.
type block struct {
	at    []uint64
	times int
}

func blocks(counts map[uint64]int) (all []block) {
	for _, at := range slices.Sorted(maps.Keys(counts)) {
		if last := len(all) - 1; last >= 0 {
			b := &all[last]
			if b.at[len(b.at)-1]+4 == at && b.times == counts[at] {
				b.at = append(b.at, at)
				continue
			}
		}
		all = append(all, block{[]uint64{at}, counts[at]})
	}
	return all
}

var blockCycles = regexp.MustCompile(`Total Cycles:\s+(\d+)`)

// model asks llvm-mca for the cycles of one turn of the loop on a Neoverse V1.
func model(mca, code string) (float64, error) {
	const turns = 200
	cmd := exec.Command(mca, "-mtriple=aarch64-linux-gnu", "-mcpu=neoverse-v1", fmt.Sprintf("-iterations=%d", turns))
	cmd.Stdin = strings.NewReader(code)
	var says bytes.Buffer
	cmd.Stderr = &says
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("%s: %w: %s\n%s", mca, err, says.Bytes(), code)
	}
	m := blockCycles.FindSubmatch(out)
	if m == nil {
		return 0, fmt.Errorf("%s: no cycles in its answer", mca)
	}
	total, err := strconv.ParseFloat(string(m[1]), 64)
	return total / turns, err
}

// head writes what the page is about and the head of its table.
func head(w io.Writer, mca, qemu, gcc string, builds []*build) error {
	var versions []string
	for _, c := range [][]string{{gcc, "--version"}, {qemu, "--version"}, {mca, "--version"}, {"go", "version"}} {
		out, err := exec.Command(c[0], c[1:]...).Output()
		if err != nil {
			return fmt.Errorf("%s: %w", c[0], err)
		}
		for line := range strings.Lines(string(out)) {
			if strings.Contains(strings.ToLower(line), "version") || strings.Contains(line, "gcc") {
				versions = append(versions, strings.TrimSpace(line))
				break
			}
		}
	}
	fmt.Fprintf(w, `# NEON kernels, counted without a machine

No arm64 machine was at hand. So this page has no times: it counts the instructions that an emulator executes for a kernel, and has
llvm-mca's model of a Neoverse V1 say how many cycles its loops take when all data are in the first-level cache. Beside ours is plain C
([kernels.c](../arm64/plain/kernels.c)) from gcc -O3 -mcpu=neoverse-v1, once with NEON's vectors of 128 bits, as ours has them, once with
the V1's own of 256 bits, which ours does not use. Ours also promises what the C does not: NaN, infinities, subnormal results, errors of
one or two units, any length: logarithm, sine and cosine pay for it. Numbers are per element or multiply-add, of one call; fewer are better.

    go run ./bench/arm64 -out bench/results/arm64.md

%s.

`, strings.Join(versions, "; "))
	fmt.Fprint(w, "| kernel | per |")
	for _, what := range []string{"instructions", "cycles"} {
		for _, b := range builds {
			fmt.Fprintf(w, " %s: %s |", what, b.title)
		}
	}
	_, err := fmt.Fprintf(w, "\n|---|---|%s\n", strings.Repeat("---:|", 2*len(builds)))
	return err
}
