package bf16

import (
	"fmt"

	"github.com/equivcnp/equivcnp/internal/cpu"
	"github.com/equivcnp/equivcnp/simd"
)

// Dots is a right-hand matrix B [K, N] in bfloat16, packed for GemmDots. It does not change after packing and
// may be used by any number of goroutines at once.
type Dots struct {
	k, n  int
	b     []simd.BF16 // [N/32, K/2, 32, 2]: for 32 columns, pairs of rows side by side
	zeros []float32   // a bias [N]
}

const (
	dotsColumns = 32 // columns of C that are computed together
	dotsDepth   = 8  // by how many elements a sum grows at a time
	dotsRows    = 12 // rows of C that are computed together
)

// PackDots rounds B, given as its transpose [n, k] with rows ldb ≥ k apart, to bfloat16 and packs it. The
// result is a copy. It is nil unless n is a positive multiple of 32 and k one of 8. It panics on a negative size, a
// stride below k, or a slice that is too short.
func PackDots(b []float32, ldb, k, n int) *Dots {
	check.Size("PackDots", "k", k)
	check.Size("PackDots", "n", n)
	check.Matrix("PackDots", "b", len(b), n, k, ldb)
	if n == 0 || k == 0 || n%dotsColumns != 0 || k%dotsDepth != 0 {
		return nil
	}
	p := &Dots{k: k, n: n, b: make([]simd.BF16, n*k), zeros: make([]float32, n)}
	row := make([]simd.BF16, k)
	for j := range n {
		simd.BF16FromF32(row, b[j*ldb:][:k])
		to := p.b[j/dotsColumns*dotsColumns*k+j%dotsColumns*2:]
		for i, v := range row {
			to[i/2*2*dotsColumns+i%2] = v
		}
	}
	return p
}

// DotsRows returns the number of rows that A must have for a product of m rows.
func DotsRows(m int) int { return (m + dotsRows - 1) / dotsRows * dotsRows }

// HaveDots reports whether the CPU adds up products of pairs of bfloat16 numbers at the current level.
func HaveDots() bool { return cpu.Dots() }

// FastDots reports whether GemmDots is faster than a product of float32.
func FastDots() bool { return cpu.FastDots() }

// GemmDots computes C = act(A·B + bias) for A in bfloat16, adding up in float32; the activation is none or ReLU. It
// is computed by such instructions where HaveDots is true, and worth it where FastDots is.
//
//   - Shape: c is [m, N] with rows ldc apart, a [DotsRows(m), K], of which rows from m on are read but do not matter, and bias nil or [N].
//   - Aliasing: c must not overlap the others.
//   - Errors: panics on a slice that is too short, a stride below N, or another activation.
//   - Accuracy, before the activation: at most (K+1)·eps·(Σ|a·b| + |bias|) from the exact value. Numbers below 2⁻¹²⁶
//     count as 0. The bits are the same at every level.
//   - A row of C depends on its row of A alone.
func GemmDots(c []float32, ldc int, a []simd.BF16, b *Dots, bias []float32, act simd.Activation, m int) {
	const fn = "GemmDots"
	if b == nil {
		panic("bf16: GemmDots: b = nil")
	}
	if act != simd.ActNone && act != simd.ActReLU {
		panic(fmt.Sprintf("bf16: %s: act = %d, need ActNone or ActReLU", fn, act))
	}
	checkProduct(fn, len(c), ldc, len(a), b.k, b.k, b.n, bias, m)
	if need := DotsRows(m) * b.k; len(a) < need {
		check.PanicLen(fn, "a", len(a), need)
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

func gemmDotsGeneric(c []float32, ldc int, a []simd.BF16, b *Dots, bias []float32, act simd.Activation, m int) {
	for i := range m {
		x, y := a[i*b.k:][:b.k], c[i*ldc:][:b.n]
		copy(y, bias)
		for j := range y {
			w := b.b[j/dotsColumns*dotsColumns*b.k+j%dotsColumns*2:]
			for k := 0; k < b.k; k += 2 {
				y[j] = MulAdd(MulAdd(y[j], w[k*dotsColumns+1], x[k+1]), w[k*dotsColumns], x[k])
			}
			if act == simd.ActReLU && !(y[j] > 0) && y[j] == y[j] {
				y[j] = 0
			}
		}
	}
}
