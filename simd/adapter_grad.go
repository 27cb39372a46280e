package simd

// The generic functions of the gradient kernels and of the optimiser's step; see adapter.go.

// SwishGrad sets dx[i] = dy[i]·swish'(x[i]); see SwishGradF32.
func SwishGrad[T Float](dx, dy, x []T) {
	switch dx := any(dx).(type) {
	case []float32:
		SwishGradF32(dx, any(dy).([]float32), any(x).([]float32))
	case []float64:
		SwishGradF64(dx, any(dy).([]float64), any(x).([]float64))
	default:
		unreachable("SwishGrad")
	}
}

// ReLUGrad sets dx[i] = dy[i] where y[i] > 0, else 0; see ReLUGradF32.
func ReLUGrad[T Float](dx, dy, y []T) {
	switch dx := any(dx).(type) {
	case []float32:
		ReLUGradF32(dx, any(dy).([]float32), any(y).([]float32))
	case []float64:
		ReLUGradF64(dx, any(dy).([]float64), any(y).([]float64))
	default:
		unreachable("ReLUGrad")
	}
}

// SigmoidGrad sets dx[i] = dy[i]·y[i]·(1 - y[i]); see SigmoidGradF32.
func SigmoidGrad[T Float](dx, dy, y []T) {
	switch dx := any(dx).(type) {
	case []float32:
		SigmoidGradF32(dx, any(dy).([]float32), any(y).([]float32))
	case []float64:
		SigmoidGradF64(dx, any(dy).([]float64), any(y).([]float64))
	default:
		unreachable("SigmoidGrad")
	}
}

// SoftplusGrad sets dx[i] = dy[i]·(1 - exp(-y[i])); see SoftplusGradF32.
func SoftplusGrad[T Float](dx, dy, y []T) {
	switch dx := any(dx).(type) {
	case []float32:
		SoftplusGradF32(dx, any(dy).([]float32), any(y).([]float32))
	case []float64:
		SoftplusGradF64(dx, any(dy).([]float64), any(y).([]float64))
	default:
		unreachable("SoftplusGrad")
	}
}

// PointConvGradF is the gradient of PointConv to its features; see PointConvGradFF32.
func PointConvGradF[T Float](df, dp, w []T, offsets []int, index, pose []int32, ci, cm int) {
	switch df := any(df).(type) {
	case []float32:
		PointConvGradFF32(df, any(dp).([]float32), any(w).([]float32), offsets, index, pose, ci, cm)
	case []float64:
		PointConvGradFF64(df, any(dp).([]float64), any(w).([]float64), offsets, index, pose, ci, cm)
	default:
		unreachable("PointConvGradF")
	}
}

// PointConvGradW is the gradient of PointConv to its weights; see PointConvGradWF32.
func PointConvGradW[T Float](dw, dp, f []T, offsets []int, row, index []int32, ci, cm int) {
	switch dw := any(dw).(type) {
	case []float32:
		PointConvGradWF32(dw, any(dp).([]float32), any(f).([]float32), offsets, row, index, ci, cm)
	case []float64:
		PointConvGradWF64(dw, any(dp).([]float64), any(f).([]float64), offsets, row, index, ci, cm)
	default:
		unreachable("PointConvGradW")
	}
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

// Adam is one step of the optimiser; see AdamF32.
func Adam[T Float](p, m, v, g []T, step, beta1, beta2, root, eps float64) {
	switch p := any(p).(type) {
	case []float32:
		AdamF32(p, any(m).([]float32), any(v).([]float32), any(g).([]float32), step, beta1, beta2, root, eps)
	case []float64:
		AdamF64(p, any(m).([]float64), any(v).([]float64), any(g).([]float64), step, beta1, beta2, root, eps)
	default:
		unreachable("Adam")
	}
}

// Norm normalises rows with given statistics; see NormF32.
func Norm[T Float](y, x, mean, low, scale, bias []T, c int) {
	switch y := any(y).(type) {
	case []float32:
		NormF32(y, any(x).([]float32), any(mean).([]float32), any(low).([]float32), any(scale).([]float32), any(bias).([]float32), c)
	case []float64:
		NormF64(y, any(x).([]float64), any(mean).([]float64), any(low).([]float64), any(scale).([]float64), any(bias).([]float64), c)
	default:
		unreachable("Norm")
	}
}

// NormSums adds up what the gradient of a normalisation needs; see NormSumsF32.
func NormSums[T Float](sum, sumX []float64, dz, x, mean, low []T, c int) {
	switch x := any(x).(type) {
	case []float32:
		NormSumsF32(sum, sumX, any(dz).([]float32), x, any(mean).([]float32), any(low).([]float32), c)
	case []float64:
		NormSumsF64(sum, sumX, any(dz).([]float64), x, any(mean).([]float64), any(low).([]float64), c)
	default:
		unreachable("NormSums")
	}
}

// NormGrad is the gradient of a normalisation by the rows' own statistics; see NormGradF32.
func NormGrad[T Float](dx, dz, x []T, weight []int32, mean, low, a, p, q []T, c int) {
	switch dx := any(dx).(type) {
	case []float32:
		NormGradF32(dx, any(dz).([]float32), any(x).([]float32), weight, any(mean).([]float32), any(low).([]float32),
			any(a).([]float32), any(p).([]float32), any(q).([]float32), c)
	case []float64:
		NormGradF64(dx, any(dz).([]float64), any(x).([]float64), weight, any(mean).([]float64), any(low).([]float64),
			any(a).([]float64), any(p).([]float64), any(q).([]float64), c)
	default:
		unreachable("NormGrad")
	}
}
