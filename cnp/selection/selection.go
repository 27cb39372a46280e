// Package selection finds the symmetry of data: it trains models under several groups on the same tasks, and compares
// them on tasks that none of them has seen. "equivcnp select" prints what [Run] returns.
//
//	r := recipe.DefaultCurves()
//	r.Data.Plane = "isotropic"
//	c := selection.Default(&r, "found")
//	c.Budget = 5 * time.Minute
//	report, err := selection.Run(ctx, c)
//	...
//	fmt.Println(report.Chosen)
package selection

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/recipe"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/cnp/train"
	"github.com/equivcnp/equivcnp/internal/atomicfile"
	"github.com/equivcnp/equivcnp/internal/shards"
)

// Config says what a selection tries, and how long. Start from [Default].
type Config struct {
	// Recipe is the training of every candidate but for the group, the lifts, the seed and the number of steps. Without
	// a Batch, curves are trained 4 at a time: more steps of fewer tasks tell candidates apart sooner.
	Recipe recipe.Recipe
	// Groups are the candidates: none, or a group's name, with the number of lifts behind an x, as in SE2x4, and for
	// images Sim2x4x3. Nil: those that act on as many coordinates as the data have.
	Groups []string
	// Dir is the folder of the models, and of what an interrupted selection resumes from.
	Dir string
	// Steps are those of the last round; Budget is the time that all of it should take instead.
	Steps  int
	Budget time.Duration
	// Tasks is the number of held-out tasks that candidates are compared on; of a user's own at most those that are held out.
	Tasks int
	// Starts is the number of trainings of every candidate in the first round and in the last, whose seeds differ; the best one counts.
	Starts int
	// Errors is within how many standard errors of the difference a candidate is as good as the best.
	Errors float64
	// Progress is told what is being done, and how much of it is done; nil: nobody is.
	Progress func(what string, done, total int)
}

// Default returns a selection with 512 tasks, two starts and one standard error. Steps or Budget are yet to be set.
func Default(r recipe.Recipe, dir string) Config {
	return Config{Recipe: r, Dir: dir, Tasks: 512, Starts: 2, Errors: 1}
}

const (
	maxTasks     = 1 << 24
	maxStarts    = 16   // of a candidate
	leastSteps   = 20   // of a round
	scoringShare = 0.15 // of the budget, for all that is no training
	usualBatch   = 4    // curves
	saveEvery    = 100  // steps
)

// check refuses what cannot be run.
func (c *Config) check() error {
	switch {
	case c.Recipe == nil:
		return errors.New("selection: a Config without a Recipe")
	case c.Dir == "":
		return recipe.Errorf("{OutDir} is missing: the folder of the report and of all models")
	case c.Steps < 0 || c.Steps == 0 && c.Budget <= 0:
		return recipe.Errorf("say how long: {Budget} 10m, or {Steps} of the last round, at least 1")
	case c.Steps > 0 && c.Budget > 0:
		return recipe.Errorf("{Steps} and {Budget} exclude each other")
	case c.Tasks < 2 || c.Tasks > maxTasks:
		return recipe.Errorf("{Tasks} %d: need 2 to %d", c.Tasks, maxTasks)
	case c.Starts < 1 || c.Starts > maxStarts:
		return recipe.Errorf("{Starts} %d: need 1 to %d", c.Starts, maxStarts)
	case !(c.Errors >= 0 && c.Errors <= 100):
		return recipe.Errorf("{Errors} %g: need 0 to 100", c.Errors)
	}
	return nil
}

// Manifest holds what a folder keeps of its selection: one that differs in it is another selection.
type Manifest struct {
	Kind   string          `json:"kind"` // of tasks: regression or image
	Recipe json.RawMessage `json:"recipe"`
	// Data is a digest of tasks in memory.
	Data      string    `json:"data,omitempty"`
	Groups    []string  `json:"groups"`
	Tasks     int       `json:"tasks"`
	Starts    int       `json:"starts"`
	Errors    float64   `json:"errors"`
	Budget    string    `json:"budget,omitempty"`
	Steps     []int     `json:"steps"`                      // of the rounds
	StepTimes []float64 `json:"seconds_per_step,omitempty"` // of the candidates
}

// runner is a selection that is under way.
type runner struct {
	Config
	manifest *Manifest
	all      []*contender
	unlock   func() // gives the folder free; nil: it is not kept yet
}

// Run runs a selection, or resumes an interrupted one. The folder then has a folder for each round, and the chosen
// model as model.safetensors. Equal configurations with Steps give equal reports; with Budget steps are timed once, and
// their numbers kept in the folder.
func Run(ctx context.Context, c Config) (*Report, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	s := &runner{Config: c}
	s.Recipe = prepared(c.Recipe)
	if err := s.contenders(ctx); err != nil {
		return nil, err
	}
	defer func() {
		if s.unlock != nil {
			s.unlock()
		}
	}()
	if err := s.settle(ctx); err != nil {
		return nil, err
	}
	if err := s.lock(); err != nil {
		return nil, err
	}
	return s.rounds(ctx)
}

// prepared is a copy of a recipe with what selections have as defaults. All starts hold out the tasks that the recipe's
// own seed draws: another start must not be trained on the tasks that candidates are compared on.
func prepared(r recipe.Recipe) recipe.Recipe {
	r = r.Clone()
	s := r.Common()
	if s.EvalEvery == nil {
		s.EvalEvery = new(0)
	}
	if s.CheckpointEvery == nil {
		s.CheckpointEvery = new(saveEvery)
	}
	seed := s.Seed
	switch r := r.(type) {
	case *recipe.Curves:
		if s.Batch == 0 {
			s.Batch = usualBatch
		}
		r.Data.HoldoutSeed = cmp.Or(r.Data.HoldoutSeed, &seed)
	case *recipe.Images:
		r.Data.HoldoutSeed = cmp.Or(r.Data.HoldoutSeed, &seed)
	}
	return r
}

// report tells Progress, if anyone listens.
func (c *Config) report(what string) func(done, total int) {
	if c.Progress == nil {
		return nil
	}
	return func(done, total int) { c.Progress(what, done, total) }
}

// planOf plans the training of a contender.
func (s *runner) planOf(ctx context.Context, c *contender, seed uint64, steps int) (*recipe.Plan, error) {
	r := s.Recipe.Clone()
	of := r.Common()
	of.Group, of.Lifts, of.Seed = c.group, recipe.Lifts{Count: c.lifts}, seed
	if c.approximate {
		curves, ok := r.(*recipe.Curves)
		if !ok {
			return nil, recipe.Errorf("{Groups}: %s: only models of curves depart from a group", c.label)
		}
		drop := approximateDrop
		curves.Approximate = &drop
	}
	if steps > 0 {
		of.Steps = steps
	}
	return r.Plan(ctx)
}

// contenders finds the candidates, each with what its training would be.
func (s *runner) contenders(ctx context.Context) error {
	dx, sphere := 2, false
	if _, curves := s.Recipe.(*recipe.Curves); curves {
		p, err := s.Recipe.Plan(ctx)
		if err != nil {
			return err
		}
		dx, sphere = p.Model.DimX, p.Model.OnSphere()
	}
	names := s.Groups
	if len(names) == 0 {
		if names = usualGroups(dx); sphere {
			names = []string{"T2", "SO3"}
		}
	}
	for _, name := range names {
		c, err := parseContender(name, dx)
		if err != nil {
			return recipe.Errorf("{Groups}: %s: %w", name, err)
		}
		for _, other := range s.all {
			if other.group == c.group && other.lifts == c.lifts && other.approximate == c.approximate {
				return recipe.Errorf("{Groups}: %s and %s are the same", other.label, c.label)
			}
		}
		c.seed = s.Recipe.Common().Seed
		if c.plan, err = s.planOf(ctx, c, c.seed, 0); err != nil {
			if bad := (*recipe.Error)(nil); errors.As(err, &bad) {
				return recipe.Errorf("{Groups}: %s: %w", name, err)
			}
			return fmt.Errorf("%s: %w", name, err)
		}
		if c.plan.Model.OnSphere() { // where a place has the whole rotation
			c.dims = 3
		}
		s.all = append(s.all, c)
	}
	if len(s.all) < 2 {
		return recipe.Errorf("{Groups} %s: need at least two", strings.Join(names, ","))
	}
	return nil
}

// roundSizes are the numbers of candidates of the rounds: halves, to the two of the last.
func roundSizes(n int) (sizes []int) {
	for ; n > 2; n = (n + 1) / 2 {
		sizes = append(sizes, n)
	}
	return append(sizes, n)
}

// asked is the manifest that the configuration asks for, without steps where they are a budget's.
func (s *runner) asked() (*Manifest, error) {
	text, err := json.Marshal(s.Recipe)
	if err != nil {
		return nil, err
	}
	m := &Manifest{Kind: "image", Recipe: text, Tasks: s.Tasks, Starts: s.Starts, Errors: s.Errors}
	if r, ok := s.Recipe.(*recipe.Curves); ok {
		m.Kind, m.Data = "regression", digest(r.Data.Set)
	}
	for _, c := range s.all {
		m.Groups = append(m.Groups, c.label)
	}
	if s.Steps == 0 {
		m.Budget = s.Budget.String()
		return m, nil
	}
	sizes := roundSizes(len(s.all))
	for k := range sizes {
		m.Steps = append(m.Steps, max(1, s.Steps>>(len(sizes)-1-k)))
	}
	return m, nil
}

// digest tells tasks in memory from others; "" for none.
func digest(set *task.CurveSet) string {
	if set == nil {
		return ""
	}
	h := sha256.New()
	for _, c := range set.Curves {
		for _, v := range [][]float64{c.X, c.Y, c.Aux} {
			_ = binary.Write(h, binary.LittleEndian, v) // a hash takes everything
		}
	}
	return fmt.Sprintf("sha256:%x", h.Sum(nil))
}

// settle takes the numbers of steps from the folder, or decides them and keeps them there.
func (s *runner) settle(ctx context.Context) error {
	m, err := s.asked()
	if err != nil {
		return err
	}
	s.manifest = m
	path := filepath.Join(s.Dir, "select.json")
	switch b, err := os.ReadFile(path); {
	case err == nil:
		return s.known(path, b)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if m.Steps == nil {
		if err := s.time(ctx); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(s.Dir, 0o777); err != nil {
		return err
	}
	if err := s.lock(); err != nil {
		return err
	}
	return shards.Create(path, func(w io.Writer) error { return EncodeJSON(w, m) })
}

// lock keeps the folder for this process: two selections at once would take each other's trainings.
func (s *runner) lock() (err error) {
	if s.unlock == nil {
		s.unlock, err = atomicfile.LockFolder(s.Dir)
	}
	return err
}

// known goes by the manifest of a folder, if it is that of the same selection.
func (s *runner) known(path string, b []byte) error {
	var have Manifest
	if err := json.Unmarshal(b, &have); err != nil {
		return fmt.Errorf("%s: no selection: %w", path, err)
	}
	m := s.manifest
	if m.Steps == nil {
		m.Steps, m.StepTimes = have.Steps, have.StepTimes
		for k, n := range m.Steps {
			if n < 1 || k > 0 && n < m.Steps[k-1] {
				return fmt.Errorf("%s: no selection: %d steps in round %d", path, n, k+1)
			}
		}
	}
	now, err := json.Marshal(m)
	if err != nil {
		return err
	}
	was, err := json.Marshal(have)
	if err != nil {
		return err
	}
	if !bytes.Equal(was, now) || len(m.Steps) != len(roundSizes(len(s.all))) {
		return fmt.Errorf("%w: %s is of another command: take another folder", shards.ErrOther, path)
	}
	return nil
}

// time times a step of every candidate, and fits the rounds into the budget.
func (s *runner) time(ctx context.Context) error {
	m, report := s.manifest, s.report("timing")
	for i, c := range s.all {
		if report != nil {
			report(i, len(s.all))
		}
		t, err := c.secondsPerStep(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", c.label, err)
		}
		m.StepTimes = append(m.StepTimes, t)
	}
	times := slices.Clone(m.StepTimes) // whoever is left in a round may be the slowest
	slices.SortFunc(times, func(x, y float64) int { return cmp.Compare(y, x) })
	unit, sizes := 0.0, roundSizes(len(s.all))
	for k, n := range sizes {
		trainings := int(1) << k
		if k == 0 || k+1 == len(sizes) {
			trainings *= s.Starts
		}
		unit += float64(trainings) * sum(times[:n])
	}
	first := (1 - scoringShare) * s.Budget.Seconds() / unit
	if !(first >= leastSteps) {
		return fmt.Errorf("a budget of %v: a step of each candidate takes %.2g s, and the first round would have %.0f; "+
			"%v would be enough, or fewer groups, a smaller batch, fewer channels",
			s.Budget, sum(times), first, (time.Duration(unit*leastSteps/(1-scoringShare))*time.Second + time.Second).Round(time.Second))
	}
	for k := range sizes {
		m.Steps = append(m.Steps, int(math.Min(first, 1e6))<<k)
	}
	return nil
}

func sum(x []float64) (total float64) {
	for _, v := range x {
		total += v
	}
	return total
}

// EncodeJSON writes a value as its file in a folder has it.
func EncodeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	return enc.Encode(v)
}

// secondsPerStep times some steps of a candidate's training.
func (c *contender) secondsPerStep(ctx context.Context) (float64, error) {
	const warm, steps, enough = 2, 12, 3 * time.Second
	model, err := cnp.New[float32](c.plan.Model, 1)
	if err != nil {
		return 0, err
	}
	run := c.plan.Config
	run.Steps, run.EvalEvery, run.Patience, run.LogEvery, run.CheckpointEvery = warm+steps, 0, 0, 0, 0
	timed, stop := context.WithCancel(ctx)
	defer stop()
	var begun time.Time
	var taken time.Duration
	counted := 0
	r, err := train.NewRun(model, c.plan.Source, run, train.Options[float32]{Report: func(rec train.Record) {
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
