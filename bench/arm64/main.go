// Command arm64 compares the NEON kernels with what a C compiler makes of plain C, without an arm64 machine: it counts the instructions
// that an emulator executes, and asks llvm-mca how many cycles a Neoverse V1 would need for the hottest loop. Neither knows memory, caches
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
	for _, k := range kernels {
		fmt.Fprintf(&page, "| %s | %s |", k.name, k.unit)
		var instructions, cycles []string
		for _, b := range builds {
			m, err := b.measure(dir, qemu, mca, k.name, k.elements)
			if err != nil {
				return fmt.Errorf("%s: %s: %w", b.title, k.name, err)
			}
			instructions = append(instructions, fmt.Sprintf(" %.3f |", m.instructions))
			cycles = append(cycles, fmt.Sprintf(" %.3f |", m.cycles))
			fmt.Fprintf(os.Stderr, "%s: %s: %.3f instructions, %.3f cycles (%.0f %% in the loop)\n", k.name, b.title, m.instructions,
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
		symbols: func(s string) bool { return strings.HasPrefix(s, "github.com/equivcnp/equivcnp/simd.") }}
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
			symbols: func(s string) bool { return strings.HasPrefix(s, "k_") }}
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
		if len(f) < 4 || f[2] != "T" && f[2] != "t" || !b.symbols(f[3]) {
			continue
		}
		at, err1 := strconv.ParseUint(f[0], 16, 64)
		size, err2 := strconv.ParseUint(f[1], 10, 64)
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		if b.low == 0 || at < b.low {
			b.low = at
		}
		b.high = max(b.high, at+max(size, 4))
	}
	if b.low == 0 {
		return fmt.Errorf("%s has none of the functions", b.path)
	}
	return nil
}

// measured is a kernel's instructions and modelled cycles for one element.
type measured struct {
	instructions, cycles, share float64
}

// measure counts the instructions of two calls as the difference between three and one, and models the hottest loop.
func (b *build) measure(dir, qemu, mca, kernel string, elements int) (measured, error) {
	once, err := b.trace(dir, qemu, kernel, 1)
	if err != nil {
		return measured{}, err
	}
	counts, err := b.trace(dir, qemu, kernel, 3)
	if err != nil {
		return measured{}, err
	}
	total := 0
	for at := range counts {
		counts[at] -= once[at]
		total += counts[at]
	}
	m := measured{instructions: float64(total) / 2 / float64(elements)}
	loop, times := hottest(counts)
	m.share = float64(len(loop)*times) / float64(total)
	code, err := b.code(loop)
	if err != nil {
		return m, err
	}
	cycles, err := model(mca, code)
	if err != nil {
		return m, err
	}
	m.cycles = cycles * float64(times) / 2 / float64(elements)
	return m, nil
}

var traced = regexp.MustCompile(`\[[0-9a-f]+/([0-9a-f]+)/`)

// trace runs a kernel in the emulator, an instruction at a time, and counts how often each address was executed.
func (b *build) trace(dir, qemu, kernel string, times int) (map[uint64]int, error) {
	log := filepath.Join(dir, "trace")
	cmd := exec.Command(qemu, "-cpu", "max,sve-default-vector-length=32", "-singlestep", "-d", "exec,nochain", "-dfilter",
		fmt.Sprintf("0x%x..0x%x", b.low, b.high), "-D", log, b.path, kernel, fmt.Sprint(times))
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s: %w: %s", qemu, err, out)
	}
	f, err := os.Open(log)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	counts := map[uint64]int{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if m := traced.FindSubmatch(lines.Bytes()); m != nil {
			at, err := strconv.ParseUint(string(m[1]), 16, 64)
			if err != nil {
				return nil, err
			}
			counts[at]++
		}
	}
	if len(counts) == 0 {
		return nil, errors.New("the emulator traced nothing")
	}
	return counts, nil
}

// hottest returns the run of successive instructions, executed equally often, that has the largest part of all executed ones.
func hottest(counts map[uint64]int) (loop []uint64, times int) {
	var all []uint64
	for at, n := range counts {
		if n > 0 {
			all = append(all, at)
		}
	}
	slices.Sort(all)
	for i := 0; i < len(all); {
		k := i + 1
		for k < len(all) && all[k] == all[k-1]+4 && counts[all[k]] == counts[all[i]] {
			k++
		}
		if (k-i)*counts[all[i]] > len(loop)*times {
			loop, times = all[i:k], counts[all[i]]
		}
		i = k
	}
	return loop, times
}

var (
	disassembled = regexp.MustCompile(`(?m)^\s*[0-9a-f]+:\s+[0-9a-f]{8}\s+(.*)$`)
	target       = regexp.MustCompile(`(b\.?\w*|cbn?z|tbn?z|adrp?)(\s+.*?)?\b[0-9a-f]+ <[^>]*>`)
)

// code is the assembly of the loop, its branches without their targets.
func (b *build) code(loop []uint64) (string, error) {
	out, err := exec.Command("aarch64-linux-gnu-objdump", "-d", fmt.Sprintf("--start-address=0x%x", loop[0]),
		fmt.Sprintf("--stop-address=0x%x", loop[len(loop)-1]+4), b.path).Output()
	if err != nil {
		return "", fmt.Errorf("objdump: %w", err)
	}
	var code strings.Builder
	for _, m := range disassembled.FindAllStringSubmatch(string(out), -1) {
		text, _, _ := strings.Cut(m[1], "//")
		text = target.ReplaceAllString(text, "$1$2#0")
		fmt.Fprintln(&code, strings.TrimSpace(text))
	}
	return code.String(), nil
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
llvm-mca's model of a Neoverse V1 say how many cycles the hottest loop takes when its data are in the first-level cache. Beside ours is
plain C ([kernels.c](../arm64/plain/kernels.c)) from gcc -O3 -mcpu=neoverse-v1, once with NEON's vectors of 128 bits, as ours has them,
once with the V1's own of 256 bits, which ours does not use. Ours also promises what the C does not: NaN, infinities, subnormal results,
errors of one or two units, any length. Numbers are per element or multiply-add, of one call; fewer are better.

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
