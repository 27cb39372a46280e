//go:build !purego

package simd

import (
	"unsafe"

	"github.com/equivcnp/equivcnp/internal/cpu"
)

// A large result of an elementwise function so short that memory alone binds it is stored past the caches: a store through them first
// reads the line that it overwrites, which is a third or a quarter of all that goes to and from memory. Kernels of their own do that, by
// AVX2 at both levels: half lines one after the other are as fast as lines. Their results are those of the other kernels, as they consist
// of single roundings and choices.

// streamMapFrom is the size in bytes from which on results are stored past the caches. On AMD's processors, where few cores share a
// third-level cache, it is a quarter of that cache if this is more than [cpu.StreamFrom].
var streamMapFrom = func() int {
	if cpu.AMD {
		return max(cpu.StreamFrom(), cpu.DataCaches().L3/4)
	}
	return cpu.StreamFrom()
}()

// toLine returns how many elements of dst precede its first cache line.
func toLine[T streamElement](dst []T) int {
	return min(len(dst), int(-uintptr(unsafe.Pointer(unsafe.SliceData(dst)))%cacheLine)/int(unsafe.Sizeof(T(0))))
}

// pastPiece returns how many elements, of a dst that begins with a cache line, such a kernel takes next.
func pastPiece[T streamElement](dst []T) int {
	return min(len(dst), maxPiece) &^ (2*cacheLine/int(unsafe.Sizeof(T(0))) - 1)
}

// streamElement is what results consist of.
type streamElement interface{ float32 | float64 | BF16 }

// streams reports whether dst, the result for x, is stored past the caches. Where dst is x, its lines have been read already.
func streams[D, X streamElement](dst []D, x []X) bool {
	return len(dst) >= streamMapFrom/int(unsafe.Sizeof(D(0))) && level != Generic &&
		unsafe.Pointer(unsafe.SliceData(dst)) != unsafe.Pointer(unsafe.SliceData(x))
}

// Exponentials and activations store large results through the caches: what they compute hides most of the traffic. Copied past them
// from a buffer, results took longer. Without one sigmoid, tanh and the gradients of swish and softplus took 0.78 to 0.88 of the time on
// a Zen 3, on a Zen 5 exponentials, sigmoid and tanh of 12 to 256 MB 0.48 to 0.60, on a Zen 4 exponentials of 8 to 128 MB 0.57 to 0.81 (of
// 256 MB 1.12 to 1.24), on an Emerald Rapids all of these 0.54 to 0.6 of 24 MB, 0.75 to 1.0 of 48 and 96 MB, and 0.85 to 1.09 of 256 MB.
