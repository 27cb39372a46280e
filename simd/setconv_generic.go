package simd

// setConvBlock is how many points are processed at a time, so that their exponents are in a small array on the stack.
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
				e[n] = T(-gamma * dist2(tm, x[(lo+n)*d:][:len(tm)]))
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

// dist2 returns the squared distance of two points.
func dist2(t, x []float64) float64 {
	sum := 0.0
	for a, ta := range t {
		sum += (ta - x[a]) * (ta - x[a])
	}
	return sum
}

// setConvGradParamsGeneric goes through blocks of points as setConvGeneric does.
func setConvGradParamsGeneric[T Float](t, x []float64, phi, dh []T, d, c int, gamma, scale float64) (dgamma, dscale float64) {
	var far [setConvBlock]float64
	var buf [setConvBlock]T
	targets, points := len(t)/d, len(x)/d
	for m := range targets {
		tm, g := t[m*d:m*d+d], dh[m*c:m*c+c]
		for lo := 0; lo < points; lo += setConvBlock {
			e := buf[:min(setConvBlock, points-lo)]
			for n := range e {
				far[n] = dist2(tm, x[(lo+n)*d:][:len(tm)])
				e[n] = T(-gamma * far[n])
			}
			Exp(e, e)
			for n, v := range e {
				if v == 0 {
					continue // its distance may be infinite
				}
				q := 0.0
				for j, p := range phi[(lo+n)*c:][:len(g)] {
					q += float64(p) * float64(g[j])
				}
				dscale += float64(v) * q
				dgamma -= float64(v) * q * far[n]
			}
		}
	}
	return scale * dgamma, dscale
}
