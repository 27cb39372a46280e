//go:build !purego

package depthwise

import (
	"github.com/equivcnp/equivcnp/internal/race"
	"github.com/equivcnp/equivcnp/simd"
)

// runDots is DotsF32 where the CPU has what it takes.
func runDots(out []float32, stride int, f, w []simd.BF16, d *Dots) {
	if race.Enabled {
		race.Read(f)
		race.Read(w)
		race.Read(d.pairs)
		d.raceRows(out, stride)
	}
	depthwiseOrbitsF32Dots(&out[0], 4*stride, (*uint16)(&f[0]), (*uint16)(&w[0]), &d.scale[0], &d.pairs[0], d.groups)
}
