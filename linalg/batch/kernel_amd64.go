//go:build !purego

package batch

import (
	"unsafe"

	"github.com/equivcnp/equivcnp/internal/cpu"
)

// move sets dst[dstStride·e+i] = src[srcStride·e+i] for e < entries and every i whose bit is set in lanes, less than a round.
func move[T Float](l cpu.Level, dst, src *T, dstStride, srcStride, entries int, lanes uint64) {
	if unsafe.Sizeof(*dst) == 4 {
		d, s := (*float32)(unsafe.Pointer(dst)), (*float32)(unsafe.Pointer(src))
		if l == cpu.AVX512 {
			moveF32AVX512(d, s, dstStride, srcStride, entries, lanes)
		} else {
			moveF32AVX2(d, s, dstStride, srcStride, entries, lanes)
		}
		return
	}
	d, s := (*float64)(unsafe.Pointer(dst)), (*float64)(unsafe.Pointer(src))
	if l == cpu.AVX512 {
		moveF64AVX512(d, s, dstStride, srcStride, entries, lanes)
	} else {
		moveF64AVX2(d, s, dstStride, srcStride, entries, lanes)
	}
}

func callF32(l cpu.Level, o op, dst, a, b *float32, n, stride int) (at, next int, hard uint64) {
	if l == cpu.AVX512 {
		return matrixF32AVX512(o, dst, a, b, n, stride)
	}
	return matrixF32AVX2(o, dst, a, b, n, stride)
}

func callF64(l cpu.Level, o op, dst, a, b *float64, n, stride int) (at, next int, hard uint64) {
	if l == cpu.AVX512 {
		return matrixF64AVX512(o, dst, a, b, n, stride)
	}
	return matrixF64AVX2(o, dst, a, b, n, stride)
}

// callLog3x3Short replaces n matrices in float64 by their logarithms with the digits of float32.
func callLog3x3Short(l cpu.Level, a *float64, n, stride int) (at, next int, hard uint64) {
	if l == cpu.AVX512 {
		return log3x3ShortF64AVX512(a, a, a, n, stride)
	}
	return log3x3ShortF64AVX2(a, a, a, n, stride)
}

// widen3x3 sets dst[64e+i] = src[stride·e+i] for the nine entries e of those matrices i whose bit is set in lanes.
func widen3x3(l cpu.Level, dst *[9 * 64]float64, src []float32, stride int, lanes uint64) {
	if l == cpu.AVX512 {
		widen3x3AVX512(&dst[0], &src[0], stride, lanes)
		return
	}
	widen3x3AVX2(&dst[0], &src[0], stride, lanes)
}

// narrow3x3 is the way back.
func narrow3x3(l cpu.Level, dst []float32, src *[9 * 64]float64, stride int, lanes uint64) {
	if l == cpu.AVX512 {
		narrow3x3AVX512(&dst[0], &src[0], stride, lanes)
		return
	}
	narrow3x3AVX2(&dst[0], &src[0], stride, lanes)
}
