//go:build purego || !amd64

package simd

func haveTiles() bool { return false }

func gemmTilesF32(c []float32, ldc int, a []float32, lda int, b *PackedTiles, bias []float32, act Activation, m int, _ []float32) {
	gemmPackedF32(c, ldc, a, lda, b.full, bias, act, m)
}
