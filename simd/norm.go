package simd

// NormF32 normalises the rows of a matrix by given statistics of its columns:
//
//	y[i, j] = ((x[i, j] - mean[j]) - low[j])·scale[j] + bias[j]
//
// The mean has two parts, so that its rounding costs no digits where it is far above the standard deviation: mean is the
// nearest float32, low the remainder.
//
//   - Shape: x and y are [rows, c], the others have c elements.
//   - Aliasing: y may be x itself.
//   - Errors: panics if a length does not match.
//   - Accuracy: at most 4·2^-24·(|x - mean|·|scale| + |bias|) from the exact value.
func NormF32(y, x, mean, low, scale, bias []float32, c int) {
	checkSize("NormF32", "c", c)
	checkRows("NormF32", "x", len(x), c)
	checkLen("NormF32", "y", len(y), len(x))
	checkLen("NormF32", "mean", len(mean), c)
	checkLen("NormF32", "low", len(low), c)
	checkLen("NormF32", "scale", len(scale), c)
	checkLen("NormF32", "bias", len(bias), c)
	normF32(y, x, mean, low, scale, bias, c)
}

// NormF64 is NormF32 for float64.
func NormF64(y, x, mean, low, scale, bias []float64, c int) {
	checkSize("NormF64", "c", c)
	checkRows("NormF64", "x", len(x), c)
	checkLen("NormF64", "y", len(y), len(x))
	checkLen("NormF64", "mean", len(mean), c)
	checkLen("NormF64", "low", len(low), c)
	checkLen("NormF64", "scale", len(scale), c)
	checkLen("NormF64", "bias", len(bias), c)
	normF64(y, x, mean, low, scale, bias, c)
}

// NormSumsF32 adds, to sum and sumX, sums over columns that the gradient of a normalisation needs:
//
//	sum[j] += Σ_i dz[i, j],  sumX[j] += Σ_i dz[i, j]·((x[i, j] - mean[j]) - low[j])
//
// mean and low are those of NormF32.
//
//   - Shape: dz and x are [rows, c], the others have c elements.
//   - Errors: panics if a length does not match.
//   - Accuracy: groups of 64 rows are added up in float32, the groups in float64: within 68·2^-24·Σ|terms| of the exact sum.
func NormSumsF32(sum, sumX []float64, dz, x, mean, low []float32, c int) {
	checkSize("NormSumsF32", "c", c)
	checkRows("NormSumsF32", "x", len(x), c)
	checkLen("NormSumsF32", "dz", len(dz), len(x))
	checkLen("NormSumsF32", "sum", len(sum), c)
	checkLen("NormSumsF32", "sumX", len(sumX), c)
	checkLen("NormSumsF32", "mean", len(mean), c)
	checkLen("NormSumsF32", "low", len(low), c)
	normSumsF32(sum, sumX, dz, x, mean, low, c)
}

// NormSumsF64 is NormSumsF32 for float64.
func NormSumsF64(sum, sumX []float64, dz, x, mean, low []float64, c int) {
	checkSize("NormSumsF64", "c", c)
	checkRows("NormSumsF64", "x", len(x), c)
	checkLen("NormSumsF64", "dz", len(dz), len(x))
	checkLen("NormSumsF64", "sum", len(sum), c)
	checkLen("NormSumsF64", "sumX", len(sumX), c)
	checkLen("NormSumsF64", "mean", len(mean), c)
	checkLen("NormSumsF64", "low", len(low), c)
	normSumsF64(sum, sumX, dz, x, mean, low, c)
}

// NormGradF32 is the gradient of a normalisation by the statistics of the rows themselves, where row i counts weight[i] times:
//
//	dx[i, j] = a[j]·dz[i, j] - weight[i]·(p[j] + q[j]·((x[i, j] - mean[j]) - low[j]))
//
// mean and low are those of NormF32.
//
//   - Shape: dx, dz and x are [rows, c], weight has an element per row, nil meaning 1 for all, the others have c elements.
//   - Aliasing: dx may be dz itself.
//   - Errors: panics if a length does not match.
//   - Accuracy: at most 6·2^-24 times the sum of the magnitudes of the three terms from the exact value.
func NormGradF32(dx, dz, x []float32, weight []int32, mean, low, a, p, q []float32, c int) {
	checkSize("NormGradF32", "c", c)
	checkRows("NormGradF32", "x", len(x), c)
	checkLen("NormGradF32", "dx", len(dx), len(x))
	checkLen("NormGradF32", "dz", len(dz), len(x))
	checkLen("NormGradF32", "mean", len(mean), c)
	checkLen("NormGradF32", "low", len(low), c)
	checkLen("NormGradF32", "a", len(a), c)
	checkLen("NormGradF32", "p", len(p), c)
	checkLen("NormGradF32", "q", len(q), c)
	if weight != nil && c > 0 {
		checkLen("NormGradF32", "weight", len(weight), len(x)/c)
	}
	normGradF32(dx, dz, x, weight, mean, low, a, p, q, c)
}

// NormGradF64 is NormGradF32 for float64.
func NormGradF64(dx, dz, x []float64, weight []int32, mean, low, a, p, q []float64, c int) {
	checkSize("NormGradF64", "c", c)
	checkRows("NormGradF64", "x", len(x), c)
	checkLen("NormGradF64", "dx", len(dx), len(x))
	checkLen("NormGradF64", "dz", len(dz), len(x))
	checkLen("NormGradF64", "mean", len(mean), c)
	checkLen("NormGradF64", "low", len(low), c)
	checkLen("NormGradF64", "a", len(a), c)
	checkLen("NormGradF64", "p", len(p), c)
	checkLen("NormGradF64", "q", len(q), c)
	if weight != nil && c > 0 {
		checkLen("NormGradF64", "weight", len(weight), len(x)/c)
	}
	normGradF64(dx, dz, x, weight, mean, low, a, p, q, c)
}
