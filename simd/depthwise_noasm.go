//go:build purego || !(amd64 || arm64 || (wasm && goexperiment.simd && go1.27))

package simd

func depthwiseF32(out, f, w []float32, offsets []int, index, pose []int32, c int, mean bool) {
	depthwiseGeneric(out, f, w, offsets, index, pose, c, mean)
}

// depthwiseCheckedF32 is the same: portable Go checks in any case.
func depthwiseCheckedF32(out, f, w []float32, offsets []int, index, pose []int32, c int, mean bool) {
	depthwiseGeneric(out, f, w, offsets, index, pose, c, mean)
}

func depthwiseRowsF32(out, f, w []float32, p *DepthwiseRows, c int, mean bool) {
	depthwiseGeneric(out, f, w, p.offsets, p.index, p.pose, c, mean)
}

func depthwiseBF16F32(out, f []float32, w []BF16, offsets []int, index, pose []int32, c int, mean bool) {
	depthwiseBF16Generic(out, f, w, offsets, index, pose, c, mean)
}
