//go:build purego || !amd64

package simd

func denseSwishF32(dst, x []float32, layer *Dense[float32], rows int) {
	denseSwishGeneric(dst, x, layer, rows)
}
