package layers

import (
	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/simd"
)

// The depthwise convolution and its gradients over a whole neighbourhood, for training: weights of all poses are at hand. Where
// few poses stand for many pairs, in float32, all three go by a plan (simd.DepthwisePlan); elsewhere by gatherOrder and by pose.

// planRows is how many rows of a plan a goroutine takes at a time.
const planRows = 64

// planChannels is how many channels of a weights' gradient a goroutine takes at a time by a plan.
const planChannels = 32

// plans returns the plans of the neighbourhood and of the transposed one; nil: there are none.
func (p *Pairs[T]) plans() (plan, transposed *simd.DepthwisePlan) {
	if sizeof[T]() != 4 || !Flat(p.Neighborhood) {
		return nil, nil
	}
	s := &p.sorted
	s.planOnce.Do(func() {
		parallel.For(2, 1, func(k, _ int) {
			if k == 0 {
				s.plan = simd.NewDepthwisePlan(p.Offsets, p.Index, p.Pose, p.Queries, p.NumPoses())
			} else {
				t := p.transposed()
				s.transposedPlan = simd.NewDepthwisePlan(t.Offsets, t.Index, t.Pose, p.Queries, p.NumPoses())
			}
		})
	})
	return s.plan, s.transposedPlan
}

// convolve sets dst [batch, rows, c] to the mean over every row's pairs of w[pose] ⊙ f[index], for f [batch, rows, c] and w
// [poses, c].
func (p *Pairs[T]) convolve(dst, f, w []T, batch, c int) {
	if plan, _ := p.plans(); plan != nil {
		byPlan(plan, dst, f, w, batch, c, true)
		return
	}
	query, _ := p.orders()
	gatherBy(query, dst, f, w, batch, c, true)
}

// convolveBack sets df [batch, rows, c] to the gradient to the features, given that to the sums, d.
func (p *Pairs[T]) convolveBack(df, d, w []T, batch, c int) {
	if _, plan := p.plans(); plan != nil {
		byPlan(plan, df, d, w, batch, c, false)
		return
	}
	_, point := p.orders()
	gatherBy(point, df, d, w, batch, c, false)
}

// byPlan is gatherBy by a plan, for T float32.
func byPlan[T Float](plan *simd.DepthwisePlan, dst, src, w []T, batch, c int, mean bool) {
	out, in, weights := any(dst).([]float32), any(src).([]float32), any(w).([]float32)
	rows := plan.Rows()
	steps := (rows + planRows - 1) / planRows
	parallel.For(batch*steps, 1, func(k, _ int) {
		b, lo := k/steps, k%steps*planRows
		hi := min(lo+planRows, rows)
		image := in[b*rows*c : (b+1)*rows*c]
		simd.DepthwisePlanF32(out[(b*rows+lo)*c:(b*rows+hi)*c], image, weights, plan, lo, hi, c, mean)
	})
}

// convolveWeights returns the gradient [poses, c] to the weights, summed over the batch, given that to the sums, d. The result is
// rented.
func (p *Pairs[T]) convolveWeights(d, f []T, batch, c int) []T {
	plan, _ := p.plans()
	if plan == nil {
		return p.poseGradient(batch, c, func(dw []T, b int, offsets []int, query, point []int32) {
			rows := p.Queries
			simd.DepthwiseGradW(dw, d[b*rows*c:(b+1)*rows*c], f[b*rows*c:(b+1)*rows*c], offsets, query, point, c)
		})
	}
	// Every image and slice of channels has sums of its own; they are added in the order of images.
	rows, poses := p.Queries, p.NumPoses()
	x, y := any(f).([]float32), any(d).([]float32)
	parts := rent[float32](batch * poses * c)
	shares := (c + planChannels - 1) / planChannels
	parallel.For(batch*shares, 1, func(k, _ int) {
		b, from := k/shares, k%shares*planChannels
		to := min(from+planChannels, c)
		part := parts[b*poses*c : (b+1)*poses*c]
		for q := range poses {
			clear(part[q*c+from : q*c+to])
		}
		simd.DepthwisePlanGradWF32(part, y[b*rows*c:(b+1)*rows*c], x[b*rows*c:(b+1)*rows*c], plan, 0, rows, from, to, c, false)
	})
	sum := rent[float32](poses * c)
	copy(sum, parts[:poses*c])
	for b := 1; b < batch; b++ {
		simd.AddF32(sum, sum, parts[b*poses*c:(b+1)*poses*c])
	}
	giveBack(parts)
	return any(sum).([]T)
}
