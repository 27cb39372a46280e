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
