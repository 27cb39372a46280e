//go:build !purego

package simd

// depthwiseOrbits calls the kernel of the level. AVX2 has registers for a half of the channels and of the copies.
func depthwiseOrbits(out, f, w []float32, p *DepthwiseOrbits) {
	switch level {
	case Generic:
		depthwiseOrbitsGeneric(out, f, w, p)
	case AVX2:
		for lane := 0; lane < OrbitChannels; lane += 8 {
			for copies := range 2 {
				depthwiseOrbitsF32AVX2(&out[lane], &f[lane], &w[lane], &p.scale[0], &p.code[0], p.groups, 8*copies)
			}
		}
	default:
		depthwiseOrbitsF32AVX512(&out[0], &f[0], &w[0], &p.scale[0], &p.code[0], p.groups)
	}
}

// depthwiseOrbitsGradW calls the kernel of the level. What the second half of the copies gives is added to that of the first.
func depthwiseOrbitsGradW(dw, x, f []float32, p *DepthwiseOrbits, add bool) {
	keep := int32(0)
	if add {
		keep = -1
	}
	switch level {
	case Generic:
		depthwiseOrbitsGradWGeneric(dw, x, f, p, add)
	case AVX2:
		for lane := 0; lane < OrbitChannels; lane += 8 {
			keep := keep
			for copies := range 2 {
				depthwiseOrbitsGradWF32AVX2(&dw[lane], &x[lane], &f[lane], &keep, &p.code[0], p.groups, 8*copies)
				keep = -1
			}
		}
	default:
		depthwiseOrbitsGradWF32AVX512(&dw[0], &x[0], &f[0], &keep, &p.code[0], p.groups)
	}
}
