package layers

import (
	"cmp"
	"slices"

	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/simd"
)

// gatherOrder is one side of a neighbourhood (queries or points) in an order that needs few weights at a time. Under rotation
// groups the rotated copies of a row have the same poses, each at another place of the list. Here the copies follow each other
// and all rows list their pairs by pose, so that a kernel finds four rows with the same list and fetches a weight once for them,
// and weights, numbered by first use, are read one after the other.
type gatherOrder struct {
	rows        []int32 // the row that is computed k-th; its pairs are offsets[k] to offsets[k+1]
	offsets     []int
	index, pose []int32
}

// orderRows is the number of rows of a gatherOrder that a goroutine takes at a time: few enough for their weights to stay in
// the second-level cache until all images have used them.
const orderRows = 16

// orders returns the pairs by query and by point. They are made from the pairs by pose, so that they come out sorted.
func (p *Pairs[T]) orders() (query, point *gatherOrder) {
	s := p.sort()
	s.orderOnce.Do(func() {
		r := &s.byPose
		s.query, s.point = newGatherOrder(p.Queries, r, r.query, r.point), newGatherOrder(p.Queries, r, r.point, r.query)
	})
	return &s.query, &s.point
}

// newGatherOrder lists for every one of n rows the pairs that name it in row, with their other end.
func newGatherOrder(n int, r *poseRows, row, other []int32) gatherOrder {
	count, key := make([]int, n), make([]int32, n)
	order := make([]int32, n)
	for i := range order {
		order[i], key[i] = int32(i), -1
	}
	r.each(func(pose int32, lo, hi int) {
		for _, i := range row[lo:hi] {
			count[i]++
			key[i] = pose // in the end the largest
		}
	})
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(key[a], key[b]) })
	// Sets of copies in the order of their first members: neighbouring sets gather from the same places.
	first := make([]int32, n)
	for k, i := range order {
		first[i] = i
		if k > 0 && key[order[k-1]] == key[i] {
			first[i] = first[order[k-1]]
		}
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(first[a], first[b]) })

	o := gatherOrder{rows: order, offsets: make([]int, n+1), index: make([]int32, len(row)), pose: make([]int32, len(row))}
	next := make([]int, n)
	for k, i := range order {
		next[i] = o.offsets[k]
		o.offsets[k+1] = o.offsets[k] + count[i]
	}
	r.each(func(pose int32, lo, hi int) {
		for k := lo; k < hi; k++ {
			at := next[row[k]]
			next[row[k]]++
			o.index[at], o.pose[at] = other[k], pose
		}
	})
	return o
}

// each calls f for the runs of pairs of every pose, pose after pose.
func (r *poseRows) each(f func(pose int32, lo, hi int)) {
	if r.rows == nil {
		for q := range len(r.offsets) - 1 {
			f(int32(q), r.offsets[q], r.offsets[q+1])
		}
		return
	}
	for q := range len(r.first) - 1 {
		for _, row := range r.rows[r.first[q]:r.first[q+1]] {
			f(int32(q), r.offsets[row], r.offsets[row+1])
		}
	}
}

// gatherBy sets dst [batch, rows, c] to the sums over every row's pairs of w[pose] ⊙ src[index], src being [batch, points, c];
// with mean, to their means.
func gatherBy[T Float](o *gatherOrder, dst, src, w []T, batch, c int, mean bool) {
	rows, points := len(o.rows), len(src)/max(1, batch*c)
	parallel.For(rows, orderRows, func(lo, hi int) {
		out := rent[T]((hi - lo) * c)
		from, to := o.offsets[lo], o.offsets[hi]
		for b := range batch {
			// The sum is that of the convolution itself, too; this kernel leaves it to the machine to fetch weights ahead, which it
			// does well here, and looks for rows with the same poses.
			simd.DepthwiseGradF(out, src[b*points*c:(b+1)*points*c], w, o.offsets[lo:hi+1], o.index[from:to], o.pose[from:to], c)
			for k := lo; k < hi; k++ {
				y, row := dst[(b*rows+int(o.rows[k]))*c:][:c], out[(k-lo)*c:][:c]
				if mean {
					simd.Scale(y, 1/T(max(1, o.offsets[k+1]-o.offsets[k])), row)
				} else {
					copy(y, row)
				}
			}
		}
		giveBack(out)
	})
}
