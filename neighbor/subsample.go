package neighbor

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/parallel"
)

// Sampling is a way to choose centres among points, for layers that keep only some of the points.
type Sampling int

// The ways to choose.
const (
	// Uniform takes every so many rows, in the order of rows: of a grid, a coarser grid.
	Uniform Sampling = iota
	// Random takes each subset with the same probability.
	Random
	// Farthest starts with a random row and repeatedly adds the row that is farthest, in the group's distance, from all rows
	// taken so far: centres that cover the cloud evenly.
	Farthest
)

// farthestGrain is the number of points whose distances a goroutine computes at a time.
const farthestGrain = 4096

// Subsample returns n of the rows of l that count under the mask (nil: all do), or all of them if there are fewer. They ascend;
// Farthest returns them in the order taken, and a tie goes to the lower row. The result depends on the seed, which Uniform
// ignores, and not on GOMAXPROCS. Farthest computes n distances for each point; a distance of NaN counts as infinitely far.
//
// Errors: ErrOption if n is negative or the sampling unknown, and those of Ball about l and the mask.
func Subsample(l *group.Lifted, mask []bool, n int, sampling Sampling, seed uint64) ([]int32, error) {
	p, err := newProblem("Subsample", l, l, Options{QueryMask: mask, PointMask: mask})
	if err != nil {
		return nil, err
	}
	if n < 0 {
		return nil, fmt.Errorf("neighbor: Subsample: %w: n = %d is negative", ErrOption, n)
	}
	var rows []int32
	for i := range l.Rows() {
		if counts(mask, i) {
			rows = append(rows, int32(i))
		}
	}
	n = min(n, len(rows))
	switch sampling {
	case Uniform:
		taken := make([]int32, n)
		for i := range taken {
			taken[i] = rows[int64(i)*int64(len(rows))/int64(n)]
		}
		return taken, nil
	case Random:
		var pick picker
		return pick.sample(rows, n, seed, 0), nil
	case Farthest:
		return p.farthest(rows, n, seed), nil
	}
	return nil, fmt.Errorf("neighbor: Subsample: %w: sampling %d", ErrOption, int(sampling))
}

// farthest takes n of the rows.
func (p *problem) farthest(rows []int32, n int, seed uint64) []int32 {
	if n == 0 {
		return []int32{}
	}
	m := len(rows)
	a, q := make([]float64, 0, m*p.ga), make([]float64, 0, m*p.qa)
	for _, i := range rows {
		ai, qi := p.points.Row(int(i))
		a, q = append(a, ai...), append(q, qi...)
	}
	fast, _ := p.g.(group.PairComputer)
	nearest := make([]float64, m) // the distance of each row from those taken, -1 once it is one of them
	for i := range nearest {
		nearest[i] = math.Inf(1)
	}
	chunks := (m + farthestGrain - 1) / farthestGrain
	best := make([]int, chunks)
	at := rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15)).IntN(m)
	taken := make([]int32, 0, n)
	for {
		taken = append(taken, rows[at])
		nearest[at] = -1
		if len(taken) == n {
			return taken
		}
		// The distance is that of the row taken as seen from each point.
		ai, qi := p.points.Row(int(rows[at]))
		parallel.For(m, farthestGrain, func(lo, hi int) {
			dist, pose := make([]float64, hi-lo), make([]float64, p.ga+2*p.qa)
			distances(p.g, fast, dist, ai, qi, a[lo*p.ga:hi*p.ga], q[lo*p.qa:hi*p.qa], pose)
			far := lo
			for k, d := range dist {
				if d < nearest[lo+k] {
					nearest[lo+k] = d
				}
				if nearest[lo+k] > nearest[far] {
					far = lo + k
				}
			}
			best[lo/farthestGrain] = far
		})
		at = best[0]
		for _, far := range best[1:] {
			if nearest[far] > nearest[at] {
				at = far
			}
		}
	}
}
