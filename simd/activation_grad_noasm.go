//go:build purego || !(amd64 || arm64)

package simd

func swishGradF32(dx, dy, x []float32)    { swishGradGeneric(dx, dy, x) }
func reluGradF32(dx, dy, y []float32)     { reluGradGeneric(dx, dy, y) }
func sigmoidGradF32(dx, dy, y []float32)  { sigmoidGradGeneric(dx, dy, y) }
func softplusGradF32(dx, dy, y []float32) { softplusGradF32Generic(dx, dy, y) }
