//go:build !purego

package simd

import "unsafe"

// setConvTargets and setConvPoints are the size of a block of exponentials, 4 KiB in float32, with a row for each row of a tile of the
// matrix product that follows.
const (
	setConvTargets = gemmTile
	setConvPoints  = gemmDepth
)

func setConvF32(h []float32, t, x []float64, phi []float32, d, c int, gamma, scale float64) {
	setConvProduct(h, t, x, phi, d, c, gamma, scale)
}

func setConvF64(h []float64, t, x []float64, phi []float64, d, c int, gamma, scale float64) {
	setConvProduct(h, t, x, phi, d, c, gamma, scale)
}

// exponents sets e[i] = -gamma·|t - x[i]|² for n points of up to three coordinates.
func exponents[T Float](e *T, t, x *float64, d, n int, gamma float64) {
	if unsafe.Sizeof(*e) == 8 {
		e := (*float64)(unsafe.Pointer(e))
		switch d {
		case 1:
			exponent1F64NEON(e, t, x, n, gamma)
		case 2:
			exponent2F64NEON(e, t, x, n, gamma)
		default:
			exponent3F64NEON(e, t, x, n, gamma)
		}
		return
	}
	switch e := (*float32)(unsafe.Pointer(e)); d {
	case 1:
		exponent1F32NEON(e, t, x, n, gamma)
	case 2:
		exponent2F32NEON(e, t, x, n, gamma)
	default:
		exponent3F32NEON(e, t, x, n, gamma)
	}
}

// setConvProduct is a matrix product whose left factor, exp(-gamma·|t - x|²), is computed a block at a time: h = scale·E·phi.
func setConvProduct[T Float](h []T, t, x []float64, phi []T, d, c int, gamma, scale float64) {
	if level == Generic || d > 3 || len(x) == 0 || len(h) == 0 {
		setConvGeneric(h, t, x, phi, d, c, gamma, scale)
		return
	}
	raceRead(t)
	raceRead(x)
	raceRead(phi)
	raceWrite(h)
	var (
		e     [setConvTargets * setConvPoints]T
		panel gemmBlock[T]
		start [gemmTile]T
	)
	targets, points, columns := len(t)/d, len(x)/d, gemmColumns[T]()
	for n := 0; n < points; n += setConvPoints {
		nb, beta := min(setConvPoints, points-n), T(1)
		if n == 0 {
			beta = 0
		}
		// The last columns of phi, fewer than a tile has, are copied into a panel that serves all targets; the others are read in place.
		ragged := c % columns
		if ragged > 0 {
			panel.fill(phi[n*c+c-ragged:], c, 1, nb, ragged, columns)
		}
		for m := 0; m < targets; m += setConvTargets {
			mb := min(setConvTargets, targets-m)
			for i := range mb {
				exponents(&e[i*nb], &t[(m+i)*d], &x[n*d], d, nb, gamma)
			}
			Exp(e[:mb*nb], e[:mb*nb])
			for j := 0; j+columns <= c; j += columns {
				gemmRows(&h[m*c+j], c, &e[0], nb, &phi[n*c+j], c, &start[0], T(scale), beta, mb, columns, nb)
			}
			if ragged > 0 {
				gemmRows(&h[m*c+c-ragged], c, &e[0], nb, &panel[0], columns, &start[0], T(scale), beta, mb, ragged, nb)
			}
		}
	}
}
