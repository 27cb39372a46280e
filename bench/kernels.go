package main

import (
	"fmt"
	"io"
	"math"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/simd"
)

func kernelsCommand() *cobra.Command {
	var (
		asJSON, all bool
		filter      string
	)
	cmd := &cobra.Command{
		Use:   "kernels",
		Short: "Time the kernels of simd on one core, against the machine's limits",
		Long: `Time the kernels of simd on one core: first the machine's own limits, then for every kernel and size its speed, how
much that is of the limit that binds it (multiply-adds, or reads from the cache that holds its data, or from memory;
nothing where neither binds), and how many times faster it is than portable Go and than gonum, where gonum has the
operation.

With --json the lines are named as the peers' programs name theirs, on the same inputs, so that bench report lays both side by
side: ours is the best level of this machine (or EQUIVCNP_SIMD's), ours_generic and so on are the others (--levels). PEER_SECONDS
sets the time per line.`,
		Example: "  go run ./bench kernels --filter depthwise\n  go run ./bench kernels --json --levels > ours.jsonl",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			match, err := expression(filter)
			if err != nil {
				return err
			}
			if !slices.ContainsFunc(kernelCases(), func(k kernelCase) bool { return match.MatchString(k.name) }) {
				return fmt.Errorf("--filter %s: no kernel's name matches", filter)
			}
			// One core: gonum divides large products among goroutines.
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
			r := &report{w: cmd.OutOrStdout(), json: asJSON}
			if asJSON {
				return kernelSamples(r, match, all)
			}
			return kernelTable(cmd.OutOrStdout(), r, match)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one object a line")
	cmd.Flags().StringVar(&filter, "filter", "", "kernels whose names match this regular expression")
	cmd.Flags().BoolVar(&all, "levels", false, "with --json: every instruction set level of this machine, not the best alone")
	return cmd
}

// atLevels measures f at each of the levels, in their order, and goes back to the level before.
func atLevels(levels []simd.Level, f func(simd.Level) error) error {
	defer simd.SetLevel(simd.CurrentLevel()) //nolint:errcheck // the level was the current one
	for _, l := range levels {
		if err := simd.SetLevel(l); err != nil {
			return err
		}
		if err := f(l); err != nil {
			return err
		}
	}
	return nil
}

// kernelSamples prints the lines that bench report and bench compare read.
func kernelSamples(r *report, match *regexp.Regexp, all bool) error {
	if err := limitsOf(simd.CurrentLevel()).report(r); err != nil {
		return err
	}
	return caseSamples(r, kernelCases(), match, all)
}

// caseSamples prints the lines of some kernels.
func caseSamples(r *report, cases []kernelCase, match *regexp.Regexp, all bool) error {
	top := simd.CurrentLevel()
	levels := []simd.Level{top}
	if all {
		levels = simd.Levels()
	}
	for _, k := range cases {
		if !match.MatchString(k.name) {
			continue
		}
		run := k.make()
		add := func(who string, seconds float64) error {
			for _, m := range k.metrics {
				if err := r.add(sample{strings.Replace(k.name, "ours", who, 1), m.n, m.metric, m.value(seconds)}); err != nil {
					return err
				}
			}
			return nil
		}
		err := atLevels(levels, func(l simd.Level) error {
			who := "ours"
			if l != top {
				who += "_" + l.String()
			}
			return add(who, best(run.ours))
		})
		if err != nil {
			return err
		}
		if run.gonum != nil {
			if err := add("gonum", bestWall(run.gonum)); err != nil {
				return err
			}
		}
	}
	return nil
}

// kernelTable prints a line per kernel for people.
func kernelTable(w io.Writer, r *report, match *regexp.Regexp) error {
	m := limitsOf(simd.CurrentLevel())
	if err := m.report(r); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "\n%-34s %11s %-11s %16s %9s %8s\n", "kernel at "+m.level, "", "", "of limit", "/generic",
		"/gonum"); err != nil {
		return err
	}
	for _, k := range kernelCases() {
		if !match.MatchString(k.name) {
			continue
		}
		t, err := k.measure(m)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "%-34s %11.4g %-11s %16s %9s %8s\n", t.Name, t.Value, t.Metric, t.OfLimit(),
			times(t.Generic), times(t.Gonum)); err != nil {
			return err
		}
	}
	return nil
}

// kernelLine is a measured kernel: its first metric, and the shortest time in which the machine could do its work.
type kernelLine struct {
	Name, Metric string
	Value        float64
	Seconds      float64 // of one call
	Least        float64 // the shortest time that the machine's limits allow; NaN where neither operations nor bytes are counted
	Bound        string  // the limit that decides Least: "FMA" or a cache's name
	Generic      float64 // the time of portable Go over ours; NaN where ours is portable Go
	Gonum        float64 // the time of gonum over ours; NaN where gonum has no such operation
	work         work
}

// OfLimit says how much of the machine's limit the kernel reaches, and of which.
func (t *kernelLine) OfLimit() string {
	if math.IsNaN(t.Least) {
		return ""
	}
	return fmt.Sprintf("%.0f %% of %s", 100*t.Least/t.Seconds, t.Bound)
}

// measure times the kernel at the current level, which is m's, as portable Go, and as gonum does it.
func (k *kernelCase) measure(m *machine) (kernelLine, error) {
	run := k.make()
	first := k.metrics[0]
	t := kernelLine{Name: strings.ReplaceAll(k.name, "/ours", ""), Metric: first.metric, Seconds: best(run.ours),
		Generic: math.NaN(), Gonum: math.NaN(), work: k.work}
	t.Value = first.value(t.Seconds)
	t.Least, t.Bound = m.least(k.work)
	if simd.CurrentLevel() != simd.Generic {
		err := atLevels([]simd.Level{simd.Generic}, func(simd.Level) error { t.Generic = best(run.ours) / t.Seconds; return nil })
		if err != nil {
			return t, err
		}
	}
	if run.gonum != nil {
		t.Gonum = bestWall(run.gonum) / t.Seconds
	}
	return t, nil
}

// times prints a ratio, or nothing for NaN.
func times(x float64) string {
	if math.IsNaN(x) {
		return ""
	}
	return fmt.Sprintf("%.3gx", x)
}

// metric turns a time into the number that is reported.
type metric struct {
	metric string
	n      int
	value  func(seconds float64) float64
}

func gflops(flop int) metric {
	return metric{"gflops", flop, func(t float64) float64 { return float64(flop) / t * 1e-9 }}
}

func gbps(bytes int) metric {
	return metric{"gbps", bytes, func(t float64) float64 { return float64(bytes) / t * 1e-9 }}
}

func nsPer(n int) metric {
	return metric{"ns_per_elem", n, func(t float64) float64 { return t / float64(n) * 1e9 }}
}

// kernelCase is one line of the table: make draws the inputs and returns what is timed. The part "ours" of its name stands for
// whoever is measured; gonum's line has "gonum" there.
type kernelCase struct {
	name    string
	metrics []metric
	work    work
	make    func() timed
}

// timed is one computation as this library does it and, where it can, as gonum does.
type timed struct {
	ours, gonum func()
}

// kernelCases lists what is measured, in the order of the table.
func kernelCases() []kernelCase {
	var cases []kernelCase
	for _, c := range [][]kernelCase{gemmCases(), vectorCases(), softmaxCases(), weightNetCases(), depthwiseCases(), windowCases(),
		gatherCases(), reduceCases(), pairsCases()} {
		cases = append(cases, c...)
	}
	return cases
}
