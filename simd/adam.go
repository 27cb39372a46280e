package simd

// AdamF32 is one fused step of Adam (Kingma and Ba 2015) on an array of parameters: for every i
//
//	m = beta1·m + (1-beta1)·g,  v = beta2·v + (1-beta2)·g²,  p = p - step·m/(√v·root + eps)
//
// With step = lr/(1-beta1^t) and root = 1/√(1-beta2^t), t the number of the step, this is Adam with its bias correction.
//
//   - Shape: all lengths are equal; length 0 is fine.
//   - Aliasing: the arrays must not overlap.
//   - Errors: panics if the lengths differ. NaN in g reaches p, m and v of its element. With eps = 0, p becomes NaN
//     where m and v are 0.
//   - Accuracy: computed in float64 from the stored values and rounded once per result; the same bits at every level.
func AdamF32(p, m, v, g []float32, step, beta1, beta2, root, eps float64) {
	checkAdam("AdamF32", len(p), len(m), len(v), len(g))
	adamF32(p, m, v, g, step, beta1, beta2, root, eps)
}

// AdamF64 is AdamF32 for float64.
func AdamF64(p, m, v, g []float64, step, beta1, beta2, root, eps float64) {
	checkAdam("AdamF64", len(p), len(m), len(v), len(g))
	adamF64(p, m, v, g, step, beta1, beta2, root, eps)
}

func checkAdam(fn string, p, m, v, g int) {
	checkLen(fn, "p", p, g)
	checkLen(fn, "m", m, g)
	checkLen(fn, "v", v, g)
}
