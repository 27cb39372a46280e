package simd

// setConvBlock is how many points are taken at a time, so that their exponents sit in a small array on the stack.
const setConvBlock = 128

func setConvGeneric[T Float](h []T, t, x []float64, phi []T, d, c int, gamma, scale float64) {
	var buf [setConvBlock]T
	targets, points := len(t)/d, len(x)/d
	for m := range targets {
		row := h[m*c : m*c+c]
		clear(row)
		tm := t[m*d : m*d+d]
		for lo := 0; lo < points; lo += setConvBlock {
			hi := min(lo+setConvBlock, points)
			e := buf[:hi-lo]
			for n := range e {
				xn := x[(lo+n)*d:][:len(tm)]
				dist2 := 0.0
				for a, ta := range tm {
					dist2 += (ta - xn[a]) * (ta - xn[a])
				}
				e[n] = T(-gamma * dist2)
			}
			Exp(e, e)
			for n, v := range e {
				axpyGeneric(row, v, phi[(lo+n)*c:][:c])
			}
		}
		for j := range row {
			row[j] *= T(scale)
		}
	}
}
