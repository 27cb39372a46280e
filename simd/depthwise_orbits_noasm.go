//go:build purego || !(amd64 || arm64)

package simd

func depthwiseOrbits(out, f, w []float32, p *DepthwiseOrbits, fstride, images int) {
	p.eachImage(out, f, fstride, images, func(out, f []float32) { depthwiseOrbitsGeneric(out, f, w, p) })
}

// race has nothing to announce: the race detector sees what Go does.
func (p *DepthwiseOrbits) race(out, f, w []float32) {}

func orbitBatch() int { return 1 }

func (p *DepthwiseOrbits) raceGrad(dw, d, f []float32) {}
