// Package buffers has memory for numbers: rented and given back, grown as needed, and copied row by row.
package buffers

import (
	"math/bits"
	"sync"

	"github.com/equivcnp/equivcnp/internal/depthwise"
	"github.com/equivcnp/equivcnp/internal/hugepage"
	"github.com/equivcnp/equivcnp/internal/reuse"
	"github.com/equivcnp/equivcnp/simd"
)

// Training steps need the same large arrays again and again. Allocating them each time costs clearing and collecting them, a
// tenth of a step. So code that knows that an array is no longer used gives it back to these pools.
var pools32, pools64 [classes]sync.Pool

// Rent returns a slice of n numbers with undefined content.
func Rent[T simd.Float](n int) []T {
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

// GiveBack takes slices that Rent returned; nil is fine. Nobody may use them, or any part of them, afterwards.
func GiveBack[T simd.Float](xs ...[]T) {
	for _, x := range xs {
		if c := cap(x); c > 0 {
			if class := classOf(c); capacityOf(class) == c {
				x = x[:c]
				pools[T]()[class].Put(&x)
			}
		}
	}
}

func pools[T simd.Float]() *[classes]sync.Pool {
	if SizeOf[T]() == 8 {
		return &pools64
	}
	return &pools32
}

// Zeros returns n Zeros, shared: nobody may change them.
func Zeros[T simd.Float](n int) []T {
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

// Sized returns a buffer with n elements, allocated anew if it is too small.
func Sized[T simd.Float](buf *[]T, n int) []T { return Roomy(buf, n, n+n/8) }

// Roomy is Sized for tiles: room is what the largest of them needs. Buffers that grew from tile to tile would leave
// several times their size to the garbage collector, beside the limit that a plan was given.
func Roomy[T simd.Float](buf *[]T, n, room int) []T {
	*buf = reuse.Roomy(*buf, n, max(n, room))
	return *buf
}

// SizeOf is the number of bytes of a T.
func SizeOf[T simd.Float]() int {
	var zero T
	if _, ok := any(zero).(float64); ok {
		return 8
	}
	return 4
}

// F32 returns x as float32, which T must be.
func F32[T simd.Float](x []T) []float32 { return any(x).([]float32) }

// CopyRows copies rows of c elements, dstride and sstride apart.
func CopyRows[T simd.Float](dst []T, dstride int, src []T, sstride, c, rows int) {
	switch c { // a call for each row would cost more than the row
	case SliceWidth:
		for i := range rows {
			*(*[SliceWidth]T)(dst[i*dstride:]) = *(*[SliceWidth]T)(src[i*sstride:])
		}
		return
	case depthwise.OrbitChannels:
		for i := range rows {
			*(*[depthwise.OrbitChannels]T)(dst[i*dstride:]) = *(*[depthwise.OrbitChannels]T)(src[i*sstride:])
		}
		return
	}
	for i := range rows {
		copy(dst[i*dstride:][:c], src[i*sstride:])
	}
}

// SliceWidth is the number of channels of a tiled arrangement's features that are stored side by side. The rows of a
// tile gather from many
// more points than the tile has, and have many weights; a slice of both stays in the second-level cache while all rows use it. Rows
// that come in fours have slices of depthwise.OrbitChannels.
const SliceWidth = 32

var packed32, packed64 sync.Pool // *simd.Packed

// RentPacked returns a matrix for RepackTransposed, which GiveBackPacked takes when nobody uses it any more.
func RentPacked[T simd.Float]() *simd.Packed[T] {
	if p, ok := packedPool[T]().Get().(*simd.Packed[T]); ok {
		return p
	}
	return new(simd.Packed[T])
}

// GiveBackPacked takes what RentPacked returned.
func GiveBackPacked[T simd.Float](p *simd.Packed[T]) { packedPool[T]().Put(p) }

func packedPool[T simd.Float]() *sync.Pool {
	if SizeOf[T]() == 8 {
		return &packed64
	}
	return &packed32
}
