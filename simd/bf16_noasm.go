//go:build purego || !(amd64 || arm64)

package simd

func bf16FromF32(dst []BF16, x []float32) { bf16FromF32Generic(dst, x) }
func f32FromBF16(dst []float32, x []BF16) { f32FromBF16Generic(dst, x) }
