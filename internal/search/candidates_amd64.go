//go:build !purego

package search

import (
	"github.com/equivcnp/equivcnp/internal/cpu"
	"github.com/equivcnp/equivcnp/internal/race"
)

func candidates(bits []uint64, x, u, r []uint16) {
	d := len(u)
	if level == cpu.Generic || d > CandidateAxes {
		candidatesGeneric(bits, x, u, r)
		return
	}
	race.Read(x)
	race.Write(bits)
	var hi, width [CandidateAxes]uint16
	for c := range d {
		hi[c], width[c] = window(u[c], r[c])
	}
	stride := 64 * len(bits)
	for lo := 0; lo < len(bits); lo += withinPoints {
		part, x := bits[lo:min(lo+withinPoints, len(bits))], &x[64*lo]
		switch {
		case level == cpu.AVX512 && d == 1:
			candidates1AVX512(&part[0], x, stride, len(part), hi[0], width[0])
		case level == cpu.AVX512 && d == 2:
			candidates2AVX512(&part[0], x, stride, len(part), hi[0], width[0], hi[1], width[1])
		case level == cpu.AVX512:
			candidates3AVX512(&part[0], x, stride, len(part), hi[0], width[0], hi[1], width[1], hi[2], width[2])
		case d == 1:
			candidates1AVX2(&part[0], x, stride, len(part), hi[0], width[0])
		case d == 2:
			candidates2AVX2(&part[0], x, stride, len(part), hi[0], width[0], hi[1], width[1])
		default:
			candidates3AVX2(&part[0], x, stride, len(part), hi[0], width[0], hi[1], width[1], hi[2], width[2])
		}
	}
}
