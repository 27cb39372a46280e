//go:build purego || !amd64

package bf16

import "github.com/equivcnp/equivcnp/simd"

// gemmDots is never called: cpu.Dots is false.
func gemmDots(c []float32, ldc int, a []simd.BF16, b *Dots, bias []float32, act simd.Activation, m int) {
	gemmDotsGeneric(c, ldc, a, b, bias, act, m)
}
