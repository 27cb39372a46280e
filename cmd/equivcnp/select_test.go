package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp/selection"
)

// smallSelect is a selection of seconds.
func smallSelect(dir string, more ...string) []string {
	return append([]string{"select", "--plane", "radial", "--groups", "T2,SO2,none", "--out-dir", dir, "--steps", "12", "--batch",
		"2", "--channels", "3,4,3",
		"--hidden", "4", "--mid", "3", "--tasks", "12", "--checkpoint-every", "2"}, more...)
}

// A selection writes its report, says the same when it is asked again, and, when it was interrupted, ends as it would have.
func TestSelect(t *testing.T) {
	b := newBench(t)
	out := b.ok(smallSelect("@found")...)
	for _, want := range []string{"radial values in the plane", "round 1", "round 2", "translations", "rotations", "scalings",
		"chosen", "standard errors behind the best"} {
		require.Contains(t, out, want)
	}
	rep := decode[selection.Report](t, b.ok(smallSelect("@found", "--json")...))
	require.Len(t, rep.Rounds, 2)
	require.Equal(t, []int{6, 12}, []int{rep.Rounds[0].Steps, rep.Rounds[1].Steps})
	require.Len(t, rep.Rounds[0].Candidates, 3)
	require.Equal(t, 12, rep.Rounds[0].Tasks)
	for _, c := range rep.Rounds[0].Candidates {
		require.Len(t, c.OtherStarts, 1)
		require.LessOrEqual(t, c.OtherStarts[0].Mean, 0.0)
		for _, later := range rep.Rounds[1].Candidates {
			if later.Name == c.Name {
				require.Len(t, later.OtherStarts, 1, "the last round has all starts, too")
			}
		}
	}
	require.Len(t, rep.Symmetries, 3)
	require.Positive(t, rep.Luck)
	read := func(dir, name string) string {
		text, err := os.ReadFile(filepath.Join(b.path(dir), name))
		require.NoError(t, err)
		return strings.ReplaceAll(string(text), b.path(dir), "")
	}
	md := read("found", "report.md")
	require.Contains(t, md, "# Which symmetry the data support: "+rep.Chosen)
	require.Contains(t, md, "(report.png)")
	require.NotEmpty(t, read("found", "report.png"))
	require.Contains(t, b.ok("inspect", b.path("found/model.safetensors")), "group")
	chosen := rep.Rounds[1].Candidates[slices.IndexFunc(rep.Rounds[1].Candidates,
		func(c selection.Candidate) bool { return c.Name == rep.Chosen })]
	require.Equal(t, read("found", chosen.Model), read("found", rep.Model))

	// Interrupted again and again, once per training or so.
	want := read("found", "report.json")
	for i := 0; ; i++ {
		require.Less(t, i, 200)
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(20+30*i)*time.Millisecond)
		status, _, errs := b.runContext(ctx, smallSelect("@again")...)
		cancel()
		if status == 0 {
			break
		}
		require.Equal(t, 1, status, errs)
		require.NotContains(t, errs, "panic")
	}
	require.Equal(t, want, read("again", "report.json"))

	b.write("k.csv", "x,y\n1,2\n")
	for _, c := range []struct {
		code  int
		words string
		args  []string
	}{
		{2, `required flag(s) "out-dir" not set`, []string{"select", "--plane", "radial", "--steps", "4"}},
		{2, "say how long: --budget 10m", []string{"select", "--plane", "radial", "--out-dir", "@new"}},
		{2, "--groups: E8: group: unknown group", []string{"select", "--plane", "radial", "--groups", "T2,E8", "--steps", "4",
			"--out-dir", "@new"}},
		{2, "--groups: T3: ", []string{"select", "--plane", "radial", "--groups", "T2,T3", "--steps", "4", "--out-dir", "@new"}},
		{2, "--starts 0: need 1 to 16", []string{"select", "--plane", "radial", "--starts", "0", "--steps", "4", "--out-dir", "@new"}},
		{2, "T2 and T(2) are the same", []string{"select", "--plane", "radial", "--groups", "T2,T(2)", "--steps", "4",
			"--out-dir", "@new"}},
		{2, "--groups T2: need at least two", []string{"select", "--plane", "radial", "--groups", "T2", "--steps", "4",
			"--out-dir", "@new"}},
		{2, `process "cubic" in the plane is not one of`, []string{"select", "--plane", "cubic", "--steps", "4", "--out-dir", "@new"}},
		{2, "--csv -: the data are read for every candidate", []string{"select", "--csv", "-", "--steps", "4", "--out-dir", "@new"}},
		{2, "unknown arguments", []string{"select", "curves", "--plane", "radial", "--steps", "4", "--out-dir", "@new"}},
		{1, "would be enough, or fewer groups", []string{"select", "--plane", "radial", "--groups", "T2,SO2", "--budget", "1ms",
			"--out-dir", "@new"}},
		{1, "is of another command", smallSelect("@found", "--seed", "2")},
	} {
		status, _, errs := b.run(c.args...)
		require.Equal(t, c.code, status, "%v: %s", c.args, errs)
		require.Contains(t, errs, c.words)
		require.NoDirExists(t, b.path("new"))
	}
}

// Under a budget of time the numbers of steps are decided once, and kept.
func TestSelectBudget(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short; on an emulated machine the budget would not suffice for the least number of steps (make test runs it)")
	}
	b := newBench(t)
	args := []string{"select", "--plane", "radial", "--groups", "T2,SO2", "--out-dir", "@found", "--budget", "2s", "--batch", "2",
		"--channels", "3,4", "--hidden", "4", "--mid", "3",
		"--tasks", "8", "--json"}
	first, again := decode[selection.Report](t, b.ok(args...)), decode[selection.Report](t, b.ok(args...))
	require.Equal(t, first, again)
	require.Len(t, first.Selection.StepTimes, 2)
	require.GreaterOrEqual(t, first.Selection.Steps[0], 20)
}

// Your own curves and images, with the shares that are held out.
func TestSelectOwnData(t *testing.T) {
	b := newBench(t)
	var rows strings.Builder
	rows.WriteString("east,north,rain,day\n")
	for day := range 12 {
		for i := range 9 {
			x, y := math.Sin(float64(7*day+3*i)), math.Cos(float64(5*day+11*i))
			fmt.Fprintf(&rows, "%g,%g,%g,%d\n", 100+5*x, 50+5*y, math.Sin(3*x)+0.1*y, day)
		}
	}
	b.write("rain.csv", rows.String())
	rep := decode[selection.Report](t, b.ok("select", "--csv", "@rain.csv", "--x", "east,north", "--y", "rain", "--task", "day",
		"--holdout", "0.25", "--min-context", "2", "--max-context", "5",
		"--fill", "0.5", "--groups", "T2,none", "--steps", "4", "--batch", "2", "--channels", "3,4", "--out-dir", "@rain", "--json"))
	require.Equal(t, 3, rep.Rounds[0].Tasks, "a quarter of the days")
	require.Contains(t, rep.Notes[0], "only 3 tasks held out")
	for _, c := range rep.Rounds[0].Candidates {
		if c.Name == "T2" && rep.Best == "T2" {
			require.True(t, rep.Symmetries[0].BuiltIn, "translations: %+v", rep.Symmetries)
		}
	}
	rep = decode[selection.Report](t, b.ok("select", "--digits", "--size", "12", "--width", "4", "--blocks", "1", "--groups",
		"T2,SO2", "--steps", "2", "--batch", "2", "--tasks", "4",
		"--out-dir", "@digits", "--json"))
	require.Equal(t, "image", rep.Selection.Kind)
	require.Len(t, rep.Rounds, 1)
	require.Equal(t, []string{"translations", "rotations"}, []string{rep.Symmetries[0].Move, rep.Symmetries[1].Move})
}

var (
	selectSeeds  = flag.Int("select-seeds", 10, "TestSelectFinds -long: seeds of each kind")
	selectBudget = flag.Duration("select-budget", 10*time.Minute, "TestSelectFinds -long: time of each selection")
	selectSteps  = flag.Int("select-steps", 0,
		"TestSelectFinds -long: steps of the last round instead of a time, for machines that do other things")
	selectFirst  = flag.Int("select-first", 1, "TestSelectFinds -long: the first seed")
	selectRecord = flag.String("select-record", "",
		"TestSelectFinds -long: file of what was found, a JSON object a line: what it holds is not found again, so that many runs add up")
	selectKinds = flag.String("select-kinds", "stationary,isotropic,radial,scale-free,none", "TestSelectFinds -long: kinds")
)

// The symmetry that data were made with is the one that is found: two kinds in seconds, with -long all of them, with
// ten seeds at ten minutes each.
func TestSelectFinds(t *testing.T) {
	made := map[string]string{"stationary": "T2", "isotropic": "SE2x4", "radial": "SO2", "scale-free": "RxSO2", "none": "none"}
	if *long {
		length := "--budget=" + selectBudget.String()
		if *selectSteps > 0 {
			length = fmt.Sprintf("--steps=%d", *selectSteps)
		}
		known := readFound(t, *selectRecord)
		for seed := *selectFirst; seed < *selectFirst+*selectSeeds; seed++ {
			for _, kind := range strings.Split(*selectKinds, ",") {
				require.Contains(t, made, kind, "-select-kinds")
				f := found{Kind: kind, Seed: seed, Length: length}
				if i := slices.IndexFunc(known, func(k found) bool {
					return k.Kind == kind && k.Seed == seed &&
						k.Length == length
				}); i >= 0 {
					f = known[i]
				} else {
					b := newBench(t)
					rep := decode[selection.Report](t, b.ok("select", "--plane", kind, "--seed", fmt.Sprint(seed), length,
						"--quiet", "--json", "--out-dir", "@found"))
					f.Chosen = rep.Chosen
					for _, r := range rep.Rounds {
						s := fmt.Sprintf("%d:", r.Steps)
						for _, c := range r.Candidates {
							s += fmt.Sprintf(" %s %.3f ± %.3f", c.Name, c.Behind.Mean, c.Behind.Error)
						}
						f.Rounds = append(f.Rounds, s)
					}
					f.keep(t, *selectRecord)
				}
				assert.Equal(t, made[kind], f.Chosen, "%s, seed %d", kind, seed)
				t.Logf("| %s | %d | %s | %s |", kind, seed, f.Chosen, strings.Join(f.Rounds, "; "))
			}
		}
		return
	}
	if testing.Short() {
		t.Skip("skipped: -short; it trains models for some seconds, and for minutes on emulated machines (make test runs it)")
	}
	for kind, groups := range map[string]string{"radial": "T2,SO2", "stationary": "SO2,T2"} {
		b := newBench(t)
		rep := decode[selection.Report](t, b.ok("select", "--plane", kind, "--groups", groups, "--steps", "250", "--tasks", "128",
			"--quiet", "--json", "--out-dir", "@found"))
		require.Equal(t, made[kind], rep.Chosen, "%s: %+v", kind, rep.Rounds)
	}
}

// found is what a selection found, a line of -select-record.
type found struct {
	Kind   string   `json:"kind"`
	Seed   int      `json:"seed"`
	Length string   `json:"length"` // the flag that says how long
	Chosen string   `json:"chosen"`
	Rounds []string `json:"rounds"`
}

// readFound reads what was found before; nothing where there is no file yet.
func readFound(t *testing.T, path string) (all []found) {
	data, err := os.ReadFile(path)
	if path == "" || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	require.NoError(t, err)
	for line := range strings.Lines(string(data)) {
		all = append(all, decode[found](t, line))
	}
	return all
}

// keep adds it to the file, at once: the next selection may be interrupted.
func (f *found) keep(t *testing.T, path string) {
	if path == "" {
		return
	}
	line, err := json.Marshal(f)
	require.NoError(t, err)
	out, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	require.NoError(t, err)
	_, err = out.Write(append(line, '\n'))
	require.NoError(t, err)
	require.NoError(t, out.Close())
}
