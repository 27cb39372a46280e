package selection

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp/eval"
	"github.com/equivcnp/equivcnp/cnp/recipe"
)

// Names of candidates, sizes of rounds, and the rule.
func TestRule(t *testing.T) {
	for name, want := range map[string]contender{
		"none": {group: "trivial(2)", lifts: 1, dims: 0}, "T2": {group: "T(2)", lifts: 1, dims: 2},
		"SO2":   {group: "SO(2)", lifts: 1, dims: 1, turns: true},
		"RxSO2": {group: "R>0xSO(2)", lifts: 1, dims: 2, turns: true}, "SE2": {group: "SE(2)", lifts: 1, dims: 2},
		"SE2x4":    {group: "SE(2)", lifts: 4, dims: 3, turns: true},
		"Sim2x4x3": {group: "Sim(2) at 3 scales", lifts: 12, dims: 4, turns: true}, "Sim2x4": {group: "Sim(2)", lifts: 4, dims: 3,
			turns: true}, "Sim2x1x2": {group: "Sim(2) at 2 scales", lifts: 2, dims: 3},
		"~T2": {group: "T(2)", lifts: 1, approximate: true}, "~SE2x4": {group: "SE(2)", lifts: 4, approximate: true},
	} {
		c, err := parseContender(name, 2)
		require.NoError(t, err)
		want.label = name
		require.Equal(t, want, *c)
	}
	require.Equal(t, []int{5, 3, 2}, roundSizes(5))
	require.Equal(t, []int{2}, roundSizes(2))

	scores := [][]float64{{1, 2, 3, 4}, {1.1, 1.9, 3.2, 3.9}, {0, 1, 2, 3.1}} // the second is better by 0.025 ± 0.07, the third worse by 1
	judged := func(errors float64, last bool) (kept []string, chosen string) {
		r := &Round{}
		for i, dims := range []int{2, 1, 3} {
			r.Candidates = append(r.Candidates, Candidate{Name: string(rune('a' + i)), Dimensions: dims, of: i})
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
	r := &Round{Candidates: []Candidate{{Name: "a", Seed: 1}, {Name: "b", Seed: 1, of: 1}, {Name: "a", Seed: 2},
		{Name: "b", Seed: 2, of: 1}}}
	require.NoError(t, r.judge([][]float64{{0, 1, 1, 0}, {3, 3, 4, 5}, {4, 5, 6, 7},
		{math.NaN(), math.NaN(), math.NaN(), math.NaN()}}, 2, 1, true))
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
		r := &Round{Candidates: []Candidate{{Name: "turning", Dimensions: 3, turns: true},
			{Name: "plain", Dimensions: 2, of: 1, Symmetries: []eval.Symmetry{
				{Move: "translations", Broken: true, LogLikelihood: eval.Paired{Mean: -9}},
				{Move: "rotations", Broken: c.broken, LogLikelihood: eval.Paired{Mean: -c.loss}}}}}}
		require.NoError(t, r.judge([][]float64{{2, 3.1, 4, 5}, {1.5, 2.5, 3.5, 4.5}}, 2, 1, true)) // half a unit ahead
		r.decide(1, 0)
		require.Equal(t, c.want, r.best().Name)
		require.Equal(t, c.want, r.chosen().Name)
		require.Equal(t, c.want == "plain", r.Candidates[0].RuledOut != "")
		require.Equal(t, c.want == "plain", r.Candidates[1].Kept)
	}
	// Translated and scaled tasks: only what nothing but the data explains counts, and more than the candidate is
	// ahead. One candidate is left in any case.
	for _, c := range []struct {
		loss, ahead float64
		want        string
	}{{0.4, 0.3, "centred"}, {0.09, 0.05, "shifting"}, {0.4, 0.5, "shifting"}} {
		r := &Round{Candidates: []Candidate{
			{Name: "shifting", Dimensions: 3, Symmetries: []eval.Symmetry{{Move: "translations", BuiltIn: true}, {Move: "scalings"}}},
			{Name: "centred", Dimensions: 2, of: 1,
				Symmetries: []eval.Symmetry{{Move: "translations", Broken: true, LogLikelihood: eval.Paired{Mean: -c.loss}},
					{Move: "scalings", BuiltIn: true}}}}}
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
		r := &Round{Candidates: []Candidate{
			{Name: "first", Dimensions: 2, Symmetries: []eval.Symmetry{{Move: "translations", BuiltIn: true}, lose("scalings", 0.9)}},
			{Name: "second", Dimensions: 1, of: 1, Symmetries: []eval.Symmetry{lose("translations", 0.6),
				{Move: "scalings", BuiltIn: true}}},
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
		r := &Round{Candidates: []Candidate{
			{Name: "smaller", Dimensions: 1, turns: true, Symmetries: []eval.Symmetry{{Move: "translations", Broken: true},
				{Move: "rotations", BuiltIn: true}, {Move: "scalings", Broken: c.broken}}},
			{Name: "larger", Dimensions: 2, turns: true, of: 1, Symmetries: []eval.Symmetry{{Move: "translations"},
				{Move: "rotations", BuiltIn: true}, {Move: "scalings", BuiltIn: true}}}}}
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
	rep := &Report{Rounds: []Round{{Candidates: []Candidate{{OtherStarts: behind(0.3, 9)}, {}}},
		{Candidates: []Candidate{{OtherStarts: behind(0.1)}}}}}
	require.InDelta(t, 0.3, rep.luck(), 1e-12)
	rep.Rounds = rep.Rounds[:1]
	require.InDelta(t, 4.65, rep.luck(), 1e-12)
	require.Zero(t, (&Report{Rounds: make([]Round, 2)}).luck())

	// The first round and the last have all starts, whose seeds no neighbouring selection has; others go on with the best.
	own := recipe.DefaultCurves()
	own.Seed = 7
	s := &runner{Config: Default(&own, ""), manifest: &Manifest{Steps: []int{1, 2, 4}}, all: []*contender{{seed: 1_000_010}, {seed: 7}}}
	for k, want := range [][]start{{{0, 7}, {1, 7}, {0, 1_000_010}, {1, 1_000_010}}, {{0, 1_000_010}, {1, 7}},
		{{0, 7}, {1, 7}, {0, 1_000_010}, {1, 1_000_010}}} {
		require.Equal(t, want, s.startsOf(k, []int{0, 1}), "round %d", k)
	}
	require.Error(t, (&Round{Candidates: make([]Candidate, 1)}).judge([][]float64{{math.NaN()}}, 1, 1, true))
	require.Equal(t, eval.Paired{Mean: 1}, eval.PairedOf([]float64{2, math.NaN()}, []float64{1, 1}))
}
