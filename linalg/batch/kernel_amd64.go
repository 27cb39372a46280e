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

// throughBuffer is kernel where the entries of a matrix crowd a few lines of the first-level cache.
func throughBuffer[T Float](l cpu.Level, o op, s shape, dst, a, b []T, from, n int, transposed bool) (at, next int, hard uint64) {
	size := int(unsafe.Sizeof(a[0]))
	if (n-from)*size < rowBytes || !crowded(l, s, n*size) {
		return from, from, 0
	}
	return buffered(l, o, s, dst, a, b, from, n, transposed)
}

// crowded reports whether copying entries that lie so many bytes apart takes less time than waiting for their lines: where these are a
// multiple of 4 KB, they share a few lines; beside it, each load looks as if it read what was just stored elsewhere, and waits. There
// products of 4×4 matrices take 8 to 19 times as long, exponentials 2 to 4 times (Zen 4). Where few entries are copied or much is
// computed, waiting is faster, and with AVX-512, whose vectors are lines, mostly at the multiple itself. A Zen 5 waits less for 3×3
// matrices (functions of one take 0.5 to 0.9 of the time without copies), and more at the multiple: Adjoint and Jacobian of SE(3) take half
// of the time with copies, inverses of 4×4 matrices 0.75 to 0.86. An Emerald Rapids waits so little that copies pay for Adjoint and
// Jacobian of SE(3) alone (0.6 to 0.75 of the time): others take 1.2 to 2 times as long with copies.
func crowded(l cpu.Level, s shape, apart int) bool {
	if !cpu.AMD && s.out < 32 {
		return false
	}
	if s.out < 16 && (s.out < 9 || s.a+s.b < 9 || cpu.Zen5 && s.b == 0) {
		return false
	}
	beside := func(multiple int) int { return min((apart+multiple)%4096, (8192-apart%4096-multiple)%4096) }
	near, wide := 12, s.a+s.b+s.out >= 36
	if l != cpu.AVX512 {
		near = 16
	}
	if s.b > 0 {
		near = 24
	}
	switch d := beside(0); {
	case d == 0:
		return l != cpu.AVX512 || wide && s.b > 0 || cpu.Zen5 && s.a+s.b+s.out >= 32
	case d <= near:
		return true
	}
	d := beside(2048)
	return wide && d <= 8 && (d > 0 || l != cpu.AVX512)
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
