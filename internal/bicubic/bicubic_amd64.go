//go:build !purego

package bicubic

import "github.com/equivcnp/equivcnp/internal/cpu"

// interpolate does what interpolateGeneric does, with the kernel of the level.
func interpolate(dst, nodes []float32, code []int32, n, cols, c int) {
	if level == cpu.Generic || n < lanes {
		interpolateGeneric(dst, nodes, code, n, cols, c)
		return
	}
	kernel(n, &dst[0], &nodes[0], &code[0], len(code)/entryLen, 4*c, 4*c*cols, 4*c)
}

// gradient does what gradientGeneric does, with the kernel of the level.
func gradient(dnodes, d []float32, code []int32, n, cols, width, c int) {
	if level == cpu.Generic || n < lanes {
		gradientGeneric(dnodes, d, code, n, cols, width, c)
		return
	}
	gradientKernel(n, &dnodes[0], &d[0], &code[0], len(code)/entryLen, 4*width, 4*width*cols, 4*c)
}

// kernel sets that many channels, 16 or 32.
func kernel(channels int, dst, nodes *float32, spots *int32, n, stride, line, step int) {
	switch wide := channels == 2*lanes; {
	case level == cpu.AVX512 && wide:
		bicubic32F32AVX512(dst, nodes, spots, n, stride, line, step)
	case level == cpu.AVX512:
		bicubic16F32AVX512(dst, nodes, spots, n, stride, line, step)
	case wide:
		bicubic32F32AVX2(dst, nodes, spots, n, stride, line, step)
	default:
		bicubic16F32AVX2(dst, nodes, spots, n, stride, line, step)
	}
}

// gradientKernel adds that many channels, 16 or 32.
func gradientKernel(channels int, nodes, src *float32, spots *int32, n, stride, line, step int) {
	switch wide := channels == 2*lanes; {
	case level == cpu.AVX512 && wide:
		bicubicGrad32F32AVX512(nodes, src, spots, n, stride, line, step)
	case level == cpu.AVX512:
		bicubicGrad16F32AVX512(nodes, src, spots, n, stride, line, step)
	case wide:
		bicubicGrad32F32AVX2(nodes, src, spots, n, stride, line, step)
	default:
		bicubicGrad16F32AVX2(nodes, src, spots, n, stride, line, step)
	}
}
