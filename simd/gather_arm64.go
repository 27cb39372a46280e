//go:build !purego

package simd

import "fmt"

// gatherPairs is how many pairs of a row go to assembly at a time, so that the scheduler gets its turn in long rows; the sums go
// on where the previous part left them.
const gatherPairs = 1 << 14

// checkIndex panics unless every index is that of a row, 0 ≤ x[k] < rows. Assembly that gathers follows indices without
// looking. It costs 0.6 instructions an index.
func checkIndex(fn, arg string, x []int32, rows int) {
	for base := 0; base < len(x); base += maxPiece {
		part := x[base:min(base+maxPiece, len(x))]
		if uint64(gatherMaxNEON(&part[0], len(part))) >= uint64(rows) {
			panicIndex(fn, arg, part, base, rows)
		}
	}
}

//go:noinline
func panicIndex(fn, arg string, x []int32, base, rows int) {
	for k, v := range x {
		if v < 0 || int(v) >= rows {
			panic(fmt.Sprintf("simd: %s: %s[%d] = %d, need 0 to %d", fn, arg, base+k, v, rows-1))
		}
	}
}
