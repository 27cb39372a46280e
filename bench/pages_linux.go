package main

import (
	"syscall"
	"unsafe"

	"github.com/equivcnp/equivcnp/simd"
)

// hugePage is the usual size of huge pages. On a machine with another size the request has no effect.
const hugePage = 2 << 20

// apart is by how many bytes more than the one before an array begins behind the start of a page, as with the peers: 17 cache lines. Arrays
// that begin at the same place in a page delay each other, since a load waits for an earlier store whose address has the same
// lowest twelve bits.
const apart = 17 * 64

// placed counts the arrays that have been made.
var placed int

// onHugePages returns a slice of zeros that begins near the start of a huge page, and asks the system for huge pages, as
// the peers do. With small pages a gather from a few megabytes would also measure page table lookups, and hardware
// prefetching would stop at the end of every page. Slices of only a few pages stay on small ones. Successive arrays begin apart.
func onHugePages[T float32 | float64 | simd.BF16 | byte](n int) []T {
	size := int(unsafe.Sizeof(*new(T)))
	shift := placed % 16 * apart
	placed++
	if n*size < hugePage/32 {
		return make([]T, n+shift/size)[shift/size:]
	}
	whole := (n*size + shift + hugePage - 1) / hugePage * hugePage
	bytes := make([]byte, whole+hugePage)
	at := -int(uintptr(unsafe.Pointer(&bytes[0]))) & (hugePage - 1)
	bytes = bytes[at:][:whole]
	// If the system refuses, pages stay small and everything still works. Memory that the program has used before lies on small pages,
	// which stay, wherever they are in the machine, unless they are given back first.
	_ = syscall.Madvise(bytes, syscall.MADV_DONTNEED)
	_ = syscall.Madvise(bytes, syscall.MADV_HUGEPAGE)
	clear(bytes) // writing makes the system allocate the pages
	return unsafe.Slice((*T)(unsafe.Pointer(&bytes[shift])), n)
}
