//go:build !purego

package simd

import (
	"sync"
	"unsafe"

	"github.com/equivcnp/equivcnp/internal/cpu"
)

// A large result of an elementwise function is stored past the caches: a store through them first reads the line that it
// overwrites, which is a third or a quarter of all that goes to and from memory. It is computed in pieces that stay in the
// first-level cache, by the same kernels, and copied from there, so that no kernel needs a second form. While a piece is
// stored, the inputs of the next one are fetched; otherwise reading would wait for the stores. For x and y, the same if there
// is only one input:
//
//	b := takeStreamBuffer()
//	for p, ok := streamed(b, dst, x, y).next(); ok; p, ok = p.next() {
//		addF32(p.part, x[p.at:p.end], y[p.at:p.end])
//	}
//	b.giveBack()
//
// This is a loop instead of a function that takes a function, next returns the state instead of changing it, and the loop does
// not give the buffer back itself: otherwise dst, x and y would escape, and small arrays of all callers move to the heap.

// streamPiece is how many bytes of a result are computed at a time. On Zen 5, 16M float32 then take ReLU 0.82 of the time, its
// gradient and sums of two 0.83, conversions to bfloat16 and from it 0.9 and 0.82. Without fetching ahead ReLU would take 1.6,
// with pieces of 8 KiB 0.89. From 8 to 32 MB, where the third level holds some of the data, the times are within 7 % of each
// other.
const streamPiece = 2 << 10

// streamMapFrom is the size in bytes from which on results are stored past the caches. On AMD's processors, where few cores share a
// third-level cache, it is a quarter of that cache if this is more than [cpu.StreamFrom].
var streamMapFrom = func() int {
	if cpu.AMD {
		return max(cpu.StreamFrom(), cpu.DataCaches().L3/4)
	}
	return cpu.StreamFrom()
}()

// Functions so short that memory alone binds them have kernels that store past the caches themselves, by AVX2 at both levels: half lines
// one after the other are as fast as lines. Their results are those of the other kernels, as they consist of single roundings and choices.

// toLine returns how many elements of dst precede its first cache line.
func toLine[T streamElement](dst []T) int {
	return min(len(dst), int(-uintptr(unsafe.Pointer(unsafe.SliceData(dst)))%cacheLine)/int(unsafe.Sizeof(T(0))))
}

// pastPiece returns how many elements, of a dst that begins with a cache line, such a kernel takes next.
func pastPiece[T streamElement](dst []T) int {
	return min(len(dst), maxPiece) &^ (2*cacheLine/int(unsafe.Sizeof(T(0))) - 1)
}

// streamElement is what results consist of.
type streamElement interface{ float32 | float64 | BF16 }

// streams reports whether dst, the result for x, is stored past the caches. Where dst is x, its lines have been read already.
func streams[D, X streamElement](dst []D, x []X) bool {
	return len(dst) >= streamMapFrom/int(unsafe.Sizeof(D(0))) && level != Generic &&
		unsafe.Pointer(unsafe.SliceData(dst)) != unsafe.Pointer(unsafe.SliceData(x))
}

// Exponentials and activations store large results through the caches: what they compute hides most of the traffic, and a buffer would
// keep stores and arithmetic apart. On a Zen 3 sigmoid, tanh and the gradients of swish and softplus took 0.78 to 0.88 of the time without
// one, on a Zen 5 exponentials, sigmoid and tanh of 12 to 256 MB 0.48 to 0.60, on a Zen 4 exponentials of 8 to 128 MB 0.57 to 0.81 (of
// 256 MB 1.12 to 1.24), on an Emerald Rapids all of these 0.54 to 0.6 of 24 MB, 0.75 to 1.0 of 48 and 96 MB, and 0.85 to 1.09 of 256 MB.

// roundsStream says whether roundings to whole numbers, which need a buffer for it, store large results past the caches. A Zen 5 takes 0.70
// to 0.98 of the time without, a Zen 4 1.4 times as long, an Emerald Rapids 1.1 to 1.3 times from 48 MB on.
var roundsStream = !cpu.Zen5

// rounds is streams for those.
func rounds[D, X streamElement](dst []D, x []X) bool { return roundsStream && streams(dst, x) }

// streaming goes through a result piece by piece. A piece is a buffer, or, before the first line of the result and after
// the last, the result itself.
type streaming[T streamElement] struct {
	part    []T // what to compute next: dst[at:end]
	at, end int
	dst     []T
	x, y    unsafe.Pointer // the inputs
	size    int            // bytes of an element of theirs
	buffer  *streamBuffer
}

// streamBuffer is a piece, and room to align it.
type streamBuffer [(streamPiece + cacheLine) / 8]uint64

// streamBuffers keeps them between calls.
var streamBuffers = sync.Pool{New: func() any { return new(streamBuffer) }}

func takeStreamBuffer() *streamBuffer { return streamBuffers.Get().(*streamBuffer) }

func (b *streamBuffer) giveBack() { streamBuffers.Put(b) }

func streamed[T, X streamElement](b *streamBuffer, dst []T, x, y []X) streaming[T] {
	raceWrite(dst)
	return streaming[T]{dst: dst, x: unsafe.Pointer(&x[0]), y: unsafe.Pointer(&y[0]), size: int(unsafe.Sizeof(X(0))), buffer: b}
}

// next stores the piece that has been computed and returns the next one, if there is one.
func (s streaming[T]) next() (streaming[T], bool) {
	size := int(unsafe.Sizeof(T(0)))
	if len(s.part) > 0 && unsafe.SliceData(s.part) != unsafe.SliceData(s.dst[s.at:]) {
		ahead := min(s.end, len(s.dst)-1) * s.size // of the last piece nothing follows
		streamLinesAVX2((*byte)(unsafe.Pointer(&s.dst[s.at])), (*byte)(unsafe.Pointer(&s.part[0])), len(s.part)*size/cacheLine,
			(*byte)(unsafe.Add(s.x, ahead)), (*byte)(unsafe.Add(s.y, ahead)), cacheLine*s.size/size)
	}
	s.at = s.end
	left := len(s.dst) - s.at
	if left == 0 {
		storeFenceAVX2() // such stores are not ordered by locks
		return s, false
	}
	before := int(-uintptr(unsafe.Pointer(&s.dst[s.at]))%cacheLine) / size // elements to the next line
	switch {
	case before > 0:
		s.part = s.dst[s.at:][:min(before, left)]
	case left*size < cacheLine:
		s.part = s.dst[s.at:]
	default:
		base := unsafe.Pointer(s.buffer)
		base = unsafe.Add(base, -uintptr(base)%cacheLine)
		s.part = unsafe.Slice((*T)(base), min(streamPiece, left*size&^(cacheLine-1))/size)
	}
	s.end = s.at + len(s.part)
	return s, true
}
