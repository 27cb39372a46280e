//go:build purego || !amd64

package simd

func depthwiseOrbitsGrad(dw, f []float32, lines *[orbitGradImages * orbitLines][OrbitChannels]float32, code []int32, mask int32,
	steps, images, fstride int, add bool) {
	depthwiseOrbitsGradGeneric(dw, f, lines, code, mask, steps, images, fstride, add)
}
