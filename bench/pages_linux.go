package main

import (
	"syscall"
	"unsafe"

	"github.com/equivcnp/equivcnp/simd"
)

// hugePage is the usual size of huge pages. On a machine with another size the request has no effect.
const hugePage = 2 << 20

// onHugePages returns a slice of zeros that begins at the start of a huge page, and asks the system for huge pages, as
// the peers do. With small pages a gather from a few megabytes would also measure page table lookups, and hardware
// prefetching would stop at the end of every page. Slices of only a few pages stay on small ones.
func onHugePages[T float32 | simd.BF16 | byte](n int) []T {
	size := int(unsafe.Sizeof(*new(T)))
	if n*size < hugePage/32 {
		return make([]T, n)
	}
	bytes := make([]byte, (n*size+hugePage-1)/hugePage*hugePage+hugePage)
	at := -int(uintptr(unsafe.Pointer(&bytes[0]))) & (hugePage - 1)
	bytes = bytes[at:][:(n*size+hugePage-1)/hugePage*hugePage]
	// If the system refuses, pages stay small and everything still works.
	_ = syscall.Madvise(bytes, syscall.MADV_HUGEPAGE)
	clear(bytes) // writing makes the system allocate the pages
	return unsafe.Slice((*T)(unsafe.Pointer(&bytes[0])), n)
}
