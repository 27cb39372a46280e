package simd

// The generic functions, for callers that are generic in their element type. Each does what its F32 and F64 namesakes do, after
// one type switch. Float allows exactly two types, so a default branch is never reached. Those that only pass on their arguments
// come from a table in the module asm and stand in zadapter.go.

func unreachable(fn string) { panic("simd: " + fn + ": element type is neither float32 nor float64") }

// MinMax returns the smallest and the largest element; see MinMaxF32.
func MinMax[T Float](x []T) (lo, hi T) {
	switch x := any(x).(type) {
	case []float32:
		l, h := MinMaxF32(x)
		lo, hi = T(l), T(h)
	case []float64:
		l, h := MinMaxF64(x)
		lo, hi = T(l), T(h)
	default:
		unreachable("MinMax")
	}
	return
}

// LogSumExp returns ln Σ exp(x[i]); see LogSumExpF32.
func LogSumExp[T Float](x []T) float64 { return logSumExp(x) }

// ArgMax returns the index of the largest element; see ArgMaxF32.
func ArgMax[T Float](x []T) (at int) {
	switch x := any(x).(type) {
	case []float32:
		at = ArgMaxF32(x)
	case []float64:
		at = ArgMaxF64(x)
	default:
		unreachable("ArgMax")
	}
	return
}

// SetConvGrad returns the gradients of SetConv to gamma and scale; see SetConvGradParamsF32.
func SetConvGrad[T Float](dh []T, t, x []float64, phi []T, d, c int, gamma, scale float64) (dgamma, dscale float64) {
	switch dh := any(dh).(type) {
	case []float32:
		return SetConvGradParamsF32(t, x, any(phi).([]float32), dh, d, c, gamma, scale)
	case []float64:
		return SetConvGradParamsF64(t, x, any(phi).([]float64), dh, d, c, gamma, scale)
	default:
		unreachable("SetConvGrad")
	}
	return
}
