package simd

// SinCosF32 sets s[i] = sin(x[i]) and c[i] = cos(x[i]) for every i.
//
//   - Shape: len(s) == len(c) == len(x); length 0 is fine.
//   - Units: radians.
//   - Aliasing: s or c may be x itself; s and c must not overlap each other.
//   - Errors: panics if the lengths differ. NaN and ±Inf give NaN in both; sin(±0) = ±0.
//   - Accuracy: at most 2 ULP from the exact value for every finite x (TestF32Accuracy). With AVX-512 the worst of all float32
//     numbers is off by 1.534 in the sine and by 1.532 in the cosine.
//   - Formula: x = k·π/2 + r, r from float64 or from three parts of π/2, polynomials of degree 7 and 8 for |r| ≤ π/4.
func SinCosF32(s, c, x []float32) {
	checkLen("SinCosF32", "s", len(s), len(x))
	checkLen("SinCosF32", "c", len(c), len(x))
	sinCosF32(s, c, x)
}

// SinCosF64 is SinCosF32 for float64: at most 2 ULP for |x| ≤ 1e6; beyond, near the zeros of either function, the error
// is at most 1e-15.
func SinCosF64(s, c, x []float64) {
	checkLen("SinCosF64", "s", len(s), len(x))
	checkLen("SinCosF64", "c", len(c), len(x))
	sinCosF64(s, c, x)
}

// Atan2F32 sets dst[i] to the angle of the point (x[i], y[i]), in radians within [-π, π], for every i.
//
//   - Shape: len(dst) == len(y) == len(x); length 0 is fine.
//   - Aliasing: dst may be y or x itself.
//   - Errors: panics if the lengths differ. NaN in either gives NaN. Zeros and infinities follow math.Atan2:
//     atan2(±0, +0) = ±0, atan2(±0, -0) = ±π, atan2(±Inf, +Inf) = ±π/4.
//   - Accuracy: at most 2 ULP from the exact value (TestF32Accuracy).
//   - Formula: atan of the smaller over the larger coordinate by an odd polynomial of degree 21, then reflections.
func Atan2F32(dst, y, x []float32) {
	checkLen("Atan2F32", "dst", len(dst), len(x))
	checkLen("Atan2F32", "y", len(y), len(x))
	atan2F32(dst, y, x)
}

// Atan2F64 is Atan2F32 for float64: at most 2 ULP.
func Atan2F64(dst, y, x []float64) {
	checkLen("Atan2F64", "dst", len(dst), len(x))
	checkLen("Atan2F64", "y", len(y), len(x))
	atan2F64(dst, y, x)
}

// HypotF32 sets dst[i] = sqrt(x[i]² + y[i]²) for every i, without overflow on the way.
//
//   - Shape: len(dst) == len(x) == len(y); length 0 is fine.
//   - Aliasing: dst may be x or y itself.
//   - Errors: panics if the lengths differ. NaN in either gives NaN, even beside an infinity (math.Hypot differs).
//   - Accuracy: at most 1 ULP from the exact value (TestF32Accuracy).
func HypotF32(dst, x, y []float32) {
	checkLen("HypotF32", "dst", len(dst), len(x))
	checkLen("HypotF32", "y", len(y), len(x))
	hypotF32(dst, x, y)
}

// HypotF64 is HypotF32 for float64: at most 2 ULP.
func HypotF64(dst, x, y []float64) {
	checkLen("HypotF64", "dst", len(dst), len(x))
	checkLen("HypotF64", "y", len(y), len(x))
	hypotF64(dst, x, y)
}
