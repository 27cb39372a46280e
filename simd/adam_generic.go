package simd

import "math"

// adamGeneric writes every rounding out: float64(x*y) keeps the compiler from fusing, so that all machines agree.
func adamGeneric[T Float](p, m, v, g []T, step, beta1, beta2, root, eps float64) {
	p, m, v = p[:len(g)], m[:len(g)], v[:len(g)]
	for i, gi := range g {
		d := float64(gi)
		a := float64(beta1*float64(m[i])) + float64((1-beta1)*d)
		b := float64(beta2*float64(v[i])) + float64((1-beta2)*float64(d*d))
		m[i], v[i] = T(a), T(b)
		p[i] = T(float64(p[i]) - float64(step*a)/(float64(math.Sqrt(b)*root)+eps))
	}
}
