//go:build !purego

package simd

// depthwiseDots is DepthwiseDotsF32 where the CPU has what it takes.
func depthwiseDots(out []float32, stride int, f, w []BF16, d *DepthwiseDots) {
	if raceEnabled {
		raceRead(f)
		raceRead(w)
		raceRead(d.pairs)
		d.raceRows(out, stride)
	}
	depthwiseOrbitsF32Dots(&out[0], 4*stride, (*uint16)(&f[0]), (*uint16)(&w[0]), &d.scale[0], &d.pairs[0], d.groups)
}
