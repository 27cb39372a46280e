//go:build !purego

package search

import (
	"github.com/equivcnp/equivcnp/internal/cpu"
	"github.com/equivcnp/equivcnp/internal/race"
)

// smallestPairs bounds the pairs of one call of assembly: some tens of microseconds.
const smallestPairs = 1 << 13

func smallestF32(outIndex []int32, outDist2 []float32, index []int32, dist2 []float32, k int) {
	if level == cpu.Generic || k > 64 || len(index) > smallestPairs {
		smallestGeneric(outIndex, outDist2, index, dist2, k)
		return
	}
	race.Read(index)
	race.Read(dist2)
	race.Write(outIndex[:k+Slack])
	race.Write(outDist2[:k+Slack])
	if k <= 32 {
		smallest32F32NEON(&outIndex[0], &outDist2[0], &index[0], &dist2[0], len(index), k)
	} else {
		smallest64F32NEON(&outIndex[0], &outDist2[0], &index[0], &dist2[0], len(index), k)
	}
}
