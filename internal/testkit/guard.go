package testkit

import (
	"testing"
	"unsafe"
)

// Element lists the types that guarded slices may hold.
type Element interface {
	~float32 | ~float64 | ~int32 | ~int | ~int8 | ~uint16 | ~byte
}

// AtEnd returns a zeroed slice of n elements that ends just before an unreadable page: reading or writing one element past it
// crashes. The memory is returned when the test ends. Where memory cannot be protected, it is an ordinary slice with its
// capacity cut (see Guarded).
func AtEnd[T Element](t testing.TB, n int) []T {
	t.Helper()
	var e T
	size := n * int(unsafe.Sizeof(e))
	b := guarded(t, size)
	return cast[T](b[len(b)-size:], n)
}

// AtStart returns a zeroed slice of n elements that starts right after an unreadable page.
func AtStart[T Element](t testing.TB, n int) []T {
	t.Helper()
	var e T
	return cast[T](guarded(t, n*int(unsafe.Sizeof(e))), n)
}

// CopyAtEnd returns a copy of x in memory as AtEnd gives it.
func CopyAtEnd[T Element](t testing.TB, x []T) []T {
	t.Helper()
	y := AtEnd[T](t, len(x))
	copy(y, x)
	return y
}

// CopyAtStart returns a copy of x in memory as AtStart gives it.
func CopyAtStart[T Element](t testing.TB, x []T) []T {
	t.Helper()
	y := AtStart[T](t, len(x))
	copy(y, x)
	return y
}

// cast views bytes as n elements; guarded memory is page-aligned and sizes are multiples of the element's.
func cast[T Element](b []byte, n int) []T {
	if n == 0 {
		return []T{}
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
}
