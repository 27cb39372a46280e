package simd

import (
	"fmt"
	"runtime"

	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/internal/schedule"
)

// DepthwisePlan is a neighbourhood arranged for many depthwise convolutions, such as those of every image that a service gets.
// Making it checks all indices. It is then only read, by any number of goroutines.
//
// On a grid, neighbouring outputs see the same poses, each at the point next to its neighbour's. Eight such rows are computed
// together: they share every vector of weights, and most of the features, which are still in the first-level cache. The plan lists
// the pairs for which this holds, for all eight rows or, as at the border of a grid, for some of them, and those that each row has for
// itself; package schedule finds them. Rows where it seldom holds are computed one by one.
type DepthwisePlan struct {
	points, poses int
	// offsets, index and pose are the neighbourhood, from 0, each row in the order in which it is added up.
	offsets     []int
	index, pose []int32
	// code holds what the kernels for eight rows read. starts has, for each group, where its code begins, or -1 if the group is
	// computed row by row.
	code   []int32
	starts []int
}

// depthwisePlanRows is how many rows form a group. Groups start at multiples of it.
const depthwisePlanRows = schedule.Together

// NewDepthwisePlan arranges a neighbourhood of that many points and poses, given as in DepthwiseF32. Rows need not be ordered. It
// panics if a length does not match, offsets descend, or an index or pose names no row.
func NewDepthwisePlan(offsets []int, index, pose []int32, points, poses int) *DepthwisePlan {
	return NewDepthwisePlanUntil(nil, offsets, index, pose, points, poses)
}

// NewDepthwisePlanUntil is NewDepthwisePlan, but asks stop, if that is not nil, now and then. Once stop says true, it returns nil.
func NewDepthwisePlanUntil(stop func() bool, offsets []int, index, pose []int32, points, poses int) *DepthwisePlan {
	const fn = "NewDepthwisePlan"
	checkSize(fn, "points", points)
	checkSize(fn, "poses", poses)
	rows := checkCSR(fn, offsets, index, pose)
	p := &DepthwisePlan{points: points, poses: poses, offsets: make([]int, rows+1), index: make([]int32, len(index)),
		pose: make([]int32, len(pose))}
	for i := range p.offsets {
		p.offsets[i] = offsets[i] - offsets[0]
	}
	// A group is arranged by itself, so goroutines take runs of groups. The runs do not depend on the number of goroutines.
	parts := make([]planPart, (rows+planRun-1)/planRun)
	arranged := &schedule.Rows{Offsets: p.offsets, Index: p.index, Pose: p.pose}
	grids := make([]*schedule.Grid, runtime.GOMAXPROCS(0))
	if !parallel.UntilWorkers(stop, rows, planRun, len(grids), func(worker, lo, hi int) {
		a, z := p.offsets[lo], p.offsets[hi]
		checkPlanIndex(fn, "index", index[a:z], a, points)
		checkPlanIndex(fn, "pose", pose[a:z], a, poses)
		copy(p.index[a:z], index[a:z])
		copy(p.pose[a:z], pose[a:z])
		if grids[worker] == nil {
			grids[worker] = schedule.NewGrid(arranged)
		}
		parts[lo/planRun] = planPartOf(grids[worker], z-a, lo, hi)
	}) {
		return nil
	}
	size := 0
	for _, part := range parts {
		size += len(part.code)
	}
	// Before a kernel ends a run, it reads the two entries that the next run begins with; so there is room for two more.
	p.code, p.starts = make([]int32, 0, size+2), make([]int, 0, rows/depthwisePlanRows)
	for _, part := range parts {
		if stop != nil && stop() {
			return nil
		}
		for _, start := range part.starts {
			if start >= 0 {
				start += len(p.code)
			}
			p.starts = append(p.starts, start)
		}
		p.code = append(p.code, part.code...)
	}
	p.code = append(p.code, 0, 0)
	return p
}

// Rows returns the number of outputs.
func (p *DepthwisePlan) Rows() int { return len(p.offsets) - 1 }

// planned reports whether rows i to i+7 are a group of the plan, and hi is not before its end.
func (p *DepthwisePlan) planned(i, hi int) bool {
	return i%depthwisePlanRows == 0 && i+depthwisePlanRows <= hi && p.starts[i/depthwisePlanRows] >= 0
}

// inverse sets inverse to the factors of the sums of the eight rows from i on. They are not returned: a copy of all
// eight waits for the numbers just written, and with them for every store before, such as those of the last group's
// results, which may miss all caches.
func (p *DepthwisePlan) inverse(inverse *[depthwisePlanRows]float32, i int, mean bool) {
	for r := range inverse {
		inverse[r] = 1
		if n := p.offsets[i+r+1] - p.offsets[i+r]; mean && n > 1 {
			inverse[r] = 1 / float32(n)
		}
	}
}

func (p *DepthwisePlan) row(i int) (index, pose []int32) {
	return p.index[p.offsets[i]:p.offsets[i+1]], p.pose[p.offsets[i]:p.offsets[i+1]]
}

// DepthwisePlanF32 computes rows lo to hi of a depthwise group convolution by a plan: for lo ≤ i < hi and every channel j
//
//	out[i-lo, j] = 1/n_i · Σ_k w[pose[k], j] · f[index[k], j]
//
// over the pairs k of row i, with n_i = max(1, number of pairs) if mean, else 1.
//
//   - Shape: out is [hi-lo, c], f [points, c], w [poses, c]. Chunks that begin and end at multiples of 8 are fastest; the bits
//     of a row do not depend on them.
//   - Aliasing: out must not overlap f or w.
//   - Errors: panics if a length does not match, c is negative, or not 0 ≤ lo ≤ hi ≤ plan.Rows().
//   - Accuracy: at most (n_i+8)·eps·Σ|w·f| (divided by n_i if mean) from the exact value. The order of summation, and with it the
//     rounding, differs from DepthwiseF32.
func DepthwisePlanF32(out, f, w []float32, plan *DepthwisePlan, lo, hi, c int, mean bool) {
	const fn = "DepthwisePlanF32"
	checkPlanRows(fn, plan, lo, hi, c)
	checkElements(fn, "out", len(out), hi-lo, c)
	checkElements(fn, "f", len(f), plan.points, c)
	checkElements(fn, "w", len(w), plan.poses, c)
	if hi > lo && c > 0 {
		depthwisePlanF32(out, f, w, plan, lo, hi, c, mean)
	}
}

func checkPlanRows(fn string, plan *DepthwisePlan, lo, hi, c int) {
	if lo < 0 || hi < lo || hi > plan.Rows() {
		panic(fmt.Sprintf("simd: %s: rows %d to %d, need a part of 0 to %d", fn, lo, hi, plan.Rows()))
	}
	checkSize(fn, "c", c)
}

func depthwisePlanGeneric(out, f, w []float32, p *DepthwisePlan, lo, hi, c int, mean bool) {
	a, b := p.offsets[lo], p.offsets[hi]
	depthwiseGeneric(out, f, w, p.offsets[lo:hi+1], p.index[a:b], p.pose[a:b], c, mean)
}
