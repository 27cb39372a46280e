package chain

import (
	"fmt"

	"github.com/equivcnp/equivcnp/cnp/internal/failure"
)

// SampleOptions say what is drawn.
type SampleOptions struct {
	Chain
	// Samples is the number of samples of each task.
	Samples int
	// Function draws functions instead of new observations: observations are drawn by the chain, and once all are there, the mean given
	// them is the sample, in which the noise of single observations is averaged away.
	Function bool
	// Knots is the number of a task's targets that the chain goes through where a function is drawn, which the others
	// follow; 0 is all. The
	// targets between the first and the last are taken evenly, from left to right. A model that was trained on some tens of context points
	// knows nothing of the hundreds of them that a chain over as many targets ends with.
	Knots int
}

// Check refuses what cannot be drawn of so many tasks.
func (o *SampleOptions) Check(tasks int) error {
	if o.Samples < 1 {
		return fmt.Errorf("%w: %d samples, need at least 1", failure.ErrRange, o.Samples)
	}
	if o.Knots < 0 || o.Knots > 0 && !o.Function {
		return fmt.Errorf("%w: %d knots: need a function to draw, and 0 or more", failure.ErrRange, o.Knots)
	}
	return o.Chain.Check(tasks)
}
