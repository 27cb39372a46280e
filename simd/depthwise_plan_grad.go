package simd

import "fmt"

// DepthwisePlanGradWF32 adds to dw the contribution of rows lo to hi of a planned convolution to the gradient of its weights: for
// every pose q and the channels from ≤ j < to
//
//	dw[q, j] += Σ 1/n_i · f[x, j] · dout[i-lo, j]
//
// over the pairs {x, q} of rows lo ≤ i < hi, with n_i as in DepthwisePlanF32. Pairs need not be sorted by pose: the output
// gradients of eight rows stay in registers while all poses pass, as the sums do in the convolution.
//
// To divide the work, give each goroutine a multiple of 32 channels of its own: their results do not depend on each other, so any
// number of goroutines computes the same bits. Rows may be divided too, if every part has a dw of its own and the parts are added
// in a fixed order. The gradient to the features is DepthwisePlanF32 with the plan of the transposed neighbourhood.
//
//   - Shape: dw is [poses, c], dout [hi-lo, c], f [points, c].
//   - Aliasing: dw must not overlap dout or f.
//   - Errors: panics if a length does not match, c is negative, or not 0 ≤ lo ≤ hi ≤ plan.Rows() and 0 ≤ from ≤ to ≤ c.
//   - Accuracy: at most (n+8)·eps·Σ|terms| from the exact value, where n is the number of terms; what dw held before is one of
//     them. The eight rows of a group that the plan computes together are added at once, so the rounding depends on whether lo
//     and hi divide groups.
func DepthwisePlanGradWF32(dw, dout, f []float32, plan *DepthwisePlan, lo, hi, from, to, c int, mean bool) {
	const fn = "DepthwisePlanGradWF32"
	checkPlanRows(fn, plan, lo, hi, c)
	checkElements(fn, "dw", len(dw), plan.poses, c)
	checkElements(fn, "dout", len(dout), hi-lo, c)
	checkElements(fn, "f", len(f), plan.points, c)
	if from < 0 || to < from || to > c {
		panic(fmt.Sprintf("simd: %s: channels %d to %d, need a part of 0 to %d", fn, from, to, c))
	}
	if hi > lo && to > from && len(dw) > 0 {
		depthwisePlanGradWF32(dw, dout, f, plan, lo, hi, from, to, c, mean)
	}
}

// depthwisePlanGradWGeneric goes through the pairs row by row.
func depthwisePlanGradWGeneric(dw, dout, f []float32, p *DepthwisePlan, lo, hi, from, to, c int, mean bool) {
	for i := lo; i < hi; i++ {
		index, pose := p.row(i)
		inverse := float32(1)
		if mean && len(index) > 1 {
			inverse = 1 / float32(len(index))
		}
		d := dout[(i-lo)*c+from : (i-lo)*c+to]
		for k, x := range index {
			fk, wk := rowOf(f, x, c)[from:to][:len(d)], rowOf(dw, pose[k], c)[from:to][:len(d)]
			for j := range d {
				wk[j] += float32(inverse*d[j]) * fk[j]
			}
		}
	}
}
