package simd

// ExpF32 sets dst[i] = exp(x[i]) for every i.
//
//   - Shape: len(dst) == len(x); length 0 is fine.
//   - Aliasing: dst may be x itself.
//   - Errors: panics if the lengths differ. NaN gives NaN, x > 88.7228 gives +Inf, x < -103.973 gives 0. Results below
//     the smallest normal number are subnormal, not flushed.
//   - Accuracy: at most 2 ULP from the exact value (TestF32Accuracy). With AVX-512 the worst of all float32 numbers is off by 1.013.
//   - Formula: x = k·ln2 + r, |r| ≤ ln2/2, polynomial of degree 6 in r, after Cody and Waite, Software Manual for the
//     Elementary Functions (1980), chapter 6.
func ExpF32(dst, x []float32) {
	checkLen("ExpF32", "dst", len(dst), len(x))
	expF32(dst, x)
}

// ExpF64 is ExpF32 for float64: x > 709.782 gives +Inf, x < -745.133 gives 0; at most 2 ULP.
func ExpF64(dst, x []float64) {
	checkLen("ExpF64", "dst", len(dst), len(x))
	expF64(dst, x)
}
