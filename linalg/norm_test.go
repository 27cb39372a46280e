package linalg_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	. "github.com/equivcnp/equivcnp/linalg"
	"github.com/equivcnp/equivcnp/linalg/batch"
)

func bigSquares(v ...float64) *big.Float {
	s := new(big.Float).SetPrec(3000)
	for _, x := range v {
		b := new(big.Float).SetPrec(3000).SetFloat64(x)
		s.Add(s, b.Mul(b, b))
	}
	return s
}

func TestNorms(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		n := 1 + rng.IntN(6)
		v := make([]float64, n)
		e := rng.IntN(2000) - 1000
		for i := range v {
			v[i] = math.Ldexp(rng.NormFloat64(), e+rng.IntN(20))
		}
		want, _ := new(big.Float).Sqrt(bigSquares(v...)).Float64()
		got := Norm(v)
		if !(math.Abs(got-want) <= 1e-15*want) {
			t.Fatalf("Norm(%v) = %v, want %v", v, got, want)
		}
		switch n {
		case 1:
			require.Equal(t, math.Abs(v[0]), got)
		case 2:
			require.Equal(t, Norm2(v[0], v[1]), got)
		case 3:
			require.Equal(t, Norm3(v[0], v[1], v[2]), got)
		}
	}
	require.Zero(t, Norm(nil))
	require.Zero(t, Norm([]float64{0, 0, 0, 0}))
	require.Equal(t, 5e-300, Norm2(3e-300, 4e-300))
	require.Equal(t, 5e300, Norm2(3e300, -4e300))
	require.True(t, math.IsNaN(Norm3(1, math.NaN(), 1)))
	require.False(t, SafeSquare(math.NaN()))
	require.False(t, SafeSquare(math.Inf(1)))
}

// The oracle computes r² exactly and takes the logarithm of mantissa and exponent apart, or of 1 + (r²-1).
func TestLogHypot(t *testing.T) {
	one := big.NewFloat(1)
	oracle := func(x, y float64) float64 {
		r2 := bigSquares(x, y)
		if d, _ := new(big.Float).SetPrec(3000).Sub(r2, one).Float64(); math.Abs(d) < 0.5 {
			return math.Log1p(d) / 2
		}
		m := new(big.Float)
		e := r2.MantExp(m)
		f, _ := m.Float64()
		return math.Log(f)/2 + float64(e)*(math.Ln2/2)
	}
	rng := rand.New(rand.NewPCG(2, 2))
	check := func(x, y float64) {
		t.Helper()
		got, want := LogHypot(x, y), oracle(x, y)
		if !(math.Abs(got-want) <= 5e-16*max(1, math.Abs(want))) {
			t.Fatalf("LogHypot(%v, %v) = %v, want %v", x, y, got, want)
		}
		for _, g := range []float64{LogHypot(y, x), LogHypot(-x, y), LogHypot(-y, -x)} {
			require.Equal(t, got, g, "symmetry")
		}
	}
	for range 3000 {
		check(math.Ldexp(rng.NormFloat64(), rng.IntN(2000)-1000), math.Ldexp(rng.NormFloat64(), rng.IntN(2000)-1000))
		th := 7 * rng.Float64()
		check(math.Cos(th)*(1+1e-9*rng.NormFloat64()), math.Sin(th))
	}
	for _, x := range []float64{5e-324, 1e-310, 1e-300, 0.5, 1, 2, 1e300, math.MaxFloat64} {
		check(x, 0)
		check(x, x)
		check(x, 5e-324)
		check(x, math.MaxFloat64)
	}
	// On the axis next to the unit circle every digit is right.
	for e := -52; e < -5; e++ {
		d := math.Ldexp(1, e)
		require.InEpsilon(t, math.Log1p(d), LogHypot(0, -1-d), 1e-15)
		require.InEpsilon(t, math.Log1p(-d), LogHypot(1-d, 0), 1e-15)
	}
	require.InDelta(t, -1074*math.Ln2, Log(5e-324), 1e-12)
	require.InDelta(t, -1022*math.Ln2, Log(0x1p-1022), 1e-12)
	require.Equal(t, math.Inf(-1), Log(0))
	require.True(t, math.IsNaN(Log(-1)))
	require.Equal(t, math.Inf(-1), LogHypot(0, 0))
	require.Equal(t, math.Inf(1), LogHypot(math.Inf(-1), 1))
	require.True(t, math.IsNaN(LogHypot(math.NaN(), 1)))
	require.True(t, math.IsNaN(LogHypot(1, math.NaN())))
}

func TestScaleExp(t *testing.T) {
	for _, c := range []struct{ a, x, want float64 }{
		{0, 3, 3}, {1, 2, 2 * math.E}, {math.Inf(1), 0, 0}, {1000, 0, 0}, {-1000, 5, 0}, {800, 1, math.Inf(1)},
		{800, -1, math.Inf(-1)}, {-1e9, 1e300, 0},
	} {
		require.Equal(t, c.want, ScaleExp(c.a, c.x), "ScaleExp(%v, %v)", c.a, c.x)
	}
	// exp(±720) is out of range or subnormal, the product is not.
	require.InEpsilon(t, math.Exp(100), ScaleExp(720, math.Exp(-620)), 1e-12)
	require.InEpsilon(t, math.Exp(-120), ScaleExp(-720, math.Exp(600)), 1e-12)
	require.True(t, math.IsNaN(ScaleExp(math.NaN(), 0)))
	require.True(t, math.IsNaN(ScaleExp(1, math.NaN())))
}

func TestWrapAngle(t *testing.T) {
	const tau = 2 * math.Pi
	for _, c := range []struct{ in, want float64 }{
		{0, 0}, {1, 1}, {math.Pi, math.Pi}, {-math.Pi, -math.Pi}, {tau, 0}, {-tau, 0}, {3 * math.Pi, -math.Pi},
		{4, 4 - tau}, {-4, tau - 4}, {7, 7 - tau}, {2*tau + 1, 1},
	} {
		require.InDelta(t, c.want, WrapAngle(c.in), 1e-15, "WrapAngle(%v)", c.in)
	}
	rng := rand.New(rand.NewPCG(3, 2))
	for range 5000 {
		d := math.Ldexp(rng.NormFloat64(), rng.IntN(12))
		w := WrapAngle(d)
		require.LessOrEqual(t, math.Abs(w), math.Pi)
		require.Equal(t, -w, WrapAngle(-d), "odd")
		if math.Abs(d) > math.Pi {
			require.Equal(t, math.Remainder(d, tau), w, "exact")
		} else {
			require.Equal(t, d, w)
		}
	}
	for _, d := range []float64{math.Nextafter(math.Pi, 4), math.Nextafter(3*math.Pi, 0), math.Nextafter(3*math.Pi, 10)} {
		require.Equal(t, math.Remainder(d, tau), WrapAngle(d), "at the borders of the quick path")
	}
	require.True(t, math.IsNaN(WrapAngle(math.NaN())))
	require.True(t, math.IsNaN(WrapAngle(math.Inf(1))))
}

func TestAngleHasNoSignedZeros(t *testing.T) {
	zero := math.Copysign(0, -1)
	require.Equal(t, math.Pi, Angle(-1, zero))
	require.Equal(t, math.Pi, Angle(-1, 0))
	for _, x := range []float64{0, zero} {
		for _, y := range []float64{0, zero} {
			require.Equal(t, uint64(0), math.Float64bits(Angle(x, y)), "Angle(%v, %v)", x, y)
		}
	}
}

// TestAnglesOfLargeNumbers goes to the largest numbers, where what the kernels divide by, a sum of both magnitudes, overflows.
// Angles do not change by a power of two, which brings the numbers to where nothing does.
func TestAnglesOfLargeNumbers(t *testing.T) {
	t.Run("F32", func(t *testing.T) {
		eachLevel(t, testAnglesOfLargeNumbers[float32](math.MaxFloat32, 126, 3e-7))
	})
	t.Run("F64", func(t *testing.T) {
		eachLevel(t, testAnglesOfLargeNumbers[float64](math.MaxFloat64, 1022, 5e-16))
	})
}

func testAnglesOfLargeNumbers[T batch.Float](most T, exponent int, tol float64) func(t *testing.T) {
	return func(t *testing.T) {
		const n = 37 // whole vectors of every level, and a rest
		parts := []float64{1, 0x1.ffffffp-1, 0.75, 0x1.8000020p-1, 0.5, 0x1.000002p-1, 0x1.fffffep-2, 0.4375, 0.25, 0x1p-30, 0}
		for _, p := range parts {
			for _, q := range parts {
				if p < 0.5 && q < 0.5 {
					continue // nothing large
				}
				for quadrant := range 4 {
					x, y := T(p)*most, T(q)*most
					if quadrant&1 != 0 {
						x = -x
					}
					if quadrant&2 != 0 {
						y = -y
					}
					want := math.Atan2(math.Ldexp(float64(y), -exponent), math.Ldexp(float64(x), -exponent))
					if want == -math.Pi {
						want = math.Pi // zeros have no sign here
					}
					// Alone among harmless neighbours, in any lane.
					for at := 0; at < n; at += 3 {
						e, so2, se2 := make([]T, 4*n), make([]T, n), make([]T, 3*n)
						for i := range n {
							e[i], e[n+i] = 0.6, 0.8
						}
						e[at], e[n+at] = x, y
						batch.Log(batch.SO2, so2, e[:2*n], n)
						batch.Log(batch.SE2, se2, e, n)
						for i := range n {
							w := want
							if i != at {
								w = math.Atan2(float64(T(0.8)), float64(T(0.6)))
							}
							for _, got := range []T{so2[i], se2[i]} {
								if !(math.Abs(float64(got)-w) <= tol*math.Abs(w)) {
									t.Fatalf("angle of (%g, %g), place %d of %d with the hard one at %d: %.17g, want %.17g", x, y,
										i, n, at, got, w)
								}
							}
						}
					}
				}
			}
		}
	}
}
