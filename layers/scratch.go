package layers

import (
	"math/bits"
	"sync"

	"github.com/equivcnp/equivcnp/internal/hugepage"
)

// Training steps need the same large arrays again and again. Taking them from the garbage collector costs clearing them and
// collecting them, a tenth of a step; so who knows that nobody refers to an array any more gives it back.
var pools32, pools64 [classes]sync.Pool

// rent returns a slice of n numbers, which may be anything.
func rent[T Float](n int) []T {
	if n == 0 {
		return nil
	}
	class := classOf(n)
	if p, ok := pools[T]()[class].Get().(*[]T); ok {
		return (*p)[:n]
	}
	return hugepage.Make[T](n, sizeOf(class))
}

// Capacities are m·2ᵏ for 8 ≤ m < 16, and less than 8: at most an eighth of an array is there for nothing.
const classes = 8 * bits.UintSize

// classOf is the smallest class that holds n > 0 numbers.
func classOf(n int) int {
	k := max(0, bits.Len(uint(n-1))-4)
	return 8*k + (n-1)>>k
}

// sizeOf is how many numbers arrays of a class hold.
func sizeOf(class int) int {
	k := max(0, class/8-1)
	return (class - 8*k + 1) << k
}

// giveBack takes a slice that rent returned; nil is fine. Nobody may use it, or any part of it, afterwards.
func giveBack[T Float](xs ...[]T) {
	for _, x := range xs {
		if c := cap(x); c > 0 {
			if class := classOf(c); sizeOf(class) == c {
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

// zeros returns n zeros that nobody may change.
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
