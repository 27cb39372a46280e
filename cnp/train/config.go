package train

import (
	"fmt"
	"math"
)

// Config is everything that fixes a run but its model and its tasks. The same configuration, model and source give the same
// bits on machines of the same instruction set level, whatever the number of goroutines and however often the run was
// interrupted.
type Config struct {
	// Steps is the number of steps of Adam.
	Steps int `json:"steps"`
	// Batch is the number of tasks of a pass. Passes is the number of passes whose gradients make up a step: memory grows with
	// Batch alone. Batch normalisation sees the tasks of one pass.
	Batch  int `json:"batch"`
	Passes int `json:"passes"`
	// Seed fixes the tasks: step s trains on batches s·Passes .. (s+1)·Passes-1 of that seed.
	Seed  uint64     `json:"seed"`
	Adam  AdamConfig `json:"adam"`
	Noise Noise      `json:"noise,omitzero"`
	// Beta weighs the gradients of the values, see cnp.Objective.
	Beta float64 `json:"beta,omitempty"`

	// The following fields say when a run is measured and saved; they do not change its course.

	// LogEvery and CheckpointEvery are numbers of steps; 0: at the end only.
	LogEvery        int `json:"log_every"`
	CheckpointEvery int `json:"checkpoint_every"`
	// Every EvalEvery steps (0: never) the model is scored on EvalTasks tasks, always the same ones.
	EvalEvery int `json:"eval_every"`
	EvalTasks int `json:"eval_tasks"`
	// Patience > 0 ends the run after that many scores in a row that were no better than the best, and makes the model of
	// the best score the result.
	Patience int `json:"patience"`
}

// DefaultConfig is one pass of 16 tasks per step, Adam at 1e-3 on a cosine over all steps, gradients clipped. Checkpoints are a tenth of
// the steps apart, and at least 100 and at most 1,000.
func DefaultConfig(steps int) Config {
	adam := DefaultAdam(1e-3)
	adam.ClipNorm = 100
	adam.Schedule = Schedule{Kind: Cosine, Steps: max(1, steps), Warmup: min(100, steps/10), Factor: 0.01}
	return Config{Steps: steps, Batch: 16, Passes: 1, Seed: 1, Adam: adam,
		LogEvery: 100, CheckpointEvery: min(1000, max(100, steps/10)), EvalEvery: 1000, EvalTasks: 128}
}

// Validate reports the first field that makes no run.
func (c Config) Validate() error {
	for _, f := range []struct {
		name   string
		v, min int
	}{
		{"steps", c.Steps, 0}, {"batch", c.Batch, 1}, {"passes", c.Passes, 1}, {"log_every", c.LogEvery, 0},
		{"checkpoint_every", c.CheckpointEvery, 0}, {"eval_every", c.EvalEvery, 0}, {"eval_tasks", c.EvalTasks, 0},
		{"patience", c.Patience, 0},
	} {
		if f.v < f.min || f.v > math.MaxInt32 {
			return fmt.Errorf("train: %s = %d, need %d to %d", f.name, f.v, f.min, math.MaxInt32)
		}
	}
	if c.EvalEvery > 0 && c.EvalTasks == 0 {
		return fmt.Errorf("train: eval_every = %d without eval_tasks", c.EvalEvery)
	}
	if c.Patience > 0 && c.EvalEvery == 0 {
		return fmt.Errorf("train: patience = %d without eval_every", c.Patience)
	}
	if !(c.Beta >= 0 && c.Beta <= 1) {
		return fmt.Errorf("train: beta = %v, need 0 to 1", c.Beta)
	}
	if err := c.Noise.Validate(); err != nil {
		return err
	}
	return c.Adam.Validate()
}

// Noise is the noise that the true values are assumed to have (cnp.Objective): it falls geometrically from From to To over the
// first Steps steps and stays there. A model whose standard deviations may shrink at once learns them from easy values, and its
// means stay poor; one whose deviations may shrink without limit gives its first error an extremely low likelihood. The zero
// value is no noise.
type Noise struct {
	From  float64 `json:"from,omitempty"`
	To    float64 `json:"to,omitempty"`
	Steps int     `json:"steps,omitempty"`
}

// DefaultNoise falls from 0.3 to 0.03 over two thirds of the steps, for images with values from 0 to 1.
func DefaultNoise(steps int) Noise { return Noise{From: 0.3, To: 0.03, Steps: steps * 2 / 3} }

// Validate reports what makes no such schedule.
func (n Noise) Validate() error {
	if n == (Noise{}) {
		return nil
	}
	if !(n.To > 0 && n.From >= n.To && n.From < math.MaxFloat32) || n.Steps < 0 {
		return fmt.Errorf("train: noise from %v to %v over %d steps, need from >= to > 0", n.From, n.To, n.Steps)
	}
	return nil
}

// At returns the noise of step t, counted from 0.
func (n Noise) At(t int) float64 {
	if t >= n.Steps {
		return n.To
	}
	return n.From * math.Pow(n.To/n.From, float64(t)/float64(n.Steps))
}
