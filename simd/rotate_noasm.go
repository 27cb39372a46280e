//go:build purego || !(amd64 || arm64)

package simd

func rotateF32(x, y []float32, c, s float32) { rotateGeneric(x, y, c, s) }
func swapF32(x, y []float32)                 { swapGeneric(x, y) }
func rotateF64(x, y []float64, c, s float64) { rotateGeneric(x, y, c, s) }
func swapF64(x, y []float64)                 { swapGeneric(x, y) }
