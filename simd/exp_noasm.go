//go:build purego || !(amd64 || arm64)

package simd

func expF32(dst, x []float32) { expF32Generic(dst, x) }
