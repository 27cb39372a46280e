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
	// roundBytes is a multiple of the memory of one entry that any kernel takes at a time: two vectors of AVX-512.
	roundBytes = 128
)

// kernel runs the current level's kernel on matrices from .. n-1, or a first part of them, and returns next > from: all up to next-1 are
// done but those, counted from at, whose bits are set in hard. These are the caller's, and their inputs are unchanged, even where dst is a
// or b. Without a kernel, next is from. Which matrices are hard depends on nothing but their own entries and the level.
func kernel[T Float](o op, s shape, dst, a, b []T, from, n int) (at, next int, hard uint64) {
	l := cpu.CurrentLevel()
	if l == cpu.Generic {
		return from, from, 0
	}
	race.Read(a)
	race.Read(b)
	race.Write(dst)
	var one T
	transposed := false
	switch o {
	case opOne, opIdentity2x2, opCopy3x3:
		return from, from, 0
	case opLog3x3:
		if unsafe.Sizeof(one) == 4 {
			return log3x3F32(l, any(dst).([]float32), any(a).([]float32), from, n)
		}
	case opExpFrechetAdjoint2x2:
		o, transposed = opExpFrechet2x2, true
	case opExpFrechetAdjoint3x3:
		o, transposed = opExpFrechet3x3, true
	}
	width := roundBytes / int(unsafe.Sizeof(one))
	m := min(n-from, piece)
	if m < width || transposed {
		return padded(l, o, s, dst, a, b, from, n, transposed)
	}
	second := &a[from]
	if s.b > 0 {
		second = &b[from]
	}
	at, next, hard = call(l, o, &dst[from], &a[from], second, m-m%width, n)
	return from + at, from + next, hard
}

// padded is kernel for less than a whole round of matrices, or the transposes of a: kernels compute whole rounds, so that the entries
// take the way over a buffer.
func padded[T Float](l cpu.Level, o op, s shape, dst, a, b []T, from, n int, transposed bool) (at, next int, hard uint64) {
	var buf struct {
		y    [maxOut * roundBytes / 8]uint64
		x, z [maxIn * roundBytes / 8]uint64
	}
	width := roundBytes / int(unsafe.Sizeof(a[0]))
	y := unsafe.Slice((*T)(unsafe.Pointer(&buf.y)), maxOut*width)
	x := unsafe.Slice((*T)(unsafe.Pointer(&buf.x)), maxIn*width)
	z := unsafe.Slice((*T)(unsafe.Pointer(&buf.z)), maxIn*width)
	m := min(n-from, width)
	for e := range s.a {
		to := e
		if transposed {
			k := 2 + (s.a-4)/5 // 4 or 9 entries
			to = e%k*k + e/k
		}
		copy(x[to*width:], a[e*n+from:][:m])
	}
	for e := range s.b {
		copy(z[e*width:], b[e*n+from:][:m])
	}
	at, next, hard = call(l, o, &y[0], &x[0], &z[0], m, width)
	next = min(next, m)
	at = min(at, m)
	hard &= 1<<(m-at) - 1 // not those beside the batch
	for e := range s.out {
		row, out := y[e*width:], dst[e*n+from:]
		if hard == 0 {
			copy(out, row[:next])
			continue
		}
		for i := range next {
			if i < at || hard>>(i-at)&1 == 0 {
				out[i] = row[i]
			}
		}
	}
	return from + at, from + next, hard
}

// call calls the kernel of a level. It computes rounds of vectors until n > 0 matrices are done, or up to a round with hard ones: then at is
// the first of that round, next the first of the following one.
func call[T Float](l cpu.Level, o op, dst, a, b *T, n, stride int) (at, next int, hard uint64) {
	if unsafe.Sizeof(*dst) == 4 {
		return callF32(l, o, (*float32)(unsafe.Pointer(dst)), (*float32)(unsafe.Pointer(a)), (*float32)(unsafe.Pointer(b)), n, stride)
	}
	return callF64(l, o, (*float64)(unsafe.Pointer(dst)), (*float64)(unsafe.Pointer(a)), (*float64)(unsafe.Pointer(b)), n, stride)
}

// log3x3F32 is kernel for the logarithm of 3×3 matrices in float32. It computes in float64 and rounds: its steps would cost float32 too many
// digits.
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
