//go:build !purego

package simd

// gatherPairs is how many pairs of a row go to assembly at a time, so that the scheduler gets its turn in long rows; the sums go
// on where the previous part left them.
const gatherPairs = 1 << 14

// gatherMax returns the largest index, negative ones taken as larger than all others: 0.6 instructions each.
func gatherMax(x []int32) uint32 { return gatherMaxNEON(&x[0], len(x)) }
