// Package schedule decides in which order the rows of a neighbourhood and their pairs are computed, and which of them together. Inference,
// training and layer-by-layer evaluation take its order; the plans of package simd encode it.
//
// Two facts decide it. Rows of one class have the same poses, so that a vector of weights serves them all if they stand side by side and
// list their pairs in corresponding order. And weights, where poses are many, are many times the features: rows go by tiles, whose weights
// are made or fetched once, stay in the second-level cache, and serve all rows and images.
//
// The package knows only lists of numbers: nothing about groups, features or types.
package schedule

import (
	"slices"

	"github.com/equivcnp/equivcnp/internal/parallel"
)

// Rows is a neighbourhood: the pairs of row i are entries Offsets[i] to Offsets[i+1], counted from Offsets[0], of
// Index, which has the points, and of Pose.
type Rows struct {
	Offsets     []int
	Index, Pose []int32
	Poses       int // how many there are
	// Class says which rows have the same poses, each equally often, and Lead which row is the first of each class.
	Class, Lead []int32
}

// Row returns the points and poses of row i.
func (r *Rows) Row(i int) (index, pose []int32) {
	a, b := r.Offsets[i]-r.Offsets[0], r.Offsets[i+1]-r.Offsets[0]
	return r.Index[a:b], r.Pose[a:b]
}

// Len is the number of rows.
func (r *Rows) Len() int { return len(r.Offsets) - 1 }

// Flat reports whether one table of weights for all rows is best: each pose stands for at least 32 pairs, and there are so few
// poses that the weights of 128 channels stay in a common second-level cache.
func Flat(poses, pairs int) bool { return poses <= 1<<11 && poses*32 <= pairs }

// grain is how many rows a goroutine takes at a time.
const grain = 256

// Reorder returns the rows in another order, row order[i] as row i. Points are the rows and get the new numbers as well. Classes are
// left out. It returns nil if stop, which may be nil, said true.
func (r *Rows) Reorder(order []int32, stop func() bool) *Rows {
	out := &Rows{Offsets: r.offsets(order), Index: make([]int32, len(r.Index)), Pose: make([]int32, len(r.Pose)), Poses: r.Poses}
	number := Inverse(order)
	if !parallel.Until(stop, len(order), grain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			index, pose := r.Row(int(order[i]))
			at := out.Offsets[i]
			copy(out.Pose[at:], pose)
			for k, j := range index {
				out.Index[at+k] = number[j]
			}
		}
	}) {
		return nil
	}
	return out
}

// offsets returns where rows begin after reordering.
func (r *Rows) offsets(order []int32) []int {
	offsets := make([]int, len(order)+1)
	for i, from := range order {
		offsets[i+1] = offsets[i] + r.Offsets[from+1] - r.Offsets[from]
	}
	return offsets
}

// Inverse returns where each element stands in an order.
func Inverse(order []int32) []int32 {
	place := make([]int32, len(order))
	for i, from := range order {
		place[from] = int32(i)
	}
	return place
}

// ByFirstUse numbers poses as rows in the given order meet them: poses that are needed together get numbers close to each other. It returns
// every pair's new number, and the old number of every pose; poses that no row has are left out.
func (r *Rows) ByFirstUse(order []int32) (pose, old []int32) {
	number := make([]int32, r.Poses) // plus one; 0: not met
	old = make([]int32, 0, r.Poses)
	seen := make([]bool, len(r.Lead))
	for _, i := range order {
		if seen[r.Class[i]] {
			continue
		}
		seen[r.Class[i]] = true
		_, row := r.Row(int(i))
		for _, q := range row {
			if number[q] == 0 {
				old = append(old, q)
				number[q] = int32(len(old))
			}
		}
	}
	pose = make([]int32, len(r.Pose))
	parallel.For(r.Len(), grain, func(lo, hi int) {
		for k := r.Offsets[lo] - r.Offsets[0]; k < r.Offsets[hi]-r.Offsets[0]; k++ {
			pose[k] = number[r.Pose[k]] - 1
		}
	})
	return pose, slices.Clip(old)
}
