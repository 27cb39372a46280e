//go:build purego || !(amd64 || arm64 || (wasm && goexperiment.simd && go1.27))

package depthwise

func runOrbits(out, f, w []float32, p *Orbits, fstride, images int) {
	p.eachImage(out, f, fstride, images, func(out, f []float32) { orbitsGeneric(out, f, w, p) })
}

// race has nothing to announce: the race detector sees what Go does.
func (p *Orbits) race(out, f, w []float32) {}

func orbitBatch() int { return 1 }

func (p *Orbits) raceGrad(dw, d, f []float32) {}
