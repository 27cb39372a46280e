package testkit

import (
	"math"
	"math/big"
	"testing"
)

// bigErf is 2/√π·Σ (-1)ⁿxⁿ⁺¹/(n!(2n+1)), in as many bits as its largest terms cancel.
func bigErf(x float64) *big.Float {
	const prec = 1200
	num := func(x float64) *big.Float { return new(big.Float).SetPrec(prec).SetFloat64(x) }
	sum, term, z := num(x), num(x), new(big.Float).Mul(num(x), num(-x))
	for n := 1; ; n++ {
		term = new(big.Float).Quo(new(big.Float).Mul(term, z), num(float64(n)))
		add := new(big.Float).Quo(term, num(float64(2*n+1)))
		if add.Sign() == 0 || add.MantExp(nil) < -prec+200 {
			break
		}
		sum.Add(sum, add)
	}
	return new(big.Float).SetPrec(prec).Quo(sum, new(big.Float).SetPrec(prec).Sqrt(bigMul(bigPi, bigf(0.25))))
}

// TestDDAgainstBig holds the fast reference to 2^-64 of the slow one's size: a two-thousandth of the last place of float64.
func TestDDAgainstBig(t *testing.T) {
	sin := func(x *big.Float) *big.Float { s, _ := bigSinCos(x); return s }
	cos := func(x *big.Float) *big.Float { _, c := bigSinCos(x); return c }
	one, inf := bigf(1), math.Inf(1)
	for _, f := range []struct {
		name   string
		dd     func(x float64) Scaled
		big    func(x *big.Float) *big.Float
		lo, hi float64 // finite arguments above and below
		least  float64 // |x| from which the slow reference has digits left
	}{
		{"exp", func(x float64) Scaled { return ExpDD(Wide(x)) }, bigExp, -760, 760, 0},
		{"expm1", func(x float64) Scaled { return Expm1DD(Wide(x)) },
			func(x *big.Float) *big.Float { return bigSub(bigExp(x), one) }, -760, 760, 0x1p-80},
		{"log", func(x float64) Scaled { return LogDD(Wide(x)).Plain() }, bigLog, 0, inf, 0},
		{"log1p", func(x float64) Scaled { return Log1pDD(Wide(x)).Plain() },
			func(x *big.Float) *big.Float { return bigLog(new(big.Float).SetPrec(2400).Add(one, x)) }, -1, 1e300, 0x1p-80},
		{"sin", func(x float64) Scaled { s, _ := SinCosDD(x); return s.Plain() }, sin, -0x1p60, 0x1p60, 0},
		{"cos", func(x float64) Scaled { _, c := SinCosDD(x); return c.Plain() }, cos, -0x1p60, 0x1p60, 0},
		{"erf", func(x float64) Scaled { return ErfDD(Wide(x)) }, nil, -6, 6, 0},
		{"erfc", func(x float64) Scaled { return ErfcDD(Wide(x)) }, nil, -6, 10, 0},
	} {
		rng := Rand(5)
		worst, at := 0.0, 0.0
		for range 400 {
			var x float64
			switch rng.IntN(4) {
			case 0:
				x = Pattern[float64](rng)
			case 1:
				x = rng.NormFloat64() * 20
			case 2:
				x = math.Exp2(600 * (rng.Float64() - 1))
			default:
				x = float64(rng.IntN(1<<20)) * math.Pi / 2
			}
			if !(x > f.lo && x < f.hi) || x == 0 || math.Abs(x) < f.least {
				continue
			}
			got := f.dd(x)
			var want *big.Float
			switch f.name {
			case "erf":
				want = bigErf(x)
			case "erfc":
				want = new(big.Float).SetPrec(1000).Sub(one, bigErf(x))
			default:
				want = f.big(bigf(x))
			}
			value := new(big.Float).SetPrec(400).Add(bigf(got.Hi), bigf(got.Lo))
			value.SetMantExp(value, got.E)
			d, _ := bigQuo(bigSub(value, want), want).Float64()
			if want.Sign() == 0 {
				d = got.Hi
			}
			if !(math.Abs(d) <= worst) {
				worst, at = math.Abs(d), x
			}
		}
		t.Logf("%-6s worst relative error 2^%.1f at %v", f.name, math.Log2(worst), at)
		if !(worst <= 0x1p-64) {
			t.Errorf("%s(%v) is off by %g", f.name, at, worst)
		}
	}
}

// TestDDPairs does so for functions of two arguments, to 2^-70.
func TestDDPairs(t *testing.T) {
	rng := Rand(6)
	for range 1000 {
		x, y := Pattern[float64](rng), Pattern[float64](rng)
		if rng.IntN(2) == 0 {
			y = x * (1 + rng.NormFloat64())
		}
		if x-x != 0 || y-y != 0 || x == 0 || y == 0 {
			continue
		}
		for name, c := range map[string]struct {
			got  Scaled
			want *big.Float
		}{
			"atan2": {Atan2DD(y, x), bigAtan2(bigf(y), bigf(x))},
			"hypot": {HypotDD(x, y), bigNew().Sqrt(bigAdd(bigMul(bigf(x), bigf(x)), bigMul(bigf(y), bigf(y))))},
		} {
			value := bigAdd(bigf(c.got.Hi), bigf(c.got.Lo))
			value.SetMantExp(value, c.got.E)
			if d, _ := bigQuo(bigSub(value, c.want), c.want).Float64(); !(math.Abs(d) <= 0x1p-70) {
				t.Errorf("%s of (%v, %v) is off by %g", name, x, y, d)
			}
		}
	}
}
