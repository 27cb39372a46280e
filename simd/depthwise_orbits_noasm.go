//go:build purego || !(amd64 || arm64)

package simd

func depthwiseOrbits(out, f, w []float32, p *DepthwiseOrbits) { depthwiseOrbitsGeneric(out, f, w, p) }

func depthwiseOrbitsGradW(dw, x, f []float32, p *DepthwiseOrbits, add bool) {
	depthwiseOrbitsGradWGeneric(dw, x, f, p, add)
}

// race has nothing to announce: the race detector sees what Go does.
func (p *DepthwiseOrbits) race(out, f, w []float32) {}

func (p *DepthwiseOrbits) raceGradW(dw, x, f []float32) {}
