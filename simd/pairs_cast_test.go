package simd

import "unsafe"

// castWords copies words into the memory of guarded float64 numbers.
func castWords(at []float64, x []uint64) []uint64 {
	if len(at) == 0 {
		return []uint64{}
	}
	y := unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(at))), len(at))
	copy(y, x)
	return y
}
