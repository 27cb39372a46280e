//go:build !purego

package depthwise

import "github.com/equivcnp/equivcnp/internal/cpu"

// runOrbits calls the kernel of the level, which computes a quarter of the channels.
func runOrbits(out, f, w []float32, p *Orbits, fstride, images int) {
	p.eachImage(out, f, fstride, images, func(out, f []float32) {
		if level == cpu.Generic {
			orbitsGeneric(out, f, w, p)
			return
		}
		for lane := 0; lane < OrbitChannels; lane += 4 {
			depthwiseOrbitsF32NEON(&out[lane], &f[lane], &w[lane], &p.scale[0], &p.code[0], p.groups)
		}
	})
}

func orbitBatch() int { return 1 }
