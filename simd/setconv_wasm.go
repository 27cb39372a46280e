//go:build goexperiment.simd && go1.27 && !purego

package simd

const (
	// setConvDims is the most coordinates that a point may have in the kernels; tiles of targets are kept on the stack.
	setConvDims = 8
	// setConvChannels is how many channels are summed for one computation of the exponentials.
	setConvChannels = 64
)

// setConvF32 takes tiles of four targets, whose exponentials stand side by side. It has the bits of setConvGeneric: the exponentials are
// those of expF32, and each sum runs over the points in the same order.
func setConvF32(h []float32, t, x []float64, phi []float32, d, c int, gamma, scale float64) {
	if level == Generic || d > setConvDims {
		setConvGeneric(h, t, x, phi, d, c, gamma, scale)
		return
	}
	var tile [4 * setConvDims]float64
	var e [4 * setConvBlock]float32
	var sums [4 * setConvChannels]float32
	points, factor := len(x)/d, float32(scale)
	for m := 0; m*d < len(t); m += 4 {
		count := min(4, len(t)/d-m)
		clear(tile[:])
		for i := range count * d {
			tile[i%d*4+i/d] = t[m*d+i]
		}
		for j, channels := 0, 0; j < c; j += channels {
			channels = min(setConvChannels, c-j)
			clear(sums[:4*channels])
			for n := 0; n < points; n += setConvBlock {
				block := min(setConvBlock, points-n)
				setConvExponentsF32WASM128(&e[0], &tile[0], &x[n*d], block, d, -gamma)
				expF32WASM128(&e[0], &e[0], 4*block)
				setConvSumsF32WASM128(&sums[0], &phi[n*c+j], &e[0], block, channels, c)
			}
			for lane := range count {
				row := h[(m+lane)*c+j:][:channels]
				for i := range row {
					row[i] = sums[4*i+lane] * factor
				}
			}
		}
	}
}

func setConvGradParamsF32(t, x []float64, phi, dh []float32, d, c int, gamma, scale float64) (dgamma, dscale float64) {
	return setConvGradParamsGeneric(t, x, phi, dh, d, c, gamma, scale)
}
