//go:build !purego && (amd64 || arm64 || (wasm && goexperiment.simd && go1.27))

package simd

import "fmt"

// maxPiece is how many elements an elementwise function gives to assembly at a time: the scheduler cannot preempt it, and
// this many take some tens of microseconds at most on amd64, some hundreds on arm64.
const maxPiece = 1 << 16

// checkIndex panics unless every index is that of a row, 0 ≤ x[k] < rows. Assembly that gathers trusts the indices, so they are
// checked first; checked chunk by chunk, they are still in the cache for the kernel. BenchmarkCheckIndex shows the cost. x starts
// at index base of the argument.
func checkIndex(fn, arg string, x []int32, base, rows int) {
	for at := 0; at < len(x); at += maxPiece {
		part := x[at:min(at+maxPiece, len(x))]
		if uint64(gatherMax(part)) >= uint64(rows) {
			panicIndex(fn, arg, part, base+at, rows)
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
