//go:build purego || !amd64

package depthwise

func orbitsGrad(dw, f []float32, lines *[orbitGradImages * orbitLines][OrbitChannels]float32, code []int32, mask int32,
	steps, images, fstride int, add bool) {
	orbitsGradGeneric(dw, f, lines, code, mask, steps, images, fstride, add)
}
