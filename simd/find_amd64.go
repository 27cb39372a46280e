//go:build !purego

package simd

func findF32(x *float32, v float32, n int) (at int) { return findF32AVX2(x, v, n) }
func findF64(x *float64, v float64, n int) (at int) { return findF64AVX2(x, v, n) }
