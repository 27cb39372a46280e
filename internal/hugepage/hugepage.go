// Package hugepage makes large arrays that the system backs with huge pages where it can. Kernels that gather rows from many
// megabytes otherwise wait for a page's address as often as for its data.
package hugepage

// from is the size in bytes from which on an array is worth a system call: two huge pages of most machines.
const from = 4 << 20

// Make returns a zeroed slice of n elements with room for capacity. T must hold no pointers.
func Make[T float32 | float64 | int32](n, capacity int) []T {
	x := make([]T, n, capacity)
	advise(x[:capacity])
	return x
}
