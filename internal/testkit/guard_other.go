//go:build !(linux || darwin || freebsd || netbsd || openbsd)

package testkit

import (
	"testing"
	"unsafe"
)

// Guarded reports whether AtEnd and AtStart protect the memory around their slices. On this system they cannot; slices are ordinary
// memory, and only Go's own bounds checks catch mistakes.
const Guarded = false

func guarded(_ testing.TB, size int) []byte {
	// Through float64, so that the memory is aligned for every element type.
	words := make([]float64, (size+7)/8+1)
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), size)[:size:size]
}
