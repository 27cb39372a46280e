//go:build !purego

package simd

// depthwisePose does what depthwisePoseGeneric does, with the kernel of the level.
func depthwisePose(dw, dout, f []float32, code []int32, blocks, m, c, n int, more bool) {
	if level == Generic {
		depthwisePoseGeneric(dw, dout, f, code, blocks, m, c, n, more)
		return
	}
	fresh := 1 << 31
	if more {
		fresh = 0
	}
	depthwisePoseKernel(m, first(dw), first(dout), first(f), &code[0], blocks, 4*c, n, fresh)
}
