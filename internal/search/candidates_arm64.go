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
	var windows [2 * CandidateAxes]uint16
	for c := range d {
		windows[2*c], windows[2*c+1] = window(u[c], r[c])
	}
	stride := 64 * len(bits)
	for lo := 0; lo < len(bits); lo += withinPoints {
		part, x := bits[lo:min(lo+withinPoints, len(bits))], &x[64*lo]
		switch d {
		case 1:
			candidates1NEON(&part[0], x, stride, len(part), &windows[0])
		case 2:
			candidates2NEON(&part[0], x, stride, len(part), &windows[0])
		default:
			candidates3NEON(&part[0], x, stride, len(part), &windows[0])
		}
	}
}
