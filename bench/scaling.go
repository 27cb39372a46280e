package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// scalingFlags are the flags of bench scaling.
type scalingFlags struct {
	procs                    []int
	filter, weights, profile string
	seconds                  float64
	quick, json              bool
}

// quickSeconds is --seconds of --quick.
const quickSeconds = 0.15

// mostProcs is the largest number of processors that --procs accepts. More than the machine has show whether results depend on it.
const mostProcs = 1024

func scalingCommand() *cobra.Command {
	f := scalingFlags{}
	cmd := &cobra.Command{
		Use:   "scaling",
		Short: "Speed and parallel efficiency on 1, 2, 4 ... processors",
		Long: `Measure matrix products, searches, models, training, a server and kriging on 1, 2, 4 ... processors (GOMAXPROCS of this
process), and print a table in Markdown: the median speed, and the parallel efficiency, that is, the speed on P
processors over P times the speed on the first number of them. Rows that start with limits say what the machine itself
does: processors that are two threads of one core, or a clock that falls when many compute, lower the efficiency of
everything, and memory is shared. The last columns compare the processor time of a call with that on the first number
of processors, and say whether all results had the same bits.

A result whose bits depend on the number of processors is an error, after all rows were measured.`,
		Example: "  go run ./bench scaling --weights ../shared/weights\n" +
			"  go run ./bench scaling --procs 1,2 --filter '^(blas|train)' --json\n" +
			"  CGO_ENABLED=0 go build -o bench.static ./bench    # for a machine without Go\n" +
			"  ./bench.static scaling --quick --weights weights > scaling.md",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	fl := cmd.Flags()
	fl.IntSliceVar(&f.procs, "procs", nil, "numbers of processors, ascending (default powers of two up to all of them)")
	fl.StringVar(&f.filter, "filter", "", "rows whose names match this regular expression")
	fl.StringVar(&f.weights, "weights", "../shared/weights", "folder with the authors' checkpoints")
	fl.Float64Var(&f.seconds, "seconds", 0.6, "of each measurement, that is, of a row on a number of processors; two calls at least")
	fl.BoolVar(&f.quick, "quick", false, fmt.Sprintf("--seconds %g", quickSeconds))
	fl.StringVar(&f.profile, "profile", "", "folder for a CPU profile of each row on the most processors")
	fl.BoolVar(&f.json, "json", false, "print one object a line; n is the number of processors")
	cmd.MarkFlagsMutuallyExclusive("quick", "seconds")
	return cmd
}

// numbersOfProcessors are the powers of two up to all, and all.
func numbersOfProcessors(all int) (procs []int) {
	for p := 1; p < all; p *= 2 {
		procs = append(procs, p)
	}
	return append(procs, all)
}

// check completes the flags, or says what is wrong with them.
func (f *scalingFlags) check() error {
	if f.quick {
		f.seconds = quickSeconds
	}
	if !(f.seconds > 0 && f.seconds <= 3600) {
		return fmt.Errorf("--seconds %g: need a number above 0, 3600 at most", f.seconds)
	}
	if len(f.procs) == 0 {
		f.procs = numbersOfProcessors(runtime.GOMAXPROCS(0))
	}
	for i, p := range f.procs {
		if err := within("procs", p, mostProcs); err != nil {
			return err
		}
		if i > 0 && p <= f.procs[i-1] {
			return fmt.Errorf("--procs: %d after %d: need ascending numbers", p, f.procs[i-1])
		}
	}
	if f.profile == "" {
		return nil
	}
	return os.MkdirAll(f.profile, 0o777)
}

// scalingCase is a row of the table.
type scalingCase struct {
	name, unit string
	latency    bool // the table has milliseconds of a call instead of unit, and a call is one piece of work
	// start prepares the row at the current GOMAXPROCS, which is procs.
	start func(ctx context.Context, f *scalingFlags, procs int) (*scalingRun, error)
}

// scalingRun is a row on a number of processors.
type scalingRun struct {
	work float64      // of a call, in units
	call func() error // is timed
	// result computes what a call computes, from the same start every time, and writes all of it. It is called before call.
	result func(*digest) error
	close  func() error // may be nil
}

// scalingCell is a measurement of a row.
type scalingCell struct {
	procs         int
	speed         float64 // units a second
	seconds, busy float64 // of a call: median time, and processor time of all threads
	bits          uint64
}

// run measures all rows.
func (f *scalingFlags) run(ctx context.Context, out, log io.Writer) error {
	if err := f.check(); err != nil {
		return err
	}
	match, err := expression(f.filter)
	if err != nil {
		return err
	}
	cases := slices.DeleteFunc(scalingCases(), func(c scalingCase) bool { return !match.MatchString(c.name) })
	if len(cases) == 0 {
		return fmt.Errorf("--filter %s: no row's name matches", f.filter)
	}
	r := &report{w: out, json: true}
	if !f.json {
		fmt.Fprint(out, f.head())
	}
	watch, begin := watchOthers(), time.Now()
	var differ []string
	for _, c := range cases {
		var cells []scalingCell
		for _, p := range f.procs {
			cell, err := f.measure(ctx, &c, p)
			if err != nil {
				return fmt.Errorf("%s on %d processors: %w", c.name, p, err)
			}
			cells = append(cells, cell)
		}
		if !sameBits(cells) {
			differ = append(differ, c.name)
		}
		if !f.json {
			if _, err := fmt.Fprintln(out, c.line(cells)); err != nil {
				return err
			}
		} else if err := c.samples(r, cells); err != nil {
			return err
		}
	}
	fmt.Fprintf(log, "%.0f s\n", time.Since(begin).Seconds())
	if doubt := watch.say(); doubt != "" {
		fmt.Fprintln(log, "warning:", doubt)
	}
	if differ != nil {
		return fmt.Errorf("results depend on the number of processors: %s", strings.Join(differ, ", "))
	}
	return nil
}

// measure prepares a row on that many processors, computes its result and times its calls.
func (f *scalingFlags) measure(ctx context.Context, c *scalingCase, procs int) (cell scalingCell, err error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
	run, err := c.start(ctx, f, procs)
	if err != nil {
		return cell, err
	}
	if run.close != nil {
		defer func() { err = errors.Join(err, run.close()) }()
	}
	var d digest
	if err := run.result(&d); err != nil {
		return cell, err
	}
	runtime.GC() // what was prepared is not collected while calls are timed
	profile := ""
	if f.profile != "" && procs == f.procs[len(f.procs)-1] {
		profile = filepath.Join(f.profile, strings.ReplaceAll(c.name, "/", "-")+".pprof")
	}
	cell.procs, cell.bits = procs, d.sum
	return cell, profiled(profile, func() error { return cell.time(run, f.seconds) })
}

// time times calls for so many seconds, twice at least. A sample repeats calls for 50 µs at least. The collector works
// as in a program of a user.
func (c *scalingCell) time(run *scalingRun, seconds float64) error {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	var took []float64
	inner, calls := 1, 0
	for begin, cpu := time.Now(), processTime(); len(took) < 2 || time.Since(begin).Seconds() < seconds; {
		start := time.Now()
		for range inner {
			if err := run.call(); err != nil {
				return err
			}
		}
		calls += inner
		if d := time.Since(start); d >= 50*time.Microsecond {
			took = append(took, d.Seconds()/float64(inner))
		} else {
			inner *= 2
		}
		c.busy = (processTime() - cpu).Seconds() / float64(calls)
	}
	slices.Sort(took)
	c.seconds = percentile(took, 50)
	c.speed = run.work / c.seconds
	return nil
}

// sameBits reports whether the results of a row are equal.
func sameBits(cells []scalingCell) bool {
	return !slices.ContainsFunc(cells, func(c scalingCell) bool { return c.bits != cells[0].bits })
}

// efficiency is the speed over that of as many times fewer processors.
func efficiency(first, cell *scalingCell) float64 {
	return cell.speed / first.speed * float64(first.procs) / float64(cell.procs)
}

// value is what the table shows: milliseconds, or the speed.
func (c *scalingCase) value(cell *scalingCell) float64 {
	if c.latency {
		return 1e3 * cell.seconds
	}
	return cell.speed
}

// metric names the value.
func (c *scalingCase) metric() string {
	if c.latency {
		return "ms"
	}
	return c.unit + "/s"
}

// head begins the table.
func (f *scalingFlags) head() string {
	d := describe()
	var b strings.Builder
	fmt.Fprintf(&b, "# Speed by number of processors\n\n%s, family %d model %d, %d processors, kernels %s, %s, %s.\n%s.\n\n",
		d.CPU, d.Family, d.Model, runtime.NumCPU(), d.Level, d.System, d.Go, d.Caches)
	b.WriteString("| row | unit |")
	for _, p := range f.procs {
		fmt.Fprintf(&b, " %d |", p)
	}
	fmt.Fprintf(&b, " processor time | bits |\n|---|---|%s---:|---|", strings.Repeat("---:|", len(f.procs)))
	return b.String() + "\n"
}

// line is a row of the table.
func (c *scalingCase) line(cells []scalingCell) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %s | %s |", c.name, c.metric())
	for i := range cells {
		fmt.Fprintf(&b, " %.4g", c.value(&cells[i]))
		if i > 0 {
			fmt.Fprintf(&b, " (%.0f %%)", 100*efficiency(&cells[0], &cells[i]))
		}
		b.WriteString(" |")
	}
	first, last := &cells[0], &cells[len(cells)-1]
	work := math.NaN() // relative to the same amount of work
	if first.busy > 0 {
		work = (last.busy / (last.speed * last.seconds)) / (first.busy / (first.speed * first.seconds))
	}
	bits := "same"
	if !sameBits(cells) {
		bits = "DIFFER"
	}
	fmt.Fprintf(&b, " x %.2f | %s |", work, bits)
	return b.String()
}

// samples prints a row as lines of JSON.
func (c *scalingCase) samples(r *report, cells []scalingCell) error {
	same := 0.0
	if sameBits(cells) {
		same = 1
	}
	for i := range cells {
		cell, name := &cells[i], "scaling/"+c.name
		if err := errors.Join(r.add(sample{name, cell.procs, strings.ReplaceAll(c.metric(), "/s", "_per_s"), c.value(cell)}),
			r.add(sample{name, cell.procs, "efficiency", efficiency(&cells[0], cell)}),
			r.add(sample{name, cell.procs, "cpu_s_per_call", cell.busy}),
			r.add(sample{name, cell.procs, "same_bits", same})); err != nil {
			return err
		}
	}
	return nil
}
