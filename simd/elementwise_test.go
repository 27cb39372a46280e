package simd

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// TestElementwise wants the bits of Go's own operations, at every length, place and level.
func TestElementwise(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		t.Run("F32", func(t *testing.T) { testElementwise(t, awkward32) })
		t.Run("F64", func(t *testing.T) { testElementwise(t, awkward64) })
	})
}

func testElementwise[T Float](t *testing.T, awkward func(n int) []T) {
	for name, f := range map[string]struct {
		run  func(dst, x, y []T)
		want func(x, y T) T
	}{
		"sub":   {Sub[T], func(x, y T) T { return x - y }},
		"mul":   {Mul[T], func(x, y T) T { return x * y }},
		"div":   {Div[T], func(x, y T) T { return x / y }},
		"max":   {Max[T], func(x, y T) T { return max(x, y) }},
		"min":   {Min[T], func(x, y T) T { return min(x, y) }},
		"sqrt":  {func(dst, x, _ []T) { Sqrt(dst, x) }, func(x, _ T) T { return T(math.Sqrt(float64(x))) }},
		"floor": {func(dst, x, _ []T) { Floor(dst, x) }, func(x, _ T) T { return T(math.Floor(float64(x))) }},
		"ceil":  {func(dst, x, _ []T) { Ceil(dst, x) }, func(x, _ T) T { return T(math.Ceil(float64(x))) }},
		"trunc": {func(dst, x, _ []T) { Trunc(dst, x) }, func(x, _ T) T { return T(math.Trunc(float64(x))) }},
		"even":  {func(dst, x, _ []T) { RoundToEven(dst, x) }, func(x, _ T) T { return T(math.RoundToEven(float64(x))) }},
		"abs":   {func(dst, x, _ []T) { Abs(dst, x) }, func(x, _ T) T { return T(math.Abs(float64(x))) }},
		"clip": {func(dst, x, _ []T) { Clip(dst, x, -1, 2) }, func(x, _ T) T {
			if x != x {
				return x
			}
			return min(max(x, -1), 2)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			testMemory(t, func(dst, x []T) { f.run(dst, x, x) }, awkward)
			x, y := awkward(1000), awkward(1001)[1:]
			for i := range 400 { // halves and wholes, and zeros of both signs beside each other
				x[i], y[i] = T(i%40)/4-5, T(i%3-1)*0
				if i%7 == 0 {
					x[i] = -y[i]
				}
			}
			got, want := make([]T, len(x)), make([]T, len(x))
			f.run(got, x, y)
			for i := range x {
				want[i] = f.want(x[i], y[i])
			}
			require.True(t, testkit.SameBits(got, want))
			f.run(x, x, y)
			require.True(t, testkit.SameBits(x, want), "in place")
		})
	}
}

// TestClipBounds: bounds that are NaN, infinite, zeros of either sign or in the wrong order have the effect of two comparisons.
func TestClipBounds(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		t.Run("F32", func(t *testing.T) { testClipBounds(t, awkward32(300)) })
		t.Run("F64", func(t *testing.T) { testClipBounds(t, awkward64(300)) })
	})
}

func testClipBounds[T Float](t *testing.T, x []T) {
	inf, minusZero := T(math.Inf(1)), T(math.Copysign(0, -1))
	copy(x, []T{0, minusZero, 1, -1, inf, -inf, inf - inf})
	bounds := []T{0, minusZero, 1, -1, inf, -inf, inf - inf}
	got, want := make([]T, len(x)), make([]T, len(x))
	for _, lo := range bounds {
		for _, hi := range bounds {
			Clip(got, x, lo, hi)
			clipGeneric(want, x, lo, hi)
			require.True(t, testkit.SameBits(got, want), "from %g to %g", lo, hi)
		}
	}
}

func TestSoftmax(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		t.Run("F32", func(t *testing.T) { testSoftmax[float32](t, 0x1p-21) })
		t.Run("F64", func(t *testing.T) { testSoftmax[float64](t, 0x1p-50) })
	})
}

func testSoftmax[T Float](t *testing.T, eps float64) {
	rng := testkit.Rand(91)
	for _, c := range []int{1, 2, 7, 33, 600} {
		x := testkit.Normal[T](rng, 3*c)
		for i := range x {
			x[i] = x[i]*10 + T(300*(i/c))
		}
		got := make([]T, len(x))
		Softmax(got, x, c)
		for r := range 3 {
			row := x[r*c:][:c]
			most, at := float64(row[0]), 0
			for i, v := range row {
				if float64(v) > most {
					most, at = float64(v), i
				}
			}
			sum := 0.0
			for _, v := range row {
				sum += math.Exp(float64(v) - most)
			}
			for i, v := range row {
				want := math.Exp(float64(v)-most) / sum
				require.InDelta(t, want, float64(got[r*c+i]), 4*eps*want*(1+math.Abs(float64(v)-most))+1e-40)
			}
			require.InDelta(t, most+math.Log(sum), LogSumExp(row), 4*eps*(1+math.Abs(most)))
			require.Equal(t, at, ArgMax(row))
		}
	}
	inf, nan := T(math.Inf(1)), T(math.NaN())
	for n := 1; n < 80; n++ { // the largest at every place, once and twice
		row := testkit.CopyAtEnd(t, make([]T, n))
		for at := range row {
			row[at] = 1
			require.Equal(t, at, ArgMax(row))
			row[n-1] = 1
			require.Equal(t, at, ArgMax(row))
			clear(row)
		}
	}
	long := make([]T, 1<<17+77)
	long[len(long)-1] = 1
	require.Equal(t, len(long)-1, ArgMax(long))
	require.Equal(t, -1, ArgMax([]T{}))
	require.Equal(t, 0, ArgMax([]T{-inf, -inf}))
	require.Equal(t, 1, ArgMax([]T{1, nan, inf}))
	require.Equal(t, math.Inf(-1), LogSumExp([]T{}))
	require.Equal(t, math.Inf(-1), LogSumExp([]T{-inf, -inf}))
	require.Equal(t, math.Inf(1), LogSumExp([]T{0, inf}))
	require.True(t, math.IsNaN(LogSumExp([]T{0, nan})))
	got := make([]T, 4)
	Softmax(got, []T{-inf, 0, 1, nan}, 2)
	require.Equal(t, []T{0, 1}, got[:2])
	require.True(t, got[2] != got[2] && got[3] != got[3])
}
