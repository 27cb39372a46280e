//go:build purego || !(amd64 || arm64)

package simd

func expF64(dst, x []float64)      { expF64Generic(dst, x) }
func logF64(dst, x []float64)      { logF64Generic(dst, x) }
func sinCosF64(s, c, x []float64)  { sinCosF64Generic(s, c, x) }
func atan2F64(dst, y, x []float64) { atan2F64Generic(dst, y, x) }
