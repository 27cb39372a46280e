package bf16

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
	"github.com/equivcnp/equivcnp/simd"
)

// tilesTwin is what tiles compute, before the activation: sums of exact products by pairs, 32 at a time, one part of A
// and of B after the other. Subnormal numbers, which count as 0, do not occur.
func tilesTwin(a, b, bias []float32, m, k, n, parts int) []float32 {
	split := func(v float32) (p [2]float32) {
		p[0] = tilePart(v).Float32()
		if parts > 1 {
			p[1] = tilePart(v - p[0]).Float32()
		}
		return p
	}
	orders := [][2]int{{0, 0}}
	if parts > 1 {
		orders = [][2]int{{0, 1}, {0, 0}, {1, 0}}
	}
	c := make([]float32, m*n)
	for i := range m {
		for j := range n {
			sum := float32(0)
			if bias != nil {
				sum = bias[j]
			}
			for p := 0; p < k; p += tilesBlock {
				for _, o := range orders {
					even, odd := float32(0), float32(0)
					for q := p; q < p+tilesBlock; q += 2 { // products of bfloat16 numbers are exact
						even += float32(split(a[i*k+q])[o[0]] * split(b[j*k+q])[o[1]])
						odd += float32(split(a[i*k+q+1])[o[0]] * split(b[j*k+q+1])[o[1]])
					}
					sum += even + odd
				}
			}
			c[i*n+j] = sum
		}
	}
	return c
}

func normal(rng *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rng.NormFloat64() * math.Exp(rng.NormFloat64()))
	}
	return x
}

// tilesProduct multiplies with guard pages around everything.
func tilesProduct(t *testing.T, a, b, bias []float32, act simd.Activation, m, k, n, parts int) []float32 {
	t.Helper()
	p := PackTiles(b, k, k, n, parts)
	c, space := testkit.AtEnd[float32](t, m*n), testkit.AtEnd[float32](t, p.Space())
	for i := range space {
		space[i] = float32(math.NaN())
	}
	if len(bias) > 0 {
		bias = testkit.CopyAtEnd(t, bias)
	}
	GemmTiles(c, n, testkit.CopyAtEnd(t, a), k, p, bias, act, m, space)
	return c
}

func TestTileProducts(t *testing.T) {
	testkit.EachLevel(t, func(t *testing.T) {
		rng := testkit.Rand(210)
		for _, s := range [][3]int{{0, 32, 32}, {1, 32, 32}, {2, 64, 96}, {16, 96, 32}, {17, 128, 128}, {33, 256, 64},
			{64, 128, 128}, {3, 31, 32}, {5, 32, 33}, {4, 288, 32}} {
			m, k, n := s[0], s[1], s[2]
			a, b, bias := normal(rng, m*k), normal(rng, n*k), normal(rng, n)
			for _, parts := range []int{1, 2} {
				t.Run(fmt.Sprintf("%v/parts=%d", s, parts), func(t *testing.T) {
					testTiles(t, a, b, bias, m, k, n, parts)
				})
			}
		}
	})
}

func testTiles(t *testing.T, a, b, bias []float32, m, k, n, parts int) {
	c := tilesProduct(t, a, b, bias, simd.ActNone, m, k, n, parts)
	if PackTiles(b, k, k, n, parts).tiles != nil {
		require.Equal(t, tilesTwin(a, b, bias, m, k, n, parts), c)
		require.Equal(t, tilesTwin(a, b, nil, m, k, n, parts), tilesProduct(t, a, b, nil, simd.ActNone, m, k, n, parts))
	}
	for i := range m {
		for j := range n {
			want, terms := float64(bias[j]), math.Abs(float64(bias[j]))
			for p := range k {
				v := float64(a[i*k+p]) * float64(b[j*k+p])
				want, terms = want+v, terms+math.Abs(v)
			}
			tol := (float64(k)/16 + 120) * 0x1p-23 * terms
			if parts == 1 {
				tol += 0x1p-7 * terms
			}
			if k < 128 { // another bound, where there are no tiles
				tol = max(tol, float64(k+8)*0x1p-23*terms)
			}
			if diff := math.Abs(float64(c[i*n+j]) - want); !(diff <= tol) {
				t.Fatalf("[%d, %d] = %g, want %g within %g", i, j, c[i*n+j], want, tol)
			}
		}
	}
	relu := tilesProduct(t, a, b, bias, simd.ActReLU, m, k, n, parts)
	for i, v := range c {
		require.Equal(t, max(0, v), relu[i])
		require.False(t, math.Signbit(float64(relu[i])))
	}
	for i := range m { // a row by itself
		require.Equal(t, c[i*n:(i+1)*n], tilesProduct(t, a[i*k:(i+1)*k], b, bias, simd.ActNone, 1, k, n, parts))
	}
}

// TestTilesSpecial: rows with numbers that are not finite, or of which a part or a product is not, have the bits of
// GemmPackedF32, and no other row knows of it.
func TestTilesSpecial(t *testing.T) {
	testkit.EachLevel(t, func(t *testing.T) {
		rng := testkit.Rand(211)
		const m, k, n = 40, 64, 32
		b, bias := normal(rng, n*k), normal(rng, n)
		plain := normal(rng, m*k)
		inf, nan := float32(math.Inf(1)), math.Float32frombits(0x7fffffff)
		for _, parts := range []int{1, 2} {
			whole := tilesProduct(t, plain, b, bias, simd.ActReLU, m, k, n, parts)
			packed := simd.PackTransposed(b, k, k, n)
			for _, v := range []float32{inf, -inf, nan, math.Float32frombits(0x7f800001), math.MaxFloat32, -3.4e38} {
				a := append([]float32(nil), plain...)
				a[33*k+5] = v
				c, want := tilesProduct(t, a, b, bias, simd.ActReLU, m, k, n, parts), make([]float32, n)
				simd.GemmPackedF32(want, n, a[33*k:34*k], k, packed, bias, simd.ActReLU, 1)
				for i := range m {
					row := c[i*n : (i+1)*n]
					if i != 33 {
						require.Equal(t, whole[i*n:(i+1)*n], row)
					} else {
						for j, x := range row {
							require.Equal(t, math.Float32bits(want[j]), math.Float32bits(x), "%g: %g, want %g", v, x, want[j])
						}
					}
				}
			}
			// Subnormal and very small numbers.
			a := append([]float32(nil), plain...)
			for i := range a {
				a[i] *= 0x1p-127
			}
			for i, v := range tilesProduct(t, a, b, nil, simd.ActNone, m, k, n, parts) {
				want := 0.0
				for p := range k {
					want += float64(a[i/n*k+p]) * float64(b[i%n*k+p])
				}
				if diff := math.Abs(float64(v) - want); !(diff <= k*0x1p-123*20) {
					t.Fatalf("%g, want %g", v, want)
				}
			}
		}
	})
}

func TestTilesChecks(t *testing.T) {
	b := PackTiles(make([]float32, 32*32), 32, 32, 32, 2)
	x := make([]float32, 32)
	require.PanicsWithValue(t, "bf16: GemmTiles: b = nil", func() { GemmTiles(x, 32, x, 32, nil, nil, simd.ActNone, 1, nil) })
	require.PanicsWithValue(t, "bf16: PackTiles: parts = 3, need 1 or 2", func() { PackTiles(x, 1, 1, 1, 3) })
	require.PanicsWithValue(t, "bf16: GemmTiles: len(a) = 31, need 32",
		func() { GemmTiles(x, 32, x[:31], 32, b, nil, simd.ActNone, 1, nil) })
	if need := b.Space(); need > 0 {
		require.PanicsWithValue(t, fmt.Sprintf("bf16: GemmTiles: len(space) = %d, need %d", need-1, need),
			func() { GemmTiles(x, 32, x, 32, b, nil, simd.ActNone, 1, make([]float32, need-1)) })
	}
	space := make([]float32, b.Space())
	require.Zero(t, testing.AllocsPerRun(10, func() { GemmTiles(x, 32, x, 32, b, x, simd.ActReLU, 1, space) }))
}

func BenchmarkGemmTiles(b *testing.B) {
	rng := testkit.Rand(212)
	const m, k, n = 64, 128, 128
	a, w, c := normal(rng, m*k), normal(rng, n*k), make([]float32, m*n)
	for _, parts := range []int{1, 2} {
		p := PackTiles(w, k, k, n, parts)
		space := make([]float32, p.Space())
		testkit.BenchLevels(b, fmt.Sprintf("shape=%dx%dx%d/parts=%d", m, k, n, parts), 2*m*k*n,
			func() { GemmTiles(c, n, a, k, p, nil, simd.ActReLU, m, space) })
	}
}

// tilePart is one number of tileParts.
func tilePart(v float32) simd.BF16 {
	var part [1]simd.BF16
	tileParts(part[:], []float32{v})
	return part[0]
}
