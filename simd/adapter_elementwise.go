package simd

// Sub sets dst[i] = x[i] - y[i]; see SubF32.
func Sub[T Float](dst, x, y []T) {
	switch dst := any(dst).(type) {
	case []float32:
		SubF32(dst, any(x).([]float32), any(y).([]float32))
	case []float64:
		SubF64(dst, any(x).([]float64), any(y).([]float64))
	default:
		unreachable("Sub")
	}
}

// Mul sets dst[i] = x[i]·y[i]; see MulF32.
func Mul[T Float](dst, x, y []T) {
	switch dst := any(dst).(type) {
	case []float32:
		MulF32(dst, any(x).([]float32), any(y).([]float32))
	case []float64:
		MulF64(dst, any(x).([]float64), any(y).([]float64))
	default:
		unreachable("Mul")
	}
}

// Div sets dst[i] = x[i]/y[i]; see DivF32.
func Div[T Float](dst, x, y []T) {
	switch dst := any(dst).(type) {
	case []float32:
		DivF32(dst, any(x).([]float32), any(y).([]float32))
	case []float64:
		DivF64(dst, any(x).([]float64), any(y).([]float64))
	default:
		unreachable("Div")
	}
}

// Max sets dst[i] to the larger of x[i] and y[i]; see MaxF32.
func Max[T Float](dst, x, y []T) {
	switch dst := any(dst).(type) {
	case []float32:
		MaxF32(dst, any(x).([]float32), any(y).([]float32))
	case []float64:
		MaxF64(dst, any(x).([]float64), any(y).([]float64))
	default:
		unreachable("Max")
	}
}

// Min sets dst[i] to the smaller of x[i] and y[i]; see MinF32.
func Min[T Float](dst, x, y []T) {
	switch dst := any(dst).(type) {
	case []float32:
		MinF32(dst, any(x).([]float32), any(y).([]float32))
	case []float64:
		MinF64(dst, any(x).([]float64), any(y).([]float64))
	default:
		unreachable("Min")
	}
}

// Pow sets dst[i] to x[i] to the power of y[i]; see PowF32.
func Pow[T Float](dst, x, y []T) {
	switch dst := any(dst).(type) {
	case []float32:
		PowF32(dst, any(x).([]float32), any(y).([]float32))
	case []float64:
		PowF64(dst, any(x).([]float64), any(y).([]float64))
	default:
		unreachable("Pow")
	}
}

// Sqrt sets dst[i] = √x[i]; see SqrtF32.
func Sqrt[T Float](dst, x []T) {
	switch dst := any(dst).(type) {
	case []float32:
		SqrtF32(dst, any(x).([]float32))
	case []float64:
		SqrtF64(dst, any(x).([]float64))
	default:
		unreachable("Sqrt")
	}
}

// Abs sets dst[i] = |x[i]|; see AbsF32.
func Abs[T Float](dst, x []T) {
	switch dst := any(dst).(type) {
	case []float32:
		AbsF32(dst, any(x).([]float32))
	case []float64:
		AbsF64(dst, any(x).([]float64))
	default:
		unreachable("Abs")
	}
}

// Erf sets dst[i] to the error function of x[i]; see ErfF32.
func Erf[T Float](dst, x []T) {
	switch dst := any(dst).(type) {
	case []float32:
		ErfF32(dst, any(x).([]float32))
	case []float64:
		ErfF64(dst, any(x).([]float64))
	default:
		unreachable("Erf")
	}
}

// GELU sets dst[i] = x[i]·Φ(x[i]); see GELUF32.
func GELU[T Float](dst, x []T) {
	switch dst := any(dst).(type) {
	case []float32:
		GELUF32(dst, any(x).([]float32))
	case []float64:
		GELUF64(dst, any(x).([]float64))
	default:
		unreachable("GELU")
	}
}

// Expm1 sets dst[i] = exp(x[i]) - 1; see Expm1F32.
func Expm1[T Float](dst, x []T) {
	switch dst := any(dst).(type) {
	case []float32:
		Expm1F32(dst, any(x).([]float32))
	case []float64:
		Expm1F64(dst, any(x).([]float64))
	default:
		unreachable("Expm1")
	}
}

// Log1p sets dst[i] = ln(1 + x[i]); see Log1pF32.
func Log1p[T Float](dst, x []T) {
	switch dst := any(dst).(type) {
	case []float32:
		Log1pF32(dst, any(x).([]float32))
	case []float64:
		Log1pF64(dst, any(x).([]float64))
	default:
		unreachable("Log1p")
	}
}

// Clip sets dst[i] to x[i], or to lo or hi where x[i] is below or above; see ClipF32.
func Clip[T Float](dst, x []T, lo, hi T) {
	checkLen("Clip", "dst", len(dst), len(x))
	clipGeneric(dst, x, lo, hi)
}

// Softmax sets every row of dst to exp(x)/Σ exp(x) over that row of x; see SoftmaxF32.
func Softmax[T Float](dst, x []T, c int) {
	switch dst := any(dst).(type) {
	case []float32:
		SoftmaxF32(dst, any(x).([]float32), c)
	case []float64:
		SoftmaxF64(dst, any(x).([]float64), c)
	default:
		unreachable("Softmax")
	}
}

// LogSumExp returns ln Σ exp(x[i]); see LogSumExpF32.
func LogSumExp[T Float](x []T) float64 { return logSumExp(x) }

// ArgMax returns the index of the largest element; see ArgMaxF32.
func ArgMax[T Float](x []T) int { return argMax(x) }
