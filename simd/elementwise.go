package simd

// SubF32 sets dst[i] = x[i] - y[i] for every i, correctly rounded. dst may be x or y itself; it panics if the lengths differ.
func SubF32(dst, x, y []float32) {
	checkLen("SubF32", "dst", len(dst), len(x))
	checkLen("SubF32", "y", len(y), len(x))
	if len(x) > 0 {
		subF32(dst, x, y)
	}
}

// SubF64 is SubF32 for float64.
func SubF64(dst, x, y []float64) {
	checkLen("SubF64", "dst", len(dst), len(x))
	checkLen("SubF64", "y", len(y), len(x))
	if len(x) > 0 {
		subF64(dst, x, y)
	}
}

// MulF32 sets dst[i] = x[i]·y[i] for every i, correctly rounded. dst may be x or y itself; it panics if the lengths differ.
func MulF32(dst, x, y []float32) {
	checkLen("MulF32", "dst", len(dst), len(x))
	checkLen("MulF32", "y", len(y), len(x))
	if len(x) > 0 {
		mulF32(dst, x, y)
	}
}

// MulF64 is MulF32 for float64.
func MulF64(dst, x, y []float64) {
	checkLen("MulF64", "dst", len(dst), len(x))
	checkLen("MulF64", "y", len(y), len(x))
	if len(x) > 0 {
		mulF64(dst, x, y)
	}
}

// DivF32 sets dst[i] = x[i]/y[i] for every i, correctly rounded. dst may be x or y itself; it panics if the lengths differ.
func DivF32(dst, x, y []float32) {
	checkLen("DivF32", "dst", len(dst), len(x))
	checkLen("DivF32", "y", len(y), len(x))
	if len(x) > 0 {
		divF32(dst, x, y)
	}
}

// DivF64 is DivF32 for float64.
func DivF64(dst, x, y []float64) {
	checkLen("DivF64", "dst", len(dst), len(x))
	checkLen("DivF64", "y", len(y), len(x))
	if len(x) > 0 {
		divF64(dst, x, y)
	}
}

// SqrtF32 sets dst[i] = √x[i] for every i, correctly rounded; NaN below zero, and -0 for -0. dst may be x itself; it
// panics if the lengths differ.
func SqrtF32(dst, x []float32) {
	checkLen("SqrtF32", "dst", len(dst), len(x))
	if len(x) > 0 {
		sqrtF32(dst, x)
	}
}

// SqrtF64 is SqrtF32 for float64.
func SqrtF64(dst, x []float64) {
	checkLen("SqrtF64", "dst", len(dst), len(x))
	if len(x) > 0 {
		sqrtF64(dst, x)
	}
}

// AbsF32 sets dst[i] = |x[i]| for every i. dst may be x itself; it panics if the lengths differ.
func AbsF32(dst, x []float32) {
	checkLen("AbsF32", "dst", len(dst), len(x))
	if len(x) > 0 {
		absF32(dst, x)
	}
}

// AbsF64 is AbsF32 for float64.
func AbsF64(dst, x []float64) {
	checkLen("AbsF64", "dst", len(dst), len(x))
	if len(x) > 0 {
		absF64(dst, x)
	}
}

// MaxF32 sets dst[i] to the larger of x[i] and y[i], with Go's rules: NaN if either is, and -0 below +0. dst may be x
// or y itself; it panics if the lengths differ.
func MaxF32(dst, x, y []float32) {
	checkLen("MaxF32", "dst", len(dst), len(x))
	checkLen("MaxF32", "y", len(y), len(x))
	if len(x) > 0 {
		maxF32(dst, x, y)
	}
}

// MaxF64 is MaxF32 for float64.
func MaxF64(dst, x, y []float64) {
	checkLen("MaxF64", "dst", len(dst), len(x))
	checkLen("MaxF64", "y", len(y), len(x))
	if len(x) > 0 {
		maxF64(dst, x, y)
	}
}

// MinF32 sets dst[i] to the smaller of x[i] and y[i], as MaxF32 does.
func MinF32(dst, x, y []float32) {
	checkLen("MinF32", "dst", len(dst), len(x))
	checkLen("MinF32", "y", len(y), len(x))
	if len(x) > 0 {
		minF32(dst, x, y)
	}
}

// MinF64 is MinF32 for float64.
func MinF64(dst, x, y []float64) {
	checkLen("MinF64", "dst", len(dst), len(x))
	checkLen("MinF64", "y", len(y), len(x))
	if len(x) > 0 {
		minF64(dst, x, y)
	}
}

// ClipF32 sets dst[i] to x[i], or to lo or hi where x[i] is below or above. NaN stays NaN. Where lo > hi every number becomes hi; a bound
// that is NaN is none. dst may be x itself; it panics if the lengths differ.
func ClipF32(dst, x []float32, lo, hi float32) {
	checkLen("ClipF32", "dst", len(dst), len(x))
	if len(x) > 0 {
		clipF32(dst, x, lo, hi)
	}
}

// ClipF64 is ClipF32 for float64.
func ClipF64(dst, x []float64, lo, hi float64) {
	checkLen("ClipF64", "dst", len(dst), len(x))
	if len(x) > 0 {
		clipF64(dst, x, lo, hi)
	}
}

// FloorF32 sets dst[i] to the largest whole number that is not above x[i]: x[i] itself for whole numbers, zeros, infinities and
// NaN. dst may be x itself; it panics if the lengths differ.
func FloorF32(dst, x []float32) {
	checkLen("FloorF32", "dst", len(dst), len(x))
	if len(x) > 0 {
		floorF32(dst, x)
	}
}

// FloorF64 is FloorF32 for float64.
func FloorF64(dst, x []float64) {
	checkLen("FloorF64", "dst", len(dst), len(x))
	if len(x) > 0 {
		floorF64(dst, x)
	}
}

// CeilF32 sets dst[i] to the smallest whole number that is not below x[i], as FloorF32 does; -0 between -1 and 0.
func CeilF32(dst, x []float32) {
	checkLen("CeilF32", "dst", len(dst), len(x))
	if len(x) > 0 {
		ceilF32(dst, x)
	}
}

// CeilF64 is CeilF32 for float64.
func CeilF64(dst, x []float64) {
	checkLen("CeilF64", "dst", len(dst), len(x))
	if len(x) > 0 {
		ceilF64(dst, x)
	}
}

// TruncF32 sets dst[i] to x[i] without what stands behind the point, with the sign of x[i], as FloorF32 does.
func TruncF32(dst, x []float32) {
	checkLen("TruncF32", "dst", len(dst), len(x))
	if len(x) > 0 {
		truncF32(dst, x)
	}
}

// TruncF64 is TruncF32 for float64.
func TruncF64(dst, x []float64) {
	checkLen("TruncF64", "dst", len(dst), len(x))
	if len(x) > 0 {
		truncF64(dst, x)
	}
}

// RoundToEvenF32 sets dst[i] to the whole number nearest to x[i], the even one of two, with the sign of x[i], as FloorF32 does.
func RoundToEvenF32(dst, x []float32) {
	checkLen("RoundToEvenF32", "dst", len(dst), len(x))
	if len(x) > 0 {
		roundToEvenF32(dst, x)
	}
}

// RoundToEvenF64 is RoundToEvenF32 for float64.
func RoundToEvenF64(dst, x []float64) {
	checkLen("RoundToEvenF64", "dst", len(dst), len(x))
	if len(x) > 0 {
		roundToEvenF64(dst, x)
	}
}
