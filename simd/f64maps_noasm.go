//go:build purego || !(amd64 || arm64)

package simd

func sigmoidF64(dst, x []float64)         { sigmoidF64Generic(dst, x) }
func swishF64(dst, x []float64)           { swishF64Generic(dst, x) }
func softplusF64(dst, x []float64)        { softplusF64Generic(dst, x) }
func tanhF64(dst, x []float64)            { tanhF64Generic(dst, x) }
func reluF64(dst, x []float64)            { reluGeneric(dst, x) }
func hypotF64(dst, x, y []float64)        { hypotF64Generic(dst, x, y) }
func swishGradF64(dx, dy, x []float64)    { swishGradGeneric(dx, dy, x) }
func reluGradF64(dx, dy, y []float64)     { reluGradGeneric(dx, dy, y) }
func sigmoidGradF64(dx, dy, y []float64)  { sigmoidGradGeneric(dx, dy, y) }
func softplusGradF64(dx, dy, y []float64) { softplusGradF64Generic(dx, dy, y) }
