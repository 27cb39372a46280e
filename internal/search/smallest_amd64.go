//go:build !purego

package search

import (
	"github.com/equivcnp/equivcnp/internal/cpu"
	"github.com/equivcnp/equivcnp/internal/race"
)

// smallestPairs bounds the pairs of one call of assembly: some tens of microseconds.
const smallestPairs = 1 << 14

func smallestF32(outIndex []int32, outDist2 []float32, index []int32, dist2 []float32, k int) {
	if level == cpu.Generic || k > 64 || len(index) > smallestPairs {
		smallestGeneric(outIndex, outDist2, index, dist2, k)
		return
	}
	race.Read(index)
	race.Read(dist2)
	race.Write(outIndex[:k+Slack])
	race.Write(outDist2[:k+Slack])
	switch {
	case level == cpu.AVX512 && len(index) <= 32:
		treeSmallest32F32AVX512(&outIndex[0], &outDist2[0], &index[0], &dist2[0], len(index), k)
	case level == cpu.AVX512:
		treeSmallest64F32AVX512(&outIndex[0], &outDist2[0], &index[0], &dist2[0], len(index), k)
	case k <= 32:
		treeSmallest32F32AVX2(&outIndex[0], &outDist2[0], &index[0], &dist2[0], len(index), k)
	default:
		treeSmallest64F32AVX2(&outIndex[0], &outDist2[0], &index[0], &dist2[0], len(index), k)
	}
}
