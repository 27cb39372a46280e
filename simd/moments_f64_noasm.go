//go:build purego || !(amd64 || (wasm && goexperiment.simd && go1.27))

package simd

func weightedMomentsF64(mean, variance []float64, x []float64, weight []int32, c int) float64 {
	return weightedMomentsGeneric(mean, variance, x, weight, c)
}
