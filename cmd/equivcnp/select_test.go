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

	"github.com/equivcnp/equivcnp/cnp/eval"
	"github.com/equivcnp/equivcnp/cnp/train"
)

// smallSelect is a selection of seconds.
func smallSelect(dir string, more ...string) []string {
	return append([]string{"select", "--plane", "radial", "--groups", "T2,SO2,none", "--out-dir", dir, "--steps", "12", "--batch", "2", "--channels", "3,4,3",
		"--hidden", "4", "--mid", "3", "--tasks", "12", "--checkpoint-every", "2"}, more...)
}

// A selection writes its report, says the same when it is asked again, and, when it was interrupted, ends as it would have.
func TestSelect(t *testing.T) {
	b := newBench(t)
	out := b.ok(smallSelect("@found")...)
	for _, want := range []string{"radial values in the plane", "round 1", "round 2", "translations", "rotations", "scalings", "chosen", "standard errors behind the best"} {
		require.Contains(t, out, want)
	}
	rep := decode[selectReport](t, b.ok(smallSelect("@found", "--json")...))
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
	chosen := rep.Rounds[1].chosen()
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
		{2, "--groups: E8: group: unknown group", []string{"select", "--plane", "radial", "--groups", "T2,E8", "--steps", "4", "--out-dir", "@new"}},
		{2, "--groups: T3: ", []string{"select", "--plane", "radial", "--groups", "T2,T3", "--steps", "4", "--out-dir", "@new"}},
		{2, "--starts 0: need 1 to 16", []string{"select", "--plane", "radial", "--starts", "0", "--steps", "4", "--out-dir", "@new"}},
		{2, "T2 and T(2) are the same", []string{"select", "--plane", "radial", "--groups", "T2,T(2)", "--steps", "4", "--out-dir", "@new"}},
		{2, "--groups T2: need at least two", []string{"select", "--plane", "radial", "--groups", "T2", "--steps", "4", "--out-dir", "@new"}},
		{2, `process "cubic" in the plane is none of`, []string{"select", "--plane", "cubic", "--steps", "4", "--out-dir", "@new"}},
		{2, "--csv -: the data are read for every candidate", []string{"select", "--csv", "-", "--steps", "4", "--out-dir", "@new"}},
		{2, "unknown arguments", []string{"select", "curves", "--plane", "radial", "--steps", "4", "--out-dir", "@new"}},
		{1, "would be enough, or fewer --groups", []string{"select", "--plane", "radial", "--groups", "T2,SO2", "--budget", "1ms", "--out-dir", "@new"}},
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
	args := []string{"select", "--plane", "radial", "--groups", "T2,SO2", "--out-dir", "@found", "--budget", "2s", "--batch", "2", "--channels", "3,4", "--hidden", "4", "--mid", "3",
		"--tasks", "8", "--json"}
	first, again := decode[selectReport](t, b.ok(args...)), decode[selectReport](t, b.ok(args...))
	require.Equal(t, first, again)
	require.Len(t, first.Selection.StepTimes, 2)
	require.GreaterOrEqual(t, first.Selection.Steps[0], leastSteps)
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
	rep := decode[selectReport](t, b.ok("select", "--csv", "@rain.csv", "--x", "east,north", "--y", "rain", "--task", "day", "--holdout", "0.25", "--min-context", "2", "--max-context", "5",
		"--fill", "0.5", "--groups", "T2,none", "--steps", "4", "--batch", "2", "--channels", "3,4", "--out-dir", "@rain", "--json"))
	require.Equal(t, 3, rep.Rounds[0].Tasks, "a quarter of the days")
	require.Contains(t, rep.Notes[0], "only 3 tasks held out")
	for _, c := range rep.Rounds[0].Candidates {
		if c.Name == "T2" && rep.Best == "T2" {
			require.True(t, rep.Symmetries[0].BuiltIn, "translations: %+v", rep.Symmetries)
		}
	}
	rep = decode[selectReport](t, b.ok("select", "--digits", "--size", "12", "--width", "4", "--blocks", "1", "--groups", "T2,SO2", "--steps", "2", "--batch", "2", "--tasks", "4",
		"--out-dir", "@digits", "--json"))
	require.Equal(t, "image", rep.Selection.Kind)
	require.Len(t, rep.Rounds, 1)
	require.Equal(t, []string{"translations", "rotations"}, []string{rep.Symmetries[0].Move, rep.Symmetries[1].Move})
}

// Names of candidates, sizes of rounds, and the rule.
func TestSelectRule(t *testing.T) {
	for name, want := range map[string]candidate{
		"none": {group: "trivial(2)", lifts: 1, dims: 0}, "T2": {group: "T(2)", lifts: 1, dims: 2}, "SO2": {group: "SO(2)", lifts: 1, dims: 1, turns: true},
		"RxSO2": {group: "R>0xSO(2)", lifts: 1, dims: 2, turns: true}, "SE2": {group: "SE(2)", lifts: 1, dims: 2}, "SE2x4": {group: "SE(2)", lifts: 4, dims: 3, turns: true},
		"Sim2x4x3": {group: "Sim(2) at 3 scales", lifts: 12, dims: 4, turns: true}, "Sim2x4": {group: "Sim(2)", lifts: 4, dims: 3, turns: true}, "Sim2x1x2": {group: "Sim(2) at 2 scales", lifts: 2, dims: 3},
	} {
		c, err := parseCandidate(name, 2)
		require.NoError(t, err)
		want.label = name
		require.Equal(t, want, *c)
	}
	require.Equal(t, []int{5, 3, 2}, roundSizes(5))
	require.Equal(t, []int{2}, roundSizes(2))

	scores := [][]float64{{1, 2, 3, 4}, {1.1, 1.9, 3.2, 3.9}, {0, 1, 2, 3.1}} // the second is better by 0.025 ± 0.07, the third worse by 1
	judged := func(errors float64, last bool) (kept []string, chosen string) {
		r := &selectRound{}
		for i, dims := range []int{2, 1, 3} {
			r.Candidates = append(r.Candidates, selectResult{Name: string(rune('a' + i)), Dimensions: dims, of: i})
		}
		require.NoError(t, r.judge(scores, 1, errors, last))
		for _, c := range r.Candidates {
			if c.Kept {
				kept = append(kept, c.Name)
			}
		}
		return kept, r.chosen().Name
	}
	kept, chosen := judged(1, true)
	require.Equal(t, []string{"b", "a"}, kept)
	require.Equal(t, "a", chosen, "as good, and more symmetric")
	kept, chosen = judged(0, true)
	require.Equal(t, []string{"b"}, kept)
	require.Equal(t, "b", chosen)
	kept, _ = judged(0, false)
	require.Equal(t, []string{"b", "a"}, kept, "not clearly behind")

	// Of several starts the best one counts, and one that diverged does not.
	r := &selectRound{Candidates: []selectResult{{Name: "a", Seed: 1}, {Name: "b", Seed: 1, of: 1}, {Name: "a", Seed: 2}, {Name: "b", Seed: 2, of: 1}}}
	require.NoError(t, r.judge([][]float64{{0, 1, 1, 0}, {3, 3, 4, 5}, {4, 5, 6, 7}, {math.NaN(), math.NaN(), math.NaN(), math.NaN()}}, 2, 1, true))
	require.Len(t, r.Candidates, 2)
	require.Equal(t, []string{"a", "b"}, []string{r.Candidates[0].Name, r.Candidates[1].Name})
	require.Equal(t, []uint64{2, 1}, []uint64{r.Candidates[0].Seed, r.Candidates[1].Seed})
	require.Equal(t, -5.0, r.Candidates[0].OtherStarts[0].Mean)
	require.Empty(t, r.Candidates[1].OtherStarts)

	// Turned tasks: what a model without rotations loses counts against candidates that are less far ahead of it.
	for _, c := range []struct {
		loss   float64
		broken bool
		want   string
	}{{0.9, true, "plain"}, {0.9, false, "turning"}, {0.3, true, "turning"}} {
		r := &selectRound{Candidates: []selectResult{{Name: "turning", Dimensions: 3, turns: true}, {Name: "plain", Dimensions: 2, of: 1, Symmetries: []eval.Symmetry{
			{Move: "translations", Broken: true, LogLikelihood: eval.Paired{Mean: -9}}, {Move: "rotations", Broken: c.broken, LogLikelihood: eval.Paired{Mean: -c.loss}}}}}}
		require.NoError(t, r.judge([][]float64{{2, 3.1, 4, 5}, {1.5, 2.5, 3.5, 4.5}}, 2, 1, true)) // half a unit ahead
		r.decide(1, 0)
		require.Equal(t, c.want, r.best().Name)
		require.Equal(t, c.want, r.chosen().Name)
		require.Equal(t, c.want == "plain", r.Candidates[0].RuledOut != "")
		require.Equal(t, c.want == "plain", r.Candidates[1].Kept)
	}
	// Translated and scaled tasks: only what nothing but the data explains counts, and more than the candidate is ahead. One candidate is left in any case.
	for _, c := range []struct {
		loss, ahead float64
		want        string
	}{{0.4, 0.3, "centred"}, {0.09, 0.05, "shifting"}, {0.4, 0.5, "shifting"}} {
		r := &selectRound{Candidates: []selectResult{
			{Name: "shifting", Dimensions: 3, Symmetries: []eval.Symmetry{{Move: "translations", BuiltIn: true}, {Move: "scalings"}}},
			{Name: "centred", Dimensions: 2, of: 1, Symmetries: []eval.Symmetry{{Move: "translations", Broken: true, LogLikelihood: eval.Paired{Mean: -c.loss}}, {Move: "scalings", BuiltIn: true}}}}}
		require.NoError(t, r.judge([][]float64{{2, 3, 4, 5}, {2 - c.ahead, 3 - c.ahead, 4 - c.ahead, 5 - c.ahead}}, 2, 1, true))
		r.decide(1, 0)
		require.Equal(t, c.want, r.chosen().Name, "%+v", r.Candidates)
		r.Candidates[0].Symmetries[1] = eval.Symmetry{Move: "scalings", Broken: true, LogLikelihood: eval.Paired{Mean: -9}}
		r.decide(1, 0)
		require.NotPanics(t, func() { r.chosen() })
		if c.want == "centred" {
			require.Equal(t, "shifting", r.chosen().Name, "both are ruled out: the more likely one is left")
		}
	}

	// Three rule each other out, and what is left is behind the first by more or less than that one's loss.
	for _, c := range []struct {
		behind float64
		want   string
	}{{0.8, "first"}, {0.5, "last"}} {
		lose := func(move string, loss float64) eval.Symmetry {
			return eval.Symmetry{Move: move, Broken: true, LogLikelihood: eval.Paired{Mean: -loss}}
		}
		r := &selectRound{Candidates: []selectResult{
			{Name: "first", Dimensions: 2, Symmetries: []eval.Symmetry{{Move: "translations", BuiltIn: true}, lose("scalings", 0.9)}},
			{Name: "second", Dimensions: 1, of: 1, Symmetries: []eval.Symmetry{lose("translations", 0.6), {Move: "scalings", BuiltIn: true}}},
			{Name: "last", of: 2}}}
		scores := [][]float64{{2, 3, 4, 5}, {1.9, 2.9, 3.9, 4.9}, nil}
		for _, v := range scores[0] {
			scores[2] = append(scores[2], v-c.behind)
		}
		require.NoError(t, r.judge(scores, 2, 1, true))
		r.decide(1, 0)
		require.Equal(t, c.want, r.chosen().Name)
		require.NotEmpty(t, r.Candidates[1].RuledOut)
		require.Equal(t, c.want == "last", r.Candidates[0].RuledOut != "")
	}

	// Luck: a larger group may be as far behind as trainings differ, where moved tasks lose nothing under the smaller one.
	for _, c := range []struct {
		luck   float64
		broken bool
		want   string
	}{{0.6, false, "larger"}, {0.6, true, "smaller"}, {0.3, false, "smaller"}} {
		r := &selectRound{Candidates: []selectResult{
			{Name: "smaller", Dimensions: 1, turns: true, Symmetries: []eval.Symmetry{{Move: "translations", Broken: true}, {Move: "rotations", BuiltIn: true}, {Move: "scalings", Broken: c.broken}}},
			{Name: "larger", Dimensions: 2, turns: true, of: 1, Symmetries: []eval.Symmetry{{Move: "translations"}, {Move: "rotations", BuiltIn: true}, {Move: "scalings", BuiltIn: true}}}}}
		require.NoError(t, r.judge([][]float64{{2, 3, 4, 5}, {1.5, 2.5, 3.5, 4.5}}, 2, 1, true)) // half a unit behind
		r.decide(1, c.luck)
		require.Equal(t, "smaller", r.best().Name)
		require.Equal(t, c.want, r.chosen().Name)
		require.False(t, r.Candidates[1].Kept)
		require.Equal(t, c.want == "larger", r.Candidates[1].WithinLuck)
		r.Candidates[0].Symmetries = nil
		r.decide(1, c.luck)
		require.Equal(t, "smaller", r.chosen().Name, "where nothing was moved, nothing is known")
	}
	behind := func(means ...float64) (out []eval.Paired) {
		for _, m := range means {
			out = append(out, eval.Paired{Mean: -m})
		}
		return out
	}
	rep := &selectReport{Rounds: []selectRound{{Candidates: []selectResult{{OtherStarts: behind(0.3, 9)}, {}}}, {Candidates: []selectResult{{OtherStarts: behind(0.1)}}}}}
	require.InDelta(t, 0.3, rep.luck(), 1e-12)
	rep.Rounds = rep.Rounds[:1]
	require.InDelta(t, 4.65, rep.luck(), 1e-12)
	require.Zero(t, (&selectReport{Rounds: make([]selectRound, 2)}).luck())

	// The first round and the last have all starts, whose seeds no neighbouring selection has; others go on with the best.
	all := []*candidate{{seed: 1_000_010, ask: &training{run: train.Config{Seed: 7}}}, {seed: 7, ask: &training{run: train.Config{Seed: 7}}}}
	sel := &selection{Starts: 2, Steps: []int{1, 2, 4}}
	for k, want := range [][]start{{{0, 7}, {1, 7}, {0, 1_000_010}, {1, 1_000_010}}, {{0, 1_000_010}, {1, 7}}, {{0, 7}, {1, 7}, {0, 1_000_010}, {1, 1_000_010}}} {
		require.Equal(t, want, sel.startsOf(k, all, []int{0, 1}), "round %d", k)
	}
	require.Error(t, (&selectRound{Candidates: make([]selectResult, 1)}).judge([][]float64{{math.NaN()}}, 1, 1, true))
	require.Equal(t, eval.Paired{Mean: 1}, eval.PairedOf([]float64{2, math.NaN()}, []float64{1, 1}))
}

var (
	selectSeeds  = flag.Int("select-seeds", 10, "TestSelectFinds -long: seeds of each kind")
	selectBudget = flag.Duration("select-budget", 10*time.Minute, "TestSelectFinds -long: time of each selection")
	selectSteps  = flag.Int("select-steps", 0, "TestSelectFinds -long: steps of the last round instead of a time, for machines that do other things")
	selectFirst  = flag.Int("select-first", 1, "TestSelectFinds -long: the first seed")
	selectRecord = flag.String("select-record", "", "TestSelectFinds -long: file of what was found, a JSON object a line: what it holds is not found again, so that many runs add up")
	selectKinds  = flag.String("select-kinds", "stationary,isotropic,radial,scale-free,none", "TestSelectFinds -long: kinds")
)

// The symmetry that data were made with is the one that is found: two kinds in seconds, with -long all of them, with ten seeds at ten minutes each.
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
				if i := slices.IndexFunc(known, func(k found) bool { return k.Kind == kind && k.Seed == seed && k.Length == length }); i >= 0 {
					f = known[i]
				} else {
					b := newBench(t)
					rep := decode[selectReport](t, b.ok("select", "--plane", kind, "--seed", fmt.Sprint(seed), length, "--quiet", "--json", "--out-dir", "@found"))
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
		rep := decode[selectReport](t, b.ok("select", "--plane", kind, "--groups", groups, "--steps", "500", "--tasks", "128", "--quiet", "--json", "--out-dir", "@found"))
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
