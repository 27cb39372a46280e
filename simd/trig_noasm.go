//go:build purego || !(amd64 || arm64)

package simd

func sinCosF32(s, c, x []float32)  { sinCosF32Generic(s, c, x) }
func atan2F32(dst, y, x []float32) { atan2F32Generic(dst, y, x) }
func hypotF32(dst, x, y []float32) { hypotF32Generic(dst, x, y) }
