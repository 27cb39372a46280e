//go:build !purego

package bf16

import (
	"github.com/equivcnp/equivcnp/internal/race"
	"github.com/equivcnp/equivcnp/simd"
)

// tilesRows bounds the rows of a call, and so its duration.
const tilesRows = 1008

// gemmTilesF32 is GemmTiles for b.tiles, m > 0, and space that begins with a line of the caches.
func gemmTilesF32(c []float32, ldc int, a []float32, lda int, b *Tiles, bias []float32, act simd.Activation, m int, space []float32) {
	if race.Enabled {
		for i := range m {
			race.Read(a[i*lda:][:b.k])
			race.Write(c[i*ldc:][:b.n])
		}
		race.Read(bias)
		race.Write(space)
	}
	start, mode := &b.zeros[0], 0
	if bias != nil {
		start = &bias[0]
	}
	if act == simd.ActReLU {
		mode |= tilesReLU
	}
	if b.parts > 1 {
		mode |= tilesSplit
	}
	rows := func(lo, n int) bool {
		return gemmTilesF32AMX(&c[lo*ldc], ldc, &a[lo*lda], lda, (*uint16)(&b.tiles[0]), start, &space[0], n, b.k/tilesBlock,
			b.n/tilesBlock, mode) == 0
	}
	for lo := 0; lo < m; lo += tilesRows {
		n := min(tilesRows, m-lo)
		if rows(lo, n) {
			continue
		}
		for i := lo; i < lo+n; i++ {
			if !rows(i, 1) {
				simd.GemmPackedF32(c[i*ldc:], ldc, a[i*lda:], lda, b.full, bias, act, 1)
			}
		}
	}
}
