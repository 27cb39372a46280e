//go:build !purego

package simd

import "github.com/equivcnp/equivcnp/internal/cpu"

// haveTiles reports whether the current level has tiles.
func haveTiles() bool { return cpu.Tiles() }

// gemmTilesF32 is GemmTilesF32 for b.tiles, m > 0, and space that begins with a line of the caches.
func gemmTilesF32(c []float32, ldc int, a []float32, lda int, b *PackedTiles, bias []float32, act Activation, m int, space []float32) {
	if raceEnabled {
		gemmRace(c, ldc, m, b.n, a, lda, m, b.k, nil, 0, 0, 0)
		raceRead(bias)
		raceWrite(space)
	}
	start, mode := &b.zeros[0], 0
	if bias != nil {
		start = &bias[0]
	}
	if act == ActReLU {
		mode |= tilesReLU
	}
	if b.parts > 1 {
		mode |= tilesSplit
	}
	rows := func(lo, n int) bool {
		return gemmTilesF32AMX(&c[lo*ldc], ldc, &a[lo*lda], lda, (*uint16)(&b.tiles[0]), start, &space[0], n, b.k/tilesBlock,
			b.n/tilesBlock, mode) == 0
	}
	for lo := 0; lo < m; lo += gemmStripRows {
		n := min(gemmStripRows, m-lo)
		if rows(lo, n) {
			continue
		}
		for i := lo; i < lo+n; i++ {
			if !rows(i, 1) {
				gemmPackedF32(c[i*ldc:], ldc, a[i*lda:], lda, b.full, bias, act, 1)
			}
		}
	}
}
