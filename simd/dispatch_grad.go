package simd

// The dispatchers of the gradient kernels and of the optimiser's step; see dispatch.go.

func swishGradF32(dx, dy, x []float32) { swishGradGeneric(dx, dy, x) }
func swishGradF64(dx, dy, x []float64) { swishGradGeneric(dx, dy, x) }

func reluGradF32(dx, dy, x []float32) { reluGradGeneric(dx, dy, x) }
func reluGradF64(dx, dy, x []float64) { reluGradGeneric(dx, dy, x) }

func sigmoidGradF32(dx, dy, x []float32) { sigmoidGradGeneric(dx, dy, x) }
func sigmoidGradF64(dx, dy, x []float64) { sigmoidGradGeneric(dx, dy, x) }

func softplusGradF32(dx, dy, x []float32) { softplusGradGeneric(dx, dy, x) }
func softplusGradF64(dx, dy, x []float64) { softplusGradGeneric(dx, dy, x) }

// Both gradients of the depthwise convolution are depthwise convolutions over the pairs sorted differently, so they run at
// the speed of that kernel.

func depthwiseGradFF32(df, dout, w []float32, offsets []int, query, pose []int32, c int) {
	depthwiseF32(df, dout, w, offsets, query, pose, c, false)
}

func depthwiseGradWF32(dw, dout, f []float32, offsets []int, query, point []int32, c int) {
	depthwiseF32(dw, f, dout, offsets, point, query, c, false)
}

func depthwiseGradFF64(df, dout, w []float64, offsets []int, query, pose []int32, c int) {
	depthwiseF64(df, dout, w, offsets, query, pose, c, false)
}

func depthwiseGradWF64(dw, dout, f []float64, offsets []int, query, point []int32, c int) {
	depthwiseF64(dw, f, dout, offsets, point, query, c, false)
}

func pointConvGradFF32(df, dp, w []float32, offsets []int, query, pose []int32, ci, cm int) {
	pointConvGradFGeneric(df, dp, w, offsets, query, pose, ci, cm)
}

func pointConvGradWF32(dw, dp, f []float32, offsets []int, query, point []int32, ci, cm int) {
	pointConvGradWGeneric(dw, dp, f, offsets, query, point, ci, cm)
}

func pointConvGradFF64(df, dp, w []float64, offsets []int, query, pose []int32, ci, cm int) {
	pointConvGradFGeneric(df, dp, w, offsets, query, pose, ci, cm)
}

func pointConvGradWF64(dw, dp, f []float64, offsets []int, query, point []int32, ci, cm int) {
	pointConvGradWGeneric(dw, dp, f, offsets, query, point, ci, cm)
}

func setConvGradF32(dh []float32, t, x []float64, phi []float32, d, c int, gamma, scale float64) (dgamma, dscale float64) {
	return setConvGradGeneric(dh, t, x, phi, d, c, gamma, scale)
}

func setConvGradF64(dh []float64, t, x []float64, phi []float64, d, c int, gamma, scale float64) (dgamma, dscale float64) {
	return setConvGradGeneric(dh, t, x, phi, d, c, gamma, scale)
}

func adamF32(p, m, v, g []float32, step, beta1, beta2, root, eps float64) {
	adamGeneric(p, m, v, g, step, beta1, beta2, root, eps)
}

func adamF64(p, m, v, g []float64, step, beta1, beta2, root, eps float64) {
	adamGeneric(p, m, v, g, step, beta1, beta2, root, eps)
}
