package simd

import (
	"fmt"
	"runtime"
	"slices"

	"github.com/equivcnp/equivcnp/internal/parallel"
)

// DepthwisePlan is a neighbourhood arranged for many depthwise convolutions. It is made once, checks all indices then, and is
// only read afterwards, by any number of goroutines.
//
// On a grid, neighbouring outputs see the same poses, each at the point next to its neighbour's. Eight such rows are computed
// together: they share every vector of weights, and most of the features, which are still in the first-level cache. The plan lists
// the pairs for which this holds, for all eight rows or for half of them, and those that each row has for itself; see group. Rows
// where it seldom holds are computed one by one.
type DepthwisePlan struct {
	points, poses int
	// offsets, index and pose are the neighbourhood, from 0, each row in the order in which it is added up.
	offsets     []int
	index, pose []int32
	// code has what the kernels for eight rows read, and starts where that of group g begins; it is -1 for a group that is
	// computed row by row.
	code   []int32
	starts []int
}

// depthwisePlanRows is how many rows form a group. Groups start at multiples of it.
const depthwisePlanRows = 8

// NewDepthwisePlan arranges a neighbourhood of that many points and poses, given as in DepthwiseF32. Rows need not be ordered. It
// panics if a length does not match, offsets descend, or an index or pose names no row.
func NewDepthwisePlan(offsets []int, index, pose []int32, points, poses int) *DepthwisePlan {
	const fn = "NewDepthwisePlan"
	checkSize(fn, "points", points)
	checkSize(fn, "poses", poses)
	rows := checkCSR(fn, offsets, index, pose)
	p := &DepthwisePlan{points: points, poses: poses, offsets: make([]int, rows+1), index: make([]int32, len(index)), pose: make([]int32, len(pose))}
	for i := range p.offsets {
		p.offsets[i] = offsets[i] - offsets[0]
	}
	// A group is arranged by itself, so goroutines take runs of them. Runs do not depend on how many there are.
	parts := make([]planPart, (rows+planRun-1)/planRun)
	builders := make([]planBuilder, runtime.GOMAXPROCS(0))
	parallel.ForWorkers(rows, planRun, len(builders), func(worker, lo, hi int) {
		a, z := p.offsets[lo], p.offsets[hi]
		checkPlanIndex(fn, "index", index[a:z], a, points)
		checkPlanIndex(fn, "pose", pose[a:z], a, poses)
		copy(p.index[a:z], index[a:z])
		copy(p.pose[a:z], pose[a:z])
		b := &builders[worker]
		b.DepthwisePlan = p
		parts[lo/planRun] = b.run(lo, hi)
	})
	size := 0
	for _, part := range parts {
		size += len(part.code)
	}
	// A kernel reads one run ahead, to fetch what it begins with.
	p.code, p.starts = make([]int32, 0, size+2), make([]int, 0, rows/depthwisePlanRows)
	for _, part := range parts {
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

// checkPlanIndex panics unless all of x, which starts at position base of its argument, are from 0 to n-1.
func checkPlanIndex(fn, arg string, x []int32, base, n int) {
	for k, v := range x {
		if v < 0 || int(v) >= n {
			panic(fmt.Sprintf("simd: %s: %s[%d] = %d, need 0 to %d", fn, arg, base+k, v, n-1))
		}
	}
}

// Rows returns the number of outputs.
func (p *DepthwisePlan) Rows() int { return len(p.offsets) - 1 }

// planned reports whether rows i to i+7 are a group of the plan that ends by hi.
func (p *DepthwisePlan) planned(i, hi int) bool {
	return i%depthwisePlanRows == 0 && i+depthwisePlanRows <= hi && p.starts[i/depthwisePlanRows] >= 0
}

// inverse returns what the eight rows from i on are multiplied by.
func (p *DepthwisePlan) inverse(i int, mean bool) (inverse [depthwisePlanRows]float32) {
	for r := range inverse {
		inverse[r] = 1
		if n := p.offsets[i+r+1] - p.offsets[i+r]; mean && n > 1 {
			inverse[r] = 1 / float32(n)
		}
	}
	return inverse
}

func (p *DepthwisePlan) row(i int) (index, pose []int32) {
	return p.index[p.offsets[i]:p.offsets[i+1]], p.pose[p.offsets[i]:p.offsets[i+1]]
}

// sortRow orders pairs by index, and those of one index by pose.
func sortRow(index, pose []int32) {
	if slices.IsSorted(index) && !hasEqual(index) {
		return
	}
	pairs := make([]int64, len(index))
	for k := range pairs {
		pairs[k] = int64(index[k])<<32 | int64(pose[k])
	}
	slices.Sort(pairs)
	for k, v := range pairs {
		index[k], pose[k] = int32(v>>32), int32(v)
	}
}

// hasEqual reports whether neighbours in a list are equal.
func hasEqual(x []int32) bool {
	for k := 1; k < len(x); k++ {
		if x[k] == x[k-1] {
			return true
		}
	}
	return false
}

// planRun is how many rows a goroutine arranges at a time: some groups, and what is left of the last run.
const planRun = 16 * depthwisePlanRows

// planPart is what a plan's code and starts become for a run of rows; starts count from the part's own code.
type planPart struct {
	code   []int32
	starts []int
}

// planBuilder arranges the groups of a plan, for one goroutine. All but part and base is scratch for one group.
type planBuilder struct {
	*DepthwisePlan
	part  planPart
	base  int    // the first pair of the run
	taken []bool // the run's pairs that are part of a step
	// together has the steps of all rows, of each half, of each quarter and of each row alone.
	together [planHeader][]step
	runs     [][]step // those of all rows
	order    []step
}

// planHeader is how many numbers the code of a group begins with.
const planHeader = 2*depthwisePlanRows - 1

// run arranges rows lo to hi.
func (b *planBuilder) run(lo, hi int) planPart {
	b.part = planPart{code: make([]int32, 0, (b.offsets[hi]-b.offsets[lo])/4), starts: make([]int, 0, (hi-lo)/depthwisePlanRows)}
	b.base = b.offsets[lo]
	b.taken = append(b.taken[:0], make([]bool, b.offsets[hi]-b.base)...)
	for i := lo; i < hi; i++ {
		sortRow(b.row(i))
	}
	for i := lo; i+depthwisePlanRows <= hi; i += depthwisePlanRows {
		b.part.starts = append(b.part.starts, b.group(i))
	}
	return b.part
}

// step is what rows do together: the first takes point x, the next x+1, and so on, all with the same pose.
type step struct{ x, pose int32 }

// group appends the code of the eight rows from i on, and returns where it starts, or -1 if row by row is better. The code is
//
//	the number of runs of all rows, then of steps of each half, of each quarter and of each row alone;
//	then, in that order, {steps, x, pose of each step} per run, {x, pose} per step
//
// In a step, the r-th of its rows takes point x+r; in step s of a run x+s+r. The rows' pairs are put into the order in which they
// stand there.
func (b *planBuilder) group(i int) int {
	list, alone := 0, 0
	for rows := depthwisePlanRows; rows > 0; rows /= 2 {
		for lo := i; lo < i+depthwisePlanRows; lo += rows {
			b.together[list] = b.steps(b.together[list][:0], lo, lo+rows)
			if rows == 1 {
				alone += len(b.together[list])
			}
			list++
		}
	}
	// A pair alone costs about as much as one of a row computed by itself, a pair of all rows a quarter of it.
	if pairs := b.offsets[i+depthwisePlanRows] - b.offsets[i]; 3*alone > 2*pairs {
		return -1
	}
	start := len(b.part.code)
	b.part.code = append(b.part.code, make([]int32, planHeader)...)
	b.sortRuns()
	b.part.code[start] = int32(len(b.runs))
	for _, run := range b.runs {
		b.part.code = append(b.part.code, int32(len(run)), run[0].x)
		for _, s := range run {
			b.part.code = append(b.part.code, s.pose)
		}
	}
	for k, list := range b.together[1:] {
		b.part.code[start+1+k] = int32(len(list))
		for _, s := range list {
			b.part.code = append(b.part.code, s.x, s.pose)
		}
	}
	for r := range depthwisePlanRows {
		b.order = b.order[:0]
		for _, run := range b.runs {
			for _, s := range run {
				b.order = append(b.order, step{s.x + int32(r), s.pose})
			}
		}
		list := 1
		for rows := depthwisePlanRows / 2; rows > 0; rows /= 2 {
			for _, s := range b.together[list+r/rows] {
				b.order = append(b.order, step{s.x + int32(r%rows), s.pose})
			}
			list += depthwisePlanRows / rows
		}
		index, pose := b.row(i + r)
		for k, s := range b.order {
			index[k], pose[k] = s.x, s.pose
		}
	}
	return start
}

// sortRuns divides the steps of all rows into runs, in which each has the next one's point, and puts the longest first: a loop that
// ends after as many turns as the last time is predicted, and a disk has most lengths twice.
func (b *planBuilder) sortRuns() {
	b.runs = b.runs[:0]
	for list := b.together[0]; len(list) > 0; {
		n := 1
		for n < len(list) && list[n].x == list[n-1].x+1 {
			n++
		}
		b.runs, list = append(b.runs, list[:n]), list[n:]
	}
	slices.SortStableFunc(b.runs, func(x, y []step) int { return len(y) - len(x) })
}

// steps appends to list those steps of rows lo to hi whose pairs were not taken yet, and takes them. As all rows are ordered, one
// pass through each is enough.
func (b *planBuilder) steps(list []step, lo, hi int) []step {
	index, pose, base, taken := b.index, b.pose, b.base, b.taken
	var at [depthwisePlanRows]int // the first pair of each row that is not behind
	for r := range hi - lo {
		at[r] = b.offsets[lo+r]
	}
	for ; at[0] < b.offsets[lo+1]; at[0]++ {
		k := at[0]
		if taken[k-base] {
			continue
		}
		together := true
		for r := 1; r < hi-lo && together; r++ {
			x, q, end := int(index[k])+r, pose[k], b.offsets[lo+r+1]
			for at[r] < end && (taken[at[r]-base] || int(index[at[r]]) < x || int(index[at[r]]) == x && pose[at[r]] < q) {
				at[r]++
			}
			together = at[r] < end && int(index[at[r]]) == x && pose[at[r]] == q
		}
		if !together {
			continue
		}
		list = append(list, step{index[k], pose[k]})
		for r := range hi - lo {
			taken[at[r]-base] = true
		}
	}
	return list
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
	checkLen(fn, "out", len(out), (hi-lo)*c)
	checkLen(fn, "f", len(f), plan.points*c)
	checkLen(fn, "w", len(w), plan.poses*c)
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
