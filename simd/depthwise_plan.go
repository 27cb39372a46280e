package simd

import (
	"fmt"
	"slices"
)

// DepthwisePlan is a neighbourhood arranged for many depthwise convolutions. It is made once, checks all indices then, and is
// only read afterwards, by any number of goroutines.
//
// On a grid, neighbouring outputs see the same poses in the same order, each at the point next to its neighbour's. Eight such
// rows are computed together: they share every vector of weights, and most of the features, which move through the registers
// from one row to the next. The plan lists the runs of pairs where this holds; see depthwisePlanGroup. Rows where it seldom does
// are computed one by one.
type DepthwisePlan struct {
	points, poses int
	// offsets, index and pose are the neighbourhood, from 0, its rows ordered by index.
	offsets     []int
	index, pose []int32
	// code has the operations of every group of eight rows, and starts where those of group g begin. ops counts them; a
	// group without operations is computed row by row.
	code   []int32
	starts []int
	ops    []int32
}

// depthwisePlanRows is how many rows form a group. Groups start at multiples of it.
const depthwisePlanRows = 8

// NewDepthwisePlan arranges a neighbourhood of that many points and poses, given as in DepthwiseF32. Rows need not be ordered; the
// plan adds up each row in the order of its indices. It panics if a length does not match, offsets descend, or an index or pose
// names no row.
func NewDepthwisePlan(offsets []int, index, pose []int32, points, poses int) *DepthwisePlan {
	const fn = "NewDepthwisePlan"
	checkSize(fn, "points", points)
	checkSize(fn, "poses", poses)
	rows := checkCSR(fn, offsets, index, pose)
	for k := range index {
		if index[k] < 0 || int(index[k]) >= points {
			panic(fmt.Sprintf("simd: %s: index[%d] = %d, need 0 to %d", fn, k, index[k], points-1))
		}
		if pose[k] < 0 || int(pose[k]) >= poses {
			panic(fmt.Sprintf("simd: %s: pose[%d] = %d, need 0 to %d", fn, k, pose[k], poses-1))
		}
	}
	p := &DepthwisePlan{points: points, poses: poses, offsets: make([]int, rows+1), index: slices.Clone(index), pose: slices.Clone(pose)}
	for i := range p.offsets {
		p.offsets[i] = offsets[i] - offsets[0]
	}
	for i := range rows {
		sortRow(p.row(i))
	}
	for g := range rows / depthwisePlanRows {
		start := len(p.code)
		ops, singles := p.group(g * depthwisePlanRows)
		// A single costs about as much as a pair of a row computed alone, a pair of a step a quarter of it.
		if pairs := p.offsets[(g+1)*depthwisePlanRows] - p.offsets[g*depthwisePlanRows]; 3*singles > 2*pairs {
			p.code, ops = p.code[:start], 0
		}
		p.starts, p.ops = append(p.starts, start), append(p.ops, int32(ops))
	}
	p.code = slices.Clip(p.code)
	return p
}

// Rows returns the number of outputs.
func (p *DepthwisePlan) Rows() int { return len(p.offsets) - 1 }

func (p *DepthwisePlan) row(i int) (index, pose []int32) {
	return p.index[p.offsets[i]:p.offsets[i+1]], p.pose[p.offsets[i]:p.offsets[i+1]]
}

// sortRow orders pairs by index, and those of one index by pose.
func sortRow(index, pose []int32) {
	if slices.IsSorted(index) {
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

// group appends the operations of the eight rows from i on to the code, and returns how many there are and how many pairs
// remained single. An operation is
//
//	steps, x, 1 if singles follow else 0,  pose of each step,  [ 8 counts of singles,  {index, pose} of each, row after row ]
//
// In step s row i+r takes point x+s+r. Singles come after the steps. Each row's pairs keep their order.
func (p *DepthwisePlan) group(i int) (ops, singles int) {
	var index, pose [depthwisePlanRows][]int32
	left := 0
	for r := range index {
		index[r], pose[r] = p.row(i + r)
		left += len(index[r])
	}
	// together reports whether all rows can take a step: the same pose, each at its neighbour's next point.
	together := func() bool {
		for r := range index {
			if len(index[r]) == 0 || index[r][0] != index[0][0]+int32(r) || pose[r][0] != pose[0][0] {
				return false
			}
		}
		return true
	}
	for left > 0 {
		head := len(p.code)
		p.code = append(p.code, 0, 0, 0)
		steps := int32(0)
		for together() && (steps == 0 || index[0][0] == p.code[head+1]+steps) {
			if steps == 0 {
				p.code[head+1] = index[0][0]
			}
			p.code = append(p.code, pose[0][0])
			for r := range index {
				index[r], pose[r] = index[r][1:], pose[r][1:]
			}
			steps++
			left -= depthwisePlanRows
		}
		p.code[head] = steps
		ops++
		// Rows that are behind catch up with the most advanced one; where all are level but differ, each takes one pair.
		var alone [depthwisePlanRows][]int32
		count := 0
		take := func(r int) {
			alone[r] = append(alone[r], index[r][0], pose[r][0])
			index[r], pose[r] = index[r][1:], pose[r][1:]
			count++
			left--
		}
		for left > 0 && !together() {
			ended, most := false, int32(-1<<31)
			for r := range index {
				if len(index[r]) == 0 {
					ended = true
				} else {
					most = max(most, index[r][0]-int32(r))
				}
			}
			behind := false
			for r := range index {
				for len(index[r]) > 0 && (ended || index[r][0]-int32(r) < most) {
					take(r)
					behind = true
				}
			}
			if !behind {
				for r := range index {
					take(r)
				}
			}
		}
		if count > 0 {
			p.code[head+2] = 1
			for r := range alone {
				p.code = append(p.code, int32(len(alone[r])/2))
			}
			for r := range alone {
				p.code = append(p.code, alone[r]...)
			}
			singles += count
		}
	}
	return ops, singles
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
	if lo < 0 || hi < lo || hi > plan.Rows() {
		panic(fmt.Sprintf("simd: %s: rows %d to %d, need a part of 0 to %d", fn, lo, hi, plan.Rows()))
	}
	checkSize(fn, "c", c)
	checkLen(fn, "out", len(out), (hi-lo)*c)
	checkLen(fn, "f", len(f), plan.points*c)
	checkLen(fn, "w", len(w), plan.poses*c)
	if hi > lo && c > 0 {
		depthwisePlanF32(out, f, w, plan, lo, hi, c, mean)
	}
}

func depthwisePlanGeneric(out, f, w []float32, p *DepthwisePlan, lo, hi, c int, mean bool) {
	a, b := p.offsets[lo], p.offsets[hi]
	depthwiseGeneric(out, f, w, p.offsets[lo:hi+1], p.index[a:b], p.pose[a:b], c, mean)
}
