package layers

import (
	"math"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/layers/internal/check"
	"github.com/equivcnp/equivcnp/layers/internal/reduce"
	"github.com/equivcnp/equivcnp/simd"
)

// Backward adds the gradients of the raw scale and length to g, and sets dphi [n, c] to the gradient of phi unless it is nil. dh
// [m, c] is the gradient to Forward's result for t [m, d], x [n, d] and phi [n, c].
func (k *RBF[T]) Backward(dphi, dh []T, t, x []float64, phi []T, d, c int, g *Grads[T]) {
	checkRBF("RBF.Backward", dh, t, d, c)
	n := checkRBF("RBF.Backward", phi, x, d, c)
	if dphi != nil {
		check.Len("RBF.Backward", "dphi", len(dphi), n, c)
	}
	gamma, scale := k.gamma(), k.Scale()
	if dphi != nil {
		parallel.For(n, rowGrain, func(lo, hi int) { // psi is symmetric: a set convolution from the targets to the points
			simd.SetConv(dphi[lo*c:hi*c], x[lo*d:hi*d], t, dh, d, c, gamma, scale)
		})
	}
	k.addGrads(g, reduce.Rows(len(t)/d, rowGrain, 2, func(sum []float64, lo, hi int) {
		a, b := simd.SetConvGrad(dh[lo*c:hi*c], t[lo*d:hi*d], x, phi, d, c, gamma, scale)
		sum[0] += a
		sum[1] += b
	}))
}

// addGrads adds the gradients to RawScale and RawLength. sum holds the gradients to gamma = 1/(2l²) and to the scale; the chain
// rule through l and softplus does the rest.
func (k *RBF[T]) addGrads(g *Grads[T], sum []float64) {
	l := k.Length()
	reduce.AddTo(g.Of(k.RawLength), []float64{sum[0] * -1 / (l * l * l) * sigmoid(float64(k.RawLength[0]))})
	reduce.AddTo(g.Of(k.RawScale), []float64{sum[1] * sigmoid(float64(k.RawScale[0]))})
}

// sigmoid returns the derivative of softplus.
func sigmoid(x float64) float64 {
	e := math.Exp(-math.Abs(x))
	if x < 0 {
		return e / (1 + e)
	}
	return 1 / (1 + e)
}

// BackwardGroup is like Backward for ForwardGroup. A group's distance is symmetric, but it is evaluated in the order in which
// ForwardGroup does: from x to t.
func (k *RBF[T]) BackwardGroup(dphi, dh []T, t, x *group.Lifted, phi []T, c int, g *Grads[T]) {
	checkRBFGroup("RBF.BackwardGroup", dh, t, x, phi, c)
	if dphi != nil {
		check.Len("RBF.BackwardGroup", "dphi", len(dphi), x.Rows(), c)
	}
	gamma, scale, gr := k.gamma(), k.Scale(), t.Group
	kernel := func(pose []float64, i, j int) (dist2, e float64) {
		ai, qi := t.Row(i)
		aj, qj := x.Row(j)
		gr.RelativePose(pose, ai, qi, aj, qj)
		dist := gr.Distance(pose)
		return dist * dist, math.Exp(-gamma * dist * dist)
	}
	if dphi != nil {
		parallel.For(x.Rows(), rowGrain, func(lo, hi int) {
			pose, sum := make([]float64, group.PoseDim(gr)), make([]float64, c)
			for j := lo; j < hi; j++ {
				clear(sum)
				for i := range t.Rows() {
					_, e := kernel(pose, i, j)
					for ch, v := range dh[i*c : (i+1)*c] {
						sum[ch] += e * float64(v)
					}
				}
				for ch, v := range sum {
					dphi[j*c+ch] = T(scale * v)
				}
			}
		})
	}
	k.addGrads(g, reduce.Rows(t.Rows(), rowGrain, 2, func(sum []float64, lo, hi int) {
		pose := make([]float64, group.PoseDim(gr))
		for i := lo; i < hi; i++ {
			for j := range x.Rows() {
				dist2, e := kernel(pose, i, j)
				dot := 0.0
				for ch, v := range phi[j*c : (j+1)*c] {
					dot += float64(v) * float64(dh[i*c+ch])
				}
				sum[0] -= scale * dist2 * e * dot
				sum[1] += e * dot
			}
		}
	}))
}
