//go:build !purego

package simd

import (
	"fmt"
	"unsafe"
)

// maxGather bounds the multiply-adds that a call of a gathering kernel makes, in pairs times channels: the scheduler cannot
// preempt it, and this many take some tens of microseconds. A row is not divided.
const maxGather = 1 << 20

// gatherChunk returns the end of a chunk of rows that starts with row lo and holds at most maxGather multiply-adds or one
// row, c for each pair and each row.
func gatherChunk(offsets []int, lo, c int) (hi int) {
	most := max(1, maxGather/max(1, c))
	hi = lo + 1
	for hi < len(offsets)-1 && offsets[hi+1]-offsets[lo]+hi+1-lo <= most {
		hi++
	}
	return hi
}

// checkIndex panics unless every index is that of a row, 0 ≤ x[k] < rows. Assembly that gathers follows indices without
// looking, so they are checked first, chunk by chunk so that the kernel finds them in the cache; see BenchmarkCheckIndex for
// the cost. x starts at index base of the argument.
func checkIndex(fn, arg string, x []int32, base, rows int) {
	if len(x) == 0 {
		return
	}
	var most uint32
	switch level {
	case AVX512:
		most = gatherMaxAVX512(&x[0], len(x))
	case AVX2:
		most = gatherMaxAVX2(&x[0], len(x))
	}
	if uint64(most) >= uint64(rows) {
		panicIndex(fn, arg, x, base, rows)
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

// sameIndices reports whether two lists are equal. As strings they are compared by the runtime's vector code.
func sameIndices(a, b []int32) bool {
	return len(a) == len(b) && int32Bytes(a) == int32Bytes(b)
}

func int32Bytes(x []int32) string {
	return unsafe.String((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 4*len(x))
}

// first returns a pointer to a slice's first element, which need not exist: kernels get it together with a count of 0.
func first[T any](x []T) *T { return unsafe.SliceData(x) }
