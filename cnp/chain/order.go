// Package chain makes joint distributions of predictions of single targets, by the chain rule: a target is predicted
// given the context and the targets before it, as if those had been observed (Bruinsma et al., "Autoregressive Conditional
// Neural Processes", ICLR 2023). A Walk goes through the targets of tasks, to draw them or to say how likely given values
// are, and needs nothing but a Predictor. Package cnp walks with its models (cnp.SampleCurves, cnp.JointCurves), and goes
// through the pixels of images in the same orders.
package chain

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/equivcnp/equivcnp/cnp/internal/failure"
)

// Float holds what values are.
type Float interface{ float32 | float64 }

// Order says in which order the chain rule goes through targets. A model's joint distribution depends on it, that of a process does not.
type Order string

// The orders.
const (
	OrderRandom      Order = ""              // by the seed; the contexts that a model meets are like those of its training
	OrderGiven       Order = "given"         // as in the batch; pixels row by row
	OrderLeftToRight Order = "left-to-right" // ascending, by the first coordinate, then the second, ..; pixels row by row
	// OrderSpread goes to the target that is farthest from the context and from all targets before it; the seed decides
	// between targets that are equally far. It takes the square of the number of targets. Blocks that grow (Chain.Growth)
	// hold targets that tell each other little; see Chain.Spread.
	OrderSpread Order = "spread"
)

// Orders lists their names, in the order of documentation.
var Orders = []string{"random", string(OrderGiven), string(OrderLeftToRight), string(OrderSpread)}

// Chain says how the chain rule goes through the targets of a task. Two tasks with as many targets that count are gone through alike, and
// whatever else a batch holds changes nothing.
type Chain struct {
	Order Order
	// Block is the number of targets that are predicted at a time, independently of each other; 0 is 1.
	Block int
	// Growth lets blocks grow: a block has as many targets as Growth times what is known before it, context and earlier
	// blocks together, and at least Block. Where much is known the targets of a block tell each other little: a few
	// dozen of predictions do for hundreds of targets. Under OrderSpread it says instead when all remaining targets go
	// together: when they are at most Growth times as many as is known.
	Growth float64
	// Seed decides random orders, and what is drawn. Seeds has one for each task instead: tasks with one seed share their randomness, so
	// that samples move with their task.
	Seed  uint64
	Seeds []uint64
}

// Check refuses what is no chain over that many tasks.
func (c *Chain) Check(tasks int) error {
	switch c.Order {
	case OrderRandom, "random", OrderGiven, OrderLeftToRight, OrderSpread:
	default:
		return fmt.Errorf("%w: order %q is not one of %q", failure.ErrConfig, c.Order, Orders)
	}
	if c.Block < 0 {
		return fmt.Errorf("%w: blocks of %d targets", failure.ErrRange, c.Block)
	}
	if !(c.Growth >= 0 && c.Growth <= maxGrowth) {
		return fmt.Errorf("%w: blocks of %v times the known points, need 0 to %d", failure.ErrRange, c.Growth, maxGrowth)
	}
	if c.Seeds != nil && len(c.Seeds) != tasks {
		return fmt.Errorf("%w: %d seeds for %d tasks", failure.ErrShape, len(c.Seeds), tasks)
	}
	return nil
}

// maxGrowth bounds Chain.Growth: far below it all targets go at a time.
const maxGrowth = 1000

// Blocks returns where the blocks of n targets end, for a task with that many context points. Each block takes one
// prediction.
func (c *Chain) Blocks(known, n int) (ends []int) {
	for lo := 0; lo < n; lo = ends[len(ends)-1] {
		size := max(1, c.Block, int(min(c.Growth*float64(known+lo), float64(n))))
		ends = append(ends, lo+min(size, n-lo))
	}
	return ends
}

// Block returns where block k begins and ends, of blocks that end there.
func Block(ends []int, k int) (lo, hi int) {
	if k > 0 {
		lo = ends[k-1]
	}
	return lo, ends[k]
}

// SeedOf returns the seed of task t.
func (c *Chain) SeedOf(t int) uint64 {
	if c.Seeds != nil {
		return c.Seeds[t]
	}
	return c.Seed
}

// Arrange brings n targets into the order of the chain; before compares two of them by place. OrderSpread needs the places
// themselves, which Spread takes: here it is a random order.
func (c *Chain) Arrange(n int, seed uint64, before func(i, j int32) int) []int32 {
	order := make([]int32, n)
	for i := range order {
		order[i] = int32(i)
	}
	switch c.Order {
	case OrderGiven:
	case OrderLeftToRight:
		slices.SortStableFunc(order, before)
	default:
		rng := rand.New(rand.NewPCG(Scramble(seed), Scramble(0x6f72646572))) // "order"
		rng.Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	return order
}

// Scramble spreads the bits of a number (splitmix64): sources of random numbers that are seeded with neighbouring ones
// have nothing in common.
func Scramble(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// ComparePlaces orders places [n, dx] by the first coordinate, then the second, ..
func ComparePlaces(x []float64, dx int) func(i, j int32) int {
	return func(i, j int32) int {
		return slices.CompareFunc(x[int(i)*dx:(int(i)+1)*dx], x[int(j)*dx:(int(j)+1)*dx], cmp.Compare[float64])
	}
}
