package layers

import (
	"math/bits"
	"sync"
)

// Training steps need the same large arrays again and again. Taking them from the garbage collector costs clearing them and
// collecting them, a tenth of a step; so who knows that nobody refers to an array any more gives it back.
var pools32, pools64 [bits.UintSize]sync.Pool

// rent returns a slice of n numbers, which may be anything.
func rent[T Float](n int) []T {
	if n == 0 {
		return nil
	}
	class := bits.Len(uint(n - 1))
	if p, ok := pools[T]()[class].Get().(*[]T); ok {
		return (*p)[:n]
	}
	return make([]T, n, 1<<class)
}

// giveBack takes a slice that rent returned; nil is fine. Nobody may use it, or any part of it, afterwards.
func giveBack[T Float](xs ...[]T) {
	for _, x := range xs {
		if c := cap(x); c > 0 && c&(c-1) == 0 {
			x = x[:c]
			pools[T]()[bits.Len(uint(c-1))].Put(&x)
		}
	}
}

func pools[T Float]() *[bits.UintSize]sync.Pool {
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
