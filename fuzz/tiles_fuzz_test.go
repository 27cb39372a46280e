package fuzz

import (
	"math"
	"testing"

	"github.com/equivcnp/equivcnp/internal/bf16"
	"github.com/equivcnp/equivcnp/internal/testkit"
	"github.com/equivcnp/equivcnp/simd"
)

// FuzzTilesF32 compares products of tiles with float64 sums, on any bit patterns, strides and sizes, those that do not
// fill tiles among them. Everything ends at an unreadable page. A row has the same bits alone and whatever lay in the
// scratch memory; between rows nothing is read as a number or written; and where there are no tiles, the bits are those
// of GemmPackedF32.
func FuzzTilesF32(f *testing.F) {
	for i, b := range seedBytes() {
		f.Add(b, uint8(5*i), uint8(i), uint8(i), uint8(i), uint8(i))
		f.Add(b, uint8(i), uint8(11*i), uint8(200+i), uint8(3*i), uint8(i/2))
	}
	f.Fuzz(func(t *testing.T, bytes []byte, um, un, uk, gaps, mode uint8) {
		m, n, k := int(um%37), tilesSize(un, 2), tilesSize(uk, 9)
		lda, ldb, ldc := k+int(gaps%3), k+int(gaps/3%3), n+int(gaps/9%3)
		parts, act := 1+int(mode&1), []simd.Activation{simd.ActNone, simd.ActReLU, simd.ActSwish}[mode/2%3]
		x := floats32(bytes)
		nan := float32(math.NaN())
		// rows lays x out as rows of k numbers, ld apart, the last of which ends at the page.
		rows := func(x []float32, n, k, ld int) []float32 {
			y := testkit.AtEnd[float32](t, max(0, (n-1)*ld+k)*min(n, 1))
			for i := range y {
				if y[i] = nan; i%max(ld, 1) < k && len(x) > 0 {
					y[i] = x[(i/ld*k+i%ld)%len(x)]
				} else if i%max(ld, 1) < k {
					y[i] = 0
				}
			}
			return y
		}
		a, b := rows(x, m, k, lda), rows(x[min(len(x), 1):], n, k, ldb)
		var bias []float32
		if mode&64 != 0 {
			bias = testkit.CopyAtEnd(t, wrap(x[min(len(x), 2):], n))
		}
		// inner is the numbers of a matrix without what lies between its rows.
		inner := func(y []float32, n, k, ld int) []float32 {
			var z []float32
			for i := range n {
				z = append(z, y[i*ld:][:k]...)
			}
			return z
		}
		wasA, wasB := inner(a, m, k, lda), inner(b, n, k, ldb)
		sum, size, largest := tilesReference(wasA, wasB, bias, m, n, k)
		before := bf16.PackTiles(b, ldb, k, n, parts) // at this machine's best level
		atLevels(t, func(level simd.Level) {
			packed := bf16.PackTiles(b, ldb, k, n, parts)
			space := testkit.AtEnd[float32](t, packed.Space())
			product := func(p *bf16.Tiles, act simd.Activation, fill float32, space []float32) []float32 {
				for i := range space {
					space[i] = fill
				}
				c := rows(nil, m, n, ldc)
				bf16.GemmTiles(c, ldc, a, lda, p, bias, act, m, space)
				for i, v := range c {
					if i%max(ldc, 1) >= n && v == v {
						t.Fatalf("level=%v m=%d n=%d k=%d: %g is written between rows", level, m, n, k, v)
					}
				}
				return inner(c, m, n, ldc)
			}
			c := product(packed, act, nan, space)
			full := make([]float32, m*n)
			whole := simd.PackTransposed(b, ldb, k, n)
			simd.GemmPackedF32(full, n, a, lda, whole, bias, act, m)
			exact := packed.Space() == 0 || act == simd.ActSwish
			if exact && !testkit.SameBits(c, full) {
				t.Fatalf("level=%v m=%d n=%d k=%d parts=%d act=%v: no tiles, and other bits than GemmPackedF32", level, m, n, k, parts, act)
			}
			again := product(packed, act, 3e38, space)
			if !testkit.SameBits(c, again) {
				t.Fatalf("level=%v m=%d n=%d k=%d parts=%d act=%v: what was in the scratch memory shows", level, m, n, k, parts, act)
			}
			if level != simd.Levels()[len(simd.Levels())-1] &&
				!testkit.SameBits(full, product(before, act, nan, make([]float32, before.Space()))) {
				t.Fatalf("level=%v m=%d n=%d k=%d parts=%d act=%v: packed at another level, other bits than GemmPackedF32", level,
					m, n, k, parts, act)
			}
			row := testkit.AtEnd[float32](t, n)
			for i := range m {
				bf16.GemmTiles(row, n, a[i*lda:][:k], k, packed, bias, act, 1, space)
				if !testkit.SameBits(row, c[i*n:][:n]) {
					t.Fatalf("level=%v m=%d n=%d k=%d parts=%d act=%v: row %d alone has other bits", level, m, n, k, parts, act, i)
				}
			}
			if act == simd.ActSwish {
				return // the activation of numbers that were looked at with none
			}
			if act == simd.ActReLU {
				plain := product(packed, simd.ActNone, nan, space)
				simd.ReLUF32(plain, plain)
				if !testkit.SameBits(c, plain) {
					t.Fatalf("level=%v m=%d n=%d k=%d parts=%d: ReLU within the product differs from its own kernel", level, m, n, k, parts)
				}
				return
			}
			for i, got := range c {
				tol := float64(k+8) * (0x1p-23*size[i] + 0x1p-149)
				if !exact {
					tol = max(tol, (float64(k)/16+120)*0x1p-23*size[i]) + float64(k)*0x1p-123*(1+largest)
					if parts == 1 {
						tol += 0x1p-7 * size[i]
					}
				}
				switch {
				case sum[i] != sum[i]:
					if got == got {
						t.Fatalf("level=%v m=%d n=%d k=%d parts=%d: C[%d] = %g, want NaN", level, m, n, k, parts, i, got)
					}
				case math.IsInf(size[i], 0) || size[i] >= math.MaxFloat32/2: // a partial sum may be infinite
				case !(math.Abs(float64(got)-sum[i]) <= tol):
					t.Fatalf("level=%v m=%d n=%d k=%d parts=%d: C[%d] = %g, want %g within %g", level, m, n, k, parts, i, got, sum[i], tol)
				}
			}
		})
		if !testkit.SameBits(wasA, inner(a, m, k, lda)) || !testkit.SameBits(wasB, inner(b, n, k, ldb)) {
			t.Fatal("an input was written to")
		}
	})
}

// tilesSize is as often a multiple of 32, up to so many of them, as any number up to there.
func tilesSize(u uint8, most int) int {
	if u%2 == 0 {
		return 32 * (int(u/2) % (most + 1))
	}
	return int(u/2) * 32 * most / 127
}

// tilesReference returns the sums of A·Bᵀ + bias in float64, those of the terms' magnitudes, and max|a| + max|b| of those that are finite.
func tilesReference(a, b, bias []float32, m, n, k int) (sum, size []float64, largest float64) {
	sum, size = make([]float64, m*n), make([]float64, m*n)
	for i := range m {
		for j := range n {
			if bias != nil {
				sum[i*n+j] = float64(bias[j])
			}
			size[i*n+j] = math.Abs(sum[i*n+j])
			for p := range k {
				v := float64(a[i*k+p]) * float64(b[j*k+p])
				sum[i*n+j] += v
				size[i*n+j] += math.Abs(v)
			}
		}
	}
	for _, x := range [][]float32{a, b} {
		most := 0.0
		for _, v := range x {
			if v := math.Abs(float64(v)); v <= math.MaxFloat32 {
				most = max(most, v)
			}
		}
		largest += most
	}
	return sum, size, largest
}
