//go:build !purego

package simd

import "unsafe"

const (
	// setConvDims is the most coordinates that a point may have in assembly; tiles of targets are kept on the stack.
	setConvDims = 8
	// setConvChannels is how many channels a kernel computes at a time. The exponential, some 25 instructions, is computed again
	// for each such group of channels.
	setConvChannels = 8
	// setConvPoints bounds the points of a call, because the scheduler cannot preempt it.
	setConvPoints = 1 << 13
)

// setConvTargets copies targets to lanes, coordinate by coordinate. Lanes without a target are 0.
func setConvTargets(tile *[16 * setConvDims]float64, t []float64, d, lanes int) {
	*tile = [16 * setConvDims]float64{}
	for m := range len(t) / d {
		for a, v := range t[m*d : m*d+d] {
			tile[a*lanes+m] = v
		}
	}
}

func setConvF32(h []float32, t, x []float64, phi []float32, d, c int, gamma, scale float64) {
	setConvTiles(h, t, x, phi, d, c, gamma, scale)
}

func setConvF64(h []float64, t, x []float64, phi []float64, d, c int, gamma, scale float64) {
	setConvTiles(h, t, x, phi, d, c, gamma, scale)
}

// setConvMost is how many of the channels that are left a kernel computes: 1 to 8 in float32, 4, 2 or 1 in float64.
func setConvMost[T Float](left int) int {
	var x T
	switch {
	case unsafe.Sizeof(x) == 4:
		return min(setConvChannels, left)
	case left >= 4:
		return 4
	}
	return min(2, left)
}

func setConvBlocksOf[T Float](channels int, h *T, t, x *float64, phi *T, points, d, stride int, factor float64) {
	if unsafe.Sizeof(*h) == 8 {
		setConvF64Kernel(channels, (*float64)(unsafe.Pointer(h)), t, x, (*float64)(unsafe.Pointer(phi)), points, d, 8*stride, factor)
		return
	}
	setConvBlocks(channels, (*float32)(unsafe.Pointer(h)), t, x, (*float32)(unsafe.Pointer(phi)), points, d, 4*stride, factor)
}

func setConvTiles[T Float](h []T, t, x []float64, phi []T, d, c int, gamma, scale float64) {
	if level == Generic || d > setConvDims {
		setConvGeneric(h, t, x, phi, d, c, gamma, scale)
		return
	}
	raceRead(t)
	raceRead(x)
	raceRead(phi)
	raceWrite(h)
	lanes := gatherLanes[T]()
	var targets [16 * setConvDims]float64
	var sums [16 * setConvChannels]T
	factor := T(scale)
	for m := 0; m*d < len(t); m += lanes {
		count := min(lanes, len(t)/d-m)
		setConvTargets(&targets, t[m*d:(m+count)*d], d, lanes)
		for j, channels := 0, 0; j < c; j += channels {
			channels = setConvMost[T](c - j)
			sums = [16 * setConvChannels]T{}
			for n := 0; n*d < len(x); n += setConvPoints {
				setConvBlocksOf(channels, &sums[0], &targets[0], &x[n*d], &phi[n*c+j], min(setConvPoints, len(x)/d-n), d, c, -gamma)
			}
			for lane := range count {
				row := h[(m+lane)*c+j:][:channels]
				for i := range row {
					row[i] = sums[i*lanes+lane] * factor
				}
			}
		}
	}
}

// setConvBlocks calls the kernel for this number of channels.
func setConvBlocks(channels int, h *float32, t, x *float64, phi *float32, points, d, stride int, factor float64) {
	if level == AVX512 {
		switch channels {
		case 1:
			setConv1F32AVX512(h, t, x, phi, points, d, stride, factor)
		case 2:
			setConv2F32AVX512(h, t, x, phi, points, d, stride, factor)
		case 3:
			setConv3F32AVX512(h, t, x, phi, points, d, stride, factor)
		case 4:
			setConv4F32AVX512(h, t, x, phi, points, d, stride, factor)
		case 5:
			setConv5F32AVX512(h, t, x, phi, points, d, stride, factor)
		case 6:
			setConv6F32AVX512(h, t, x, phi, points, d, stride, factor)
		case 7:
			setConv7F32AVX512(h, t, x, phi, points, d, stride, factor)
		default:
			setConv8F32AVX512(h, t, x, phi, points, d, stride, factor)
		}
		return
	}
	switch channels {
	case 1:
		setConv1F32AVX2(h, t, x, phi, points, d, stride, factor)
	case 2:
		setConv2F32AVX2(h, t, x, phi, points, d, stride, factor)
	case 3:
		setConv3F32AVX2(h, t, x, phi, points, d, stride, factor)
	case 4:
		setConv4F32AVX2(h, t, x, phi, points, d, stride, factor)
	case 5:
		setConv5F32AVX2(h, t, x, phi, points, d, stride, factor)
	case 6:
		setConv6F32AVX2(h, t, x, phi, points, d, stride, factor)
	case 7:
		setConv7F32AVX2(h, t, x, phi, points, d, stride, factor)
	default:
		setConv8F32AVX2(h, t, x, phi, points, d, stride, factor)
	}
}

func setConvGradParamsF32(t, x []float64, phi, dh []float32, d, c int, gamma, scale float64) (dgamma, dscale float64) {
	return setConvGradTiles(t, x, phi, dh, d, c, gamma, scale)
}

func setConvGradParamsF64(t, x []float64, phi, dh []float64, d, c int, gamma, scale float64) (dgamma, dscale float64) {
	return setConvGradTiles(t, x, phi, dh, d, c, gamma, scale)
}

func setConvGradOf[T Float](sum *T, t, x *float64, phi, dh *T, points, d, c, stride int, factor float64) {
	if unsafe.Sizeof(*sum) == 8 {
		s, p, g := (*float64)(unsafe.Pointer(sum)), (*float64)(unsafe.Pointer(phi)), (*float64)(unsafe.Pointer(dh))
		if level == AVX512 {
			setConvGradF64AVX512(s, t, x, p, g, points, d, c, 8*stride, factor)
		} else {
			setConvGradF64AVX2(s, t, x, p, g, points, d, c, 8*stride, factor)
		}
		return
	}
	s, p, g := (*float32)(unsafe.Pointer(sum)), (*float32)(unsafe.Pointer(phi)), (*float32)(unsafe.Pointer(dh))
	if level == AVX512 {
		setConvGradF32AVX512(s, t, x, p, g, points, d, c, 4*stride, factor)
	} else {
		setConvGradF32AVX2(s, t, x, p, g, points, d, c, 4*stride, factor)
	}
}

func setConvGradTiles[T Float](t, x []float64, phi, dh []T, d, c int, gamma, scale float64) (dgamma, dscale float64) {
	// The kernel computes multiples of gamma and not the distances themselves, so gamma must not be 0.
	if level == Generic || d > setConvDims || gamma == 0 {
		return setConvGradParamsGeneric(t, x, phi, dh, d, c, gamma, scale)
	}
	raceRead(t)
	raceRead(x)
	raceRead(phi)
	raceRead(dh)
	lanes := gatherLanes[T]()
	var targets [16 * setConvDims]float64
	var g [16 * setConvChannels]T
	var sums [2 * 16]T
	for m := 0; m*d < len(t); m += lanes {
		count := min(lanes, len(t)/d-m)
		setConvTargets(&targets, t[m*d:(m+count)*d], d, lanes)
		for j := 0; j < c; j += setConvChannels {
			channels := min(setConvChannels, c-j)
			g = [16 * setConvChannels]T{}
			for lane := range count {
				for i, v := range dh[(m+lane)*c+j:][:channels] {
					g[i*lanes+lane] = v
				}
			}
			for n := 0; n*d < len(x); n += setConvBlock {
				points := min(setConvBlock, len(x)/d-n)
				setConvGradOf(&sums[0], &targets[0], &x[n*d], &phi[n*c+j], &g[0], points, d, channels, c, -gamma)
				for lane := range count { // a lane without a target may hold NaN
					dscale += float64(sums[lane])
					dgamma += float64(sums[lanes+lane])
				}
			}
		}
	}
	return scale / gamma * dgamma, dscale
}
