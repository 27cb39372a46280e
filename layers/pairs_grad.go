package layers

import (
	"sync"

	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/neighbor"
	"github.com/equivcnp/equivcnp/simd"
)

// sortedPairs are the pairs of a neighbourhood in the orders that gradients gather in.
type sortedPairs struct {
	once     sync.Once
	byPoint  *neighbor.Neighborhood
	byPose   poseRows
	poseStep int // poses per chunk
}

// poseRows lists the pairs of every pose: query and point of pose p are entries offsets[p] to offsets[p+1].
type poseRows struct {
	offsets      []int
	query, point []int32
}

// chunkPairs is about how many pairs a goroutine takes at a time when it gathers by pose.
const chunkPairs = 1 << 13

// sort returns the pairs sorted by point and by pose.
func (p *Pairs[T]) sort() *sortedPairs {
	s := &p.sorted
	s.once.Do(func() {
		s.byPoint = p.Transpose()
		n := p.NumPoses()
		s.byPose = poseRows{make([]int, n+1), make([]int32, p.Pairs()), make([]int32, p.Pairs())}
		at := s.byPose.offsets
		for _, k := range p.Pose {
			at[k+1]++
		}
		for k := range n {
			at[k+1] += at[k]
		}
		next := make([]int, n)
		copy(next, at)
		for i := range p.Queries {
			index, pose := p.Row(i)
			for k, j := range index {
				to := next[pose[k]]
				next[pose[k]]++
				s.byPose.query[to], s.byPose.point[to] = int32(i), j
			}
		}
		s.poseStep = max(1, n*chunkPairs/max(1, p.Pairs()))
	})
	return s
}

// gatherPoints calls gather for chunks of points, with their pairs (query and pose), in parallel.
func (p *Pairs[T]) gatherPoints(gather func(lo, hi int, offsets []int, query, pose []int32)) {
	t := p.sort().byPoint
	parallel.For(t.Queries, tileRows, func(lo, hi int) {
		a, b := t.Offsets[lo], t.Offsets[hi]
		gather(lo, hi, t.Offsets[lo:hi+1], t.Index[a:b], t.Pose[a:b])
	})
}

// poseGradient returns the gradient [poses, c] to the convolution weights, summed over the batch: gather overwrites a chunk
// of it with image b's part. The result is rented.
func (p *Pairs[T]) poseGradient(batch, c int, gather func(dw []T, b int, offsets []int, query, point []int32)) []T {
	s := p.sort()
	r, dw := s.byPose, rent[T](p.NumPoses()*c)
	parallel.For(p.NumPoses(), s.poseStep, func(lo, hi int) {
		from, to := r.offsets[lo], r.offsets[hi]
		sum, part := dw[lo*c:hi*c], []T(nil)
		for b := range batch {
			if b == 0 {
				gather(sum, 0, r.offsets[lo:hi+1], r.query[from:to], r.point[from:to])
				continue
			}
			if part == nil {
				part = rent[T](len(sum))
			}
			gather(part, b, r.offsets[lo:hi+1], r.query[from:to], r.point[from:to])
			simd.Add(sum, sum, part)
		}
		giveBack(part)
	})
	return dw
}

// divide sets dst [batch, rows, c] to src with every row divided by the size of its neighbourhood. That turns a sum over
// neighbours into their mean, and the gradient to the mean into that to the sum. dst may be src itself.
func (p *Pairs[T]) divide(dst, src []T, batch, c int) {
	parallel.For(batch*p.Queries, rowGrain, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			i := r % p.Queries
			n := T(max(1, p.Offsets[i+1]-p.Offsets[i]))
			out := dst[r*c : (r+1)*c]
			for k, v := range src[r*c : (r+1)*c] {
				out[k] = v / n
			}
		}
	})
}
