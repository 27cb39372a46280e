package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/eval"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/cnp/train"
	"github.com/equivcnp/equivcnp/cnp/weights"
	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/shards"
)

// selectFlags are the flags of equivcnp select that are not those of a training.
type selectFlags struct {
	groups []string
	outDir string
	budget time.Duration
	steps  int
	tasks  int
	starts int
	errors float64
}

// ownedBySelect are the flags of a training that select sets itself.
var ownedBySelect = []string{"group", "lifts", "alpha", "model", "out", "resume", "overwrite", "config", "json", "steps", "help"}

func (a *app) selectCommand() *cobra.Command {
	var f selectFlags
	cmd := &cobra.Command{
		Use:                   "select [regression | image] --groups none,T2,SO2,SE2x4,RxSO2 --out-dir D (--budget 10m | --steps N) (flags of that training)",
		DisableFlagsInUseLine: true,
		Short:                 "Find the symmetry of data: train models under several groups and compare them",
		Long: `Find the symmetry of data. Models under several groups are trained on the same tasks, and compared on
tasks that none of them has seen. Data and models are described by the flags of "equivcnp train regression"
or "equivcnp train image"; which of them is seen from the flags, or said in front.

--groups are names of groups, with the number of lifts behind an x: SE2x4, and for images Sim2x4x3, angles and scales. none is a model without any
symmetry. Without the flag they are those that act on as many coordinates as the data have.

Trainings take place in rounds. In each of them all candidates that are left take the same number of
steps, on the same tasks (curves: 4 at a time unless --batch says otherwise); the better half goes on to the next round, which has twice the steps, and so
does whoever is less than two standard errors behind the best. Every round trains anew, since a schedule
that was stopped says little of where it would have ended. In the first round and in the last every candidate is trained
--starts times, with different seeds, and the best of these counts: now and then a training
finds nothing for a long time, and says nothing of its group. --budget is the time that all of it should take:
steps are timed at the beginning, and their numbers kept in the folder. With --steps, those of the last round, nothing
depends on time, and equal commands give equal reports.

Chosen is, of the candidates of the last round that are at most --errors standard errors behind the best
(of differences on the same tasks), the one whose group has the most dimensions; of several, the best.

The report says, too, which moves the data bear: by how much the held-out tasks become less likely under
each model of the last round when they are translated, turned or scaled. Where the model itself knows no
difference, the symmetry is built in. Groups with a centre have it in the origin, or in the middle of your
own data.

Data that look alike from all sides lose nothing by being turned, whatever the model. So a candidate is
ruled out before the choice where tasks that are moved as its group moves them are clearly less likely
under a model to which the move is no symmetry, by more than the candidate itself gains over that one: a
symmetry that the data do not have can help a model for a while, since it learns from fewer tasks. If what is
left then is farther behind it than those tasks lose, it stays after all. The other way round, a candidate of more
dimensions than the best may be behind it by as much as two trainings of one candidate differ, if
moved tasks lose nothing under the best where the candidate knows no difference: standard errors
know of tasks alone, and not of a training's luck.

Of your own tasks a share is held out (--holdout). The folder has report.md with a picture, report.json, the
chosen model as model.safetensors, and a folder for each round. A command that was interrupted or
killed goes on when it is given again.`,
		Example: `  equivcnp select --plane isotropic --budget 5m --out-dir found
  equivcnp select --csv stations.csv --x east,north --y rain --task day --groups none,T2,SE2x4 --budget 30m --out-dir rain
  equivcnp select --digits --groups T2,SO2,RxSO2 --steps 400 --out-dir digits`,
		ValidArgs: []string{"regression", "image"},
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 || len(args) == 1 && args[0] != "regression" && args[0] != "image" {
				return fmt.Errorf("unknown arguments %q: need regression, image or none", args)
			}
			return nil
		},
	}
	cmd.RunE = a.action(func(cmd *cobra.Command, args []string) error { return a.selectGroup(cmd, &f, args) })
	fl := cmd.Flags()
	fl.StringSliceVar(&f.groups, "groups", nil, "the candidates: none, or a group's name, with the number of lifts behind an x: SE2x4 (default: by the data's coordinates)")
	fl.StringVar(&f.outDir, "out-dir", "", "folder of the report and of all models, required")
	fl.DurationVar(&f.budget, "budget", 0, "time that all of it should take, such as 10m")
	fl.IntVar(&f.steps, "steps", 0, "steps of the last round, instead of --budget")
	fl.IntVar(&f.tasks, "tasks", 512, "held-out tasks that are compared on; of your own at most those that are held out")
	fl.IntVar(&f.starts, "starts", 2, "trainings of every candidate in the first round and the last, whose seeds differ; the best one counts")
	fl.Float64Var(&f.errors, "errors", 1, "standard errors of the difference within which a candidate is as good as the best")
	fl.BoolVar(&a.json, "json", false, "print one JSON object")
	cmd.MarkFlagsMutuallyExclusive("budget", "steps")
	must(cmd.MarkFlagDirname("out-dir"))
	for _, sub := range []*cobra.Command{a.trainRegressionCommand(), a.trainImageCommand()} {
		sub.Flags().VisitAll(func(x *pflag.Flag) {
			if !slices.Contains(ownedBySelect, x.Name) && fl.Lookup(x.Name) == nil {
				fl.AddFlag(x)
			}
		})
	}
	return cmd
}

// candidate is a group that is tried.
type candidate struct {
	label string
	group string // as train --group takes it
	lifts int
	dims  int  // of the symmetry
	turns bool // rotations are part of it
	seed  uint64
	ask   *training
}

// cutLifts takes the number of lifts off the end of a name.
func cutLifts(name string) (group string, lifts string) {
	if i := strings.LastIndexAny(name, "xX"); i > 0 {
		if n, err := strconv.Atoi(name[i+1:]); err == nil && n > 0 {
			return name[:i], name[i+1:]
		}
	}
	return name, ""
}

// parseCandidate reads a name of --groups for data of so many coordinates.
func parseCandidate(name string, dx int) (*candidate, error) {
	c := &candidate{label: strings.TrimSpace(name), lifts: 1}
	g, err := group.Parse(c.label, 0)
	if strings.EqualFold(c.label, "none") {
		g, err = group.NewTrivial(dx, 0), nil
	} else if err != nil {
		rest, lifts := cutLifts(c.label)
		if lifts == "" {
			return nil, err
		}
		c.lifts, _ = strconv.Atoi(lifts)
		if angles, more := cutLifts(rest); more != "" { // angles and scales
			var f liftsFlag
			if err := f.Set(more + "x" + lifts); err != nil {
				return nil, err
			}
			if g, err = group.Parse(angles, 0); err == nil {
				g, err = f.of(g)
			}
			c.lifts = f.count
		} else {
			g, err = group.Parse(rest, 0)
		}
		if err != nil {
			return nil, err
		}
	}
	c.group, c.dims, c.turns = g.Name(), g.AlgebraDim(), rotates(g)
	sim, scales := g.(*group.Sim2)
	switch {
	case scales: // several angles tell rotations, several scales scalings
		c.dims, c.turns = 2, c.lifts > sim.Scales()
		if c.turns {
			c.dims++
		}
		if sim.Scales() > 1 {
			c.dims++
		}
	case g.MaxLifts() != 1 && c.lifts == 1: // a single lift does not tell elements of the stabiliser from each other
		c.dims, c.turns = c.dims-(g.AlgebraDim()+g.OrbitDim()-g.PointDim()), false
	}
	return c, nil
}

// rotates reports whether some of a group's elements turn vectors.
func rotates(g group.Group) bool {
	turner, ok := g.(group.Turner)
	if !ok {
		return false
	}
	a, r := make([]float64, g.AlgebraDim()), make([]float64, g.PointDim()*g.PointDim())
	for i := range a {
		a[i] = 1
	}
	turner.Turn(r, a)
	return r[0] != 1
}

// usualGroups are the candidates for data of so many coordinates.
func usualGroups(dx int) []string {
	switch dx {
	case 1:
		return []string{"none", "T1", "R>0(1)"}
	case 2:
		return []string{"none", "T2", "SO2", "RxSO2", "SE2x4"}
	case 3:
		return []string{"none", "T3", "SO3x4", "SE3x4"}
	}
	return []string{"none", fmt.Sprintf("T(%d)", dx)}
}

// selection is what a folder keeps of its command: a command that differs in it is another selection.
type selection struct {
	Kind      string   `json:"kind"`
	Flags     []string `json:"flags"`
	Groups    []string `json:"groups"`
	Tasks     int      `json:"tasks"`
	Starts    int      `json:"starts"`
	Errors    float64  `json:"errors"`
	Budget    string   `json:"budget,omitempty"`
	Steps     []int    `json:"steps"`                      // of the rounds
	StepTimes []number `json:"seconds_per_step,omitempty"` // of the candidates
}

// selectRound is what a round found.
type selectRound struct {
	Steps      int            `json:"steps"`
	Tasks      int            `json:"tasks"`
	Candidates []selectResult `json:"candidates"` // the best one first
}

// selectResult is a candidate's place in a round.
type selectResult struct {
	Name          string      `json:"name"`
	Group         string      `json:"group"`
	Lifts         int         `json:"lifts"`
	Dimensions    int         `json:"dimensions"` // of the symmetry
	LogLikelihood eval.Paired `json:"log_likelihood"`
	Behind        eval.Paired `json:"difference_to_best"`
	Kept          bool        `json:"kept"` // for the next round; in the last one: as good as the best
	Model         string      `json:"model"`
	// Seed is that of its training. OtherStarts are, in the first round and the last, how far the other trainings were behind this one.
	Seed        uint64        `json:"seed"`
	OtherStarts []eval.Paired `json:"other_starts,omitempty"`
	// Of the last round: what the data lose under this model by being moved, and why it cannot be chosen.
	Symmetries []eval.Symmetry `json:"symmetries,omitempty"`
	RuledOut   string          `json:"ruled_out,omitempty"`
	// WithinLuck says that it is behind, but no farther than trainings differ by chance, and that the data bear its group: it may be chosen.
	WithinLuck bool `json:"within_luck,omitempty"`

	scores []float64
	loss   float64 // what ruled it out
	at     int     // among the round's models
	of     int     // the candidate
	turns  bool    // as the candidate's
}

// selectReport is what select --json prints, and report.json.
type selectReport struct {
	Source     string          `json:"source"`
	ScoredOn   string          `json:"scored_on,omitempty"`
	Rule       string          `json:"rule"`
	Chosen     string          `json:"chosen"`
	Best       string          `json:"best"`
	Rounds     []selectRound   `json:"rounds"`
	Symmetries []eval.Symmetry `json:"symmetries"`
	Luck       float64         `json:"luck"` // by how much two trainings of one candidate differ
	Selection  *selection      `json:"selection"`
	Model      string          `json:"model"`
	OutDir     string          `json:"out_dir"`
	Notes      []string        `json:"notes"`
}

// imageOnly are flags that only train image has, and that say what images there are.
var imageOnly = []string{"digits", "images", "mnist", "size", "colour", "min-rate", "max-rate", "width"}

// forwarded are the words of a training's command line for the flags that were set.
func forwarded(cmd *cobra.Command, own ...string) (words []string, kind string) {
	kind = "regression"
	cmd.Flags().Visit(func(x *pflag.Flag) {
		if slices.Contains(own, x.Name) {
			return
		}
		value := x.Value.String()
		if s, ok := x.Value.(pflag.SliceValue); ok {
			value = strings.Join(s.GetSlice(), ",")
		}
		words = append(words, "--"+x.Name+"="+value)
		if slices.Contains(imageOnly, x.Name) {
			kind = "image"
		}
	})
	slices.Sort(words)
	return words, kind
}

func (a *app) selectGroup(cmd *cobra.Command, f *selectFlags, args []string) error {
	ctx, changed := cmd.Context(), cmd.Flags().Changed
	switch {
	case f.outDir == "":
		return usagef(`required flag(s) "out-dir" not set`)
	case f.steps < 0 || f.steps == 0 && f.budget <= 0:
		return usagef("say how long: --budget 10m, or --steps of the last round, at least 1")
	case f.tasks < 2 || f.tasks > maxTasks:
		return usagef("--tasks %d: need 2 to %d", f.tasks, maxTasks)
	case f.starts < 1 || f.starts > maxStarts:
		return usagef("--starts %d: need 1 to %d", f.starts, maxStarts)
	case !(f.errors >= 0 && f.errors <= 100):
		return usagef("--errors %g: need 0 to 100", f.errors)
	}
	for _, name := range []string{"csv", "in"} {
		if cmd.Flags().Lookup(name).Value.String() == stdio {
			return usagef("--%s -: the data are read for every candidate, and need a file", name)
		}
	}
	words, kind := forwarded(cmd, "groups", "out-dir", "budget", "steps", "tasks", "starts", "errors", "json", "quiet", "threads")
	if len(args) > 0 {
		kind = args[0]
	}
	if !changed("batch") && kind == "regression" { // more steps of fewer tasks tell candidates apart sooner
		words = append(words, "--batch=4")
	}
	if !changed("eval-every") {
		words = append(words, "--eval-every=0")
	}
	if !changed("checkpoint-every") {
		words = append(words, "--checkpoint-every=100")
	}
	candidates, err := a.candidates(ctx, f, kind, words)
	if err != nil {
		return err
	}
	sel, err := a.plan(ctx, f, kind, words, candidates)
	if err != nil {
		return err
	}
	rep, err := a.rounds(ctx, f, sel, candidates)
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("interrupted: %s keeps what was finished, the same command goes on", f.outDir)
	}
	if err != nil {
		return err
	}
	r := &result{notes: rep.Notes}
	rep.lines(r)
	return a.print(r, rep)
}

// asked is the training that a command line asks for.
func (a *app) asked(ctx context.Context, kind string, words []string) (*training, error) {
	var got *training
	b := &app{stdin: a.stdin, stdout: io.Discard, stderr: io.Discard, quiet: true, onTrain: func(t *training) error { got = t; return nil }}
	root := b.root()
	root.SetArgs(slices.Concat([]string{"train", kind, "--out", "asked.safetensors", "--threads", strconv.Itoa(a.threads)}, words))
	root.SetOut(io.Discard)
	root.SetErr(io.Discard)
	if err := root.ExecuteContext(ctx); err != nil {
		if !b.started {
			err = usageError{err}
		}
		return nil, err
	}
	return got, nil
}

// words are a candidate's: its group and lifts before the flags of all.
func (c *candidate) words(words []string) []string {
	return slices.Concat([]string{"--group=" + c.group, "--lifts=" + strconv.Itoa(c.lifts)}, words)
}

// candidates are those of --groups, each with what its training would be.
func (a *app) candidates(ctx context.Context, f *selectFlags, kind string, words []string) ([]*candidate, error) {
	dx, sphere := 2, false
	if kind == "regression" {
		t, err := a.asked(ctx, kind, words)
		if err != nil {
			return nil, err
		}
		dx, sphere = t.model.DimX, t.model.OnSphere()
	}
	names := f.groups
	if len(names) == 0 {
		if names = usualGroups(dx); sphere {
			names = []string{"T2", "SO3"}
		}
	}
	var out []*candidate
	for _, name := range names {
		c, err := parseCandidate(name, dx)
		if err != nil {
			return nil, usageError{fmt.Errorf("--groups: %s: %w", name, err)}
		}
		for _, other := range out {
			if other.group == c.group && other.lifts == c.lifts {
				return nil, usagef("--groups: %s and %s are the same", other.label, c.label)
			}
		}
		if c.ask, err = a.asked(ctx, kind, c.words(words)); err != nil {
			return nil, fmt.Errorf("--groups: %s: %w", name, err)
		}
		c.seed = c.ask.run.Seed
		if c.ask.model.OnSphere() { // where a place has the whole rotation
			c.dims = 3
		}
		out = append(out, c)
	}
	if len(out) < 2 {
		return nil, usagef("--groups %s: need at least two", strings.Join(names, ","))
	}
	return out, nil
}

// roundSizes are the numbers of candidates of the rounds: halves, to the two of the last.
func roundSizes(n int) (sizes []int) {
	for ; n > 2; n = (n + 1) / 2 {
		sizes = append(sizes, n)
	}
	return append(sizes, n)
}

const (
	maxStarts    = 16   // of a candidate
	leastSteps   = 20   // of a round
	scoringShare = 0.15 // of the budget, for all that is no training
)

// plan is what the folder says already, or else the numbers of steps of the rounds, which it keeps there.
func (a *app) plan(ctx context.Context, f *selectFlags, kind string, words []string, candidates []*candidate) (*selection, error) {
	s := &selection{Kind: kind, Flags: words, Tasks: f.tasks, Starts: f.starts, Errors: f.errors}
	for _, c := range candidates {
		s.Groups = append(s.Groups, c.label)
	}
	sizes := roundSizes(len(candidates))
	if f.steps > 0 {
		for k := range sizes {
			s.Steps = append(s.Steps, max(1, f.steps>>(len(sizes)-1-k)))
		}
	} else {
		s.Budget = f.budget.String()
	}
	path := filepath.Join(f.outDir, "select.json")
	var have selection
	if b, err := os.ReadFile(path); err == nil {
		if err := json.Unmarshal(b, &have); err != nil {
			return nil, fmt.Errorf("%s: no selection: %w", path, err)
		}
		if s.Steps == nil {
			s.Steps, s.StepTimes = have.Steps, have.StepTimes
		}
		now, _ := json.Marshal(s)
		if was, _ := json.Marshal(have); !bytes.Equal(was, now) || len(s.Steps) != len(sizes) {
			return nil, fmt.Errorf("%w: %s is of another command: take another --out-dir", shards.ErrOther, path)
		}
		return s, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if f.steps == 0 {
		report, done := a.bar("timing")
		defer done()
		var times []float64
		for i, c := range candidates {
			if report != nil {
				report(i, len(candidates))
			}
			t, err := c.secondsPerStep(ctx)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.label, err)
			}
			times, s.StepTimes = append(times, t), append(s.StepTimes, number(t))
		}
		done()
		// Whoever is left in a round may be the slowest.
		slices.SortFunc(times, func(x, y float64) int { return cmp.Compare(y, x) })
		unit := 0.0
		for k, n := range sizes {
			trainings := int(1) << k
			if k == 0 || k+1 == len(sizes) {
				trainings *= f.starts
			}
			unit += float64(trainings) * sumOf(times[:n])
		}
		first := (1 - scoringShare) * f.budget.Seconds() / unit
		if !(first >= leastSteps) {
			return nil, fmt.Errorf("--budget %v: a step of each candidate takes %.2g s, and the first round would have %.0f; %v would be enough, or fewer --groups, a smaller --batch, fewer --channels",
				f.budget, sumOf(times), first, (time.Duration(unit*leastSteps/(1-scoringShare))*time.Second + time.Second).Round(time.Second))
		}
		for k := range sizes {
			s.Steps = append(s.Steps, int(math.Min(first, 1e6))<<k)
		}
	}
	if err := os.MkdirAll(f.outDir, 0o777); err != nil {
		return nil, err
	}
	return s, shards.Create(path, func(w io.Writer) error { return encodeIndented(w, s) })
}

func sumOf(x []float64) (sum float64) {
	for _, v := range x {
		sum += v
	}
	return sum
}

func encodeIndented(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	return enc.Encode(v)
}

// secondsPerStep times some steps of a candidate's training.
func (c *candidate) secondsPerStep(ctx context.Context) (float64, error) {
	const warm, steps, enough = 2, 12, 3 * time.Second
	model, err := cnp.New[float32](c.ask.model, 1)
	if err != nil {
		return 0, err
	}
	run := c.ask.run
	run.Steps, run.EvalEvery, run.Patience, run.LogEvery, run.CheckpointEvery = warm+steps, 0, 0, 0, 0
	timed, stop := context.WithCancel(ctx)
	defer stop()
	var begun time.Time
	var taken time.Duration
	counted := 0
	r, err := train.NewRun(model, c.ask.src, run, train.Options[float32]{Report: func(rec train.Record) {
		switch {
		case rec.Step == warm:
			begun = time.Now()
		case rec.Step > warm:
			counted, taken = rec.Step-warm, time.Since(begun)
			if taken > enough {
				stop()
			}
		}
	}})
	if err != nil {
		return 0, err
	}
	if err := r.Train(timed); err != nil && (!errors.Is(err, train.ErrInterrupted) || ctx.Err() != nil) {
		return 0, cmp.Or(ctx.Err(), err)
	}
	return max(1e-6, taken.Seconds()) / float64(max(1, counted)), nil
}

// rounds trains and compares, round by round.
func (a *app) rounds(ctx context.Context, f *selectFlags, s *selection, all []*candidate) (*selectReport, error) {
	ask := all[0].ask
	src := ask.src
	if ask.test != nil {
		src = ask.test
	}
	rep := &selectReport{Source: ask.src.String(), Selection: s, OutDir: f.outDir, Notes: []string{},
		Rule: fmt.Sprintf("of the last round's candidates that no moved tasks rule out, and that are at most %g standard errors behind the best of these, or by no more than two trainings differ if the data bear what their groups add, the one whose group has the most dimensions", f.errors)}
	if src.String() != rep.Source {
		rep.ScoredOn = src.String()
	}
	n := f.tasks
	if own := tasksOf(src); own > 0 {
		if n = min(n, own); n < 8 {
			rep.Notes = append(rep.Notes, fmt.Sprintf("only %s held out: differences may be chance", plural(n, "task")))
		}
	}
	left := make([]int, len(all))
	for i := range left {
		left[i] = i
	}
	sizes := roundSizes(len(all))
	var models []cnp.Model[float32]
	for k, steps := range s.Steps {
		folder := filepath.Join(f.outDir, fmt.Sprintf("round-%d", k+1))
		starts := s.startsOf(k, all, left)
		paths, err := a.trainRound(ctx, s, k, folder, all, starts)
		if err != nil {
			return nil, err
		}
		models = models[:0]
		round := selectRound{Steps: steps, Tasks: n}
		var predictors []eval.Predictor[float32]
		for i, t := range starts {
			m, err := weights.Load[float32](paths[i], weights.Options{})
			if err != nil {
				return nil, err
			}
			models, predictors = append(models, m), append(predictors, eval.Model(m))
			inDir, _ := filepath.Rel(f.outDir, paths[i])
			c := all[t.candidate]
			round.Candidates = append(round.Candidates, selectResult{Name: c.label, Group: c.group, Lifts: c.lifts, Dimensions: c.dims, Model: filepath.ToSlash(inDir), Seed: t.seed, at: i, of: t.candidate, turns: c.turns})
		}
		report, done := a.bar(fmt.Sprintf("comparing %d", len(starts)))
		scores, err := eval.Scores(ctx, predictors, src, eval.Options{Tasks: n, Batch: 4, Seed: selectSeed, Progress: report})
		done()
		if err != nil {
			return nil, err
		}
		next := 2
		if k+1 < len(sizes) {
			next = sizes[k+1]
		}
		if err := round.judge(scores, next, f.errors, k+1 == len(s.Steps)); err != nil {
			return nil, err
		}
		rep.Rounds = append(rep.Rounds, round)
		var kept []int
		for _, c := range round.Candidates {
			all[c.of].seed = c.Seed
			if c.Kept {
				kept = append(kept, c.of)
			}
		}
		if k+1 < len(s.Steps) {
			slices.Sort(kept)
			left = kept
		}
	}
	last := &rep.Rounds[len(rep.Rounds)-1]
	for i := range last.Candidates {
		c := &last.Candidates[i]
		report, done := a.bar(fmt.Sprintf("moving tasks under %s", c.Name))
		found, err := eval.Symmetries(ctx, models[c.at], src, eval.Options{Tasks: n, Batch: 4, Seed: selectSeed, Progress: report})
		done()
		if errors.Is(err, cnp.ErrRange) {
			rep.Notes = append(rep.Notes, fmt.Sprintf("moved tasks are not measured under %s: %v", c.Name, err))
		} else if err != nil {
			return nil, err
		}
		c.Symmetries = found
	}
	rep.Luck = rep.luck()
	last.decide(f.errors, rep.Luck)
	best, chosen := last.best(), last.chosen()
	rep.Best, rep.Chosen, rep.Model = best.Name, chosen.Name, "model.safetensors"
	rep.Symmetries = append([]eval.Symmetry{}, best.Symmetries...)
	return rep, a.writeSelection(f, rep, chosen)
}

// selectSeed is the seed of the tasks that candidates are compared on, far from those of trainings.
const selectSeed = 0x5e1ec7

// tasksOf is how many tasks a source of a user's own has; 0 where there is no end.
func tasksOf(src task.Source[float32]) int {
	switch s := src.(type) {
	case task.CurveSetSource[float32]:
		if s.Window == nil {
			return len(s.Set.Curves)
		}
	case task.ImageSource[float32]:
		if set, ok := s.Pictures.(task.Moved); ok {
			return set.N
		}
	}
	return 0
}

// startsOf are the trainings of a round: of every candidate that is left all starts in the first one and in the last, the best one of the first in others.
func (s *selection) startsOf(round int, all []*candidate, left []int) (starts []start) {
	n := 1
	if s.tried(round) {
		n = s.Starts
	}
	for more := range n {
		for _, c := range left {
			seed := all[c].seed
			if s.tried(round) {
				seed = all[c].ask.run.Seed + uint64(more)*startsApart
			}
			starts = append(starts, start{c, seed})
		}
	}
	return starts
}

// tried reports whether a round has all starts.
func (s *selection) tried(round int) bool { return round == 0 || round+1 == len(s.Steps) }

// startsApart lies between the seeds of a candidate's starts: selections with the next seed have others.
const startsApart = 1_000_003

// start is a training of a candidate.
type start struct {
	candidate int
	seed      uint64
}

// trainRound does the trainings of a round, those that are not done yet, and returns the files of their models.
func (a *app) trainRound(ctx context.Context, s *selection, k int, folder string, all []*candidate, starts []start) (paths []string, err error) {
	job := &shards.Job{Kind: "train", Folder: folder}
	words := map[int][]string{}
	for id, t := range starts {
		line := append([]string{s.Kind}, all[t.candidate].words(append(slices.Clone(s.Flags), fmt.Sprintf("--seed=%d", t.seed), "--steps="+strconv.Itoa(s.Steps[k])))...)
		words[id] = line
		job.Items = append(job.Items, shards.Item{ID: id, Line: id + 1, Name: quoted(line)})
	}
	name := func(it shards.Item) string {
		return shards.OutName(it.ID, all[starts[it.ID].candidate].label, tensorFiles)
	}
	report, done := a.bar(fmt.Sprintf("round %d of %d, %s", k+1, len(s.Steps), plural(s.Steps[k], "step")))
	defer done()
	o, err := job.Run(ctx, shards.Shard{Count: 1}, folder, name, func(ctx context.Context, it shards.Item, out string) (any, error) {
		if report != nil {
			report(it.ID, len(starts))
		}
		return a.trainApart(ctx, words[it.ID], out)
	})
	if err != nil {
		return nil, err
	}
	for _, rec := range o.Records {
		paths = append(paths, inFolder(folder, rec))
	}
	return paths, nil
}

// quoted is a line that shards.Words takes apart again.
func quoted(words []string) string {
	var out []string
	for _, w := range words {
		if strings.ContainsAny(w, " \t'\"\\") {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		out = append(out, w)
	}
	return strings.Join(out, " ")
}

// judge orders the candidates by their scores, those of their best trainings, and says who is kept: in the last round those that are as good as the best, in others the next ones, and those that
// are not clearly behind.
func (r *selectRound) judge(scores [][]float64, next int, errors float64, last bool) error {
	for i := range r.Candidates {
		c := &r.Candidates[i]
		c.scores, c.LogLikelihood = scores[i], eval.PairedOf(scores[i], make([]float64, len(scores[i])))
	}
	slices.SortStableFunc(r.Candidates, func(a, b selectResult) int { return cmp.Compare(b.LogLikelihood.Mean, a.LogLikelihood.Mean) })
	r.bestStarts()
	for i := range r.Candidates {
		c := &r.Candidates[i]
		if math.IsNaN(c.LogLikelihood.Mean) {
			return fmt.Errorf("%s: no held-out task has a finite likelihood", c.Name)
		}
		if i > 0 {
			c.Behind = eval.PairedOf(c.scores, r.Candidates[0].scores)
		}
		within := errors
		if !last {
			within = max(2, errors)
		}
		c.Kept = c.Behind.Mean >= -within*c.Behind.Error || !last && i < next
	}
	return nil
}

// bestStarts leaves of every candidate the best training, which is the first one, with how far the others are behind it.
func (r *selectRound) bestStarts() {
	first := map[int]int{}
	var best []selectResult
	for _, c := range r.Candidates {
		i, ok := first[c.of]
		if !ok {
			first[c.of], best = len(best), append(best, c)
			continue
		}
		if behind := eval.PairedOf(c.scores, best[i].scores); !math.IsNaN(behind.Mean) {
			best[i].OtherStarts = append(best[i].OtherStarts, behind)
		}
	}
	r.Candidates = best
}

// luck is by how much two trainings of one candidate differ that differ in their seeds: the median over all candidates and rounds, as one that
// finds nothing is far behind. 0 where each has one start.
func (rep *selectReport) luck() float64 {
	var all []float64
	for _, r := range rep.Rounds {
		for _, c := range r.Candidates {
			for _, other := range c.OtherStarts {
				all = append(all, -other.Mean)
			}
		}
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}

// decide says of the candidates of the last round who is as good as the best of those that are not ruled out. Standard errors know of tasks alone, and not of trainings' luck; so a candidate with
// a larger group may be as far behind as two trainings of one candidate differ, if the data bear what its group adds.
func (r *selectRound) decide(errors, luck float64) {
	r.ruleOut()
	best := r.best()
	for i := range r.Candidates {
		c := &r.Candidates[i]
		behind := eval.PairedOf(c.scores, best.scores)
		c.Kept = c.RuledOut == "" && behind.Mean >= -errors*behind.Error
		c.WithinLuck = !c.Kept && c.RuledOut == "" && c.Dimensions > best.Dimensions && c.borne(&best) && behind.Mean >= -errors*math.Hypot(behind.Error, luck)
	}
}

// borne reports whether tasks lose nothing under another model by the moves that are built into the candidate's.
func (c *selectResult) borne(under *selectResult) bool {
	moves := 0
	for _, own := range c.Symmetries {
		if !c.has(own.Move) {
			continue
		}
		i := slices.IndexFunc(under.Symmetries, func(s eval.Symmetry) bool { return s.Move == own.Move })
		if i < 0 || under.Symmetries[i].Broken {
			return false
		}
		moves++
	}
	return moves > 0
}

// afterMove names tasks by their move.
var afterMove = map[string]string{"translations": "translated tasks", "rotations": "turned tasks", "scalings": "scaled tasks"}

// clearLoss is the loss of log-likelihood per value by a translation or scaling that only data explain. These moves take context to places that a model does not know, which costs some likelihood
// whatever the data. Of the kinds of "equivcnp select --plane" those that bear translations lose up to 0.06 by them and others 0.3 to 4. Scalings cost rings 0.7, but a landscape 0.07, and processes of
// a fixed length nothing that stands out: that little is lost proves no symmetry.
const clearLoss = 0.1

// ruleOut finds the candidates of the last round whose moves the data do not bear. Data that are equally distributed when they are moved are as likely moved as not, under every model that knows
// the places; those that are clearly less likely under a model to which the move is no symmetry, by more than the candidate is ahead of it, are not.
//
// Candidates may rule each other out one by one. So one that is farther ahead of the best that is left than the loss that ruled it out stays: a wrong
// symmetry costs less there than the model without it.
func (r *selectRound) ruleOut() {
	for i := range r.Candidates {
		c := &r.Candidates[i]
		c.RuledOut, c.loss = "", 0
		for _, other := range r.Candidates {
			for _, s := range other.Symmetries {
				loss, knows := -s.LogLikelihood.Mean, s.BuiltIn
				if s.Move == "rotations" {
					knows = other.turns
				} else if loss < clearLoss {
					continue
				}
				if s.Broken && !knows && c.has(s.Move) && loss > max(c.loss, eval.PairedOf(c.scores, other.scores).Mean) {
					c.loss, c.RuledOut = loss, fmt.Sprintf("%s lose %.3f ± %.3f under %s", afterMove[s.Move], loss, s.LogLikelihood.Error, other.Name)
				}
			}
		}
	}
	if !slices.ContainsFunc(r.Candidates, func(c selectResult) bool { return c.RuledOut == "" }) {
		r.Candidates[0].RuledOut = "" // the data have none of these symmetries: the most likely model is left
	}
	left := r.best()
	for i := range r.Candidates { // the better ones first
		if c := &r.Candidates[i]; c.RuledOut != "" && eval.PairedOf(c.scores, left.scores).Mean > c.loss {
			c.RuledOut = ""
			return
		}
	}
}

// has reports whether a move is a symmetry of the candidate: built in, or rotations by its lifts.
func (c *selectResult) has(move string) bool {
	if move == "rotations" {
		return c.turns
	}
	return slices.ContainsFunc(c.Symmetries, func(s eval.Symmetry) bool { return s.Move == move && s.BuiltIn })
}

// best is the best candidate that is not ruled out.
func (r *selectRound) best() selectResult {
	return r.Candidates[slices.IndexFunc(r.Candidates, func(c selectResult) bool { return c.RuledOut == "" })]
}

// chosen is the candidate that the rule picks.
func (r *selectRound) chosen() selectResult {
	out := r.best()
	for _, c := range r.Candidates { // the better ones first
		if (c.Kept || c.WithinLuck) && c.Dimensions > out.Dimensions {
			out = c
		}
	}
	return out
}
