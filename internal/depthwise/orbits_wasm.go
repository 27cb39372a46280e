//go:build goexperiment.simd && go1.27 && !purego

package depthwise

import "github.com/equivcnp/equivcnp/internal/cpu"

func runOrbits(out, f, w []float32, p *Orbits, fstride, images int) {
	p.eachImage(out, f, fstride, images, func(out, f []float32) {
		if level == cpu.Generic {
			orbitsGeneric(out, f, w, p)
			return
		}
		depthwiseOrbitsF32WASM128(&out[0], &f[0], &w[0], &p.scale[0], &p.code[0], p.groups)
	})
}

// race has nothing to announce: the race detector is not for WebAssembly.
func (p *Orbits) race(out, f, w []float32) {}

func orbitBatch() int { return 1 }

func (p *Orbits) raceGrad(dw, d, f []float32) {}
