package simd

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

func TestSums(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		t.Run("F32", testSums[float32])
		t.Run("F64", testSums[float64])
	})
}

func testSums[T Float](t *testing.T) {
	rng := testkit.Rand(30)
	for _, n := range append(lengths(), 255, 256, 257, 511, 513, 5000) {
		x, y := testkit.CopyAtEnd(t, testkit.Normal[T](rng, n)), testkit.CopyAtStart(t, testkit.Normal[T](rng, n))
		var sum, dot, sumSq, sumAbs testkit.DD
		size, dotSize := 0.0, 0.0
		for i := range x {
			a, b := float64(x[i]), float64(y[i])
			sum, dot, sumSq = sum.Add(testkit.Wide(a)), dot.Add(testkit.Product(a, b)), sumSq.Add(testkit.Product(a, a))
			sumAbs = sumAbs.Add(testkit.Wide(math.Abs(a)))
			size += math.Abs(a)
			dotSize += math.Abs(a * b)
		}
		near := func(name string, got float64, want testkit.DD, size float64) {
			t.Helper()
			diff := want.Sub(testkit.Wide(got)).Hi
			if tol := 80 * 0x1p-53 * size; !(math.Abs(diff) <= tol) {
				t.Fatalf("n=%d: %s = %g, off by %g > %g", n, name, got, diff, tol)
			}
		}
		near("Sum", Sum(x), sum, size)
		near("Dot", Dot(x, y), dot, dotSize)
		near("SumSq", SumSq(x), sumSq, sumSq.Hi)
		near("SumAbs", SumAbs(x), sumAbs, size)
		require.Equal(t, Dot(x, x), SumSq(x), "n=%d", n)
		if x, ok := any(x).([]float32); ok {
			got := float64(DotSingleF32(x, any(y).([]float32)))
			diff := dot.Sub(testkit.Wide(got)).Hi
			require.LessOrEqual(t, math.Abs(diff), float64(n+8)*0x1p-24*dotSize, "n=%d: DotSingle = %g", n, got)
		}
		lo, hi := MinMax(x)
		wantLo, wantHi := T(math.Inf(1)), T(math.Inf(-1))
		for _, v := range x {
			wantLo, wantHi = min(wantLo, v), max(wantHi, v)
		}
		require.Equal(t, []T{wantLo, wantHi}, []T{lo, hi}, "n=%d", n)
	}
}

// TestLongSum adds ten million float32 numbers whose naive float32 sum would be off in the second digit.
func TestLongSum(t *testing.T) {
	const n = 10_000_000
	x := make([]float32, n)
	for i := range x {
		x[i] = 0.1
	}
	eachLevel(t, func(t *testing.T) {
		want := float64(float32(0.1)) * n
		require.InDelta(t, want, SumF32(x), 1e-12*want)
		require.InDelta(t, want*float64(float32(0.1)), DotF32(x, x), 1e-12*want)
		require.InDelta(t, want, SumAbsF32(x), 1e-12*want)
		require.InDelta(t, want*float64(float32(0.1)), float64(DotSingleF32(x, x)), 1e-3*want)
	})
}

func TestReductionSpecials(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	eachLevel(t, func(t *testing.T) {
		for _, n := range []int{1, 5, 300} {
			for at := range n {
				x := make([]float32, n)
				x[at] = nan
				lo, hi := MinMaxF32(x)
				require.True(t, lo != lo && hi != hi && math.IsNaN(SumF32(x)) && math.IsNaN(SumSqF32(x)), "n=%d NaN at %d", n, at)
				require.True(t, math.IsNaN(SumAbsF32(x)) && math.IsNaN(float64(DotSingleF32(x, x))), "n=%d NaN at %d", n, at)
				x[at] = -inf
				require.True(t, math.IsInf(SumAbsF32(x), 1), "n=%d infinity at %d", n, at)
				y := make([]float64, n)
				y[at] = math.NaN()
				require.True(t, math.IsNaN(SumAbsF64(y)), "n=%d NaN at %d", n, at)
				y[at] = math.Inf(-1)
				require.True(t, math.IsInf(SumAbsF64(y), 1), "n=%d infinity at %d", n, at)
			}
		}
		lo, hi := MinMaxF32([]float32{0, float32(math.Copysign(0, -1)), 0})
		require.True(t, math.Signbit(float64(lo)) && !math.Signbit(float64(hi)))
		lo, hi = MinMaxF32(nil)
		require.Equal(t, []float32{inf, -inf}, []float32{lo, hi})
		require.True(t, math.IsNaN(SumF32([]float32{inf, -inf})))
		require.Equal(t, 2*math.MaxFloat32*math.MaxFloat32, SumSqF32([]float32{math.MaxFloat32, math.MaxFloat32}))
	})
}

func TestWeightedMoments(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		t.Run("F32", testMoments[float32])
		t.Run("F64", testMoments[float64])
	})
}

// testMoments compares with 106-bit arithmetic, also where the mean is a million times the standard deviation.
func testMoments[T Float](t *testing.T) {
	rng := testkit.Rand(31)
	for _, rows := range []int{1, 2, 3, 50, 300} {
		for _, c := range []int{1, 2, 5, 16, 33} {
			for _, shift := range []float64{0, 1, 1e6} {
				for _, weighted := range []bool{false, true} {
					x := make([]T, rows*c)
					for i := range x {
						x[i] = T(shift + rng.NormFloat64())
					}
					var weight []int32
					if weighted {
						weight = make([]int32, rows)
						for i := range weight {
							weight[i] = int32(rng.IntN(4))
							if weight[i] == 0 {
								x[i*c] = T(math.NaN()) // not read
							}
						}
					}
					mean, variance := make([]float64, c), make([]float64, c)
					total := WeightedMoments(mean, variance, x, weight, c)
					for j := range c {
						wantTotal, wantMean, wantVar := momentsOracle(x, weight, c, j)
						require.Equal(t, wantTotal, total)
						if d := math.Abs(mean[j] - wantMean); !(d <= 1e-13*(1+shift)) {
							t.Fatalf("rows=%d shift=%g: mean[%d] = %g, want %g", rows, shift, j, mean[j], wantMean)
						}
						// The rounded mean itself may be off by 2^-53·shift, whose square is what the variance may gain.
						if d := math.Abs(variance[j] - wantVar); !(d <= 1e-13*wantVar+1e-30*shift*shift) {
							t.Fatalf("rows=%d shift=%g: variance[%d] = %g, want %g", rows, shift, j, variance[j], wantVar)
						}
					}
				}
			}
		}
	}
}

func momentsOracle[T Float](x []T, weight []int32, c, j int) (total, mean, variance float64) {
	var sum, w, sq testkit.DD
	each := func(f func(w, v testkit.DD)) {
		for i := range len(x) / c {
			if weight == nil {
				f(testkit.Wide(1), testkit.Wide(float64(x[i*c+j])))
			} else if weight[i] != 0 {
				f(testkit.Wide(float64(weight[i])), testkit.Wide(float64(x[i*c+j])))
			}
		}
	}
	each(func(wi, v testkit.DD) { sum, w = sum.Add(wi.Mul(v)), w.Add(wi) })
	if w.Hi == 0 {
		return 0, 0, 0
	}
	m := sum.Div(w)
	each(func(wi, v testkit.DD) { sq = sq.Add(wi.Mul(v.Sub(m).Mul(v.Sub(m)))) })
	return w.Hi, m.Hi, sq.Div(w).Hi
}

func TestWeightedMomentsEdges(t *testing.T) {
	mean, variance := []float64{9}, []float64{9}
	require.Zero(t, WeightedMomentsF32(mean, variance, nil, nil, 1))
	require.Equal(t, []float64{0, 0}, []float64{mean[0], variance[0]})
	require.Zero(t, WeightedMomentsF32(mean, variance, []float32{float32(math.NaN())}, []int32{0}, 1))
	require.Equal(t, []float64{0, 0}, []float64{mean[0], variance[0]})
	WeightedMomentsF32(mean, variance, []float32{1, float32(math.NaN())}, nil, 1)
	require.True(t, math.IsNaN(mean[0]) && math.IsNaN(variance[0]))
	require.Equal(t, 7.0, WeightedMomentsF32(nil, nil, nil, []int32{3, 4}, 0))
}

// TestMinMaxSigns takes numbers of one sign, of both, zeros of both signs, infinities and NaN of both signs, in every length up to
// some vectors: which of the integers that a kernel returns counts depends on the signs.
func TestMinMaxSigns(t *testing.T) {
	kinds := map[string][]uint32{
		"negative": {0xbf800000, 0xc0000000, 0x80000001, 0xff7fffff}, "positive": {0x3f800000, 0x40000000, 1, 0x7f7fffff},
		"zeros": {0, 0x80000000}, "mixed": {0xbf800000, 0x40000000, 0x80000001, 1, 0x7f800000, 0xff800000},
		"NaN": {0x3f800000, 0xbf800000, 0x40000000, 0x7fc00000}, "negative NaN": {0xbf800000, 0xc0000000, 0xffc00000},
	}
	eachLevel(t, func(t *testing.T) {
		for name, bits := range kinds {
			for n := range 80 {
				x := make([]float32, n)
				for i := range x {
					x[i] = math.Float32frombits(bits[(i*i+n)%len(bits)])
				}
				lo, hi := MinMaxF32(x)
				wantLo, wantHi := minMaxGeneric(x)
				if wantLo != wantLo {
					require.True(t, lo != lo && hi != hi, "%s, n = %d: %v, %v", name, n, lo, hi)
					continue
				}
				require.Equal(t, math.Float32bits(wantLo), math.Float32bits(lo), "%s, n = %d: smallest", name, n)
				require.Equal(t, math.Float32bits(wantHi), math.Float32bits(hi), "%s, n = %d: largest", name, n)
			}
		}
	})
}

// TestSumF64Overflow adds numbers whose partial sums leave the range although the sum does not.
func TestSumF64Overflow(t *testing.T) {
	inf := math.Inf(1)
	long := make([]float64, 5000)
	for i := range long {
		long[i] = math.Copysign(1e308, float64(len(long)/2-i)-0.5)
	}
	eachLevel(t, func(t *testing.T) {
		for _, c := range []struct {
			x    []float64
			want float64
		}{
			{[]float64{1e308, 1e308, -1e308, -1e308}, 0},
			{[]float64{1e308, 1e308, -1e308, 3}, 1e308},
			{[]float64{1e308, 1e308}, inf},
			{[]float64{-1e308, -1e308}, -inf},
			{[]float64{inf, 1e308, 1e308, -1e308}, inf},
			{[]float64{inf, 1, -inf}, math.NaN()},
			{[]float64{1, math.NaN()}, math.NaN()},
			{long, 0},
		} {
			if got := SumF64(c.x); !testkit.SameBits([]float64{got}, []float64{c.want}) {
				t.Errorf("sum of %d numbers from %g on = %g, want %g", len(c.x), c.x[0], got, c.want)
			}
		}
	})
}
