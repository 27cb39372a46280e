package simd

import (
	"fmt"
	"math"
)

// LayerNormF32 normalises every row of a matrix by its own mean and variance:
//
//	y[i, j] = (x[i, j] - mean_i)/√(variance_i + eps)·gain[j] + bias[j]
//
// The variance is the biased one. (Norm normalises by statistics of columns.)
//
//   - Shape: y and x are [rows, c], gain and bias have c elements; nil stands for ones, and for zeros.
//   - Aliasing: y may be x itself.
//   - Errors: panics if a length does not match, or if eps is negative or NaN. Where variance and eps are 0 the row becomes NaN, as does
//     a row with NaN or an infinity; with eps = 0 a row whose deviations are subnormal may overflow.
//   - Accuracy: at most 4·eps·(|y - bias| + |bias|) from the exact value, eps that of the type; statistics are those of WeightedMoments
//     (TestLayerNorm).
func LayerNormF32(y, x, gain, bias []float32, c int, eps float64) {
	checkLayerNorm("LayerNormF32", "y", y, x, gain, bias, c, eps)
	layerNorm(y, x, gain, bias, c, eps)
}

// LayerNormF64 is LayerNormF32 for float64.
func LayerNormF64(y, x, gain, bias []float64, c int, eps float64) {
	checkLayerNorm("LayerNormF64", "y", y, x, gain, bias, c, eps)
	layerNorm(y, x, gain, bias, c, eps)
}

// LayerNormGradF32 is the gradient of LayerNormF32, where dy is that of its result:
//
//	dx[i, j] = (g[i, j] - mean of g[i] - n[i, j]·mean of g[i]·n[i])/√(variance_i + eps)
//	dgain[j] += Σ_i dy[i, j]·n[i, j],  dbias[j] += Σ_i dy[i, j]
//
// Here g = dy·gain, and n are the normalised rows, that is, y for gain 1 and bias 0.
//
//   - Shape: dx, dy and x are [rows, c], dgain, dbias and gain have c elements. A nil gain stands for ones; dgain or dbias that is nil is
//     not computed.
//   - Aliasing: dx may be dy itself or x itself.
//   - Errors: as LayerNormF32.
//   - Accuracy: dx is within 8·eps·(|g| + mean of |g| + |n|·mean of |g·n|)/√(variance + eps) of the exact value (TestLayerNorm); dgain and
//     dbias are summed row by row in their own type.
func LayerNormGradF32(dx, dgain, dbias, dy, x, gain []float32, c int, eps float64) {
	checkLayerNormGrad("LayerNormGradF32", dx, dgain, dbias, dy, x, gain, c, eps)
	layerNormGrad(dx, dgain, dbias, dy, x, gain, c, eps)
}

// LayerNormGradF64 is LayerNormGradF32 for float64.
func LayerNormGradF64(dx, dgain, dbias, dy, x, gain []float64, c int, eps float64) {
	checkLayerNormGrad("LayerNormGradF64", dx, dgain, dbias, dy, x, gain, c, eps)
	layerNormGrad(dx, dgain, dbias, dy, x, gain, c, eps)
}

func checkLayerNorm[T Float](fn, to string, y, x, gain, bias []T, c int, eps float64) {
	checkSize(fn, "c", c)
	checkRows(fn, "x", len(x), c)
	checkLen(fn, to, len(y), len(x))
	if gain != nil {
		checkLen(fn, "gain", len(gain), c)
	}
	if bias != nil {
		checkLen(fn, "bias", len(bias), c)
	}
	if eps < 0 || math.IsNaN(eps) {
		panic(fmt.Sprintf("simd: %s: eps = %g, need 0 or more", fn, eps))
	}
}

func checkLayerNormGrad[T Float](fn string, dx, dgain, dbias, dy, x, gain []T, c int, eps float64) {
	checkLayerNorm(fn, "dx", dx, x, gain, nil, c, eps)
	checkLen(fn, "dy", len(dy), len(x))
	if dgain != nil {
		checkLen(fn, "dgain", len(dgain), c)
	}
	if dbias != nil {
		checkLen(fn, "dbias", len(dbias), c)
	}
}
