//go:build !purego

package simd

import "github.com/equivcnp/equivcnp/internal/schedule"

// depthwiseDots is DepthwiseDotsF32 where the CPU has what it takes.
func depthwiseDots(out []float32, stride int, f, w []BF16, d *DepthwiseDots) {
	if raceEnabled {
		raceRead(f)
		raceRead(w)
		raceRead(d.pairs)
		code := d.code
		for range d.groups {
			rows := code[schedule.OrbitHead:][:code[1]*schedule.OrbitCopies]
			for _, row := range rows {
				raceWrite(out[int(row)*stride:][:OrbitChannels])
			}
			code = code[schedule.OrbitHead+len(rows)+int(code[0])*schedule.OrbitStep:]
		}
	}
	depthwiseOrbitsF32Dots(&out[0], 4*stride, (*uint16)(&f[0]), (*uint16)(&w[0]), &d.scale[0], &d.pairs[0], d.groups)
}
