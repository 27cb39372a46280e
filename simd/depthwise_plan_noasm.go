//go:build purego || !(amd64 || arm64)

package simd

func depthwisePlanF32(out, f, w []float32, p *DepthwisePlan, lo, hi, c int, mean bool) {
	a, b := p.offsets[lo], p.offsets[hi]
	depthwiseCheckedF32(out, f, w, p.offsets[lo:hi+1], p.index[a:b], p.pose[a:b], c, mean)
}

func depthwisePlanGradWF32(dw, dout, f []float32, p *DepthwisePlan, lo, hi, from, to, c int, mean bool) {
	depthwisePlanGradWGeneric(dw, dout, f, p, lo, hi, from, to, c, mean)
}
