//go:build purego || !(amd64 || arm64)

package simd

func normF32(y, x, mean, low, scale, bias []float32, c int) {
	normGeneric(y, x, mean, low, scale, bias, c)
}

func normSumsF32(sum, sumX []float64, dz, x, mean, low []float32, c int) {
	normSumsGeneric(sum, sumX, dz, x, mean, low, c)
}

func normGradF32(dx, dz, x []float32, weight []int32, mean, low, a, p, q []float32, c int) {
	normGradGeneric(dx, dz, x, weight, mean, low, a, p, q, c)
}
