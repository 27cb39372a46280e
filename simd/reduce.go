package simd

// SumF32 returns the sum of all elements, 0 for none.
//
//   - Errors: none. NaN, or infinities of both signs, give NaN.
//   - Accuracy: pairwise summation in float64, so the error is at most (68 + log2 len(x))·2^-53·Σ|x|: thirteen digits for
//     ten million elements of one sign.
func SumF32(x []float32) float64 { return sumF32(x) }

// SumF64 is SumF32 for float64: the same bound. A sum that can be represented never overflows on the way.
func SumF64(x []float64) float64 {
	s := sumF64(x)
	if s-s != 0 {
		s = sumScaled(x)
	}
	return s
}

// DotF32 returns Σ x[i]·y[i]. It panics if the lengths differ. Products are exact in float64 and summed as in SumF32.
func DotF32(x, y []float32) float64 {
	checkLen("DotF32", "y", len(y), len(x))
	return dotF32(x, y)
}

// DotF64 is DotF32 for float64: every product is rounded once, or not at all where the machine fuses. Products beyond the range are ±Inf.
func DotF64(x, y []float64) float64 {
	checkLen("DotF64", "y", len(y), len(x))
	return dotF64(x, y)
}

// SumSqF32 returns Σ x[i]², the bits of DotF32(x, x); it does not overflow.
func SumSqF32(x []float32) float64 { return sumSqF32(x) }

// SumSqF64 returns Σ x[i]², accurate as DotF64. Elements beyond 1e154 overflow to +Inf.
func SumSqF64(x []float64) float64 { return sumSqF64(x) }

// DotSingleF32 returns Σ x[i]·y[i] summed in float32, about twice as fast as DotF32 where the vectors lie in a cache. It panics if the
// lengths differ.
//
//   - Errors: products and sums beyond the range of float32 are ±Inf.
//   - Accuracy: at most (n+8)·2^-24·Σ|x·y| from the exact value, and mostly far less, because 4 to 64 sums run side by side.
func DotSingleF32(x, y []float32) float32 {
	checkLen("DotSingleF32", "y", len(y), len(x))
	return dotSingleF32(x, y)
}

// SumAbsF32 returns the sum of the magnitudes of all elements, 0 for none. NaN gives NaN, and otherwise ±Inf gives +Inf.
// Accuracy: as SumF32, so twelve digits for ten million elements of any sign.
func SumAbsF32(x []float32) float64 { return sumAbsF32(x) }

// SumAbsF64 is SumAbsF32 for float64.
func SumAbsF64(x []float64) float64 { return sumAbsF64(x) }

// MinMaxF32 returns the smallest and the largest element, with -0 < +0. Any NaN makes both NaN. An empty slice gives (+Inf,
// -Inf), so that the ranges of several parts can be combined.
func MinMaxF32(x []float32) (lo, hi float32) { return minMaxF32(x) }

// MinMaxF64 is MinMaxF32 for float64.
func MinMaxF64(x []float64) (lo, hi float64) { return minMaxF64(x) }
