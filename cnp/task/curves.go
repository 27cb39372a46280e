package task

import (
	"fmt"
	"math/rand/v2"

	"github.com/equivcnp/equivcnp/cnp"
)

// Curves draws regression tasks from a random function: targets on an interval, and a context picked at random among them.
type Curves struct {
	GP GP
	// Process, if there is one, draws the functions instead of GP.
	Process Process
	Lo, Hi  float64 // the interval
	Targets int
	// MinTargets, if it is not 0, makes their number uniform in MinTargets .. Targets, as in the paper's appendix D.1: the
	// others of a task are masked.
	MinTargets int
	// Even spaces the targets evenly, ends included; otherwise they are uniform.
	Even bool
	// The number of context points is uniform in MinContext .. MaxContext.
	MinContext, MaxContext int
}

// PaperTest is the paper's test of one kernel: 400 even targets on [-4, 4], 3 to 49 of them observed.
func PaperTest(k Kernel) Curves {
	return Curves{GP: GP{k, DefaultJitter}, Lo: -4, Hi: 4, Targets: 400, Even: true, MinContext: 3, MaxContext: 49}
}

// PaperTestOf is the paper's test, for any process.
func PaperTestOf(p Process) Curves {
	c := PaperTest(nil)
	if g, ok := p.(GP); ok {
		c.GP = g
	} else {
		c.Process = p
	}
	return c
}

// process is what draws the functions.
func (c Curves) process() Process {
	if c.Process != nil {
		return c.Process
	}
	return c.GP
}

// Validate reports what no task can be drawn from.
func (c Curves) Validate() error {
	switch {
	case c.Process == nil && c.GP.Kernel == nil:
		return fmt.Errorf("task: no kernel")
	case c.Process == nil && !(c.GP.Jitter >= 0):
		return fmt.Errorf("task: jitter = %v, need at least 0", c.GP.Jitter)
	case !(c.Lo < c.Hi && c.Hi-c.Lo < 1e9):
		return fmt.Errorf("task: the interval [%v, %v] is empty or too long", c.Lo, c.Hi)
	case c.Targets < 1:
		return fmt.Errorf("task: targets = %d, need at least 1", c.Targets)
	case c.MinTargets < 0 || c.MinTargets > c.Targets:
		return fmt.Errorf("task: at least %d of %d targets, need 0 to %d", c.MinTargets, c.Targets, c.Targets)
	case c.MinContext < 0 || c.MaxContext < c.MinContext || c.MaxContext > c.Targets:
		return fmt.Errorf("task: context points %d to %d of %d targets, need 0 <= min <= max <= targets", c.MinContext,
			c.MaxContext, c.Targets)
	}
	return nil
}

// Draw returns n tasks and the true values [n, Targets] at their targets. Tasks with fewer context points than the one with
// the most are padded and masked. Equal generators draw equal tasks.
func Draw[T cnp.Float](c Curves, n int, rng *rand.Rand) (*cnp.Batch[T], []T, error) {
	if err := c.Validate(); err != nil {
		return nil, nil, err
	}
	b := &cnp.Batch[T]{B: n, Nt: c.Targets}
	values := make([]float64, n*c.Targets)
	picks := make([][]int, n)
	var draw Sampler // shared where the targets are
	for t := range n {
		x := make([]float64, c.Targets)
		for i := range x {
			if !c.Even {
				x[i] = c.Lo + (c.Hi-c.Lo)*rng.Float64()
			} else if c.Targets > 1 {
				x[i] = c.Lo + (c.Hi-c.Lo)*float64(i)/float64(c.Targets-1)
			} else {
				x[i] = (c.Lo + c.Hi) / 2
			}
		}
		if draw == nil || !c.Even {
			draw = c.process().At(x)
		}
		if err := draw(values[t*c.Targets:(t+1)*c.Targets], rng); err != nil {
			return nil, nil, err
		}
		b.XTarget = append(b.XTarget, x...)
		picks[t] = rng.Perm(c.Targets)[:c.MinContext+rng.IntN(c.MaxContext-c.MinContext+1)]
		b.Nc = max(b.Nc, len(picks[t]))
		if c.MinTargets > 0 {
			kept := rng.Perm(c.Targets)[:c.MinTargets+rng.IntN(c.Targets-c.MinTargets+1)]
			mask := make([]bool, c.Targets)
			for _, i := range kept {
				mask[i] = true
			}
			b.TargetMask = append(b.TargetMask, mask...)
		}
	}
	b.XContext, b.YContext = make([]float64, n*b.Nc), make([]T, n*b.Nc)
	b.ContextMask = make([]bool, n*b.Nc)
	for t, p := range picks {
		for i, k := range p {
			at := t*b.Nc + i
			b.XContext[at], b.YContext[at], b.ContextMask[at] = b.XTarget[t*c.Targets+k], T(values[t*c.Targets+k]), true
		}
	}
	y := make([]T, len(values))
	for i, v := range values {
		y[i] = T(v)
	}
	return b, y, nil
}
