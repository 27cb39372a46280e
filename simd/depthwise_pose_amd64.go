//go:build !purego

package simd

// depthwisePose is depthwisePoseGeneric by the level's kernel.
func depthwisePose(dw, dout, f []float32, code []int32, blocks, m, c, n int, more bool) {
	if level == Generic {
		depthwisePoseGeneric(dw, dout, f, code, blocks, m, c, n, more)
		return
	}
	w, d, x, p, fresh := first(dw), first(dout), first(f), &code[0], 1<<31
	if more {
		fresh = 0
	}
	switch {
	case level == AVX512 && m == 4:
		depthwisePose4F32AVX512(w, d, x, p, blocks, 4*c, n, fresh)
	case level == AVX512 && m == 2:
		depthwisePose2F32AVX512(w, d, x, p, blocks, 4*c, n, fresh)
	case level == AVX512:
		depthwisePose1F32AVX512(w, d, x, p, blocks, 4*c, n, fresh)
	case m == 4:
		depthwisePose4F32AVX2(w, d, x, p, blocks, 4*c, n, fresh)
	case m == 2:
		depthwisePose2F32AVX2(w, d, x, p, blocks, 4*c, n, fresh)
	default:
		depthwisePose1F32AVX2(w, d, x, p, blocks, 4*c, n, fresh)
	}
}
