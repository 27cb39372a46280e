//go:build purego || !amd64

package simd

func normF64(y, x, mean, low, scale, bias []float64, c int) {
	normGeneric(y, x, mean, low, scale, bias, c)
}

func normSumsF64(sum, sumX []float64, dz, x, mean, low []float64, c int) {
	normSumsGeneric(sum, sumX, dz, x, mean, low, c)
}

func normGradF64(dx, dz, x []float64, weight []int32, mean, low, a, p, q []float64, c int) {
	normGradGeneric(dx, dz, x, weight, mean, low, a, p, q, c)
}
