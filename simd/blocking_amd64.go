//go:build !purego

package simd

import (
	"unsafe"

	"github.com/equivcnp/equivcnp/internal/cpu"
)

// firstCache is the size in bytes of the first-level data cache, by which products are cut into blocks. The blocks change no
// result: an element's sum runs over k in ascending order in float32, whether it waits in a register or in C.
var firstCache = cpu.DataCaches().L1

// streamFrom is the size in bytes from which on a result is stored past the caches: eight times the second-level cache, about what
// a core gets of the third. A store through the caches first reads the line that it overwrites, and a larger result has left them by the time it is
// read. 250000 x 32 x 128 (m, k, n) takes 0.55 of the time so, 65,536 rows of WeightNetF32 0.92, on small pages; of 2 MB,
// 4096 x 128 x 128, 1.02.
var streamFrom = 8 * cpu.DataCaches().L2

// streams reports whether C [m, ldc] is stored past the caches: it is large, and its rows consist of whole lines. Whoever does that
// calls storeFenceAVX2 before returning, since such stores wait for no lock.
func streams(c []float32, ldc, m int) bool {
	return level == AVX512 && pastCaches(c, ldc, m)
}

func pastCaches(c []float32, ldc, m int) bool {
	const line = 64
	return m > 0 && ldc >= (streamFrom/4+m-1)/m && 4*ldc%line == 0 && uintptr(unsafe.Pointer(&c[0]))%line == 0
}

// gemmDepth bounds the columns of A that one call takes, and with them its duration: tens of microseconds.
const gemmDepth = 2048

// panelDepth returns how many rows of a panel of B pass by at a time, of k: three quarters of the first-level cache of them, a
// multiple of the steps per round of the kernel, in parts of nearly equal size. With 48 KiB, 4096 x 128 x 256 runs at 210 GFLOP/s in
// one part and at 205 in two, each of which has to load C and store it.
func panelDepth(k int) int {
	const round, least = 8, 32
	most := min(max(firstCache/4*3/(4*stripF32)&^(round-1), least), gemmDepth)
	if k <= most {
		return max(k, 1)
	}
	parts := (k + most - 1) / most
	return ((k+parts-1)/parts + round - 1) &^ (round - 1)
}

// weightNetRows returns how many rows pass through all layers at a time, weightNetTile at most: as many as fit into the first-level
// cache with their hidden layers and results beside the weights of the last layer.
func weightNetRows(h0, h1, out int) int {
	return min(cachedRows(h1*min(out, stripF32), h0+h1+out), weightNetTile)
}

// cachedRows returns how many rows of so many elements fit into the first-level cache beside weights, in whole tiles of the matrix
// product, one at least.
func cachedRows(weights, row int) int {
	const tile = 14
	rows := (firstCache/4 - weights) / row
	return min(max(rows/tile*tile, tile), gemmStripRows)
}
