package simd

import (
	"fmt"

	"github.com/equivcnp/equivcnp/internal/cpu"
)

// PackedDots is a right-hand matrix B [K, N] in bfloat16, packed for GemmDotsF32. It does not change after packing and
// may be used by any number of goroutines at once.
type PackedDots struct {
	k, n  int
	b     []BF16    // [N/32, K/2, 32, 2]: for 32 columns, pairs of rows side by side
	zeros []float32 // a bias [N]
}

const (
	dotsColumns = 32 // columns of C that are computed together
	dotsDepth   = 8  // by how many elements a sum grows at a time
	dotsRows    = 12 // rows of C that are computed together
)

// PackDotsTransposed rounds B, given as its transpose [n, k] with rows ldb ≥ k apart, to bfloat16 and packs it. The
// result is a copy. It is nil unless n is a positive multiple of 32 and k one of 8. It panics on a negative size, a
// stride below k, or a slice that is too short.
func PackDotsTransposed(b []float32, ldb, k, n int) *PackedDots {
	checkSize("PackDotsTransposed", "k", k)
	checkSize("PackDotsTransposed", "n", n)
	checkMatrix("PackDotsTransposed", "b", len(b), n, k, ldb)
	if n == 0 || k == 0 || n%dotsColumns != 0 || k%dotsDepth != 0 {
		return nil
	}
	p := &PackedDots{k: k, n: n, b: make([]BF16, n*k), zeros: make([]float32, n)}
	row := make([]BF16, k)
	for j := range n {
		BF16FromF32(row, b[j*ldb:][:k])
		to := p.b[j/dotsColumns*dotsColumns*k+j%dotsColumns*2:]
		for i, v := range row {
			to[i/2*2*dotsColumns+i%2] = v
		}
	}
	return p
}

// DotsRows is how many rows A must have for a product of m rows.
func DotsRows(m int) int { return (m + dotsRows - 1) / dotsRows * dotsRows }

// GemmDotsF32 computes C = act(A·B + bias) for A in bfloat16, adding up in float32; the activation is none or ReLU. It
// is fast where HaveDots is true.
//
//   - Shape: c is [m, N] with rows ldc apart, a [DotsRows(m), K], of which rows from m on are read but do not matter, and bias nil or [N].
//   - Aliasing: c must not overlap the others.
//   - Errors: panics on a slice that is too short, a stride below N, or another activation.
//   - Accuracy, before the activation: at most (K+1)·eps·(Σ|a·b| + |bias|) from the exact value. Numbers below 2⁻¹²⁶
//     count as 0. The bits are the same at every level.
//   - A row of C depends on its row of A alone.
func GemmDotsF32(c []float32, ldc int, a []BF16, b *PackedDots, bias []float32, act Activation, m int) {
	const fn = "GemmDotsF32"
	if b == nil {
		panic("simd: GemmDotsF32: b = nil")
	}
	if act != ActNone && act != ActReLU {
		panic(fmt.Sprintf("simd: %s: act = %d, need ActNone or ActReLU", fn, act))
	}
	checkGemmPacked(fn, len(c), ldc, len(a), b.k, b.k, b.n, bias != nil, len(bias), act, m)
	if need := DotsRows(m) * b.k; len(a) < need {
		panicLen(fn, "a", len(a), need)
	}
	if bias == nil {
		bias = b.zeros
	}
	if cpu.Dots() && m > 0 {
		gemmDots(c, ldc, a, b, bias, act, m)
		return
	}
	gemmDotsGeneric(c, ldc, a, b, bias, act, m)
}

func gemmDotsGeneric(c []float32, ldc int, a []BF16, b *PackedDots, bias []float32, act Activation, m int) {
	for i := range m {
		x, y := a[i*b.k:][:b.k], c[i*ldc:][:b.n]
		copy(y, bias)
		for j := range y {
			w := b.b[j/dotsColumns*dotsColumns*b.k+j%dotsColumns*2:]
			for k := 0; k < b.k; k += 2 {
				y[j] = dotBF16(dotBF16(y[j], w[k*dotsColumns+1], x[k+1]), w[k*dotsColumns], x[k])
			}
			if act == ActReLU && !(y[j] > 0) && y[j] == y[j] {
				y[j] = 0
			}
		}
	}
}
