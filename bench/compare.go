package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/perf/benchmath"

	"github.com/equivcnp/equivcnp/internal/atomicfile"
)

// compareFlags are the flags of bench compare.
type compareFlags struct {
	old, now, out string
	rounds        int
	alpha, least  float64
	all, json     bool
}

func compareCommand() *cobra.Command {
	var f compareFlags
	cmd := &cobra.Command{
		Use:   "compare OLD.jsonl NEW.jsonl | compare --old PROGRAM --new PROGRAM -- kernels --filter gemm",
		Short: "Tell real differences from noise, between two files of results or two programs run in turns",
		Long: `Compare what bench printed with --json, line by line. Every line must have been measured several times (a file may
hold several runs, one after another). A Mann-Whitney U test, as benchstat uses it, says whether the two sets of values
differ. With hundreds of lines some differ by chance, so the level --alpha holds for the list as a whole: at most that share of
the lines called different is expected to be noise (Benjamini and Hochberg, Journal of the Royal Statistical Society B 57, 1995).

With --old and --new, two programs are run in turns with the arguments after "--", the order changing from round to round, so that a
machine that becomes slower disturbs both alike. Other work on the machine during these runs, and a
machine whose limits (lines limits/...) move, are said below the table.`,
		Example: "  go run ./bench compare before.jsonl after.jsonl\n" +
			"  go run ./bench compare --old /tmp/bench.old --new /tmp/bench.new --rounds 10 --out /tmp/runs -- kernels --filter depthwise",
		RunE: func(cmd *cobra.Command, args []string) error {
			if !(f.alpha > 0 && f.alpha < 1) {
				return fmt.Errorf("--alpha %v: need a number between 0 and 1", f.alpha)
			}
			if !(f.least >= 0 && f.least < 1) {
				return fmt.Errorf("--least %v: need a share of at least 0 and below 1", f.least)
			}
			if (f.old == "") != (f.now == "") {
				return errors.New("--old and --new go together")
			}
			if f.old == "" {
				if cmd.Flags().Changed("out") || cmd.Flags().Changed("rounds") {
					return errors.New("--out and --rounds go with --old and --new")
				}
				if len(args) != 2 || cmd.ArgsLenAtDash() >= 0 {
					return errors.New("need two files of results, or --old PROGRAM --new PROGRAM -- and the arguments of both")
				}
				old, err := readSamples(args[0])
				if err != nil {
					return err
				}
				now, err := readSamples(args[1])
				if err != nil {
					return err
				}
				return f.print(cmd.OutOrStdout(), compareSamples(old, now, f.alpha), "")
			}
			if cmd.ArgsLenAtDash() != 0 || len(args) == 0 {
				return errors.New(`with --old and --new: need the arguments of both programs after "--", and none before`)
			}
			if err := within("rounds", f.rounds, 1000); err != nil {
				return err
			}
			busy := watchOthers()
			old, now, err := f.inTurns(cmd.Context(), args, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			return f.print(cmd.OutOrStdout(), compareSamples(old, now, f.alpha), busy.say())
		},
	}
	cmd.Flags().StringVar(&f.old, "old", "", "run this program, in turns with --new")
	cmd.Flags().StringVar(&f.now, "new", "", "run this program, in turns with --old")
	cmd.Flags().StringVar(&f.out, "out", "", "with --old and --new: keep the results as old.jsonl and new.jsonl in this folder")
	cmd.Flags().IntVar(&f.rounds, "rounds", 10, "with --old and --new: runs of each program")
	cmd.Flags().Float64Var(&f.alpha, "alpha", 0.05, "largest expected share of noise among the lines called different")
	cmd.Flags().Float64Var(&f.least, "least", 0, "do not list differences smaller than this share (0.03 is 3 %)")
	cmd.Flags().BoolVar(&f.all, "all", false, "list lines without a difference as well")
	cmd.Flags().BoolVar(&f.json, "json", false, "print one object a line")
	return cmd
}

// inTurns runs both programs with those arguments, round by round, and returns their samples.
func (f *compareFlags) inTurns(ctx context.Context, args []string, progress io.Writer) (old, now []sample, err error) {
	if !slices.Contains(args, "--json") {
		args = append(slices.Clone(args), "--json")
	}
	programs := []string{f.old, f.now}
	var got [2][]sample
	for round := range f.rounds {
		for i := range 2 {
			side := (i + round) % 2
			fmt.Fprintf(progress, "\rround %d of %d: %s ", round+1, f.rounds, [2]string{"old", "new"}[side])
			child := exec.CommandContext(ctx, programs[side], args...)
			var says bytes.Buffer
			child.Stderr = &says
			out, err := child.Output()
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w: %s", programs[side], err, bytes.TrimSpace(says.Bytes()))
			}
			s, err := parseSamples(programs[side], bytes.NewReader(out))
			if err != nil {
				return nil, nil, err
			}
			got[side] = append(got[side], s...)
		}
		if f.out != "" { // after each round, so that little is lost if a later one fails
			for side, name := range []string{"old.jsonl", "new.jsonl"} {
				if err := writeSamples(filepath.Join(f.out, name), got[side]); err != nil {
					return nil, nil, err
				}
			}
		}
	}
	fmt.Fprintln(progress)
	return got[0], got[1], nil
}

// readSamples reads a file of results; "-" is the standard input.
func readSamples(path string) ([]sample, error) {
	if path == "-" {
		return parseSamples("standard input", os.Stdin)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return parseSamples(path, file)
}

// parseSamples reads one object a line. Empty lines are allowed; errors name the line.
func parseSamples(name string, r io.Reader) ([]sample, error) {
	var all []sample
	lines := bufio.NewScanner(r)
	for i := 1; lines.Scan(); i++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var s struct {
			sample
			Value *float64 `json:"value"`
		}
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", name, i, err)
		}
		if s.Name == "" || s.Metric == "" || s.Value == nil {
			return nil, fmt.Errorf("%s: line %d: no name, metric or value: results of bench have all three", name, i)
		}
		s.sample.Value = *s.Value
		all = append(all, s.sample)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if all == nil {
		return nil, fmt.Errorf("%s: holds no results; bench prints them with --json", name)
	}
	return all, nil
}

// writeSamples writes a file of results under a temporary name first.
func writeSamples(path string, all []sample) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	for _, s := range all {
		if err := e.Encode(s); err != nil {
			return err
		}
	}
	return replaceFile(path, b.Bytes())
}

// replaceFile writes a file whole or not at all.
func replaceFile(path string, data []byte) error {
	return atomicfile.Write(path, func(w io.Writer) error { _, err := w.Write(data); return err })
}

// key tells lines apart.
type key struct {
	Name   string `json:"name"`
	N      int    `json:"n"`
	Metric string `json:"metric"`
}

// larger says whether a larger value of the metric is the better one. Times, bytes and ratios of latencies are better when small.
func (k key) larger() bool {
	switch k.Metric {
	case "gflops", "gbps", "of_limit", "of_inference", "of_capacity", "fma_percent", "efficiency", "same_bits", "requests", "queries",
		logLikelihood:
		return true
	}
	return strings.HasSuffix(k.Metric, "_per_s")
}

// logLikelihood is the metric whose values may be negative, so that a ratio of two says nothing.
const logLikelihood = "log_likelihood"

// difference compares the values of one line.
type difference struct {
	key
	Old, New  float64 // medians
	Spread    float64 // half the range of the middle half of values over their median, of the side where it is larger
	Slower    float64 // the factor by which the new median is worse: below 1 it is better. NaN of log-likelihoods
	P         float64 // of the U test
	Different bool
	OldRuns   int `json:"old_runs"`
	NewRuns   int `json:"new_runs"`
}

// comparison is what compareSamples found.
type comparison struct {
	lines            []difference
	onlyOld, onlyNew []string
	mean             float64 // geometric mean of Slower over all lines that are not limits of the machine
	limits           float64 // the largest spread of a limit of the machine
	few              int     // the smallest number of runs of a line
}

// compareSamples compares line by line, in the order of their names.
func compareSamples(old, now []sample, alpha float64) comparison {
	collect := func(all []sample) map[key][]float64 {
		m := map[key][]float64{}
		for _, s := range all {
			k := key{s.Name, s.N, s.Metric}
			m[k] = append(m[k], s.Value)
		}
		return m
	}
	a, b := collect(old), collect(now)
	var c comparison
	logs, n := 0.0, 0
	c.few = math.MaxInt
	for k, x := range a {
		y, ok := b[k]
		if !ok {
			c.onlyOld = append(c.onlyOld, k.Name)
			continue
		}
		d := compareValues(k, x, y)
		c.lines = append(c.lines, d)
		c.few = min(c.few, len(x), len(y))
		if strings.HasPrefix(k.Name, "limits/") {
			c.limits = max(c.limits, d.Spread)
		} else if d.Slower > 0 && !math.IsInf(d.Slower, 0) {
			logs += math.Log(d.Slower)
			n++
		}
	}
	for k := range b {
		if _, ok := a[k]; !ok {
			c.onlyNew = append(c.onlyNew, k.Name)
		}
	}
	c.mean = math.Exp(logs / float64(n)) // NaN without lines
	tellApart(c.lines, alpha)
	slices.SortFunc(c.lines, func(x, y difference) int {
		return cmp.Or(cmp.Compare(x.Name, y.Name), cmp.Compare(x.N, y.N), cmp.Compare(x.Metric, y.Metric))
	})
	slices.Sort(c.onlyOld)
	slices.Sort(c.onlyNew)
	c.onlyOld, c.onlyNew = slices.Compact(c.onlyOld), slices.Compact(c.onlyNew)
	return c
}

// compareValues compares the values of one line.
func compareValues(k key, x, y []float64) difference {
	d := difference{key: k, OldRuns: len(x), NewRuns: len(y)}
	// NewSample sorts the values in place.
	a, b := benchmath.NewSample(slices.Clone(x), &benchmath.DefaultThresholds),
		benchmath.NewSample(slices.Clone(y), &benchmath.DefaultThresholds)
	d.Old, d.New = middle(a.Values), middle(b.Values)
	d.Spread = max(spread(a.Values), spread(b.Values))
	d.Slower = d.New / d.Old
	if k.larger() {
		d.Slower = 1 / d.Slower
	}
	if k.Metric == logLikelihood {
		d.Slower = math.NaN()
	}
	d.P = 1
	// The test does not end on NaN, which has no rank.
	if len(x) > 1 && len(y) > 1 && !slices.ContainsFunc(x, math.IsNaN) && !slices.ContainsFunc(y, math.IsNaN) {
		if p := benchmath.AssumeNothing.Compare(a, b).P; p >= 0 { // it is -1 where the test says nothing
			d.P = p
		}
	}
	return d
}

// tellApart marks the lines that differ, so that the expected share of noise among them is at most alpha.
func tellApart(lines []difference, alpha float64) {
	byP := make([]*difference, len(lines))
	for i := range lines {
		byP[i] = &lines[i]
	}
	slices.SortFunc(byP, func(x, y *difference) int { return cmp.Compare(x.P, y.P) })
	last := -1
	for i, d := range byP {
		if d.P <= alpha*float64(i+1)/float64(len(byP)) {
			last = i
		}
	}
	for _, d := range byP[:last+1] {
		d.Different = d.Old != d.New
	}
}

// middle is the median of sorted values.
func middle(x []float64) float64 {
	return x[(len(x)-1)/2]/2 + x[len(x)/2]/2
}

// spread is half the range of the middle half of sorted values, over their median.
func spread(x []float64) float64 {
	m := middle(x)
	if m == 0 {
		return 0
	}
	return (x[len(x)*3/4-boolean(len(x)%4 == 0)]/2 - x[len(x)/4]/2) / math.Abs(m)
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}

// orNull is a ratio as JSON has it, which knows no infinity: there is none beside a median of 0.
func orNull(v float64) any {
	if v-v != 0 {
		return nil
	}
	return v
}

// print writes the comparison, and below it what makes its numbers doubtful.
func (f *compareFlags) print(w io.Writer, c comparison, busy string) error {
	out := bufio.NewWriter(w)
	listed := slices.DeleteFunc(slices.Clone(c.lines), func(d difference) bool {
		return !f.all && !(d.Different && !(math.Abs(d.Slower-1) < f.least))
	})
	if f.json {
		e := json.NewEncoder(out)
		for _, d := range listed {
			if err := e.Encode(map[string]any{"name": d.Name, "n": d.N, "metric": d.Metric, "old": d.Old, "new": d.New,
				"slower": orNull(d.Slower), "p": d.P, "different": d.Different, "old_runs": d.OldRuns, "new_runs": d.NewRuns,
				"spread": orNull(d.Spread)}); err != nil {
				return err
			}
		}
		return out.Flush()
	}
	if len(listed) > 0 {
		fmt.Fprintf(out, "%-52s %9s %-12s %10s %10s %8s %7s %7s\n", "", "n", "", "old", "new", "slower", "spread", "p")
	}
	for _, d := range listed {
		slower := "same"
		switch {
		case d.Different && d.Metric == logLikelihood:
			slower = [2]string{"worse", "better"}[boolean(d.New > d.Old)]
		case d.Different:
			slower = fmt.Sprintf("%.3fx", d.Slower)
		}
		fmt.Fprintf(out, "%-52s %9d %-12s %10.4g %10.4g %8s %6.1f%% %7.2g\n", d.Name, d.N, d.Metric, d.Old, d.New, slower,
			100*d.Spread, d.P)
	}
	different := 0
	for _, d := range c.lines {
		different += boolean(d.Different)
	}
	fmt.Fprintf(out, "%d of %d lines differ at level %g", different, len(c.lines), f.alpha)
	if !math.IsNaN(c.mean) {
		fmt.Fprintf(out, "; geometric mean of all but the machine's limits: %.4f (above 1 the new one is slower)", c.mean)
	}
	fmt.Fprintln(out)
	for _, x := range []struct {
		who   string
		names []string
	}{{"old", c.onlyOld}, {"new", c.onlyNew}} {
		if len(x.names) > 0 {
			fmt.Fprintf(out, "only in the %s results: %s\n", x.who, strings.Join(x.names, ", "))
		}
	}
	if len(c.lines) > 0 && c.few < 6 {
		fmt.Fprintf(out, "caution: a line has only %d runs on one side; below 6 the test finds hardly any difference "+
			"in a list as long as this\n", c.few)
	}
	if c.limits > movingLimits {
		fmt.Fprintf(out, "caution: the machine's own limits moved by %.0f %% between runs: it was busy, or changed its clock\n",
			100*c.limits)
	}
	if busy != "" {
		fmt.Fprintf(out, "caution: %s\n", busy)
	}
	return out.Flush()
}

// movingLimits is the spread of the machine's limits above which results are doubtful.
const movingLimits = 0.05
