//go:build purego || !amd64

package bf16

import "github.com/equivcnp/equivcnp/simd"

// gemmTilesF32 is never called: cpu.Tiles is false.
func gemmTilesF32(c []float32, ldc int, a []float32, lda int, b *Tiles, bias []float32, act simd.Activation, m int, _ []float32) {
	simd.GemmPackedF32(c, ldc, a, lda, b.full, bias, act, m)
}
