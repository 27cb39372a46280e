package layers

import (
	"math/bits"
	"sync"

	"github.com/equivcnp/equivcnp/internal/hugepage"
	"github.com/equivcnp/equivcnp/internal/reuse"
)

// Training steps need the same large arrays again and again. Allocating them each time costs clearing and collecting them, a
// tenth of a step. So code that knows that an array is no longer used gives it back to these pools.
var pools32, pools64 [classes]sync.Pool

// rent returns a slice of n numbers with undefined content.
func rent[T Float](n int) []T {
	if n == 0 {
		return nil
	}
	class := classOf(n)
	if p, ok := pools[T]()[class].Get().(*[]T); ok {
		return (*p)[:n]
	}
	return hugepage.Make[T](n, capacityOf(class))
}

// Capacities are m·2ᵏ for 8 ≤ m < 16, and all below 8. So at most an eighth of an array is unused.
const classes = 8 * bits.UintSize

// classOf is the smallest class that holds n > 0 numbers.
func classOf(n int) int {
	k := max(0, bits.Len(uint(n-1))-4)
	return 8*k + (n-1)>>k
}

// capacityOf is the capacity of the arrays of a class.
func capacityOf(class int) int {
	k := max(0, class/8-1)
	return (class - 8*k + 1) << k
}

// giveBack takes slices that rent returned; nil is fine. Nobody may use them, or any part of them, afterwards.
func giveBack[T Float](xs ...[]T) {
	for _, x := range xs {
		if c := cap(x); c > 0 {
			if class := classOf(c); capacityOf(class) == c {
				x = x[:c]
				pools[T]()[class].Put(&x)
			}
		}
	}
}

func pools[T Float]() *[classes]sync.Pool {
	if sizeof[T]() == 8 {
		return &pools64
	}
	return &pools32
}

// zeros returns n zeros, shared: nobody may change them.
func zeros[T Float](n int) []T {
	if n > len(zeros32) {
		return make([]T, n)
	}
	if z, ok := any(zeros32[:n:n]).([]T); ok {
		return z
	}
	return any(zeros64[:n:n]).([]T)
}

var (
	zeros32 [256]float32
	zeros64 [256]float64
)

// sized returns a buffer with n elements, allocated anew if it is too small.
func sized[T Float](buf *[]T, n int) []T { return roomy(buf, n, n+n/8) }

// roomy is sized for tiles: room is what the largest of them needs. Buffers that grew from tile to tile would leave
// several times their size to the garbage collector, beside the limit that a plan was given.
func roomy[T Float](buf *[]T, n, room int) []T {
	*buf = reuse.Roomy(*buf, n, max(n, room))
	return *buf
}
