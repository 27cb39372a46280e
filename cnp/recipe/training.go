package recipe

import (
	"context"
	"fmt"
	"math"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/cnp/train"
)

// Recipe has the methods that [Curves] and [Images] share.
type Recipe interface {
	// Plan reads the data and settles what the recipe leaves open.
	Plan(ctx context.Context) (*Plan, error)
	// Common returns the settings that both kinds share, live.
	Common() *Settings
	// Clone returns a copy that can be changed without changing the original.
	Clone() Recipe
}

// Settings is the part of a recipe that curves and images share: the symmetry, the output distribution, and the
// training. A nil pointer, and where it says so a zero, is the default of the kind of data.
type Settings struct {
	// Model is equivcnp, convcnp or cnp. Group and Lifts are an equivcnp's symmetry; the default is translations, of views Sim(2).
	Model string
	Group string
	Lifts Lifts
	// Likelihood is the output distribution ("": normal, of vectors full), Waves those of the likelihood lowrank.
	Likelihood string
	Waves      *cnp.Waves
	// Multiplicity K makes the powers y, y² .. y^K of a value the signal of the encoder; 0: y alone.
	Multiplicity int
	// Neighbors bounds the neighbourhoods of an equivcnp's convolutions by a sample, drawn once, the paper's Monte-Carlo
	// sample; 0: all. BlockNeighbors is the bound in the residual blocks for images; 0: Neighbors. SamplingFraction is
	// the share of the points at which convolutions for curves have queries; 0: 1.
	Neighbors, BlockNeighbors int
	SamplingFraction          float64

	Steps         int
	Batch, Passes int // Batch 0: 16 curves, 4 images, 8 images with views
	Seed          uint64
	Rate          float64
	// Schedule is constant, cosine or step. Warmup is the number of steps over which the rate climbs, Stair that between two drops of
	// step (0: a third of Steps), and Factor what is left of the rate.
	Schedule string
	Warmup   *int
	Stair    int
	Factor   *float64
	// Clip bounds the norm of a step's gradients; 0: no bound. WeightDecay is AdamW's.
	Clip, WeightDecay float64
	// Noise is the standard deviation of a noise that the true values are taken to have at first (0: none), LastNoise that at the end. Beta
	// weighs a value's gradient by its deviation to the power of twice this. Both are 0 for likelihoods that do not know them.
	Noise     *float64
	LastNoise float64
	Beta      *float64

	EvalEvery       *int // nil: 1000
	EvalTasks       int
	Patience        int
	CheckpointEvery *int // nil: a tenth of Steps, 100 to 1000
	LogEvery        int
	// Memory bounds what the training may need, in bytes; 0: cnp.MemoryLimit.
	Memory int64 `json:"-"`
}

// Common implements Recipe.
func (s *Settings) Common() *Settings { return s }

// kindDefaults are those of one kind of data.
type kindDefaults struct {
	batch int
	noise float64
}

func defaultSettings(steps int, lastNoise float64) Settings {
	d := train.DefaultConfig(steps)
	return Settings{Model: "equivcnp", Lifts: Lifts{Count: 1}, Steps: steps, Passes: 1, Seed: 1, Rate: 0.003, Schedule: "cosine",
		Clip:      d.Adam.ClipNorm,
		LastNoise: lastNoise, EvalTasks: d.EvalTasks, LogEvery: d.LogEvery}
}

func or[V any](given *V, otherwise V) V {
	if given != nil {
		return *given
	}
	return otherwise
}

// config returns the configuration of the run of a model, and gives the model its likelihood.
func (s *Settings) config(mc *cnp.Config, d kindDefaults) (train.Config, error) {
	noise, beta, err := s.distribute(mc, d)
	if err != nil {
		return train.Config{}, err
	}
	c := train.DefaultConfig(s.Steps)
	if c.Batch = s.Batch; s.Batch == 0 {
		c.Batch = d.batch
	}
	c.Passes, c.Seed = s.Passes, s.Seed
	c.LogEvery, c.CheckpointEvery = s.LogEvery, or(s.CheckpointEvery, c.CheckpointEvery)
	c.EvalEvery, c.EvalTasks, c.Patience = or(s.EvalEvery, c.EvalEvery), s.EvalTasks, s.Patience
	c.Adam.Rate, c.Adam.ClipNorm = s.Rate, s.Clip
	c.Adam.WeightDecay, c.Adam.Decoupled = s.WeightDecay, s.WeightDecay != 0
	if err := s.schedule(&c.Adam.Schedule); err != nil {
		return c, err
	}
	switch { // which the run refuses, too, by the names of its own
	case !(noise >= 0 && noise < math.MaxFloat32):
		return c, Errorf("{Noise} %g: need a standard deviation, 0 for none", noise)
	case noise != 0 && !(s.LastNoise > 0):
		return c, Errorf("{LastNoise} %g: need more than 0, or no {Noise}", s.LastNoise)
	case s.Stair < 0:
		return c, Errorf("{Stair} %d: need at least 1, or 0 for a third of {Steps}", s.Stair)
	case s.Stair != 0 && s.Schedule != "step":
		return c, Errorf("{Stair} is for {Schedule} step")
	case s.Factor != nil && s.Schedule == "constant":
		return c, Errorf("{Factor} is not for {Schedule} constant")
	case s.Patience > 0 && c.EvalEvery == 0:
		return c, Errorf("{Patience} %d: without scores, as {EvalEvery} is 0", s.Patience)
	}
	if c.Beta = beta; noise != 0 {
		c.Noise = train.Noise{From: noise, To: min(noise, s.LastNoise), Steps: s.Steps * 2 / 3}
	}
	return c, invalid(c.Validate())
}

// paper settles what the paper leaves to its user.
func (s *Settings) paper(m *cnp.Config) error {
	switch {
	case s.Multiplicity < 0 || s.Neighbors < 0 || s.BlockNeighbors < 0:
		return Errorf("{Multiplicity} %d, {Neighbors} %d, {BlockNeighbors} %d: need at least 0 of each", s.Multiplicity, s.Neighbors,
			s.BlockNeighbors)
	case !(s.SamplingFraction >= 0 && s.SamplingFraction <= 1):
		return Errorf("{SamplingFraction} %g: need more than 0, at most 1", s.SamplingFraction)
	case s.Multiplicity != 0 && s.Model == "cnp":
		return Errorf("{Multiplicity} is not for {Model} cnp")
	case s.Model == "equivcnp":
	case s.Neighbors != 0:
		return Errorf("{Neighbors} is for {Model} equivcnp")
	case s.BlockNeighbors != 0:
		return Errorf("{BlockNeighbors} is for {Model} equivcnp")
	case s.SamplingFraction != 0:
		return Errorf("{SamplingFraction} is for {Model} equivcnp")
	}
	if s.Multiplicity != 0 {
		m.Multiplicity = s.Multiplicity
	}
	m.MaxNeighbors, m.BlockNeighbors, m.SamplingFraction = s.Neighbors, s.BlockNeighbors, s.SamplingFraction
	switch sampled := s.SamplingFraction != 0 && s.SamplingFraction != 1; {
	case s.BlockNeighbors != 0 && !m.Architecture.Image():
		return Errorf("{BlockNeighbors} is for images, {Neighbors} for curves")
	case sampled && m.Architecture.Image():
		return Errorf("{SamplingFraction} is for curves: an image model predicts at the pixels that have features")
	case m.Levels > 0 && (s.Neighbors != 0 || sampled):
		return Errorf("{Neighbors} and {SamplingFraction} are not for {Levels}")
	case !m.Architecture.Image() && (s.Neighbors != 0 || sampled):
		m.Placement = cnp.PlacementBatch // the paper's
	}
	return nil
}

// schedule settles how the rate falls. c is the default of so many steps.
func (s *Settings) schedule(c *train.Schedule) error {
	switch s.Schedule {
	case "constant":
		*c = train.Schedule{Warmup: c.Warmup}
	case "cosine":
	case "step":
		*c = train.Schedule{Kind: train.StepDown, Warmup: c.Warmup, Steps: max(1, s.Steps/3), Factor: 0.1}
		if s.Stair != 0 {
			c.Steps = s.Stair
		}
	default:
		return Errorf("{Schedule} %q: need constant, cosine or step", s.Schedule)
	}
	c.Warmup = or(s.Warmup, c.Warmup)
	if c.Kind != train.Constant {
		c.Factor = or(s.Factor, c.Factor)
	}
	return nil
}

// distribute gives a model its likelihood. It returns the noise and the beta of training: what likelihoods other than
// the normal one do not know is left out unless the settings ask for it.
func (s *Settings) distribute(mc *cnp.Config, d kindDefaults) (noise, beta float64, err error) {
	if mc.Likelihood = s.Likelihood; s.Likelihood == "normal" {
		mc.Likelihood = ""
	}
	l, err := cnp.ParseLikelihood(mc)
	if err != nil {
		return 0, 0, Errorf("{Likelihood}: %w", err)
	}
	if s.Waves != nil {
		w := *s.Waves
		if mc.Trained != nil && mc.Trained.Units != nil { // per unit of the data
			w.Fastest /= mc.Trained.Units.X[0].Factor
		}
		mc.Waves = &w
		if err := mc.Validate(); err != nil {
			return 0, 0, Errorf("{Waves}: %w", err)
		}
	}
	noise, beta = or(s.Noise, d.noise), or(s.Beta, 0.5)
	if s.Beta == nil && (cnp.Objective{Beta: beta}).Suits(l) != nil {
		beta = 0
	}
	if s.Noise == nil && (cnp.Objective{Noise: noise}).Suits(l) != nil {
		noise = 0
	}
	if err := (cnp.Objective{Noise: noise, Beta: beta}).Suits(l); err != nil {
		return 0, 0, Errorf("{Noise} or {Beta}: %w", err)
	}
	return noise, beta, nil
}

// Plan is a training that a recipe settled.
type Plan struct {
	Model  cnp.Config
	Config train.Config
	// Source draws the tasks of training. Test draws those of scores; nil: Source, under another seed.
	Source, Test task.Source[float32]
	// Notes say what the data made of the recipe.
	Notes []string

	settings Settings
}

// plan settles the training of a model on a source, which must fit into memory.
func (s *Settings) plan(mc cnp.Config, d kindDefaults, src, test task.Source[float32], notes []string) (*Plan, error) {
	c, err := s.config(&mc, d)
	if err != nil {
		return nil, err
	}
	work := cnp.Work{Batch: c.Batch}
	if sized, ok := src.(task.Sized); ok {
		work = sized.Work(c.Batch)
	}
	work.Train, work.Passes = true, c.Passes
	need, err := mc.Estimate(work)
	if err != nil {
		return nil, err
	}
	limit := s.Memory
	if limit == 0 {
		limit = cnp.MemoryLimit()
	}
	if err := need.Check(limit); err != nil {
		return nil, err
	}
	return &Plan{Model: mc, Config: c, Source: src, Test: test, Notes: append([]string{}, notes...), settings: *s}, nil
}

// holdOut takes a share of n tasks out of a set, for the scores; test is nil if none is.
func holdOut[S interface {
	Holdout(share float64, seed uint64) (S, S, error)
}](share float64, seed uint64, set S, n int, notes *[]string) (train, test S, held bool, err error) {
	switch {
	case !(share >= 0 && share < 1):
		return set, test, false, Errorf("{Holdout} %g: need 0 to less than 1", share)
	case share == 0:
		*notes = append(*notes, "nothing is held out: scores, and the end by patience, are of what is trained on")
		return set, test, false, nil
	case n < 2 && share == defaultHoldout:
		*notes = append(*notes, "there is one task, and none to hold out: scores, and the end by patience, are of what is trained on")
		return set, test, false, nil
	}
	train, test, err = set.Holdout(share, seed)
	if err != nil {
		err = fmt.Errorf("a share of %g held out: %w", share, err)
	}
	return train, test, true, err
}
