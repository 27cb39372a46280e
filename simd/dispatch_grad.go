package simd

// The dispatchers of gradient kernels that are portable Go on every machine, and of the optimiser's step in float64; see dispatch.go.

func swishGradF64(dx, dy, x []float64) { swishGradGeneric(dx, dy, x) }

func reluGradF64(dx, dy, x []float64) { reluGradGeneric(dx, dy, x) }

func sigmoidGradF64(dx, dy, x []float64) { sigmoidGradGeneric(dx, dy, x) }

func softplusGradF64(dx, dy, x []float64) { softplusGradF64Generic(dx, dy, x) }

func adamF64(p, m, v, g []float64, step, beta1, beta2, root, eps float64) {
	adamGeneric(p, m, v, g, step, beta1, beta2, root, eps)
}
