package layers

import (
	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/internal/schedule"
	"github.com/equivcnp/equivcnp/layers/internal/buffers"
	"github.com/equivcnp/equivcnp/neighbor"
	"github.com/equivcnp/equivcnp/simd"
)

// chunkPairs is about how many pairs a goroutine takes at a time when it gathers by pose.
const chunkPairs = 1 << 13

// byPose returns the pairs listed by pose.
func (p *Pairs[T]) byPose() *schedule.ByPose {
	s := &p.sorted
	s.poseOnce.Do(func() {
		r := &schedule.Rows{Offsets: p.Offsets, Index: p.Index, Pose: p.Pose, Poses: p.NumPoses()}
		s.byPose = r.ByPose(p.Pairs(), p.NumPoses(), 0)
	})
	return s.byPose
}

// transposed returns the pairs sorted by point.
func (p *Pairs[T]) transposed() *neighbor.Neighborhood {
	s := &p.sorted
	s.pointOnce.Do(func() { s.byPoint = p.Transpose() })
	return s.byPoint
}

// gatherPoints calls gather in parallel for chunks of points, each with the queries and poses of its pairs.
func (p *Pairs[T]) gatherPoints(gather func(lo, hi int, offsets []int, query, pose []int32)) {
	t := p.transposed()
	parallel.For(t.Queries, chunkRows, func(lo, hi int) {
		a, b := t.Offsets[lo], t.Offsets[hi]
		gather(lo, hi, t.Offsets[lo:hi+1], t.Index[a:b], t.Pose[a:b])
	})
}

// poseGradient returns the gradient [poses, c] to the convolution weights, summed over the batch, from rent. gather overwrites dw
// with the sums of some lists of pairs in image b.
func (p *Pairs[T]) poseGradient(batch, c int, gather func(dw []T, b int, offsets []int, query, point []int32)) []T {
	by := p.byPose()
	lists := len(by.Lists)
	dw := buffers.Rent[T](lists * c)
	parallel.For(lists, max(1, lists*chunkPairs/max(1, p.Pairs())), func(lo, hi int) {
		offsets, sum, part := by.Offsets[lo:hi+1], dw[lo*c:hi*c], []T(nil)
		from, to := by.Offsets[lo], by.Offsets[hi]
		for b := range batch {
			if b == 0 {
				gather(sum, 0, offsets, by.Row[from:to], by.Point[from:to])
				continue
			}
			if part == nil {
				part = buffers.Rent[T](len(sum))
			}
			gather(part, b, offsets, by.Row[from:to], by.Point[from:to])
			simd.Add(sum, sum, part)
		}
		buffers.GiveBack(part)
	})
	if lists == p.NumPoses() {
		return dw
	}
	// Some poses have several lists.
	out := buffers.Rent[T](p.NumPoses() * c)
	for l, list := range by.Lists {
		to, from := out[int(list.Pose)*c:][:c], dw[l*c:(l+1)*c]
		if list.First {
			copy(to, from)
		} else {
			simd.Add(to, to, from)
		}
	}
	buffers.GiveBack(dw)
	return out
}

// divide sets dst [batch, rows, c] to src with every row divided by the size of its neighbourhood. This turns a sum over
// neighbours into their mean, and the gradient to the mean into the gradient to the sum. Under a window the
// mean is its own. dst may be src itself.
func (p *Pairs[T]) divide(dst, src []T, batch, c int, win *windowed[T]) {
	parallel.For(batch*p.Queries, rowGrain, func(lo, hi int) { p.divideRows(dst, c, src, c, lo, hi, c, win) })
}

// divideRows is divide for rows lo to hi, which begin ld numbers apart in dst, and ls in src, on this goroutine.
func (p *Pairs[T]) divideRows(dst []T, ld int, src []T, ls, lo, hi, c int, win *windowed[T]) {
	i := lo % p.Queries
	for r := lo; r < hi; r++ {
		scale := 1 / T(max(1, p.Offsets[i+1]-p.Offsets[i]))
		if win != nil {
			scale *= win.row[i]
		}
		simd.Scale(dst[r*ld:r*ld+c], scale, src[r*ls:r*ls+c])
		if i++; i == p.Queries {
			i = 0
		}
	}
}
