package main

import (
	"bytes"
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/cpuid/v2"
	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/internal/cpu"
	"github.com/equivcnp/equivcnp/internal/limits"
	"github.com/equivcnp/equivcnp/simd"
)

// reportParts are the parts of a report, in their order. Each but the first is a command of its own, which runs in a process of its own.
var reportParts = []string{"kernels", "linalg", "neighbor", "inference", "train"}

func reportCommand() *cobra.Command {
	var f reportFlags
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Measure this machine in one run and write one HTML page: limits, roofline, kernels, matrices, searches, models",
		Long: `Measure this machine, and write index.html, one page without any external resource, and report.jsonl, all lines behind it, for
bench compare. The page has the machine's limits, a roofline (speed over operations per byte) with a roof for every cache level
and a dot for every kernel, tables, and what was measured how. A machine that did other work meanwhile, or whose clock changed, is
said so at its top. PEER_SECONDS sets the time per line; with the usual one the whole takes some five minutes.`,
		Example: "  go run ./bench report --out /tmp/report\n  go run ./bench report --out /tmp/report --parts kernels --filter gemm",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.run(cmd.OutOrStdout(), cmd.ErrOrStderr()) },
	}
	cmd.Flags().StringVar(&f.out, "out", "", "folder for index.html and report.jsonl (needed)")
	cmd.Flags().StringVar(&f.dir, "weights", "../shared/weights", "folder with the authors' checkpoints")
	cmd.Flags().StringSliceVar(&f.parts, "parts", reportParts[:4], "what to measure, of "+strings.Join(reportParts, ", "))
	cmd.Flags().StringVar(&f.filter, "filter", "", "kernels whose names match this regular expression")
	must(cmd.MarkFlagRequired("out"))
	return cmd
}

type reportFlags struct {
	out, dir, filter string
	parts            []string
}

// run measures, and writes the page.
func (f *reportFlags) run(stdout, stderr io.Writer) error {
	match, err := expression(f.filter)
	if err != nil {
		return err
	}
	for _, p := range f.parts {
		if !slices.Contains(reportParts, p) {
			return fmt.Errorf("--parts %s: there are %s", p, strings.Join(reportParts, ", "))
		}
	}
	if err := os.MkdirAll(f.out, 0o777); err != nil { // before minutes of measuring
		return err
	}
	p := page{Machine: describe(), Started: time.Now().UTC().Format("2006-01-02 15:04 UTC"), Budget: budget().String()}
	busy, before := watchOthers(), fmaPeak()
	lines := &report{w: io.Discard}
	if slices.Contains(f.parts, "kernels") {
		// One core: gonum divides large products among goroutines.
		all := runtime.GOMAXPROCS(1)
		err := p.kernels(stderr, lines, kernelCases(), match.MatchString)
		runtime.GOMAXPROCS(all)
		if err != nil {
			return err
		}
	}
	for _, part := range f.parts {
		args := []string{part, "--json"}
		switch part {
		case "kernels":
			continue
		case "inference":
			if _, err := os.Stat(f.dir); err != nil {
				p.Notes = append(p.Notes, "Models were not measured: --weights names no folder with the authors' checkpoints.")
				continue
			}
			args = append(args, "--weights", f.dir)
		}
		fmt.Fprintf(stderr, "\r%-70s", part)
		from := len(lines.kept)
		if err := lines.child(part, args...); err != nil {
			return err
		}
		p.Tables = append(p.Tables, table{Name: part, Lines: lines.kept[from:]})
	}
	fmt.Fprintln(stderr)
	if after := fmaPeak(); !(math.Abs(after/before-1) <= movingLimits) {
		p.Cautions = append(p.Cautions,
			fmt.Sprintf("The machine made %.0f GFLOP/s of multiply-adds at the start and %.0f at the end: it was busy, or changed its clock.", before, after))
	}
	if s := busy.say(); s != "" {
		p.Cautions = append(p.Cautions, strings.ToUpper(s[:1])+s[1:]+".")
	}
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, &p); err != nil {
		return err
	}
	if err := errors.Join(writeSamples(filepath.Join(f.out, "report.jsonl"), lines.kept),
		replaceFile(filepath.Join(f.out, "index.html"), b.Bytes())); err != nil {
		return err
	}
	for _, c := range p.Cautions {
		fmt.Fprintln(stderr, "caution:", c)
	}
	_, err = fmt.Fprintln(stdout, filepath.Join(f.out, "index.html"))
	return err
}

// fmaPeak is the machine's speed of multiply-adds now, in GFLOP/s on one core.
func fmaPeak() float64 {
	flop, level := 0, simd.CurrentLevel().String()
	t := best(func() { flop = limits.FMA(level, 1<<10) })
	return float64(flop) / t * 1e-9
}

//go:embed report.html
var pageText string

var pageTemplate = template.Must(template.New("report").Funcs(template.FuncMap{
	"times": times,
	"g":     func(x float64) string { return fmt.Sprintf("%.4g", x) },
}).Parse(pageText))

// page is what report.html shows.
type page struct {
	Machine         description
	Started, Budget string
	Cautions, Notes []string
	Limits          *machine
	Roofline        *roofline
	Kernels         []kernelLine
	Tables          []table
}

// table is the lines of one command.
type table struct {
	Name  string
	Lines []sample
}

// description says what the machine is.
type description struct {
	CPU, Level, Levels, System, Go, Version, Caches string
	Cores                                           int
}

func describe() description {
	d := description{CPU: cpuid.CPU.BrandName, Level: simd.CurrentLevel().String(), System: runtime.GOOS + "/" + runtime.GOARCH,
		Go: runtime.Version(), Cores: runtime.GOMAXPROCS(0)}
	if d.CPU == "" {
		d.CPU = "CPU without a name"
	}
	var names []string
	for _, l := range simd.Levels() {
		names = append(names, l.String())
	}
	d.Levels = strings.Join(names, ", ")
	c := cpu.DataCaches()
	d.Caches = fmt.Sprintf("L1 %d KiB, L2 %d KiB, L3 %d KiB (virtual machines report the host's)", c.L1>>10, c.L2>>10, c.L3>>10)
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				d.Version = s.Value[:min(12, len(s.Value))]
			}
		}
	}
	return d
}

// kernels measures those kernels whose names match, and the limits of one core.
func (p *page) kernels(progress io.Writer, lines *report, cases []kernelCase, match func(string) bool) error {
	m := limitsOf(simd.CurrentLevel())
	p.Limits = m
	if err := m.report(lines); err != nil {
		return err
	}
	for _, k := range cases {
		if !match(k.name) {
			continue
		}
		fmt.Fprintf(progress, "\r%-70s", k.name)
		t, err := k.measure(m)
		if err != nil {
			return err
		}
		p.Kernels = append(p.Kernels, t)
		for _, metric := range k.metrics {
			if err := lines.add(sample{k.name, metric.n, metric.metric, metric.value(t.Seconds)}); err != nil {
				return err
			}
		}
	}
	if p.Kernels == nil {
		return errors.New("--filter: no kernel's name matches")
	}
	p.Roofline = newRoofline(m, p.Kernels)
	return nil
}

// roofline is a picture of speed over operations per byte (Williams, Waterman, Patterson, "Roofline", Communications of the ACM 52,
// 2009), both axes logarithmic: under a flat roof, the machine's multiply-adds, and slanting ones, its reads from each cache.
type roofline struct {
	Width, Height int
	Roofs         []roof
	Dots          []dot
	X, Y          []tick
	Peak          roof
}

// roof is a line of the picture, in its coordinates.
type roof struct {
	Label          string
	X1, Y1, X2, Y2 float64
}

// dot is a kernel.
type dot struct {
	X, Y        float64
	Cache       int // the number of the roof above it: the place that holds its data
	Name, Value string
}

// tick is a number at an axis.
type tick struct {
	At    float64
	Label string
}

// The picture's size and margins, in pixels.
const (
	roofWidth, roofHeight = 900, 520
	roofLeft, roofBottom  = 60, 40
	roofTop, roofRight    = 16, 16
)

// newRoofline draws the kernels that count operations and bytes.
func newRoofline(m *machine, kernels []kernelLine) *roofline {
	r := &roofline{Width: roofWidth, Height: roofHeight}
	x0, x1 := 1.0/16, 16.0 // operations per byte
	y0, y1 := m.peak/16, m.peak*1.3
	each := func(f func(k *kernelLine, intensity, speed float64)) {
		for i := range kernels {
			k := &kernels[i]
			if k.work.flop > 0 && k.work.bytes > 0 && k.Seconds > 0 {
				f(k, float64(k.work.flop)/float64(k.work.bytes), float64(k.work.flop)/k.Seconds*1e-9)
			}
		}
	}
	each(func(_ *kernelLine, x, y float64) {
		x0, x1, y0, y1 = min(x0, x/1.5), max(x1, x*1.5), min(y0, y/1.5), max(y1, y*1.2)
	})
	atX := func(x float64) float64 {
		return roofLeft + (roofWidth-roofLeft-roofRight)*math.Log(x/x0)/math.Log(x1/x0)
	}
	atY := func(y float64) float64 {
		return roofTop + (roofHeight-roofTop-roofBottom)*math.Log(y1/y)/math.Log(y1/y0)
	}
	for _, b := range m.reads {
		from, to := max(x0, y0/b.gbps), min(x1, m.peak/b.gbps)
		if from < to {
			r.Roofs = append(r.Roofs, roof{fmt.Sprintf("%s %.3g GB/s", b.name, b.gbps), atX(from), atY(from * b.gbps), atX(to),
				atY(to * b.gbps)})
		} else {
			r.Roofs = append(r.Roofs, roof{Label: b.name}) // outside the picture, but dots count roofs
		}
	}
	first := min(x1, max(x0, m.peak/m.reads[0].gbps))
	r.Peak = roof{fmt.Sprintf("multiply-adds %.3g GFLOP/s", m.peak), atX(first), atY(m.peak), atX(x1), atY(m.peak)}
	each(func(k *kernelLine, x, y float64) {
		cache := slices.IndexFunc(m.reads, func(b readLimit) bool { return k.work.footprint <= 2*b.bytes })
		if cache < 0 {
			cache = len(m.reads) - 1
		}
		value := fmt.Sprintf("%s: %.4g GFLOP/s at %.3g operations a byte, data in %s", k.Name, y, x, m.reads[cache].name)
		if of := k.OfLimit(); of != "" {
			value += ", " + of
		}
		r.Dots = append(r.Dots, dot{atX(x), atY(y), cache, k.Name, value})
	})
	slices.SortStableFunc(r.Dots, func(a, b dot) int { return cmp.Compare(a.Cache, b.Cache) })
	for e := math.Ceil(math.Log2(x0)); e <= math.Log2(x1); e += 2 {
		label := fmt.Sprintf("%g", math.Exp2(e))
		if e < 0 {
			label = fmt.Sprintf("1/%g", math.Exp2(-e))
		}
		r.X = append(r.X, tick{atX(math.Exp2(e)), label})
	}
	for e := math.Ceil(math.Log2(y0)); e <= math.Log2(y1); e++ {
		r.Y = append(r.Y, tick{atY(math.Exp2(e)), fmt.Sprintf("%g", math.Exp2(e))})
	}
	return r
}
