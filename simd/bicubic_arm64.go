//go:build !purego

package simd

// bicubic does what bicubicGeneric does, with the kernel of the level, which takes slices of 16 channels.
func bicubic(dst, nodes []float32, code []int32, n, cols, c int) {
	if level == Generic || n < poseLanes {
		bicubicGeneric(dst, nodes, code, n, cols, c)
		return
	}
	for j := 0; j < n; j += poseLanes {
		bicubicF32NEON(&dst[j], &nodes[j], &code[0], len(code)/bicubicEntry, 4*c, 4*c*cols, 4*c)
	}
}

// bicubicGrad does what bicubicGradGeneric does, with the kernel of the level.
func bicubicGrad(dnodes, d []float32, code []int32, n, cols, width, c int) {
	if level == Generic || n < poseLanes {
		bicubicGradGeneric(dnodes, d, code, n, cols, width, c)
		return
	}
	for j := 0; j < n; j += poseLanes {
		bicubicGradF32NEON(&dnodes[j], &d[j], &code[0], len(code)/bicubicEntry, 4*width, 4*width*cols, 4*c)
	}
}
