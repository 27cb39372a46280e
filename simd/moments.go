package simd

import "fmt"

// WeightedMomentsF32 computes mean and variance of every column over weighted rows, and returns the sum of the weights:
//
//	mean[j] = Σ_i weight[i]·x[i, j] / total,  variance[j] = Σ_i weight[i]·(x[i, j] - mean[j])² / total
//
// The variance is the biased one; times total/(total-1) it is the unbiased one. With c = 1 they are the mean and variance of a vector.
//
//   - Shape: x is [rows, c], mean and variance have c elements, weight one per row; nil means that every row counts once.
//   - Errors: panics if a length does not match, c is negative, or a weight is negative. Rows of weight 0 are not read, so that
//     NaN in padding stays harmless; any other NaN makes its column NaN. If the total is 0, mean and variance are 0.
//   - Accuracy: two passes in float64, the first relative to the first counted row. The mean is within
//     rows·2^-53·max|x - x₀| + 2^-52·|mean| of the exact value, and the variance keeps its digits when |mean| is far above the
//     standard deviation.
func WeightedMomentsF32(mean, variance []float64, x []float32, weight []int32, c int) (total float64) {
	checkMoments("WeightedMomentsF32", len(mean), len(variance), len(x), weight, c)
	return weightedMomentsF32(mean, variance, x, weight, c)
}

// WeightedMomentsF64 is WeightedMomentsF32 for float64.
func WeightedMomentsF64(mean, variance []float64, x []float64, weight []int32, c int) (total float64) {
	checkMoments("WeightedMomentsF64", len(mean), len(variance), len(x), weight, c)
	return weightedMomentsF64(mean, variance, x, weight, c)
}

func checkMoments(fn string, lenMean, lenVar, lenX int, weight []int32, c int) {
	checkSize(fn, "c", c)
	checkLen(fn, "mean", lenMean, c)
	checkLen(fn, "variance", lenVar, c)
	rows := checkRows(fn, "x", lenX, c)
	if weight == nil {
		return
	}
	if c > 0 { // without columns the number of rows is unknown
		checkLen(fn, "weight", len(weight), rows)
	}
	for i, w := range weight {
		if w < 0 {
			panic(fmt.Sprintf("simd: %s: weight[%d] = %d, need at least 0", fn, i, w))
		}
	}
}
