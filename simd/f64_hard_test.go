package simd

import (
	"math"
	"math/big"
	"testing"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// TestF64HardArguments holds float64 functions to 2 ULP where their formulas are weakest: at multiples of π/2 for sine
// and cosine, at both ends of the range for the others.
func TestF64HardArguments(t *testing.T) {
	rng := testkit.Rand(70)
	turns := []float64{921334.8775182787, 871790.3905748408, 1e-300, 5e-324}
	ends := []float64{709.43, 709.44, 709.5, 709.7, 709.78, 709.782712893384, -708.3, -708.5, -709, -740, -745.13, -745.2,
		709.7827128933841, 710}
	n := 2000
	if *long {
		n = 100_000
	}
	for range n {
		k := float64(1 + rng.IntN(636_000))
		turns = append(turns, math.Copysign(k*(math.Pi/2)*(1+float64(rng.IntN(5)-2)*0x1p-53), rng.Float64()-0.5))
		ends = append(ends, 708+2*rng.Float64(), -708-38*rng.Float64())
	}
	sin := func(x *big.Float) *big.Float { s, _ := bigSinCos(x); return s }
	cos := func(x *big.Float) *big.Float { _, c := bigSinCos(x); return c }
	eachLevel(t, func(t *testing.T) {
		check := func(name string, got, x []float64, exact func(*big.Float) *big.Float) {
			worst, at := 0.0, 0
			for i, v := range x {
				if e := testkit.ULP64(got[i], exact(bigf(v))); !(e <= worst) {
					worst, at = e, i
				}
			}
			t.Logf("%s: worst %.3f ULP at %v", name, worst, x[at])
			if !(worst <= 2) {
				t.Errorf("%s(%v) = %v is off by %g ULP", name, x[at], got[at], worst)
			}
		}
		s, c := make([]float64, len(turns)), make([]float64, len(turns))
		SinCosF64(s, c, turns)
		check("sin", s, turns, sin)
		check("cos", c, turns, cos)
		e := make([]float64, len(ends))
		ExpF64(e, ends)
		check("exp", e, ends, bigExp)
	})
}

// TestAtan2F64Extremes pairs all kinds of coordinates: infinities, the largest and the smallest numbers, zeros and
// quotients that underflow.
func TestAtan2F64Extremes(t *testing.T) {
	inf := math.Inf(1)
	sizes := []float64{0, 5e-324, 1e-323, 1.5e-323, 1e-310, 0x1p-1022, 1.05e-221, 1e-30, 0.5, 1, 1.5, 2.45e166, 0x1p1021,
		0x1.8p1021, 0x1p1022, 0x1.5p1022, 0x1.fffffffffffffp1022,
		0x1p1023, 0x1.2p1023, 0x1.8p1023, 1.7e308, math.MaxFloat64, inf}
	var y, x []float64
	for _, a := range sizes {
		for _, b := range sizes {
			for s := range 4 {
				y, x = append(y, math.Copysign(a, float64(s&1)-0.5)), append(x, math.Copysign(b, float64(s&2)-1))
			}
		}
	}
	rng := testkit.Rand(71)
	for range 2000 { // coordinates of the whole range, of about equal size or not
		a, b := math.Ldexp(1+rng.Float64(), rng.IntN(2098)-1074), math.Ldexp(1+rng.Float64(), rng.IntN(2098)-1074)
		if rng.IntN(2) == 0 {
			b = a * (0.5 + rng.Float64())
		}
		y, x = append(y, math.Copysign(a, rng.Float64()-0.5)), append(x, math.Copysign(b, rng.Float64()-0.5))
	}
	eachLevel(t, func(t *testing.T) {
		got := make([]float64, len(x))
		Atan2F64(got, y, x)
		for i := range x {
			if x[i] == 0 || y[i] == 0 || math.IsInf(x[i], 0) || math.IsInf(y[i], 0) {
				if want := math.Atan2(y[i], x[i]); !(math.Abs(got[i]-want) <= 0x1p-52*math.Abs(want)) ||
					math.Signbit(got[i]) != math.Signbit(want) {
					t.Errorf("atan2(%v, %v) = %v, want %v", y[i], x[i], got[i], want)
				}
				continue
			}
			if e := testkit.ULP64(got[i], bigAtan2(bigf(y[i]), bigf(x[i]))); !(e <= 2) || math.Signbit(got[i]) != math.Signbit(y[i]) {
				t.Errorf("atan2(%v, %v) = %v is off by %g ULP", y[i], x[i], got[i], e)
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
