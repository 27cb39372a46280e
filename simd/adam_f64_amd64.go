//go:build !purego

package simd

func adamF64(p, m, v, g []float64, step, beta1, beta2, root, eps float64) {
	if level == Generic {
		adamGeneric(p, m, v, g, step, beta1, beta2, root, eps)
		return
	}
	raceRead(g)
	raceWrite(p)
	raceWrite(m)
	raceWrite(v)
	k := [7]float64{step, beta1, 1 - beta1, beta2, 1 - beta2, root, eps}
	lanes := 8
	if level == AVX2 {
		lanes = 4
	}
	for len(g) >= lanes {
		n := min(len(g), maxPiece) &^ (lanes - 1)
		switch level {
		case AVX512:
			adamF64AVX512(&p[0], &m[0], &v[0], &g[0], &k[0], n)
		case AVX2:
			adamF64AVX2(&p[0], &m[0], &v[0], &g[0], &k[0], n)
		}
		p, m, v, g = p[n:], m[n:], v[n:], g[n:]
	}
	adamGeneric(p, m, v, g, step, beta1, beta2, root, eps) // the same bits
}
