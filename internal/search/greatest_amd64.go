//go:build !purego

package search

import (
	"github.com/equivcnp/equivcnp/internal/cpu"
	"github.com/equivcnp/equivcnp/internal/race"
)

func greatest(dst, x, add []int32) {
	race.Read(x)
	race.Read(add)
	race.Write(dst)
	switch level {
	case cpu.Generic:
		greatestGeneric(dst, x, add)
	case cpu.AVX512:
		greatestAVX512(&dst[0], &x[0], &add[0], len(add))
	default:
		greatestAVX2(&dst[0], &x[0], &add[0], len(add))
	}
}
