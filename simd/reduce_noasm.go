//go:build purego || !(amd64 || arm64)

package simd

func sumF32(x []float32) float64             { return sumGeneric(x) }
func dotF32(x, y []float32) float64          { return dotGeneric(x, y) }
func sumSqF32(x []float32) float64           { return dotGeneric(x, x) }
func minMaxF32(x []float32) (lo, hi float32) { return minMaxGeneric(x) }
