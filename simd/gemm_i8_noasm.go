//go:build purego || !amd64

package simd

const panelsI8 = false

func gemmPackedI8(c []int32, ldc int, a []int8, lda int, b *PackedI8, m int) {
	gemmRowsI8(c, ldc, a, lda, b, 0, m)
}

func alignedBytes(n int) []int8 { return make([]int8, n) }
