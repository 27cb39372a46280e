//go:build !purego

package simd

import (
	"unsafe"

	"github.com/equivcnp/equivcnp/internal/cpu"
)

// firstCache is the size in bytes of the first-level data cache; products are cut into blocks that fit it. The blocks do not
// change results: the sum of an element runs over k in ascending order in float32, whether it is kept in a register or in C.
var firstCache = cpu.DataCaches().L1

// streamFrom is [cpu.StreamFrom]. With small pages, 250000 x 32 x 128 (m, k, n) takes 0.55 of the time, and 65,536 rows of
// WeightNetF32 0.92, on Zen 3 with AVX2 250000 x 2 to 6 x 32 0.45 to 0.65; for a result of 2 MB, 4096 x 128 x 128, it would
// take 1.02.
var streamFrom = cpu.StreamFrom()

// streamProductFrom is the same for results of GemmPackedF32 and GemmPackedF64. From Zen 4 on, where few cores share a third-level cache
// of AMD's, it is half of that cache if this is more, and streamFewFrom, for products of at most streamFew terms, all of it: with n = 32
// and k = 2 to 5, results of 8 MB that stay in it take 0.5 to 0.86 of the time on Zen 4, of 15 MB 0.66 to 0.97; those of 30 MB, read once
// after the product, 0.67 to 0.93 (medians, k = 2 to 4; 1.07 in one of nine), and with more terms 0.81 to 1.47, by what others do to the
// cache. On Zen 3 results of 8 to 46 MB take 1.35 to 1.75 times as long (k = 2 to 8), and of 15 MB and more, with a sum of them,
// 1.15 to 1.37 times. On other processors streamFewFrom is an eighth of that cache if this is more: on an Emerald Rapids of 300 MB, results
// of 20 to 32 MB take as long either way and are read in 0.6 of the time after it, and those of 64 MB take 2.5 times as long through the
// caches. With 32 terms a result of 32 MB took up to twice as long there, as A is as large. Weights of WeightNetF32, whose layers use the
// caches, gain nothing.
var (
	streamProductFrom = sharedCache(2, 0)
	streamFewFrom     = sharedCache(1, 8)
)

const streamFew = 4

// sharedCache is streamFrom, or a part of the third-level cache if this is more: one of few, or, where many cores share it, of many; 0 is
// none of it.
func sharedCache(few, many int) int {
	part := many
	switch {
	case cpu.Zen4:
		part = few
	case cpu.AMD:
		part = 0
	}
	if part == 0 {
		return cpu.StreamFrom()
	}
	return max(cpu.StreamFrom(), cpu.DataCaches().L3/part)
}

// productFrom is from how many bytes on a product of k terms is stored past the caches.
func productFrom(k int) int {
	if k <= streamFew {
		return streamFewFrom
	}
	return streamProductFrom
}

// pastCaches reports whether C [m, ldc] is stored past the caches, which is done if it has that many bytes and its rows consist of
// whole lines. The caller then calls storeFenceAVX2 before it returns, since such stores are not ordered by locks.
func pastCaches[T Float](c []T, ldc, m, from int) bool {
	size := int(unsafe.Sizeof(T(0)))
	return m > 0 && ldc >= (from/size+m-1)/m && size*ldc%cacheLine == 0 && uintptr(unsafe.Pointer(&c[0]))%cacheLine == 0
}

// gemmDepth bounds the columns of A that one call processes, and so the duration of a call: tens of microseconds.
const gemmDepth = 2048

// panelDepth returns how many of the k rows of a panel of B are processed at a time. They take three quarters of the first-level
// cache, their number is a multiple of the steps per round of the kernel, and the parts are of nearly equal size. Each part has
// to load C and store it.
func panelDepth(k int) int {
	const round, least = 8, 32
	most := min(max(firstCache/4*3/(2*cacheLine)&^(round-1), least), gemmDepth)
	if k <= most {
		return max(k, 1)
	}
	parts := (k + most - 1) / most
	return ((k+parts-1)/parts + round - 1) &^ (round - 1)
}

// weightNetRows returns how many rows, weightNetTile at most, pass through all layers at a time: as many as fit into the
// first-level cache, with their hidden layers and results, beside the weights of the last layer.
func weightNetRows(h0, h1, out int) int {
	return min(cachedRows(h1*min(out, stripF32), h0+h1+out), weightNetTile)
}

// cachedRows returns how many rows of that many elements fit into the first-level cache beside the weights: whole tiles of the
// matrix product, at least one.
func cachedRows(weights, row int) int {
	const tile = 14
	rows := (firstCache/4 - weights) / row
	return min(max(rows/tile*tile, tile), gemmStripRows)
}
