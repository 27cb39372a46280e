//go:build !purego

package simd

import (
	"math"
	"testing"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// stripsSwish returns the swish of a·b, and wants the same bits from sums that are stored before, where that is done.
func stripsSwish(t *testing.T, a []float32, lda int, b *Packed[float32], rows int) []float32 {
	n := b.n
	c := make([]float32, rows*n)
	gemmPackedBlock(c, n, a, 0, lda, b, nil, stripSwish, rows)
	if swishesApart(n) {
		sums, apart := testkit.AtEnd[float32](t, rows*n), testkit.AtEnd[float32](t, rows*n)
		gemmPackedBlock(sums, n, a, 0, lda, b, nil, 0, rows)
		for _, past := range []bool{false, true} {
			clear(apart)
			swishSums(&apart[0], &sums[0], rows, n, n, n, past)
			storeFenceAVX2()
			if !testkit.SameBits(apart, c) {
				t.Fatalf("n=%d, past the caches %v: not the bits of strips", n, past)
			}
		}
	}
	return c
}

// TestWeightNetSwish holds the swish within the strips to what WeightNetF32 promises. With one column in A and ones in B, the
// sums are A itself. Strips of one and of two vectors divide differently with AVX-512.
func TestWeightNetSwish(t *testing.T) {
	inf := float32(math.Inf(1))
	a := []float32{0, float32(math.Copysign(0, -1)), math.SmallestNonzeroFloat32, -1e-40, 1e-20, -1e-20, 88, 89, 1e19, 1e30,
		math.MaxFloat32, inf, -42.99, -43, -43.01, -87, -88, -100, -200, -1e30, -math.MaxFloat32, -inf}
	for x := float32(-45); x < 45; x += 0.000731 {
		a = append(a, x)
	}
	swish := func(x float64) float64 {
		if math.IsInf(x, -1) {
			return 0
		}
		return x / (1 + math.Exp(-x))
	}
	eachLevel(t, func(t *testing.T) {
		if level == Generic {
			return // no kernel of its own: SwishF32, which has tests
		}
		for _, n := range []int{1, 8, 9, 16, 17, 32, 40} {
			ones := make([]float32, n)
			for i := range ones {
				ones[i] = 1
			}
			c := stripsSwish(t, a, 1, Pack(ones, n, 1, n), len(a))
			for i, got := range c {
				x := float64(a[i/n])
				want := swish(x)
				near := max(math.Abs(swish(x*(1+0x1p-23))-want), math.Abs(swish(x*(1-0x1p-23))-want))
				if math.IsInf(x, 0) || math.IsInf(x*(1+0x1p-23), 0) {
					near = 0
				}
				if float64(got) != want && !(math.Abs(float64(got)-want) <= near+0x1p-21*math.Abs(want)+0x1p-56) {
					t.Fatalf("n=%d: swish(%g) = %g, want %g", n, x, got, want)
				}
			}
		}
	})
}

// TestWeightNetSwishNeighbours wants a number's swish not to depend on finite neighbours' size beyond rounding, and NaN to
// stay in its row.
func TestWeightNetSwishNeighbours(t *testing.T) {
	const n = 32
	eachLevel(t, func(t *testing.T) {
		if level == Generic {
			return // no kernel of its own: SwishF32, which has tests
		}
		eye := make([]float32, n*n)
		for i := range n {
			eye[i*n+i] = 1
		}
		b := Pack(eye, n, n, n)
		for _, other := range []float32{-1e30, -43, 0, 43, 1e30, math.MaxFloat32} {
			for at := range n {
				a := make([]float32, 2*n)
				for i := range n {
					a[i] = other
				}
				a[at], a[n+at] = 3, float32(math.NaN())
				c := stripsSwish(t, a, n, b, 2)
				if want := 3 / (1 + math.Exp(-3)); !(math.Abs(float64(c[at])-want) <= 1e-6) {
					t.Fatalf("swish(3) beside %g = %g", other, c[at])
				}
				for i := range n {
					if c[i] != c[i] {
						t.Fatalf("NaN of row 1 reached row 0, column %d", i)
					}
				}
				if c[n+at] == c[n+at] {
					t.Fatalf("swish(NaN) = %g", c[n+at])
				}
			}
		}
	})
}
