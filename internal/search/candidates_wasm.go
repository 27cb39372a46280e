//go:build goexperiment.simd && go1.27 && !purego

package search

import "github.com/equivcnp/equivcnp/internal/cpu"

func candidates(bits []uint64, x, u, r []uint16) {
	d := len(u)
	if level == cpu.Generic || d > CandidateAxes {
		candidatesGeneric(bits, x, u, r)
		return
	}
	var hi, width [CandidateAxes]uint16
	for c := range d {
		hi[c], width[c] = window(u[c], r[c])
	}
	candidatesWASM128(&bits[0], &x[0], &hi[0], &width[0], len(bits), d)
}
