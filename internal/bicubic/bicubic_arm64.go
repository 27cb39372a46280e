//go:build !purego

package bicubic

import "github.com/equivcnp/equivcnp/internal/cpu"

// interpolate does what interpolateGeneric does, with the kernel of the level, which takes slices of 16 channels.
func interpolate(dst, nodes []float32, code []int32, n, cols, c int) {
	if level == cpu.Generic || n < lanes {
		interpolateGeneric(dst, nodes, code, n, cols, c)
		return
	}
	for j := 0; j < n; j += lanes {
		bicubicF32NEON(&dst[j], &nodes[j], &code[0], len(code)/entryLen, 4*c, 4*c*cols, 4*c)
	}
}

// gradient does what gradientGeneric does, with the kernel of the level.
func gradient(dnodes, d []float32, code []int32, n, cols, width, c int) {
	if level == cpu.Generic || n < lanes {
		gradientGeneric(dnodes, d, code, n, cols, width, c)
		return
	}
	for j := 0; j < n; j += lanes {
		bicubicGradF32NEON(&dnodes[j], &d[j], &code[0], len(code)/entryLen, 4*width, 4*width*cols, 4*c)
	}
}
