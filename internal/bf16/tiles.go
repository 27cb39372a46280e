package bf16

import (
	"fmt"

	"github.com/equivcnp/equivcnp/internal/cpu"
	"github.com/equivcnp/equivcnp/simd"
)

// Tiles is a right-hand matrix B [K, N], packed for GemmTiles. It does not change after packing and may be
// used by any number of goroutines at once.
type Tiles struct {
	k, n  int
	parts int
	full  *simd.Packed[float32]
	// tiles holds the parts of B, [N/32, K/32, parts, 2, 16, 16, 2]: for 32 columns and 32 rows of B two tiles of 16
	// columns, in which pairs of rows lie side by side. It is nil where there are no tiles, and then full serves all
	// products.
	tiles []simd.BF16
	zeros []float32 // a bias [N]
}

const (
	// tilesBlock is how many rows of C and how many columns are computed together, and by how many elements a sum grows at a time.
	tilesBlock = 32
	// tilesDepth bounds K: a block of A must stay in the first-level cache.
	tilesDepth = 256
	// tilesMost is how many parts a number can have.
	tilesMost = 2
)

// PackTiles packs B, given as its transpose [n, k] with rows ldb ≥ k apart, for products that take that many
// parts of each number: 1 rounds it to bfloat16, 2 takes the rest, rounded, as a second bfloat16. The result is a copy.
// It panics on other numbers of parts, a negative size, a stride below k, or a slice that is too short.
func PackTiles(b []float32, ldb, k, n, parts int) *Tiles {
	if parts != 1 && parts != tilesMost {
		panic(fmt.Sprintf("bf16: PackTiles: parts = %d, need 1 or %d", parts, tilesMost))
	}
	p := &Tiles{k: k, n: n, parts: parts, full: simd.PackTransposed(b, ldb, k, n)}
	if !cpu.Tiles() || n%tilesBlock != 0 || k%tilesBlock != 0 || k > tilesDepth || n*k == 0 {
		return p
	}
	p.zeros, p.tiles = make([]float32, n), make([]simd.BF16, n*k*parts)
	var rest [tilesDepth]float32
	var part [tilesDepth]simd.BF16
	for j := range n {
		row, left := b[j*ldb:][:k], rest[:k]
		copy(left, row)
		to := p.tiles[j/tilesBlock*(k/tilesBlock)*parts*tilesBlock*tilesBlock+j%tilesBlock/16*512+j%16*2:]
		for i := range parts {
			tileParts(part[:k], left)
			for q := 0; q < k; q += tilesBlock { // the row's part of a tile: pairs, 32 numbers apart
				tile := to[(q/tilesBlock*parts+i)*tilesBlock*tilesBlock:][:15*32+2]
				for r, v := range part[q:][:tilesBlock] {
					tile[r/2*32+r%2] = v
				}
			}
		}
	}
	return p
}

// Space returns the number of elements that of scratch memory a product with such a matrix needs.
func (b *Tiles) Space() int {
	if b.tiles == nil {
		return 0
	}
	return tilesBlock*b.k*b.parts/2 + tilesBlock*tilesBlock + lineF32
}

// GemmTiles computes C = act(A·B + bias) as simd.GemmPackedF32 does. At level AMX it multiplies tiles of bfloat16 numbers
// and adds up in float32, if K and N are multiples of 32, K is at most 256, and the activation is none or ReLU.
// Otherwise, it is GemmPackedF32.
//
//   - Shape, aliasing, errors: as GemmPackedF32. space has at least b.Space() elements, and panics otherwise; what
//     they hold does not matter.
//   - Accuracy at level AMX, before the activation: with two parts at most (K/16+120)·eps·(Σ|a·b| + |bias|) from the
//     exact value, which from K = 128 on is
//     less than the bound of GemmPackedF32; with one part at most 2⁻⁷·Σ|a·b| more. Numbers below 2⁻¹²⁶ count as 0, so that in either case
//     K·2⁻¹²³·(1 + max|a| + max|b|) comes on top.
//   - A row of C depends on its row of A alone. Rows with a sum that is not finite are computed by GemmPackedF32.
func GemmTiles(c []float32, ldc int, a []float32, lda int, b *Tiles, bias []float32, act simd.Activation, m int, space []float32) {
	if b == nil {
		panic("bf16: GemmTiles: b = nil")
	}
	checkProduct("GemmTiles", len(c), ldc, len(a), lda, b.k, b.n, bias, m)
	if b.tiles == nil || !cpu.Tiles() || act != simd.ActNone && act != simd.ActReLU || m == 0 {
		simd.GemmPackedF32(c, ldc, a, lda, b.full, bias, act, m)
		return
	}
	if need := b.Space(); len(space) < need {
		check.PanicLen("GemmTiles", "space", len(space), need)
	}
	gemmTilesF32(c, ldc, a, lda, b, bias, act, m, onLine(space))
}

// tileParts sets part to x rounded as the kernel does, to the nearest, ties to even, and subnormal numbers to 0; and x to the rest.
func tileParts(part []simd.BF16, x []float32) {
	for i, v := range x {
		if v > -0x1p-126 && v < 0x1p-126 {
			x[i] = v * 0
		}
	}
	simd.BF16FromF32(part, x)
	for i, v := range part {
		x[i] -= v.Float32()
	}
}
