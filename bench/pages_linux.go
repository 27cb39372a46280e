package main

import (
	"syscall"
	"unsafe"

	"github.com/equivcnp/equivcnp/simd"
)

// hugePage is the usual size of huge pages; where it is another, asking is in vain but harmless.
const hugePage = 2 << 20

// onHugePages returns a slice of zeros that begins on a huge page and for which huge pages were asked, as the peers do: with small ones
// a gather through a few megabytes measures page tables as well, and a stream stops at every page's end. A few pages' worth stays on
// small ones.
func onHugePages[T float32 | simd.BF16 | byte](n int) []T {
	size := int(unsafe.Sizeof(*new(T)))
	if n*size < hugePage/32 {
		return make([]T, n)
	}
	bytes := make([]byte, (n*size+hugePage-1)/hugePage*hugePage+hugePage)
	at := -int(uintptr(unsafe.Pointer(&bytes[0]))) & (hugePage - 1)
	bytes = bytes[at:][:(n*size+hugePage-1)/hugePage*hugePage]
	// Refused, the pages stay small and all else works.
	_ = syscall.Madvise(bytes, syscall.MADV_HUGEPAGE)
	clear(bytes) // now they are allocated
	return unsafe.Slice((*T)(unsafe.Pointer(&bytes[0])), n)
}
