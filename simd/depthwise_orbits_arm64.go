//go:build !purego

package simd

// depthwiseOrbits calls the kernel of the level, which computes a quarter of the channels.
func depthwiseOrbits(out, f, w []float32, p *DepthwiseOrbits, fstride, images int) {
	p.eachImage(out, f, fstride, images, func(out, f []float32) {
		if level == Generic {
			depthwiseOrbitsGeneric(out, f, w, p)
			return
		}
		for lane := 0; lane < OrbitChannels; lane += 4 {
			depthwiseOrbitsF32NEON(&out[lane], &f[lane], &w[lane], &p.scale[0], &p.code[0], p.groups)
		}
	})
}

func orbitBatch() int { return 1 }
