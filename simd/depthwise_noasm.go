//go:build purego || !(amd64 || arm64)

package simd

func depthwiseF32(out, f, w []float32, offsets []int, index, pose []int32, c int, mean bool) {
	depthwiseGeneric(out, f, w, offsets, index, pose, c, mean)
}

func depthwiseRowsF32(out, f, w []float32, p *DepthwiseRows, c int, mean bool) {
	depthwiseGeneric(out, f, w, p.offsets, p.index, p.pose, c, mean)
}

func depthwiseBF16F32(out, f []float32, w []BF16, offsets []int, index, pose []int32, c int, mean bool) {
	depthwiseBF16Generic(out, f, w, offsets, index, pose, c, mean)
}
