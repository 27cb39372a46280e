package krige

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/equivcnp/equivcnp/neighbor"
)

// Sizes of the blocks that a large table's covariance is estimated from: a coarse one all over it, and fine ones, each
// of so many neighbouring points, given some more and a few far away.
const (
	coarseBlock = 96
	fineBlocks  = 16
	fineBlock   = 16
	fineNear    = 24
	fineFar     = 8
)

// tree searches neighbours.
type tree = neighbor.KDTree[float64]

func newTree(x []float64, d int) *tree {
	t, err := neighbor.NewTree(x, d, nil)
	if err != nil {
		panic(err) // the coordinates were checked
	}
	return t
}

// spacing is a robust mean distance between neighbouring places.
func spacing(x []float64, d int) float64 {
	n := len(x) / d
	t := newTree(x, d)
	step := max(1, n/512)
	var all []float64
	var w neighbor.NearestWorkspace
	for i := 0; i < n; i += step {
		_, d2 := t.KNearestWithin(nil, nil, x[i*d:(i+1)*d], 4, math.Inf(1), &w)
		for _, v := range d2 {
			if v > 1e-14 {
				all = append(all, math.Sqrt(v))
				break
			}
		}
	}
	if len(all) == 0 {
		return 0.5
	}
	slices.Sort(all)
	return all[len(all)/2]
}

func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// lineUnits are runs of a series, each given the one before. Of a long series some runs stand for all.
func lineUnits(n int) (units []unit) {
	const run, before, most = 16, 24, 40
	runs := (n + run - 1) / run
	for k := range min(runs, most) {
		lo := k * run
		if runs > most {
			lo = k * (n - run) / (most - 1)
		}
		from := max(0, lo-before)
		u := unit{given: lo - from}
		for i := from; i < min(lo+run, n); i++ {
			u.index = append(u.index, i)
		}
		units = append(units, u)
	}
	return units
}

// spread returns k points that lie far from each other, seeded.
func spread(x []float64, d, k int, seed uint64) (index []int) {
	n := len(x) / d
	rng := rand.New(rand.NewPCG(seed, uint64(n)))
	// Of a large table only a random part is looked at.
	pool := upTo(n)
	if n > 40*k {
		rng.Shuffle(n, func(i, j int) { pool[i], pool[j] = pool[j], pool[i] })
		pool = pool[:40*k]
		slices.Sort(pool)
	}
	far := make([]float64, len(pool))
	for i := range far {
		far[i] = math.Inf(1)
	}
	next := rng.IntN(len(pool))
	for range min(k, len(pool)) {
		at := pool[next]
		index = append(index, at)
		far[next] = -1
		best := 0
		for i, p := range pool {
			if far[i] < 0 {
				continue
			}
			var d2 float64
			for c := range d {
				e := x[p*d+c] - x[at*d+c]
				d2 += e * e
			}
			if far[i] = min(far[i], d2); far[i] > far[best] {
				best = i
			}
		}
		next = best
	}
	return index
}

// blockUnits are blocks of points in the plane or in space.
func blockUnits(x []float64, d int) (units []unit) {
	n := len(x) / d
	coarse := spread(x, d, min(coarseBlock, n), 1)
	units = append(units, unit{index: coarse})
	t := newTree(x, d)
	rng := rand.New(rand.NewPCG(2, uint64(n)))
	blocks := fineBlocks
	if n > 700 {
		blocks += 8
	}
	var w neighbor.NearestWorkspace
	for range blocks {
		c := rng.IntN(n)
		near, _ := t.KNearestWithin(nil, nil, x[c*d:(c+1)*d], min(n, fineBlock+fineNear), math.Inf(1), &w)
		u := unit{}
		taken := map[int]bool{}
		take := func(i int) {
			if !taken[i] {
				taken[i] = true
				u.index = append(u.index, i)
			}
		}
		for i := fineBlock; i < len(near); i++ {
			take(int(near[i]))
		}
		for range fineFar {
			if f := coarse[rng.IntN(len(coarse))]; !slices.Contains(near[:fineBlock], int32(f)) {
				take(f)
			}
		}
		u.given = len(u.index)
		for _, i := range near[:min(fineBlock, len(near))] {
			take(int(i))
		}
		units = append(units, u)
	}
	return units
}
