//go:build purego || !amd64

package simd

// gemmDots is never called: cpu.Dots is false.
func gemmDots(c []float32, ldc int, a []BF16, b *PackedDots, bias []float32, act Activation, m int) {
	gemmDotsGeneric(c, ldc, a, b, bias, act, m)
}
