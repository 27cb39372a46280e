package main

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"maps"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/cpuid/v2"
	"gonum.org/v1/gonum/stat/combin"

	"github.com/equivcnp/equivcnp/internal/cpu"
	"github.com/equivcnp/equivcnp/simd"
)

//go:embed report.html
var pageText string

var pageTemplate = template.Must(template.New("report").Funcs(template.FuncMap{
	"times":   times,
	"g":       func(x float64) string { return fmt.Sprintf("%.4g", x) },
	"percent": func(x float64) string { return fmt.Sprintf("%.1f %%", 100*x) },
}).Parse(pageText))

// page is what report.html shows.
type page struct {
	*reportFile
	Cautions []string
	Limits   *machine
	Roofline *roofline
	Means    []pageMean
	Parts    []pagePart
	Rejected []reportStep
}

// pageMean is the geometric mean of a part's ratios to one peer, or to the fastest of each line.
type pageMean struct {
	Part, Peer string
	Mean       float64
	Lines      int
	Won, Lost  string // lines on which ours is faster or slower beyond noise, - if no test of so few rounds can say
}

// pagePart is the table of one part.
type pagePart struct {
	Name  string
	Lines []pageLine
}

// pageLine is a line of the page: ours, what binds it, and the fastest peer.
type pageLine struct {
	Name, Metric  string
	N             int
	Value, Spread float64
	Bound         string // how much of which limit it reaches
	Peer          string
	Ratio         string
	P             string
	Note          string // what the peer does not promise
}

// writePage writes the page of a report.
func writePage(path string, f *reportFile) error {
	p := &page{reportFile: f, Rejected: f.refused()}
	p.Limits = limitsIn(f)
	kernels := kernelLines(f, p.Limits)
	if p.Limits != nil && len(kernels) > 0 {
		p.Roofline = newRoofline(p.Limits, kernels)
	}
	bounds := map[string]string{}
	for i := range kernels {
		bounds[kernels[i].Name] = kernels[i].OfLimit()
	}
	all := f.ratios()
	p.Means = pageMeans(f, all)
	p.Parts = pageParts(f, all, bounds)
	p.Cautions = cautions(f)
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, p); err != nil {
		return err
	}
	return replaceFile(path, b.Bytes())
}

// cautions are the sentences at the top of the page.
func cautions(f *reportFile) (says []string) {
	if n := len(f.refused()); n > 0 {
		says = append(says, fmt.Sprintf("%d of %d steps were refused; the last table says why.", n, len(f.Steps)))
	}
	for i := range f.Lines {
		l := &f.Lines[i]
		if l.Part == "limits" && l.spread() > movingLimits {
			says = append(says, fmt.Sprintf("The machine's own limit %s moved by %.0f %% between rounds: it was busy or changed its clock.",
				l.Name, 100*l.spread()))
		}
	}
	rounds := 0
	for _, r := range f.ratios() {
		rounds = max(rounds, r.Rounds)
	}
	if p := leastP(rounds); rounds > 0 && p > expectedNoise {
		says = append(says, fmt.Sprintf("Of %d rounds no test can tell a difference from noise (p is %.2g at least): "+
			"no line is called won or lost.", rounds, p))
	}
	if len(f.Steps) == 0 { // as in figures that were measured before there were reports
		return says
	}
	busy := slices.MaxFunc(f.Steps, func(a, b reportStep) int { return cmp.Compare(counted(a), counted(b)) })
	if s := sayShares(busy.Others, busy.Stolen); s != "" && busy.Refused == "" {
		says = append(says, "In the busiest step that counts, "+s+".")
	}
	return says
}

// leastP returns the smallest p that the Mann-Whitney U test can give for that many values on each side: two of all the orders of both are
// as far apart as they can be.
func leastP(rounds int) float64 {
	return min(1, 2/float64(combin.Binomial(2*min(rounds, 12), min(rounds, 12))))
}

// counted returns the share of the CPUs' time that others took during a step, 0 if the step was refused.
func counted(s reportStep) float64 {
	if s.Refused != "" {
		return 0
	}
	return max(s.Others, s.Stolen)
}

// limitsIn returns the machine's limits as the report's part limits has them, nil without it.
func limitsIn(f *reportFile) *machine {
	m := &machine{level: f.Machine.Level}
	for i := range f.Lines {
		l := &f.Lines[i]
		parts := strings.Split(l.Name, "/")
		switch {
		case l.Part != "limits" || len(parts) < 3:
		case parts[1] == "fma" && l.Metric == "gflops":
			m.peak = l.median()
		case parts[1] == "read" && len(parts) == 4:
			m.reads = append(m.reads, readLimit{parts[3], l.N, l.median()})
		}
	}
	if m.peak == 0 || len(m.reads) == 0 {
		return nil
	}
	return m
}

// kernelLines are the report's kernels of ours with the work that this program's list of kernels counts for them.
func kernelLines(f *reportFile, m *machine) []kernelLine {
	if m == nil {
		return nil
	}
	of := map[string]*reportLine{}
	for i := range f.Lines {
		if l := &f.Lines[i]; of[l.Name+" "+l.Metric] == nil {
			of[l.Name+" "+l.Metric] = l
		}
	}
	var all []kernelLine
	for _, k := range kernelCases() {
		first := k.metrics[0]
		l := of[k.name+" "+first.metric]
		if l == nil {
			continue
		}
		t := kernelLine{Name: k.name, Metric: first.metric, Value: l.median(), work: k.work}
		t.Seconds = secondsOf(first, t.Value)
		t.Least, t.Bound = m.least(k.work)
		all = append(all, t)
	}
	return all
}

// secondsOf returns the time of a call whose metric has that value: metrics are proportional to the time or to its inverse.
func secondsOf(m metric, value float64) float64 {
	one := m.value(1)
	if k := (key{Metric: m.metric}); k.larger() {
		return one / value
	}
	return value / one
}

// pageMeans are the geometric means by part: to the fastest peer of each line, then to each peer.
func pageMeans(f *reportFile, all []ratio) []pageMean {
	var means []pageMean
	add := func(part, name string, some []ratio) {
		m := pageMean{Part: part, Peer: name}
		if m.Mean, m.Lines = meanRatio(some, part); m.Lines == 0 {
			return
		}
		won, lost, rounds := 0, 0, 0
		for _, r := range some {
			if r.Ours.Part != part {
				continue
			}
			rounds = max(rounds, r.Rounds)
			won += boolean(r.Different && r.Median > 1)
			lost += boolean(r.Different && r.Median < 1)
		}
		m.Won, m.Lost = "-", "-"
		if leastP(rounds) <= expectedNoise {
			m.Won, m.Lost = strconv.Itoa(won), strconv.Itoa(lost)
		}
		means = append(means, m)
	}
	best := bestPeers(all)
	for _, part := range reportParts {
		add(part, "the fastest of each line", best)
		by := map[string][]ratio{}
		for _, r := range all {
			title := f.versionOf(r.Who)
			by[title] = append(by[title], r)
		}
		for _, title := range slices.Sorted(maps.Keys(by)) {
			add(part, title, by[title])
		}
	}
	return means
}

// pageParts are the tables: every line of ours, its limit and its fastest peer.
func pageParts(f *reportFile, all []ratio, bounds map[string]string) []pagePart {
	fastest := map[*reportLine]ratio{}
	for _, r := range bestPeers(all) {
		fastest[r.Ours] = r
	}
	var parts []pagePart
	for _, name := range reportParts {
		p := pagePart{Name: name}
		for i := range f.Lines {
			l := &f.Lines[i]
			if l.Part != name || name != "limits" && whoseAt(strings.Split(l.Name, "/")) < 0 {
				continue
			}
			line := pageLine{Name: l.Name, Metric: l.Metric, N: l.N, Value: l.median(), Spread: l.spread(), Bound: bounds[l.Name]}
			if r, ok := fastest[l]; ok {
				line.Peer = r.Who
				line.Ratio = fmt.Sprintf("%.2f (%.2f to %.2f)", r.Median, r.Least, r.Most)
				line.P = fmt.Sprintf("%.2g", r.P)
				if !r.Different {
					line.P += ", noise"
				}
				line.Note = noteOn(r, all)
			}
			p.Lines = append(p.Lines, line)
		}
		if p.Lines != nil {
			parts = append(parts, p)
		}
	}
	return parts
}

// description says what the machine is.
type description struct {
	CPU, Level, Levels, System, Go, Version, Caches string
	Family, Model, Cores                            int
}

func describe() description {
	d := description{CPU: cpuid.CPU.BrandName, Level: simd.CurrentLevel().String(), System: runtime.GOOS + "/" + runtime.GOARCH,
		Go: runtime.Version(), Family: cpuid.CPU.Family, Model: cpuid.CPU.Model, Cores: runtime.GOMAXPROCS(0)}
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
