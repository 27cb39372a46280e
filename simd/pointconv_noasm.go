//go:build purego || !(amd64 || arm64)

package simd

func pointConvF32(p, f, w []float32, offsets []int, index, pose []int32, ci, cm int) {
	pointConvGeneric(p, f, w, offsets, index, pose, ci, cm)
}
