package hugepage

import (
	"syscall"
	"unsafe"
)

// advise asks for huge pages for the whole pages of x, which stays what it is if the system has none (madvise(2), MADV_HUGEPAGE).
func advise[T float32 | float64 | int32](x []T) {
	var zero T
	if size := len(x) * int(unsafe.Sizeof(zero)); size >= from {
		b := unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), size)
		page := syscall.Getpagesize()
		if skip := int(-uintptr(unsafe.Pointer(&b[0])) & uintptr(page-1)); skip > 0 {
			b = b[skip:]
		}
		_ = syscall.Madvise(b[:len(b)&^(page-1)], syscall.MADV_HUGEPAGE)
	}
}
