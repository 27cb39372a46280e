//go:build !purego

package batch

import (
	"math/bits"
	"unsafe"

	"github.com/equivcnp/equivcnp/internal/cpu"
)

// move sets dst[dstStride·e+i] = src[srcStride·e+i] for e < entries and every i whose bit is set in lanes, less than a round.
func move[T Float](_ cpu.Level, dst, src *T, dstStride, srcStride, entries int, lanes uint64) {
	at := func(p *T, i int) *T { return (*T)(unsafe.Add(unsafe.Pointer(p), i*int(unsafe.Sizeof(*p)))) }
	for ; lanes != 0; lanes &= lanes - 1 {
		i := bits.TrailingZeros64(lanes)
		for e := range entries {
			*at(dst, dstStride*e+i) = *at(src, srcStride*e+i)
		}
	}
}

// throughBuffer would be kernel where entries crowd a few lines of the first-level cache, and does nothing.
func throughBuffer[T Float](_ cpu.Level, _ op, _ shape, _, _, _ []T, from, _ int, _ bool) (at, next int, hard uint64) {
	return from, from, 0
}

func callF32(_ cpu.Level, o op, dst, a, b *float32, n, stride int) (at, next int, hard uint64) {
	return matrixF32NEON(o, dst, a, b, n, stride)
}

func callF64(_ cpu.Level, o op, dst, a, b *float64, n, stride int) (at, next int, hard uint64) {
	return matrixF64NEON(o, dst, a, b, n, stride)
}

// callLog3x3Short replaces n matrices in float64 by their logarithms with the digits of float32.
func callLog3x3Short(_ cpu.Level, a *float64, n, stride int) (at, next int, hard uint64) {
	return log3x3ShortF64NEON(a, a, a, n, stride)
}

// widen3x3 sets dst[64e+i] = src[stride·e+i] for the nine entries e of those matrices i whose bit is set in lanes.
func widen3x3(_ cpu.Level, dst *[9 * 64]float64, src []float32, stride int, lanes uint64) {
	n := fullBytes(lanes)
	for e := range 9 {
		if n > 0 {
			widenF32NEON(&dst[64*e], &src[stride*e], n)
		}
		for rest := lanes &^ (1<<n - 1); rest != 0; rest &= rest - 1 {
			i := bits.TrailingZeros64(rest)
			dst[64*e+i] = float64(src[stride*e+i])
		}
	}
}

// narrow3x3 is the way back.
func narrow3x3(_ cpu.Level, dst []float32, src *[9 * 64]float64, stride int, lanes uint64) {
	n := fullBytes(lanes)
	for e := range 9 {
		if n > 0 {
			narrowF64NEON(&dst[stride*e], &src[64*e], n)
		}
		for rest := lanes &^ (1<<n - 1); rest != 0; rest &= rest - 1 {
			i := bits.TrailingZeros64(rest)
			dst[stride*e+i] = float32(src[64*e+i])
		}
	}
}

// fullBytes is how many of the lowest bits are set without a gap, rounded down to a multiple of 8.
func fullBytes(lanes uint64) int { return bits.TrailingZeros64(^lanes) &^ 7 }
