//go:build purego || !amd64

package simd

func weightNetF32(dst, pose []float32, net *[3]Dense[float32], rows int, scratch []float32) {
	weightNetGeneric(dst, pose, net, rows, scratch)
}
