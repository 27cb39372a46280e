//go:build !purego

package simd

// gatherPairs is how many pairs of a row go to assembly at a time, so that the scheduler gets its turn in long rows; each part
// continues the sums of the one before.
const gatherPairs = 1 << 14

// gatherMax returns the largest index. Negative indices count as larger than all others.
func gatherMax(x []int32) uint32 { return gatherMaxNEON(&x[0], len(x)) }
