package neighbor

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/parallel"
)

const (
	// MinRadius is the smallest radius that AdaptRadius and RadiusForFill return.
	MinRadius = 1e-8
	// fillSamples bounds the distances that RadiusForFill computes, and so its memory, to 32 MiB. fillPoints bounds the points of
	// a block, so that a sample has at least 64 queries.
	fillSamples = 1 << 22
	fillPoints  = 1 << 16
	// tieWidth is the relative difference up to which RadiusForFill treats distances as equal. On a grid, rounding turns one
	// distance into several numbers, and a radius between these would break the grid's symmetry.
	tieWidth = 1e-9
)

// AdaptRadius takes one step of the rule by which training moves a layer's radius towards the wanted fill: r + rate·(fill -
// average). The average fill is (pairs/queries)/meanPoints, where pairs is the sum of all neighbourhood sizes, queries the number
// of unmasked queries, and meanPoints the mean number of unmasked points per task. Without queries or points it returns r.
//
// The result is at least MinRadius. Without that bound a large rate could step below zero, where every ball is empty and the
// layer's output is zero. (The authors' code means to prevent this as well, but its guard has no effect.)
func AdaptRadius(r, rate, fill float64, pairs, queries int, meanPoints float64) float64 {
	if queries <= 0 || !(meanPoints > 0) {
		return r
	}
	average := float64(pairs) / float64(queries) / meanPoints
	return max(r+rate*(fill-average), MinRadius)
}

// RadiusForFill returns the radius at which the balls around the unmasked points of l hold, on average, fill times the number of
// unmasked points, 0 < fill ≤ 1; it chooses the radius of a new layer. With blocks, the number of points is the mean over blocks.
// Of opt it reads the blocks and masks of points, or those of queries where the former are nil.
//
// It computes all distances if they are at most four million, else those of a sample drawn with opt.Seed: one query from each of
// equally many consecutive stretches, and points likewise where a block has more than 65536. Among these distances the average is
// met to within half the number of distances that tie at the radius (to 1e-9, relative). The radius lies in the middle of the gap
// beside the ties, so that rounding decides no membership. It is at least MinRadius, which is also the answer where no point
// counts.
func RadiusForFill(l *group.Lifted, fill float64, opt Options) (float64, error) {
	if !(fill > 0 && fill <= 1) {
		return 0, fmt.Errorf("neighbor: RadiusForFill: %w: fill = %g, need 0 < fill <= 1", ErrOption, fill)
	}
	mask, blocks := opt.PointMask, opt.PointBlocks
	if mask == nil {
		mask = opt.QueryMask
	}
	if blocks == nil {
		blocks = opt.QueryBlocks
	}
	opt.QueryMask, opt.PointMask, opt.QueryBlocks, opt.PointBlocks = mask, mask, blocks, blocks
	opt.Method = Brute
	p, err := newProblem("RadiusForFill", l, l, opt)
	if err != nil {
		return 0, err
	}
	rng := rand.New(rand.NewPCG(p.Seed, 0x9e3779b97f4a7c15))
	p.thin(rng)
	s, err := p.newSearcher()
	if err != nil {
		return 0, err
	}
	queries, points := s.sampleQueries(rng)
	dist := s.sampleDistances(queries)
	if len(dist) == 0 {
		return MinRadius, nil
	}
	want := int(math.Round(fill * float64(len(queries)) * points))
	return gapAt(dist, want), nil
}

// thin masks points where a block has more than fillPoints of them, the same fraction of every block. That makes neighbourhoods
// smaller by the same fraction as the number of points, so the fill stays the same.
func (p *problem) thin(rng *rand.Rand) {
	sets, most := make([][]int32, len(p.PointBlocks)-1), 0
	for b := range sets {
		for j := p.PointBlocks[b]; j < p.PointBlocks[b+1]; j++ {
			if counts(p.PointMask, j) {
				sets[b] = append(sets[b], int32(j))
			}
		}
		most = max(most, len(sets[b]))
	}
	if most <= fillPoints {
		return
	}
	p.PointMask = make([]bool, p.points.Rows())
	for _, set := range sets {
		n := int(math.Ceil(float64(len(set)) * fillPoints / float64(most)))
		for _, j := range stratified(rng, set, n) {
			p.PointMask[j] = true
		}
	}
}

// stratified draws one entry from each of n consecutive stretches of set, n ≤ len(set).
func stratified(rng *rand.Rand, set []int32, n int) []int32 {
	out := make([]int32, n)
	for k := range out {
		lo, hi := int64(k)*int64(len(set))/int64(n), int64(k+1)*int64(len(set))/int64(n)
		out[k] = set[lo+int64(rng.Uint64N(uint64(hi-lo)))]
	}
	return out
}

// sampleQueries returns the rows whose distances are computed, ascending, and the mean number of points of a block.
func (s *searcher) sampleQueries(rng *rand.Rand) (rows []int32, points float64) {
	cost := 0.0 // distances if all rows are looked at
	for _, b := range s.blocks {
		rows = append(rows, b.rows...)
		cost += float64(len(b.rows)) * float64(len(b.rows))
	}
	points = float64(len(rows)) / float64(len(s.blocks))
	if cost > fillSamples {
		n := int(fillSamples / cost * float64(len(rows)))
		rows = stratified(rng, rows, max(n, 1))
	}
	return rows, points
}

// sampleDistances returns the distances of the queries to all points of their blocks, without NaN.
func (s *searcher) sampleDistances(queries []int32) []float64 {
	start := make([]int, len(queries)+1)
	at := make([]int, len(queries)) // the block of each query
	k := 0
	for n, i := range queries {
		k = s.blockOf(int(i), k)
		at[n], start[n+1] = k, start[n]+len(s.blocks[k].rows)
	}
	dist := make([]float64, start[len(queries)])
	parallel.For(len(queries), queryGrain, func(lo, hi int) {
		w := s.newScratch()
		for n := lo; n < hi; n++ {
			row := dist[start[n]:start[n+1]]
			s.visit(w, &s.blocks[at[n]], int(queries[n]), math.Inf(1), func(lo int, d []float64) { copy(row[lo:], d) })
		}
	})
	kept := dist[:0]
	for _, d := range dist {
		if d >= 0 {
			kept = append(kept, d)
		}
	}
	return kept
}

// gapAt returns a radius below which about want of the distances lie, in the middle of the gap between two different distances.
func gapAt(dist []float64, want int) float64 {
	want = max(1, min(want, len(dist)))
	tie := kthSmallest(dist, want-1)
	// lo and hi enclose the distances that tie with the want-th; then the nearest ones on either side are found.
	lo, hi := tie*(1-tieWidth), tie*(1+tieWidth)
	var below, upto int
	prev, first, last, next := math.Inf(-1), tie, tie, math.Inf(1)
	for _, d := range dist {
		switch {
		case d < lo:
			below++
			upto++
			prev = max(prev, d)
		case d <= hi:
			upto++
			first, last = min(first, d), max(last, d)
		default:
			next = min(next, d)
		}
	}
	switch {
	case below > 0 && want-below < upto-want:
		return max(prev+(first-prev)/2, MinRadius)
	case math.IsInf(next, 1): // nothing beyond: any radius above the last
		return max(last*(1+1.0/16), MinRadius)
	}
	return max(last+(next-last)/2, MinRadius)
}

// kthSmallest returns the number that sorting would put at position k. Non-negative floats are ordered like their bits, so a
// fixed number of rounds over digits finds it for any data: four rounds of 16 bits, or eight of 8 bits where tables of 16 bits
// would cost more than the numbers.
func kthSmallest(v []float64, k int) float64 {
	var prefix uint64
	var short [1 << 8]int
	count, digits := short[:], 8
	if len(v) > 1<<16 {
		count, digits = make([]int, 1<<16), 16
	}
	for shift := 64 - digits; shift >= 0; shift -= digits {
		clear(count)
		for _, x := range v {
			if b := math.Float64bits(x + 0); b>>shift>>digits == prefix {
				count[b>>shift&uint64(len(count)-1)]++
			}
		}
		digit := 0
		for k >= count[digit] {
			k -= count[digit]
			digit++
		}
		prefix = prefix<<digits | uint64(digit)
	}
	return math.Float64frombits(prefix)
}
