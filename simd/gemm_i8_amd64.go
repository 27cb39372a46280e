//go:build !purego

package simd

import (
	"unsafe"

	"github.com/equivcnp/equivcnp/internal/cpu"
)

// panelsI8 says that matrices are packed for the kernel.
var panelsI8 = cpu.HaveBytes()

const (
	gemmI8Rows  = 12        // of C, that the kernel computes together
	gemmI8Least = 16        // from so many numbers in a row on
	gemmI8Chunk = 128 << 10 // bytes of B that all rows of A meet before the next ones: they stay in the second-level cache
)

// gemmPackedI8 computes C [m, N] for N > 0. The kernel takes whole blocks of rows, so the last block begins earlier where rows are missing.
// It reads up to three numbers beyond the end of a row, which meet zeros in B; the last row of A is left to another kernel then.
func gemmPackedI8(c []int32, ldc int, a []int8, lda int, b *PackedI8, m int) {
	most := m // rows that the kernel can compute
	if b.k%quadI8 != 0 {
		most--
	}
	if !cpu.Bytes() || b.panels == nil || most < gemmI8Rows || b.k < gemmI8Least {
		gemmRowsI8(c, ldc, a, lda, b, 0, m)
		return
	}
	if most < m {
		gemmRowsI8(c[most*ldc:], ldc, a[most*lda:], lda, b, 0, 1)
	}
	if raceEnabled {
		rowsRace(a, lda, most, b.k)
		for i := range most {
			raceWrite(c[i*ldc:][:b.n])
		}
	}
	quads, panels, rest := (b.k+quadI8-1)/quadI8, b.n/panelI8, b.n%panelI8
	size := panelI8 * quads * quadI8
	chunk := max(1, gemmI8Chunk/size)
	for p := 0; p < panels; p += chunk {
		for lo := 0; lo < most; lo += gemmI8Rows {
			at := min(lo, most-gemmI8Rows)
			gemmI8VNNI(&c[at*ldc+p*panelI8], 4*ldc, &a[at*lda], lda, &b.panels[p*size], &b.bias[p*panelI8], quads, min(chunk, panels-p))
		}
	}
	from := panels * panelI8
	if rest < leastI8 {
		if rest > 0 {
			gemmRowsI8(c[from:], ldc, a, lda, b, from, most)
		}
		return
	}
	var sums [gemmI8Rows * panelI8]int32
	for lo := 0; lo < most; lo += gemmI8Rows {
		at := min(lo, most-gemmI8Rows)
		gemmI8VNNI(&sums[0], 4*panelI8, &a[at*lda], lda, &b.panels[panels*size], &b.bias[from], quads, 1)
		for r := range gemmI8Rows {
			copy(c[(at+r)*ldc+from:][:rest], sums[r*panelI8:])
		}
	}
}

// alignedBytes returns n zeros that start on a cache line.
func alignedBytes(n int) []int8 {
	x := make([]int8, n+cacheLine)
	skip := -uintptr(unsafe.Pointer(&x[0])) % cacheLine
	return x[skip:][:n:n]
}
