package simd

func setConvGradGeneric[T Float](dh []T, t, x []float64, phi []T, d, c int, gamma, scale float64) (dgamma, dscale float64) {
	var (
		buf   [setConvBlock]T
		dist2 [setConvBlock]float64
	)
	targets, points := len(t)/d, len(x)/d
	for m := range targets {
		row, tm := dh[m*c:m*c+c], t[m*d:m*d+d]
		for lo := 0; lo < points; lo += setConvBlock {
			hi := min(lo+setConvBlock, points)
			e := buf[:hi-lo]
			for n := range e {
				xn := x[(lo+n)*d:][:len(tm)]
				s := 0.0
				for a, ta := range tm {
					s += (ta - xn[a]) * (ta - xn[a])
				}
				dist2[n], e[n] = s, T(-gamma*s)
			}
			Exp(e, e)
			for n, v := range e {
				var dot T
				for j, p := range phi[(lo+n)*c:][:len(row)] {
					dot += p * row[j]
				}
				w := float64(v) * float64(dot)
				dscale += w
				dgamma -= dist2[n] * w
			}
		}
	}
	return scale * dgamma, dscale
}
