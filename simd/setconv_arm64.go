//go:build !purego

package simd

// setConvTargets and setConvPoints are the size of a block of exponentials: 4 KiB, with a row for each row of a tile of the
// matrix product that follows.
const (
	setConvTargets = gemmTile
	setConvPoints  = gemmDepth
)

// setConvF32 is a matrix product whose left factor, exp(-gamma·|t - x|²), is computed a block at a time: h = scale·E·phi.
func setConvF32(h []float32, t, x []float64, phi []float32, d, c int, gamma, scale float64) {
	if level == Generic || d > 3 || len(x) == 0 || len(h) == 0 {
		setConvGeneric(h, t, x, phi, d, c, gamma, scale)
		return
	}
	raceRead(t)
	raceRead(x)
	raceRead(phi)
	raceWrite(h)
	var (
		e     [setConvTargets * setConvPoints]float32
		panel gemmBlock[float32]
		start [gemmTile]float32
	)
	targets, points := len(t)/d, len(x)/d
	for n := 0; n < points; n += setConvPoints {
		nb, beta := min(setConvPoints, points-n), float32(1)
		if n == 0 {
			beta = 0
		}
		// The last columns of phi, fewer than 8, are copied into a panel that serves all targets; the others are read in place.
		ragged := c % gemmTile
		if ragged > 0 {
			panel.fill(phi[n*c+c-ragged:], c, 1, nb, ragged, gemmTile)
		}
		for m := 0; m < targets; m += setConvTargets {
			mb := min(setConvTargets, targets-m)
			for i := range mb {
				row, ti, xn := &e[i*nb], &t[(m+i)*d], &x[n*d]
				switch d {
				case 1:
					exponent1F32NEON(row, ti, xn, nb, gamma)
				case 2:
					exponent2F32NEON(row, ti, xn, nb, gamma)
				default:
					exponent3F32NEON(row, ti, xn, nb, gamma)
				}
			}
			expF32NEON(&e[0], &e[0], mb*nb)
			for j := 0; j+gemmTile <= c; j += gemmTile {
				gemmF32NEON(&h[m*c+j], c, &e[0], nb, &phi[n*c+j], c, &start[0], float32(scale), beta, mb, gemmTile, nb)
			}
			if ragged > 0 {
				gemmF32NEON(&h[m*c+c-ragged], c, &e[0], nb, &panel[0], gemmTile, &start[0], float32(scale), beta, mb, ragged, nb)
			}
		}
	}
}
