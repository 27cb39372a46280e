//go:build !purego

package simd

import "unsafe"

// maxGather bounds the multiply-adds of one call of a gathering kernel, in pairs times channels. The scheduler cannot preempt a
// call, and this many take some tens of microseconds. A row is not divided.
const maxGather = 1 << 20

// gatherChunk returns the end of the chunk of rows that starts with row lo. It holds at most maxGather multiply-adds, c for each
// pair and each row, but at least one row.
func gatherChunk(offsets []int, lo, c int) (hi int) {
	most := max(1, maxGather/max(1, c))
	hi = lo + 1
	for hi < len(offsets)-1 && offsets[hi+1]-offsets[lo]+hi+1-lo <= most {
		hi++
	}
	return hi
}

// gatherMax returns the largest index. Negative indices count as larger than all others.
func gatherMax(x []int32) uint32 {
	if level == AVX512 {
		return gatherMaxAVX512(&x[0], len(x))
	}
	return gatherMaxAVX2(&x[0], len(x))
}

// sameIndices reports whether two lists are equal. Converted to strings, they are compared by the runtime's vector code.
func sameIndices(a, b []int32) bool {
	return len(a) == len(b) && int32Bytes(a) == int32Bytes(b)
}

func int32Bytes(x []int32) string {
	return unsafe.String((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 4*len(x))
}

// first returns a pointer to the first element of a slice that may be empty. A kernel that gets such a pointer also gets a count
// of 0.
func first[T any](x []T) *T { return unsafe.SliceData(x) }
