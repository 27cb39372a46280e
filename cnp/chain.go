package cnp

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// A model predicts each target as if the others were not there. The chain rule makes a joint distribution of that: a target is predicted
// given the context and the targets before it, as if those had been observed (Bruinsma et al., "Autoregressive Conditional Neural
// Processes", ICLR 2023). SampleCurves and SampleImages draw from it, JointCurves and JointImages say how likely given values are under it.
// They need nothing of a model but predictions.

// Order says in which order the chain rule goes through targets. A model's joint distribution depends on it, that of a process does not.
type Order string

// The orders.
const (
	OrderRandom      Order = ""              // by the seed; the contexts that a model meets are like those of its training
	OrderGiven       Order = "given"         // as in the batch; pixels row by row
	OrderLeftToRight Order = "left-to-right" // ascending, by the first coordinate, then the second, ..; pixels row by row
)

// Orders lists their names, in the order of documentation.
var Orders = []string{"random", string(OrderGiven), string(OrderLeftToRight)}

// Chain says how the chain rule goes through the targets of a task. Two tasks with as many targets that count are gone through alike, and
// whatever else a batch holds changes nothing.
type Chain struct {
	Order Order
	// Block is how many targets are predicted at a time, independently of each other; 0 is 1.
	Block int
	// Growth lets blocks grow: a block has as many targets as Growth times what is known before it, context and earlier
	// blocks together, and at least Block. Where much is known the targets of a block tell each other little: a few
	// dozen of predictions do for hundreds of targets.
	Growth float64
	// Seed decides random orders, and what is drawn. Seeds has one for each task instead: tasks with one seed share their randomness, so
	// that samples move with their task.
	Seed  uint64
	Seeds []uint64
}

// check refuses what is no chain over that many tasks.
func (c *Chain) check(tasks int) error {
	switch c.Order {
	case OrderRandom, "random", OrderGiven, OrderLeftToRight:
	default:
		return fmt.Errorf("%w: order %q is none of %q", ErrConfig, c.Order, Orders)
	}
	if c.Block < 0 {
		return fmt.Errorf("%w: blocks of %d targets", ErrRange, c.Block)
	}
	if !(c.Growth >= 0 && c.Growth <= maxGrowth) {
		return fmt.Errorf("%w: blocks of %v times the known points, need 0 to %d", ErrRange, c.Growth, maxGrowth)
	}
	if c.Seeds != nil && len(c.Seeds) != tasks {
		return fmt.Errorf("%w: %d seeds for %d tasks", ErrShape, len(c.Seeds), tasks)
	}
	return nil
}

// maxGrowth bounds Chain.Growth: far below it all targets go at a time.
const maxGrowth = 1000

// Blocks says where the blocks of n targets end, of a task with that many context points: as many predictions as it returns numbers.
func (c *Chain) Blocks(known, n int) (ends []int) {
	for lo := 0; lo < n; lo = ends[len(ends)-1] {
		size := max(1, c.Block, int(min(c.Growth*float64(known+lo), float64(n))))
		ends = append(ends, lo+min(size, n-lo))
	}
	return ends
}

// block is where block k begins and ends, of blocks that end there.
func block(ends []int, k int) (lo, hi int) {
	if k > 0 {
		lo = ends[k-1]
	}
	return lo, ends[k]
}

// seed is that of task t.
func (c *Chain) seed(t int) uint64 {
	if c.Seeds != nil {
		return c.Seeds[t]
	}
	return c.Seed
}

// arrange brings n targets into the order of the chain; before compares two of them by place.
func (c *Chain) arrange(n int, seed uint64, before func(i, j int32) int) []int32 {
	order := make([]int32, n)
	for i := range order {
		order[i] = int32(i)
	}
	switch c.Order {
	case OrderGiven:
	case OrderLeftToRight:
		slices.SortStableFunc(order, before)
	default:
		rng := rand.New(rand.NewPCG(scramble(seed), scramble(0x6f72646572))) // "order"
		rng.Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	return order
}

// scramble spreads the bits of a number (splitmix64): sources of random numbers that are seeded with neighbouring ones
// have nothing in common.
func scramble(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// noise is a source of random numbers for every value of every sample: what is drawn does not depend on when.
type noise struct {
	pcg rand.PCG
	rng *rand.Rand
}

func newNoise() *noise {
	n := &noise{}
	n.rng = rand.New(&n.pcg)
	return n
}

// at returns the source of a target of a sample.
func (n *noise) at(seed uint64, sample, target int) *rand.Rand {
	n.pcg.Seed(scramble(scramble(seed)+uint64(sample)), scramble(uint64(target)))
	return n.rng
}

// SampleOptions say what is drawn.
type SampleOptions struct {
	Chain
	// Samples is how many of each task.
	Samples int
	// Function draws functions instead of new observations: observations are drawn by the chain, and once all are there, the mean given
	// them is the sample, in which the noise of single observations is averaged away.
	Function bool
	// Knots is how many of a task's targets the chain goes through where a function is drawn, which the others follow; 0 is all. The
	// targets between the first and the last are taken evenly, from left to right. A model that was trained on some tens of context points
	// knows nothing of the hundreds of them that a chain over as many targets ends with.
	Knots int
}

// check refuses what cannot be drawn; values is the number of values of a sample.
func (o *SampleOptions) check(tasks, values int) error {
	if o.Samples < 1 {
		return fmt.Errorf("%w: %d samples, need at least 1", ErrRange, o.Samples)
	}
	n, ok := product(o.Samples, values)
	if !ok {
		return fmt.Errorf("%w: %d samples of %d values have more than can be counted", ErrShape, o.Samples, values)
	}
	if need, limit := whole(number*float64(n)), MemoryLimit(); need > limit {
		return fmt.Errorf("%w: %d samples of %d values take %v, the limit is %v", ErrMemory, o.Samples, values, Bytes(need), Bytes(limit))
	}
	if o.Knots < 0 || o.Knots > 0 && !o.Function {
		return fmt.Errorf("%w: %d knots: need a function to draw, and 0 or more", ErrRange, o.Knots)
	}
	return o.Chain.check(tasks)
}

// Joint is what the chain rule says of given values.
type Joint[T Float] struct {
	// Prediction is that of each target, given the context and the targets before it; where a target does not count,
	// zeros. It is laid out as a model's own.
	Prediction[T]
	// LogDensity [B, Nt], of images [B, H·W], is that of each target's values under it; their sum is the joint one.
	// What does not count is 0.
	LogDensity []float64
	values     []int // of each target, how many count
}

func newJoint[T Float](values, targets int) *Joint[T] {
	return &Joint[T]{Prediction: *newPrediction[T](Normal, values), LogDensity: make([]float64, targets), values: make([]int, targets)}
}

// Task returns the joint log-density of the values of task t, one of so many, and how many values those are.
func (j *Joint[T]) Task(t, tasks int) (sum float64, values int) {
	n := len(j.LogDensity) / max(1, tasks)
	for i := t * n; i < (t+1)*n; i++ {
		sum, values = sum+j.LogDensity[i], values+j.values[i]
	}
	return sum, values
}

// logDensity is that of y under the distribution of value i.
func (p *Prediction[T]) logDensity(i int, y T) float64 { return p.LogDensityAt(i, float64(y)) }

// draw returns a value from the distribution of value i.
func (p *Prediction[T]) draw(i int, rng *rand.Rand) T { return T(p.SampleAt(i, rng)) }

// logDensityOfTarget is that of the values y of a target, from value i on, and how many of them count: NaN is none.
func (p *Prediction[T]) logDensityOfTarget(i int, y []T) (sum float64, n int) {
	known := make([]bool, len(y))
	for d, v := range y {
		if known[d] = v == v; known[d] {
			n++
		}
	}
	if l, ok := p.Likelihood.(TargetLikelihood); ok {
		return p.logDensityOf(l, i, y, known), n
	}
	for d, v := range y {
		if known[d] {
			sum += p.logDensity(i+d, v)
		}
	}
	return sum, n
}

// drawTarget draws the values of a target, from value i on.
func (p *Prediction[T]) drawTarget(to []T, i int, rng *rand.Rand) {
	if l, ok := p.Likelihood.(TargetLikelihood); ok {
		values := make([]float64, len(to))
		l.SampleOf(values, rng, p.paramsOf(l, i))
		for d, v := range values {
			to[d] = T(v)
		}
		return
	}
	for d := range to {
		to[d] = p.draw(i+d, rng)
	}
}

// usable reports an error where the distribution of value i is none.
func (p *Prediction[T]) usable(i int, where func() string) error {
	if m, s := float64(p.Mean[i]), float64(p.Std[i]); !(s > 0) || math.IsInf(s, 0) || math.IsNaN(m-m) {
		return fmt.Errorf("%w: the model predicts %v ± %v for %s: its parameters or the data are beyond what it can compute with",
			ErrValue, m, s, where())
	}
	return nil
}

// quiet returns a context under which predictions do not report progress: the chain does.
func quiet(ctx context.Context) context.Context { return WithProgress(ctx, func(int, int) {}) }

// comparePlaces orders places [n, dx] by the first coordinate, then the second, ..
func comparePlaces(x []float64, dx int) func(i, j int32) int {
	return func(i, j int32) int {
		return slices.CompareFunc(x[int(i)*dx:(int(i)+1)*dx], x[int(j)*dx:(int(j)+1)*dx], cmp.Compare[float64])
	}
}
