package simd

// The generic functions, for callers that are generic in their element type. Each does what its F32 and F64 namesakes do, after
// one type switch. Float allows exactly two types, so a default branch is never reached.

func unreachable(fn string) { panic("simd: " + fn + ": element type is neither float32 nor float64") }

// Exp sets dst[i] = exp(x[i]); see ExpF32.
func Exp[T Float](dst, x []T) {
	switch dst := any(dst).(type) {
	case []float32:
		ExpF32(dst, any(x).([]float32))
	case []float64:
		ExpF64(dst, any(x).([]float64))
	default:
		unreachable("Exp")
	}
}

// Log sets dst[i] = ln(x[i]); see LogF32.
func Log[T Float](dst, x []T) {
	switch dst := any(dst).(type) {
	case []float32:
		LogF32(dst, any(x).([]float32))
	case []float64:
		LogF64(dst, any(x).([]float64))
	default:
		unreachable("Log")
	}
}

// Sigmoid sets dst[i] = 1/(1 + exp(-x[i])); see SigmoidF32.
func Sigmoid[T Float](dst, x []T) {
	switch dst := any(dst).(type) {
	case []float32:
		SigmoidF32(dst, any(x).([]float32))
	case []float64:
		SigmoidF64(dst, any(x).([]float64))
	default:
		unreachable("Sigmoid")
	}
}

// Swish sets dst[i] = x[i]·sigmoid(x[i]); see SwishF32.
func Swish[T Float](dst, x []T) {
	switch dst := any(dst).(type) {
	case []float32:
		SwishF32(dst, any(x).([]float32))
	case []float64:
		SwishF64(dst, any(x).([]float64))
	default:
		unreachable("Swish")
	}
}

// Softplus sets dst[i] = ln(1 + exp(x[i])); see SoftplusF32.
func Softplus[T Float](dst, x []T) {
	switch dst := any(dst).(type) {
	case []float32:
		SoftplusF32(dst, any(x).([]float32))
	case []float64:
		SoftplusF64(dst, any(x).([]float64))
	default:
		unreachable("Softplus")
	}
}

// ReLU sets dst[i] = max(x[i], 0); see ReLUF32.
func ReLU[T Float](dst, x []T) {
	switch dst := any(dst).(type) {
	case []float32:
		ReLUF32(dst, any(x).([]float32))
	case []float64:
		ReLUF64(dst, any(x).([]float64))
	default:
		unreachable("ReLU")
	}
}

// Tanh sets dst[i] = tanh(x[i]); see TanhF32.
func Tanh[T Float](dst, x []T) {
	switch dst := any(dst).(type) {
	case []float32:
		TanhF32(dst, any(x).([]float32))
	case []float64:
		TanhF64(dst, any(x).([]float64))
	default:
		unreachable("Tanh")
	}
}

// SinCos sets s[i] = sin(x[i]) and c[i] = cos(x[i]); see SinCosF32.
func SinCos[T Float](s, c, x []T) {
	switch s := any(s).(type) {
	case []float32:
		SinCosF32(s, any(c).([]float32), any(x).([]float32))
	case []float64:
		SinCosF64(s, any(c).([]float64), any(x).([]float64))
	default:
		unreachable("SinCos")
	}
}

// Atan2 sets dst[i] to the angle of (x[i], y[i]); see Atan2F32.
func Atan2[T Float](dst, y, x []T) {
	switch dst := any(dst).(type) {
	case []float32:
		Atan2F32(dst, any(y).([]float32), any(x).([]float32))
	case []float64:
		Atan2F64(dst, any(y).([]float64), any(x).([]float64))
	default:
		unreachable("Atan2")
	}
}

// Hypot sets dst[i] = sqrt(x[i]² + y[i]²); see HypotF32.
func Hypot[T Float](dst, x, y []T) {
	switch dst := any(dst).(type) {
	case []float32:
		HypotF32(dst, any(x).([]float32), any(y).([]float32))
	case []float64:
		HypotF64(dst, any(x).([]float64), any(y).([]float64))
	default:
		unreachable("Hypot")
	}
}

// Add sets dst[i] = x[i] + y[i]; see AddF32.
func Add[T Float](dst, x, y []T) {
	switch dst := any(dst).(type) {
	case []float32:
		AddF32(dst, any(x).([]float32), any(y).([]float32))
	case []float64:
		AddF64(dst, any(x).([]float64), any(y).([]float64))
	default:
		unreachable("Add")
	}
}

// Axpy adds a·x[i] to dst[i]; see AxpyF32.
func Axpy[T Float](dst []T, a T, x []T) {
	switch dst := any(dst).(type) {
	case []float32:
		AxpyF32(dst, float32(a), any(x).([]float32))
	case []float64:
		AxpyF64(dst, float64(a), any(x).([]float64))
	default:
		unreachable("Axpy")
	}
}

// Scale sets dst[i] = a·x[i]; see ScaleF32.
func Scale[T Float](dst []T, a T, x []T) {
	switch dst := any(dst).(type) {
	case []float32:
		ScaleF32(dst, float32(a), any(x).([]float32))
	case []float64:
		ScaleF64(dst, float64(a), any(x).([]float64))
	default:
		unreachable("Scale")
	}
}

// ScaleRows sets x[i, j] = by[i]·x[i, j]; see ScaleRowsF32.
func ScaleRows[T Float](x, by []T, c int) {
	switch x := any(x).(type) {
	case []float32:
		ScaleRowsF32(x, any(by).([]float32), c)
	case []float64:
		ScaleRowsF64(x, any(by).([]float64), c)
	default:
		unreachable("ScaleRows")
	}
}

// Gemm computes C = alpha·A·B + beta·C; see GemmF32.
func Gemm[T Float](c []T, ldc int, a []T, lda int, b []T, ldb int, alpha, beta T, m, n, k int) {
	switch c := any(c).(type) {
	case []float32:
		GemmF32(c, ldc, any(a).([]float32), lda, any(b).([]float32), ldb, float32(alpha), float32(beta), m, n, k)
	case []float64:
		GemmF64(c, ldc, any(a).([]float64), lda, any(b).([]float64), ldb, float64(alpha), float64(beta), m, n, k)
	default:
		unreachable("Gemm")
	}
}

// GemmRuns computes many products of a few rows each; see GemmRunsF32.
func GemmRuns[T Float](c, a, b []T, runs []Run, beta T, n, k int) {
	switch c := any(c).(type) {
	case []float32:
		GemmRunsF32(c, any(a).([]float32), any(b).([]float32), runs, float32(beta), n, k)
	case []float64:
		GemmRunsF64(c, any(a).([]float64), any(b).([]float64), runs, float64(beta), n, k)
	default:
		unreachable("GemmRuns")
	}
}

// GemmTN computes C = alpha·Aᵀ·B + beta·C with A given as [k, m]; see GemmTNF32.
func GemmTN[T Float](c []T, ldc int, a []T, lda int, b []T, ldb int, alpha, beta T, m, n, k int) {
	switch c := any(c).(type) {
	case []float32:
		GemmTNF32(c, ldc, any(a).([]float32), lda, any(b).([]float32), ldb, float32(alpha), float32(beta), m, n, k)
	case []float64:
		GemmTNF64(c, ldc, any(a).([]float64), lda, any(b).([]float64), ldb, float64(alpha), float64(beta), m, n, k)
	default:
		unreachable("GemmTN")
	}
}

// GemmNT computes C = alpha·A·Bᵀ + beta·C with B given as [n, k]; see GemmNTF32.
func GemmNT[T Float](c []T, ldc int, a []T, lda int, b []T, ldb int, alpha, beta T, m, n, k int) {
	switch c := any(c).(type) {
	case []float32:
		GemmNTF32(c, ldc, any(a).([]float32), lda, any(b).([]float32), ldb, float32(alpha), float32(beta), m, n, k)
	case []float64:
		GemmNTF64(c, ldc, any(a).([]float64), lda, any(b).([]float64), ldb, float64(alpha), float64(beta), m, n, k)
	default:
		unreachable("GemmNT")
	}
}

// GemmPacked computes C = act(A·B + bias) with a packed B; see GemmPackedF32.
func GemmPacked[T Float](c []T, ldc int, a []T, lda int, b *Packed[T], bias []T, act Activation, m int) {
	switch c := any(c).(type) {
	case []float32:
		GemmPackedF32(c, ldc, any(a).([]float32), lda, any(b).(*Packed[float32]), any(bias).([]float32), act, m)
	case []float64:
		GemmPackedF64(c, ldc, any(a).([]float64), lda, any(b).(*Packed[float64]), any(bias).([]float64), act, m)
	default:
		unreachable("GemmPacked")
	}
}

// Depthwise sets out[i] = Σ w[pose[k]]·f[index[k]] over the pairs k of row i, or their mean; see DepthwiseF32.
func Depthwise[T Float](out, f, w []T, offsets []int, index, pose []int32, c int, mean bool) {
	switch out := any(out).(type) {
	case []float32:
		DepthwiseF32(out, any(f).([]float32), any(w).([]float32), offsets, index, pose, c, mean)
	case []float64:
		DepthwiseF64(out, any(f).([]float64), any(w).([]float64), offsets, index, pose, c, mean)
	default:
		unreachable("Depthwise")
	}
}

// PointConv sets p[i] = Σ f[index[k]] ⊗ w[pose[k]] over the pairs k of row i; see PointConvF32.
func PointConv[T Float](p, f, w []T, offsets []int, index, pose []int32, ci, cm int) {
	switch p := any(p).(type) {
	case []float32:
		PointConvF32(p, any(f).([]float32), any(w).([]float32), offsets, index, pose, ci, cm)
	case []float64:
		PointConvF64(p, any(f).([]float64), any(w).([]float64), offsets, index, pose, ci, cm)
	default:
		unreachable("PointConv")
	}
}

// SetConv sets h[m] = scale·Σ phi[n]·exp(-gamma·|t_m - x_n|²); see SetConvF32.
func SetConv[T Float](h []T, t, x []float64, phi []T, d, c int, gamma, scale float64) {
	switch h := any(h).(type) {
	case []float32:
		SetConvF32(h, t, x, any(phi).([]float32), d, c, gamma, scale)
	case []float64:
		SetConvF64(h, t, x, any(phi).([]float64), d, c, gamma, scale)
	default:
		unreachable("SetConv")
	}
}

// Sum returns Σ x[i]; see SumF32.
func Sum[T Float](x []T) (sum float64) {
	switch x := any(x).(type) {
	case []float32:
		return SumF32(x)
	case []float64:
		return SumF64(x)
	default:
		unreachable("Sum")
	}
	return
}

// Dot returns Σ x[i]·y[i]; see DotF32.
func Dot[T Float](x, y []T) (sum float64) {
	switch x := any(x).(type) {
	case []float32:
		return DotF32(x, any(y).([]float32))
	case []float64:
		return DotF64(x, any(y).([]float64))
	default:
		unreachable("Dot")
	}
	return
}

// SumSq returns Σ x[i]²; see SumSqF32.
func SumSq[T Float](x []T) (sum float64) {
	switch x := any(x).(type) {
	case []float32:
		return SumSqF32(x)
	case []float64:
		return SumSqF64(x)
	default:
		unreachable("SumSq")
	}
	return
}

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

// WeightedMoments computes mean and variance of every column over weighted rows and returns the sum of the weights; see
// WeightedMomentsF32.
func WeightedMoments[T Float](mean, variance []float64, x []T, weight []int32, c int) (total float64) {
	switch x := any(x).(type) {
	case []float32:
		return WeightedMomentsF32(mean, variance, x, weight, c)
	case []float64:
		return WeightedMomentsF64(mean, variance, x, weight, c)
	default:
		unreachable("WeightedMoments")
	}
	return
}
