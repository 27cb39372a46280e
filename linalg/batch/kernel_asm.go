//go:build !purego && (amd64 || arm64)

package batch

import (
	"unsafe"

	"github.com/equivcnp/equivcnp/internal/cpu"
	"github.com/equivcnp/equivcnp/internal/race"
)

const (
	// piece is how many matrices a kernel gets at a time, as it cannot be preempted.
	piece = 1 << 13
	// roundAVX512 and roundOther are multiples of what any kernel takes of an entry at a time, in bytes.
	roundAVX512 = 128
	roundOther  = 32
)

// kernel runs the current level's kernel on matrices from .. n-1, or a first part of them, and returns next > from: all up to next-1 are
// done but those, counted from at, whose bits are set in hard. These are the caller's, and their inputs are unchanged, even where dst is a
// or b. Without a kernel, next is from. Which matrices are hard depends on nothing but their own entries and the level.
func kernel[T Float](o op, s shape, dst, a, b []T, from, n int) (at, next int, hard uint64) {
	l := cpu.CurrentLevel().Vectors()
	if l == cpu.Generic {
		return from, from, 0
	}
	race.Read(a)
	race.Read(b)
	race.Write(dst)
	transposed := false
	switch o {
	case opOne, opIdentity2x2, opCopy3x3:
		return from, from, 0
	case opLog3x3:
		if unsafe.Sizeof(a[0]) == 4 {
			return log3x3F32(l, any(dst).([]float32), any(a).([]float32), from, n)
		}
	case opExpFrechetAdjoint2x2:
		o, transposed = opExpFrechet2x2, true
	case opExpFrechetAdjoint3x3:
		o, transposed = opExpFrechet3x3, true
	}
	second := a
	if s.b > 0 {
		second = b
	}
	if at, next, hard = throughBuffer(l, o, s, dst, a, second, from, n, transposed); next > from {
		return at, next, hard
	}
	m, round := min(n-from, piece), roundOther/int(unsafe.Sizeof(a[0]))
	if l == cpu.AVX512 {
		round = roundAVX512 / int(unsafe.Sizeof(a[0]))
	}
	if m%round != 0 {
		switch {
		case m > round:
			m -= m % round
		case n >= round && &dst[0] != &a[0] && &dst[0] != &second[0]:
			// Compute the last whole round of the batch. Its first matrices are done already and get the same results again.
			start := n - round
			hard = callAll(l, o, &dst[start], &a[start], &second[start], round, n, transposed)
			return from, n, hard >> (from - start)
		case (s.out+s.a+s.b)*round <= smallBuffer/int(unsafe.Sizeof(a[0])):
			return from, n, paddedSmall(l, o, s, round, dst, a, second, from, n, transposed)
		default:
			return from, n, paddedLarge(l, o, s, round, dst, a, second, from, n, transposed)
		}
	}
	at, next, hard = call(l, o, &dst[from], &a[from], &second[from], m, n, transposed)
	return from + at, min(from+next, n), hard
}

// The buffers of padded: as small as possible, because they are cleared, and for the largest shape.
const (
	smallBuffer = 2048
	largeBuffer = 48 * roundAVX512
)

//go:noinline
func paddedSmall[T Float](l cpu.Level, o op, s shape, round int, dst, a, b []T, from, n int, transposed bool) (hard uint64) {
	var buf [smallBuffer / 8]uint64
	return padded(l, o, s, round, buf[:], dst, a, b, from, n, transposed)
}

//go:noinline
func paddedLarge[T Float](l cpu.Level, o op, s shape, round int, dst, a, b []T, from, n int, transposed bool) (hard uint64) {
	var buf [largeBuffer / 8]uint64
	return padded(l, o, s, round, buf[:], dst, a, b, from, n, transposed)
}

// padded runs the kernel on matrices from .. n-1, less than a round, and returns the bits of the hard ones. Kernels compute whole
// rounds, so the entries are copied into a buffer, and the results out of it.
func padded[T Float](l cpu.Level, o op, s shape, round int, buf []uint64, dst, a, b []T, from, n int, transposed bool) (hard uint64) {
	all := unsafe.Slice((*T)(unsafe.Pointer(&buf[0])), len(buf)*8/int(unsafe.Sizeof(a[0])))
	x, z, y := all, all[s.a*round:], all[(s.a+s.b)*round:]
	m := n - from
	lanes := uint64(1)<<m - 1
	move(l, &x[0], &a[from], round, n, s.a, lanes)
	if s.b > 0 {
		move(l, &z[0], &b[from], round, n, s.b, lanes)
	}
	hard = callAll(l, o, &y[0], &x[0], &z[0], m, round, transposed) & lanes // without those behind the batch's end
	move(l, &dst[from], &y[0], n, round, s.out, lanes&^hard)
	return hard
}

// call calls the kernel of a level. It computes rounds of vectors until n > 0 matrices are done, or up to a round with
// hard ones: then at is the first of that round, next the first of the following one, which may be above n.
func call[T Float](l cpu.Level, o op, dst, a, b *T, n, stride int, transposed bool) (at, next int, hard uint64) {
	if transposed {
		n = -n
	}
	if unsafe.Sizeof(*dst) == 4 {
		return callF32(l, o, (*float32)(unsafe.Pointer(dst)), (*float32)(unsafe.Pointer(a)), (*float32)(unsafe.Pointer(b)), n, stride)
	}
	return callF64(l, o, (*float64)(unsafe.Pointer(dst)), (*float64)(unsafe.Pointer(a)), (*float64)(unsafe.Pointer(b)), n, stride)
}

// callAll calls the kernel for n ≤ 64 matrices, also those behind a round with hard ones, and returns the bits of these.
func callAll[T Float](l cpu.Level, o op, dst, a, b *T, n, stride int, transposed bool) (hard uint64) {
	for i := 0; i < n; {
		from := func(p *T) *T { return (*T)(unsafe.Add(unsafe.Pointer(p), i*int(unsafe.Sizeof(*p)))) }
		at, next, h := call(l, o, from(dst), from(a), from(b), n-i, stride, transposed)
		hard |= h << (i + at)
		i += next
	}
	return hard
}

// log3x3F32 is kernel for the logarithm of 3×3 matrices in float32. It computes in float64 and rounds,
// because its steps would lose too many digits in float32.
func log3x3F32(l cpu.Level, dst, a []float32, from, n int) (at, next int, hard uint64) {
	const lanes = 64
	m := min(n-from, lanes)
	all := ^uint64(0) >> (lanes - m)
	var buf [9 * lanes]float64
	widen3x3(l, &buf, a[from:], n, all)
	// A kernel stops at a round with hard lanes; the buffer can be done in one go all the same.
	for i := 0; i < m; {
		at, next, h := callLog3x3Short(l, &buf[i], m-i, lanes)
		hard |= h << (i + at)
		i += next
	}
	hard &= all
	narrow3x3(l, dst[from:], &buf, n, all&^hard)
	return from, from + m, hard
}
