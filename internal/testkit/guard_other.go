//go:build !(linux || darwin || freebsd || netbsd || openbsd)

package testkit

import (
	"testing"
	"unsafe"
)

// Guarded says whether AtEnd and AtStart really protect their neighbourhood. Here pages cannot be protected; slices are
// ordinary memory, and only Go's own bounds checks watch.
const Guarded = false

func guarded(_ testing.TB, size int) []byte {
	// Through float64, so that the memory is aligned for every element type.
	words := make([]float64, (size+7)/8+1)
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), size)[:size:size]
}
