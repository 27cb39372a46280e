//go:build goexperiment.simd && go1.27 && !purego

package simd

import "unsafe"

func weightedMomentsF32(mean, variance []float64, x []float32, weight []int32, c int) float64 {
	return weightedMoments(mean, variance, x, weight, c)
}

func weightedMomentsF64(mean, variance []float64, x []float64, weight []int32, c int) float64 {
	return weightedMoments(mean, variance, x, weight, c)
}

// weightedMoments has the bits of weightedMomentsGeneric: each column is summed row by row, as there.
func weightedMoments[T Float](mean, variance []float64, x []T, weight []int32, c int) float64 {
	if level == Generic || c == 0 {
		return weightedMomentsGeneric(mean, variance, x, weight, c)
	}
	rows := len(x) / c
	total, first := float64(rows), 0
	if weight != nil {
		total, first = 0, -1
		for i, w := range weight {
			if w != 0 && first < 0 {
				first = i
			}
			total += float64(w)
		}
	}
	clear(mean)
	clear(variance)
	if total == 0 {
		return 0
	}
	// The first counted row is kept, as float64, where the variance will be.
	start := x[first*c : first*c+c]
	for j, v := range start {
		variance[j] = float64(v)
	}
	at, w := unsafe.Pointer(&x[0]), unsafe.SliceData(weight)
	double := unsafe.Sizeof(x[0]) == 8
	if double {
		momentsShiftedF64WASM128(&mean[0], &variance[0], (*float64)(at), w, rows, c)
	} else {
		momentsShiftedF32WASM128(&mean[0], &variance[0], (*float32)(at), w, rows, c)
	}
	for j, v := range start {
		mean[j] = float64(v) + mean[j]/total
	}
	clear(variance)
	if double {
		momentsSquaresF64WASM128(&variance[0], &mean[0], (*float64)(at), w, rows, c)
	} else {
		momentsSquaresF32WASM128(&variance[0], &mean[0], (*float32)(at), w, rows, c)
	}
	for j := range variance {
		variance[j] /= total
	}
	return total
}
