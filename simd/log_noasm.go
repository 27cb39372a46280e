//go:build purego || !(amd64 || arm64)

package simd

func logF32(dst, x []float32) { logF32Generic(dst, x) }
