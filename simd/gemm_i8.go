package simd

// PackedI8 is the right-hand matrix B [N, K] of GemmPackedI8, of 8-bit integers, rearranged once so that the product reads it in order.
// It does not change after packing and may be used by any number of goroutines at once.
type PackedI8 struct {
	n, k int
	rows []int8 // [n, k]
	// Where the CPU has a kernel, whatever the level, which may change, and for as many rows as are worth it: panels of 32 rows of B that
	// are filled up with zeros, four numbers of each row side by side, [n/32, k/4, 32, 4], from a cache line on, and -128 times the sum of
	// every row.
	panels []int8
	bias   []int32
}

// N returns the number of rows of B, which is that of columns of the product.
func (b *PackedI8) N() int { return b.n }

// K returns the length of its rows.
func (b *PackedI8) K() int { return b.k }

// PackI8 packs B, given as [n, k] with rows ldb ≥ k apart. The result is a copy: B may change afterwards. It panics on a negative size, a
// stride below k or a slice that is too short.
func PackI8(b []int8, ldb, n, k int) *PackedI8 {
	checkSize("PackI8", "n", n)
	checkSize("PackI8", "k", k)
	checkMatrix("PackI8", "b", len(b), n, k, ldb)
	p := &PackedI8{n: n, k: k}
	if n == 0 || k == 0 {
		return p
	}
	p.rows = make([]int8, n*k)
	for j := range n {
		copy(p.rows[j*k:][:k], b[j*ldb:])
	}
	if panelsI8 && n >= leastI8 {
		p.pack()
	}
	return p
}

const (
	panelI8 = 32 // rows of B in a panel
	quadI8  = 4  // numbers of a row that stand side by side
	leastI8 = 8  // of so few rows a panel takes as long as they do one by one
)

func (b *PackedI8) pack() {
	panels, quads := (b.n+panelI8-1)/panelI8, (b.k+quadI8-1)/quadI8
	b.panels = alignedBytes(panels * panelI8 * quads * quadI8)
	b.bias = make([]int32, panels*panelI8)
	for j := range b.n {
		row, to := b.rows[j*b.k:][:b.k], b.panels[j/panelI8*panelI8*quads*quadI8+j%panelI8*quadI8:]
		sum := int32(0)
		for i, v := range row {
			to[i/quadI8*panelI8*quadI8+i%quadI8] = v
			sum += int32(v)
		}
		b.bias[j] = -128 * sum
	}
}

// GemmPackedI8 computes C = A·Bᵀ for matrices of 8-bit integers, exactly: with up to 131,071 columns no sum overflows, and of more columns
// sums are right modulo 2³².
//
//   - Shape: A is [m, K] with rows lda ≥ K apart, C [m, N] with ldc ≥ N. With K = 0, C is 0.
//   - Errors: panics if b is nil, on a negative m, a stride below its row length, or a slice that is too short.
//   - At level AVX512 where the CPU has AVX512_VNNI it takes a quarter of the instructions of GemmNTF32, from 13 rows of A, 8 of B and 16
//     columns on; elsewhere it is DotRowsI8 for every row of A.
func GemmPackedI8(c []int32, ldc int, a []int8, lda int, b *PackedI8, m int) {
	if b == nil {
		panic("simd: GemmPackedI8: b = nil")
	}
	checkSize("GemmPackedI8", "m", m)
	checkMatrix("GemmPackedI8", "c", len(c), m, b.n, ldc)
	checkMatrix("GemmPackedI8", "a", len(a), m, b.k, lda)
	if b.n > 0 {
		gemmPackedI8(c, ldc, a, lda, b, m)
	}
}

// GemmNTI8 is GemmPackedI8 for a B that is needed once, given as [n, k] with rows ldb ≥ k apart. It allocates the packed B.
func GemmNTI8(c []int32, ldc int, a []int8, lda int, b []int8, ldb, m, n, k int) {
	checkSize("GemmNTI8", "m", m)
	checkSize("GemmNTI8", "n", n)
	checkSize("GemmNTI8", "k", k)
	checkMatrix("GemmNTI8", "c", len(c), m, n, ldc)
	checkMatrix("GemmNTI8", "a", len(a), m, k, lda)
	checkMatrix("GemmNTI8", "b", len(b), n, k, ldb)
	if m > 0 && n > 0 {
		gemmPackedI8(c, ldc, a, lda, PackI8(b, ldb, n, k), m)
	}
}

// gemmRowsI8 is gemmPackedI8 row by row, for rows of B from number from on, whose products stand in c from its beginning on.
func gemmRowsI8(c []int32, ldc int, a []int8, lda int, b *PackedI8, from, m int) {
	for i := range m {
		var x []int8
		if b.k > 0 {
			x = a[i*lda:][:b.k]
		}
		rowsI8(c[i*ldc:][:b.n-from], b.rows[from*b.k:], b.k, x, dotProduct)
	}
}
