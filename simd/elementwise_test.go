package simd

import (
	"math"
	"slices"
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
				if tol := 4*eps*want*(1+math.Abs(float64(v)-most)) + 1e-40; !(math.Abs(want-float64(got[r*c+i])) <= tol) {
					t.Fatalf("c=%d: Softmax[%d,%d] = %g, want %g ± %g", c, r, i, got[r*c+i], want, tol)
				}
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
			once := ArgMax(row)
			row[n-1] = 1
			if twice := ArgMax(row); once != at || twice != at {
				t.Fatalf("n=%d: ArgMax = %d and %d, want %d", n, once, twice, at)
			}
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
	testSoftmaxRows[T](t)
}

// testSoftmaxRows looks at rows of every length to the end of readable memory, in place, with elements that are no numbers at all places.
func testSoftmaxRows[T Float](t *testing.T) {
	rng := testkit.Rand(92)
	inf, nan := T(math.Inf(1)), T(math.NaN())
	for c := 1; c < 70; c++ {
		x := testkit.Normal[T](rng, 3*c)
		for i := range x {
			x[i] = 40*x[i] - 60 // results from 1 to subnormal ones and 0
		}
		x = testkit.CopyAtEnd(t, x)
		want, got := make([]T, len(x)), testkit.CopyAtEnd(t, make([]T, len(x)))
		softmaxGeneric(want, x, c)
		Softmax(got, x, c)
		for i, w := range want {
			require.InDelta(t, float64(w), float64(got[i]), 8*eps[T]()*float64(w)+1e-44, "row of %d: %d", c, i)
		}
		Softmax(x, x, c)
		require.True(t, testkit.SameBits(x, got), "in place, rows of %d", c)

		at := c / 3
		row := testkit.CopyAtEnd(t, testkit.Normal[T](rng, c))
		most := ArgMax(row)
		row[at] = nan
		require.Equal(t, at, ArgMax(row))
		require.True(t, math.IsNaN(LogSumExp(row)))
		Softmax(got[:c], row, c)
		for _, v := range got[:c] {
			require.True(t, v != v)
		}
		row[at] = inf
		require.Equal(t, at, ArgMax(row))
		require.Equal(t, math.Inf(1), LogSumExp(row))
		Softmax(got[:c], row, c)
		require.True(t, got[at] != got[at] && got[most] != got[most])
		row[at] = -inf
		if c > 1 {
			Softmax(got[:c], row, c)
			require.Zero(t, got[at])
			require.InDelta(t, 1, Sum(got[:c]), float64(c)*eps[T]())
			require.False(t, math.IsNaN(LogSumExp(row)))
		}
		for i := range row {
			row[i] = -inf
		}
		require.Equal(t, math.Inf(-1), LogSumExp(row))
		require.Equal(t, 0, ArgMax(row))
	}
	for _, c := range []int{4096, 4097, 8191, 8192, 20000, 1<<17 + 3} { // by pieces
		x := testkit.Normal[T](rng, c)
		for i := range x {
			x[i] = 5*x[i] + 1000
		}
		for i := range 5000 % c {
			x[i] = -inf // the first pieces hold nothing else
		}
		want, got := make([]T, c), make([]T, c)
		softmaxGeneric(want, x, c)
		Softmax(got, x, c)
		for i, w := range want {
			require.InDelta(t, float64(w), float64(got[i]), 8*eps[T]()*float64(w), "row of %d: %d", c, i)
		}
		require.InEpsilon(t, logSumExpGeneric(x), LogSumExp(x), 4*eps[T]())
		_, most := MinMax(x)
		at := ArgMax(x)
		require.Equal(t, most, x[at])
		require.NotContains(t, x[:at], most)
		x[c-1], x[c-2] = nan, nan
		require.Equal(t, c-2, ArgMax(x))
		require.True(t, math.IsNaN(LogSumExp(x)))
		Softmax(got, x, c)
		require.True(t, got[0] != got[0] && got[c-1] != got[c-1])
	}
	negative := T(math.Copysign(0, -1))
	require.Equal(t, 1, ArgMax([]T{-1, negative, 0}))
	zeros := slices.Repeat([]T{-1, -1, negative, 0}, 9)
	require.Equal(t, 2, ArgMax(zeros))
}
