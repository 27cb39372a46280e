//go:build purego || !(amd64 || arm64 || (wasm && goexperiment.simd && go1.27))

package simd

func weightedMomentsF32(mean, variance []float64, x []float32, weight []int32, c int) float64 {
	return weightedMomentsGeneric(mean, variance, x, weight, c)
}
