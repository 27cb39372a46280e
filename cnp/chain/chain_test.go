package chain

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// normals is a normal distribution for each value.
type normals struct{ mean, std []float64 }

func (d normals) Usable(i int, where func() string) error {
	if !(d.std[i] > 0) {
		return errors.New(where())
	}
	return nil
}

func (d normals) Draw(to []float64, i int, rng *rand.Rand) {
	for k := range to {
		to[k] = d.mean[i+k] + d.std[i+k]*rng.NormFloat64()
	}
}

func (d normals) Means(to []float64, i int) { copy(to, d.mean[i:]) }

// shared is a process that can be computed by hand: y = m + e, where m, which all values of a task share, and e are
// standard normal. Given n values with the sum s, the next one is normal with mean s/(n+1) and variance 1 + 1/(n+1).
type shared struct{ rows []int } // of each call

func (p *shared) Predict(_ context.Context, rows []Row[float64], _ int) (d normals, width int, err error) {
	p.rows = append(p.rows, len(rows))
	for i := range rows {
		width = max(width, len(rows[i].Targets))
	}
	for i := range rows {
		sum, n := 0.0, float64(len(rows[i].Y)+1)
		for _, y := range rows[i].Y {
			sum += y
		}
		for range width {
			d.mean, d.std = append(d.mean, sum/n), append(d.std, math.Sqrt(1+1/n))
		}
	}
	return d, width, nil
}

func (p *shared) Outside(int, int) bool { return false }

func (p *shared) Forget() map[int]bool { return nil }

// truth takes the log-densities of values.
type truth struct {
	y   [][]float64
	sum []float64
}

func (g *truth) Values(task, target int) []float64 { return g.y[task][target : target+1] }

func (g *truth) Take(task, target int, d normals, i int, _ func() string) error {
	if z := (g.y[task][target] - d.mean[i]) / d.std[i]; z == z {
		g.sum[task] += -z*z/2 - math.Log(d.std[i]) - math.Log(2*math.Pi)/2
	}
	return nil
}

// walkOf goes through tasks without a context, with so many targets each.
func walkOf(p *shared, c Chain, targets ...int) *Walk[float64, normals] {
	w := &Walk[float64, normals]{Predictor: p, Chain: c, Width: 1, Dy: 1, Points: 8}
	for k, n := range targets {
		t := &Task[float64]{Number: k, Seed: c.SeedOf(k)}
		for i := range n {
			t.Targets, t.Place = append(t.Targets, i), append(t.Place, float64(i))
		}
		w.Add(t)
	}
	return w
}

// TestJoint: the chain rule gives the joint density of the process, in any order, task by task or together; a missing
// value does not count.
func TestJoint(t *testing.T) {
	nan := math.NaN()
	y := [][]float64{{0.3, -1.2, 0.7, 2}, {-0.4, nan, 1.1}}
	want := make([]float64, len(y))
	for k := range y {
		n, s, squares := 0.0, 0.0, 0.0
		for _, v := range y[k] {
			if v == v {
				n, s, squares = n+1, s+v, squares+v*v
			}
		}
		want[k] = -n/2*math.Log(2*math.Pi) - math.Log(n+1)/2 - (squares-s*s/(n+1))/2
	}
	for _, order := range []Order{OrderRandom, OrderGiven, OrderLeftToRight, OrderSpread} {
		for _, alone := range []bool{false, true} {
			t.Run(fmt.Sprintf("order=%s/alone=%t", order, alone), func(t *testing.T) {
				p, g := &shared{}, &truth{y: y, sum: make([]float64, len(y))}
				w := walkOf(p, Chain{Order: order, Seed: 3}, 4, 3)
				w.Alone = alone
				done := 0
				require.NoError(t, w.Joint(t.Context(), g, func(d, total int) {
					require.Equal(t, 7, total)
					done = d
				}))
				require.Equal(t, 7, done)
				require.InDeltaSlice(t, want, g.sum, 1e-12)
				require.Len(t, p.rows, map[bool]int{false: 1, true: 7}[alone])
			})
		}
	}
}

// TestSample: samples have the covariance of the process, and depend on seed, sample and target alone.
func TestSample(t *testing.T) {
	draw := func(samples int, function bool, targets ...int) [][]float64 {
		w := walkOf(&shared{}, Chain{Seed: 5}, targets...)
		out := make([][]float64, samples)
		for s := range out {
			out[s] = make([]float64, len(targets)*2)
		}
		opt := SampleOptions{Chain: w.Chain, Samples: samples, Function: function}
		require.NoError(t, opt.Check(len(targets)))
		require.NoError(t, w.Sample(t.Context(), opt, func(sample, task, target int) []float64 {
			return out[sample][2*task+target : 2*task+target+1]
		}, func(int, int) error { return nil }))
		return out
	}
	const n = 6000
	all := draw(n, false, 2)
	var square, product float64
	for _, y := range all {
		square, product = square+(y[0]*y[0]+y[1]*y[1])/2/n, product+y[0]*y[1]/n
	}
	require.InDelta(t, 2, square, 0.15)
	require.InDelta(t, 1, product, 0.15)
	two := draw(3, false, 2, 2)
	for s := range two { // tasks of one seed share their randomness
		require.Equal(t, all[s], two[s][:2])
		require.Equal(t, all[s], two[s][2:])
	}
	for s, y := range draw(3, true, 2) { // the mean given both values that were drawn
		mean := (all[s][0] + all[s][1]) / 3
		require.InDeltaSlice(t, []float64{mean, mean}, y, 1e-12)
	}
	stop := errors.New("stop")
	w := walkOf(&shared{}, Chain{}, 2)
	require.ErrorIs(t, w.Sample(t.Context(), SampleOptions{Samples: 1}, nil, func(int, int) error { return stop }), stop)
}

// TestBlocks: blocks grow with what is known, and end with the targets.
func TestBlocks(t *testing.T) {
	for name, c := range map[string]struct {
		chain Chain
		known int
		want  []int
	}{
		"one by one": {Chain{}, 3, []int{1, 2, 3, 4, 5}},
		"two":        {Chain{Block: 2}, 3, []int{2, 4, 5}},
		"growing":    {Chain{Growth: 1}, 1, []int{1, 3, 5}},
	} {
		t.Run(name, func(t *testing.T) {
			ends := c.chain.Blocks(c.known, 5)
			require.Equal(t, c.want, ends)
			lo, hi := Block(ends, 1)
			require.Equal(t, c.want[:2], []int{lo, hi})
		})
	}
}

// TestSpread: every target is the farthest from what is known before it, by brute force; equal distances go by the seed, and
// numbers of a place beyond its coordinates count for nothing.
func TestSpread(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const dx = 2
	for _, known := range []int{0, 1, 5} {
		context, places := make([]float64, known*dx), make([]float64, 30*dx)
		for _, x := range [][]float64{context, places} {
			for i := range x {
				x[i] = rng.Float64()
			}
		}
		c := Chain{Order: OrderSpread}
		order, ends := c.Spread(context, places, dx, 3)
		require.Len(t, ends, len(order)) // one by one
		seen, before := slices.Clone(context), map[int32]bool{}
		for _, k := range order {
			require.False(t, before[k])
			before[k] = true
			far := func(i int) float64 {
				d := math.Inf(1)
				for at := 0; at < len(seen); at += dx {
					d = min(d, math.Hypot(places[i*dx]-seen[at], places[i*dx+1]-seen[at+1]))
				}
				return d
			}
			for i := range places[:len(order)] {
				if !before[int32(i)] {
					require.GreaterOrEqual(t, far(int(k)), far(i))
				}
			}
			seen = append(seen, places[int(k)*dx:int(k)*dx+dx]...)
		}
		require.Len(t, before, len(order))
	}
	even := []float64{0, 1, 2, 3, 4, 5, 6, 7}
	c := Chain{Order: OrderSpread}
	first := map[int32]bool{}
	for seed := range uint64(40) {
		order, _ := c.Spread(nil, even, 1, seed)
		first[order[0]] = true
		again, _ := c.Spread(nil, even, 1, seed)
		require.Equal(t, order, again)
	}
	require.Greater(t, len(first), 4)
	// The same with a second number in each place that is no coordinate.
	w := Walk[float64, normals]{Chain: Chain{Order: OrderSpread, Seed: 5}, Width: 2, Dx: 1, Dy: 1}
	task := &Task[float64]{Seed: 5}
	for i, v := range even {
		task.Targets, task.Place = append(task.Targets, i), append(task.Place, v, 100*rng.Float64())
	}
	w.Add(task)
	order, ends := c.Spread(nil, even, 1, 5)
	require.Equal(t, order, task.order)
	require.Equal(t, ends, task.ends)
}

// TestSpreadBlocks: any two targets of a growing block are farther from each other than 1.1 times the sum of their distances
// to what is known before it, no target left out could join, the last block may have all that is left, and no block is smaller
// than Block.
func TestSpreadBlocks(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct{ known, block int }{{0, 0}, {1, 0}, {12, 0}, {12, 5}} {
		x, seen := make([]float64, 60), make([]float64, c.known)
		for i := range x {
			x[i] = rng.Float64()
		}
		for i := range seen {
			seen[i] = rng.Float64()
		}
		chain := Chain{Order: OrderSpread, Growth: 0.25, Block: c.block}
		order, ends := chain.Spread(seen, x, 1, 9)
		require.Equal(t, len(x), ends[len(ends)-1])
		require.Less(t, len(ends), 14)
		for k := range ends {
			lo, hi := Block(ends, k)
			if hi < len(x) {
				require.GreaterOrEqual(t, hi-lo, max(1, c.block))
			}
			near := func(i int32) float64 {
				d := math.Inf(1)
				for _, v := range seen {
					d = min(d, math.Abs(v-x[i]))
				}
				return d
			}
			together := func(i, j int32) bool { return math.Abs(x[i]-x[j]) >= 1.1*(near(i)+near(j)) }
			if c.block == 0 && float64(len(x)-lo) > 0.25*float64(len(seen)) {
				for a, i := range order[lo:hi] {
					for _, j := range order[lo : lo+a] {
						require.True(t, together(i, j))
					}
				}
				for _, i := range order[hi:] {
					require.True(t, slices.ContainsFunc(order[lo:hi], func(j int32) bool { return !together(i, j) }))
				}
			}
			for _, i := range order[lo:hi] {
				seen = append(seen, x[i])
			}
		}
	}
}
