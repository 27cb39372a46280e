package simd

// LogF32 sets dst[i] = ln(x[i]) for every i.
//
//   - Shape: len(dst) == len(x); length 0 is fine.
//   - Aliasing: dst may be x itself.
//   - Errors: panics if the lengths differ. NaN and x < 0 give NaN, ±0 gives -Inf, +Inf gives +Inf. Subnormal x is fine.
//   - Accuracy: at most 2 ULP from the exact value (TestF32Accuracy). With AVX-512 the worst of all float32 numbers is off by 0.905.
//   - Formula: x = 2^k·(1+f), sqrt(1/2) ≤ 1+f < sqrt(2), polynomial of degree 11 in f, after the logarithm of
//     Moshier's Cephes library (1989).
func LogF32(dst, x []float32) {
	checkLen("LogF32", "dst", len(dst), len(x))
	logF32(dst, x)
}

// LogF64 is LogF32 for float64: at most 2 ULP.
func LogF64(dst, x []float64) {
	checkLen("LogF64", "dst", len(dst), len(x))
	logF64(dst, x)
}
