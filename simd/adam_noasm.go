//go:build purego || !(amd64 || arm64)

package simd

func adamF32(p, m, v, g []float32, step, beta1, beta2, root, eps float64) {
	adamGeneric(p, m, v, g, step, beta1, beta2, root, eps)
}

func adamF64(p, m, v, g []float64, step, beta1, beta2, root, eps float64) {
	adamGeneric(p, m, v, g, step, beta1, beta2, root, eps)
}
