//go:build purego || !(amd64 || arm64)

package simd

func depthwiseF32(out, f, w []float32, offsets []int, index, pose []int32, c int, mean bool) {
	depthwiseGeneric(out, f, w, offsets, index, pose, c, mean)
}
