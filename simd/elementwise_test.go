package simd

import (
	"math"
	"math/big"
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
		"sub":  {Sub[T], func(x, y T) T { return x - y }},
		"mul":  {Mul[T], func(x, y T) T { return x * y }},
		"div":  {Div[T], func(x, y T) T { return x / y }},
		"max":  {Max[T], func(x, y T) T { return max(x, y) }},
		"min":  {Min[T], func(x, y T) T { return min(x, y) }},
		"sqrt": {func(dst, x, _ []T) { Sqrt(dst, x) }, func(x, _ T) T { return T(math.Sqrt(float64(x))) }},
		"abs":  {func(dst, x, _ []T) { Abs(dst, x) }, func(x, _ T) T { return T(math.Abs(float64(x))) }},
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

// bigErfc is 1 - 2/√π·Σ (-1)ⁿz²ⁿ⁺¹/(n!(2n+1)), in as many bits as its largest terms cancel.
func bigErfc(z float64) *big.Float {
	const prec = 2800
	num := func(x float64) *big.Float { return new(big.Float).SetPrec(prec).SetFloat64(x) }
	mul := func(x, y *big.Float) *big.Float { return new(big.Float).SetPrec(prec).Mul(x, y) }
	quo := func(x, y *big.Float) *big.Float { return new(big.Float).SetPrec(prec).Quo(x, y) }
	z2, term := mul(num(z), num(-z)), num(z)
	sum := num(z)
	for n := 1; n < 6000; n++ {
		term = quo(mul(term, z2), num(float64(n)))
		add := quo(term, num(float64(2*n+1)))
		if add.Sign() == 0 || add.MantExp(nil) < -prec+100 {
			break
		}
		sum.Add(sum, add)
	}
	// π by Machin's formula, in that many bits.
	arccot := func(k float64) *big.Float {
		p := quo(num(1), num(k))
		s := new(big.Float).Set(p)
		for n := 3.0; p.MantExp(nil) > -prec; n += 2 {
			p = quo(p, num(-k*k))
			s.Add(s, quo(p, num(n)))
		}
		return s
	}
	pi := mul(num(4), new(big.Float).Sub(mul(num(4), arccot(5)), arccot(239)))
	return new(big.Float).SetPrec(prec).Sub(num(1), quo(mul(num(2), sum), new(big.Float).SetPrec(prec).Sqrt(pi)))
}

// TestSpecialFunctions holds what the standard library computes to the documented bounds.
func TestSpecialFunctions(t *testing.T) {
	rng := testkit.Rand(90)
	const n = 200
	worst := func(name string, bound float64, x, got []float64, exact func(float64) *big.Float) {
		w, at := 0.0, 0
		for i, v := range x {
			if e := testkit.ULP64(got[i], exact(v)); !(e <= w) {
				w, at = e, i
			}
		}
		t.Logf("%s: worst %.3f ULP at %v", name, w, x[at])
		if !(w <= bound) {
			t.Errorf("%s(%v) = %v is off by %g ULP", name, x[at], got[at], w)
		}
	}
	x, got := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = spread(rng, 5)
	}
	ErfF64(got, x)
	worst("erf", 2, x, got, func(v float64) *big.Float { return new(big.Float).Sub(bigf(1), bigErfc(v)) })
	for i := range x {
		x[i] = -37 + 45*rng.Float64()
		if i%4 == 0 {
			x[i] = spread(rng, 1)
		}
	}
	GELUF64(got, x)
	worst("gelu", 4, x, got, func(v float64) *big.Float { // erfc at -v/√2, by the argument that is nearest and its derivative
		z := bigQuo(bigf(-v), bigNew().Sqrt(bigf(2)))
		near, _ := z.Float64()
		d := bigSub(z, bigf(near))
		slope := bigQuo(bigMul(bigf(-2), bigExp(bigMul(z, bigNeg(z)))), bigNew().Sqrt(bigPi))
		erfc := bigAdd(bigNew().Set(bigErfc(near)), bigMul(slope, d))
		return bigMul(bigMul(bigf(0.5), bigf(v)), erfc)
	})
	for i := range x {
		x[i] = spread(rng, 700)
	}
	Expm1F64(got, x)
	worst("expm1", 2, x, got, func(v float64) *big.Float { return bigSub(bigExp(bigf(v)), bigf(1)) })
	for i := range x {
		x[i] = math.Abs(spread(rng, 1e10)) - 0.5*rng.Float64()
	}
	Log1pF64(got, x)
	worst("log1p", 2, x, got, func(v float64) *big.Float {
		u := bigAdd(bigf(1), bigf(v))
		return bigLog(u)
	})
}

// TestPowF64 compares with big.Float, and on special values with math.Pow.
func TestPowF64(t *testing.T) {
	rng := testkit.Rand(190)
	const n = 200
	x, y, got := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = math.Exp(spread(rng, 300))
		if i%3 == 0 {
			x[i] = 1 + spread(rng, 1e-6)
		}
		if x[i] == 1 {
			x[i] = 2
		}
		y[i] = (2*rng.Float64() - 1) * 700 / math.Abs(math.Log(x[i]))
		if i%5 == 0 {
			y[i] = math.Round(y[i])
		}
	}
	PowF64(got, x, y)
	for i := range x {
		exact := bigExp(bigMul(bigf(y[i]), bigLog(bigf(x[i]))))
		if f, _ := exact.Float64(); f < 0x1p-1000 || f > 0x1p1000 || y[i] == 0 {
			continue
		}
		if e := testkit.ULP64(got[i], exact); !(e <= 2) {
			t.Errorf("pow(%v, %v) = %v is off by %g ULP", x[i], y[i], got[i], e)
		}
	}
	for _, a := range testkit.Edges64() {
		for _, b := range append(testkit.Edges64(), -3, 2, 3, 0.5) {
			PowF64(got[:1], []float64{a}, []float64{b})
			size := math.Abs(a)
			if !(size > 0 && size <= math.MaxFloat64) || b-b != 0 || b == 0 || a < 0 && b != math.Trunc(b) {
				if want := math.Pow(a, b); !testkit.SameBits(got[:1], []float64{want}) {
					t.Errorf("pow(%v, %v) = %v, math.Pow has %v", a, b, got[0], want)
				}
				continue
			}
			exact := bigMul(bigf(b), bigLog(bigf(size)))
			if f, _ := exact.Float64(); math.Abs(f) > 700 {
				continue
			}
			exact = bigExp(exact)
			if a < 0 && math.Mod(b, 2) != 0 {
				exact = bigNeg(exact)
			}
			if e := testkit.ULP64(got[0], exact); !(e <= 2) {
				t.Errorf("pow(%v, %v) = %v is off by %g ULP", a, b, got[0], e)
			}
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
