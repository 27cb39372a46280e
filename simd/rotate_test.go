package simd

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// TestRotateSwap turns and exchanges vectors of every length that end or begin at an unreadable page.
func TestRotateSwap(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		t.Run("F32", func(t *testing.T) { testRotateSwap(t, awkward32) })
		t.Run("F64", func(t *testing.T) { testRotateSwap(t, awkward64) })
	})
}

func testRotateSwap[T Float](t *testing.T, awkward func(n int) []T) {
	rng := testkit.Rand(81)
	for _, n := range append(lengths(), 1<<16+3) { // kernels take at most 1<<16 at a time
		u := eps[T]() / 2
		c, s := T(rng.NormFloat64()), T(rng.NormFloat64())
		x, y := testkit.CopyAtEnd(t, testkit.Normal[T](rng, n)), testkit.CopyAtStart(t, testkit.Normal[T](rng, n))
		x0, y0 := append([]T(nil), x...), append([]T(nil), y...)
		Rotate(x, y, c, s)
		at := func(name string, i int, got T, a, v, b, w T) {
			t.Helper()
			p, q := testkit.Product(float64(a), float64(v)), testkit.Product(float64(b), float64(w))
			tol := 2 * u * (1 + u) * (math.Abs(p.Hi) + math.Abs(q.Hi))
			if d := p.Add(q).Sub(testkit.Wide(float64(got))).Hi; !(math.Abs(d) <= tol) {
				t.Fatalf("n=%d: %s[%d] = %g, off by %g > %g", n, name, i, got, d, tol)
			}
		}
		for i := range x {
			at("x", i, x[i], c, x0[i], s, y0[i])
			at("y", i, y[i], c, y0[i], -s, x0[i])
		}
		if n > 1000 {
			continue
		}
		x, y = testkit.CopyAtStart(t, awkward(n)), testkit.CopyAtEnd(t, awkward(n + 1)[1:])
		x0, y0 = append([]T(nil), x...), append([]T(nil), y...)
		Swap(x, y)
		require.True(t, testkit.SameBits(x, y0) && testkit.SameBits(y, x0), "n=%d", n)
	}
}

// TestRotateAnywhere wants the bits of an element wherever it stands.
func TestRotateAnywhere(t *testing.T) {
	rng := testkit.Rand(82)
	x, y := testkit.Normal[float64](rng, 100), testkit.Normal[float64](rng, 100)
	eachLevel(t, func(t *testing.T) {
		all, allY := append([]float64(nil), x...), append([]float64(nil), y...)
		RotateF64(all, allY, 0.6, -0.8)
		for lo := range 40 {
			for _, n := range []int{1, 7, 33, 60} {
				a, b := append([]float64(nil), x[lo:lo+n]...), append([]float64(nil), y[lo:lo+n]...)
				RotateF64(a, b, 0.6, -0.8)
				if CurrentLevel() != Generic { // where the compiler chooses what it fuses
					require.Equal(t, all[lo:lo+n], a)
					require.Equal(t, allY[lo:lo+n], b)
				}
			}
		}
	})
}
