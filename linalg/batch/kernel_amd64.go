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

// rowBytes is what buffered takes of an entry at a time, and rowStride the distance of entries in its buffer: not in the lines of the
// first-level cache that the next entry takes.
const (
	rowBytes  = 512
	rowStride = rowBytes + 64
)

// throughBuffer is kernel where the entries of a matrix lie a multiple of 4 KB apart and so share a few lines of the first-level cache.
// Copying results and inputs of many entries is faster than waiting for these lines (Zen 3 at AVX2, n = 4096: products of 3×3 matrices
// take .62 of the time, 6×6 .45), and slower for exponentials of SO(3) and SE(3). With AVX-512 a vector is a line, which nobody needs a
// second time: there batches took 1.3 to 1.8 times as long through the buffer (Zen 4).
func throughBuffer[T Float](l cpu.Level, o op, s shape, dst, a, b []T, from, n int, transposed bool) (at, next int, hard uint64) {
	size := int(unsafe.Sizeof(a[0]))
	if l == cpu.AVX512 || n*size%4096 != 0 || (n-from)*size < rowBytes || (s.out < 16 && (s.out < 9 || s.a+s.b < 9)) {
		return from, from, 0
	}
	return buffered(l, o, s, dst, a, b, from, n, transposed)
}

// buffered computes matrices by rows of rowBytes. Those of a row with hard ones are computed where they lie, so that kernel knows which.
//
//go:noinline
func buffered[T Float](l cpu.Level, o op, s shape, dst, a, b []T, from, n int, transposed bool) (at, next int, hard uint64) {
	var buf [(maxOut + maxIn) * rowStride / 8]uint64
	size, words := int(unsafe.Sizeof(a[0])), func(p *T) *uint64 { return (*uint64)(unsafe.Pointer(p)) }
	entry := func(k int) *T { return (*T)(unsafe.Pointer(&buf[k*rowStride/8])) }
	x, z, y := entry(0), entry(s.a), entry(s.a+s.b)
	for count := rowBytes / size; from+count <= n; from += count {
		moveRowsAVX2(words(x), words(&a[from]), rowStride, n*size, s.a)
		if s.b > 0 {
			moveRowsAVX2(words(z), words(&b[from]), rowStride, n*size, s.b)
		}
		if _, _, hard := call(l, o, y, x, z, count, rowStride/size, transposed); hard != 0 {
			at, next, hard := call(l, o, &dst[from], &a[from], &b[from], count, n, transposed)
			return from + at, from + next, hard
		}
		moveRowsAVX2(words(&dst[from]), words(y), n*size, rowStride, s.out)
	}
	return from, from, 0
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
