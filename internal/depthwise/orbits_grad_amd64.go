//go:build !purego

package depthwise

import "math/bits"

// orbitsGrad does what orbitsGradGeneric does, with the kernel of the level if there is one.
func orbitsGrad(dw, f []float32, lines *[orbitGradImages * orbitLines][OrbitChannels]float32, code []int32, mask int32,
	steps, images, fstride int, add bool) {
	if !HaveOrbitsGrad() {
		orbitsGradGeneric(dw, f, lines, code, mask, steps, images, fstride, add)
		return
	}
	again := 0
	if add {
		again = 1
	}
	depthwiseOrbitsGradKernel(bits.OnesCount32(uint32(mask)), &dw[0], &lines[0][0], &f[0], &code[0], &orbitMasks[mask][0], steps,
		images, 4*fstride, again)
}
