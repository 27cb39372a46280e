package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// A trialCase is an elementwise function, its reference and its documented bounds.
type trialCase struct {
	name string
	f32  func(dst, x, y []float32)
	f64  func(dst, x, y []float64)
	// ref is the reference for finite arguments other than 0, plain the function for the others.
	ref   func(x, y float64) testkit.Scaled
	plain func(x, y float64) float64
	// ulp32 and ulp64 are the bounds, in units of the last place or, where that is more, of floor.
	ulp32, ulp64 float64
	floor        func(x float64, eps float64) float64
	args         argsOf
}

// argsOf chooses the arguments that a function is also tried with.
type argsOf int

const (
	anyArgs     argsOf = iota
	oneSign            // mostly positive
	powerArgs          // whose power is in the range
	pairs              // about equal or of extreme ratios
	nonNegative        // for a function of a result ≥ 0
)

func one[T Float](f func(dst, x []T)) func(dst, x, _ []T) { return func(dst, x, _ []T) { f(dst, x) } }

func sineOf[T Float](f func(s, c, x []T)) func(dst, x, _ []T) {
	return func(dst, x, _ []T) { f(dst, make([]T, len(x)), x) }
}

func cosineOf[T Float](f func(s, c, x []T)) func(dst, x, _ []T) {
	return func(dst, x, _ []T) { f(make([]T, len(x)), dst, x) }
}

// derivative calls f with the gradient 1.
func derivative[T Float](f func(dx, dy, x []T)) func(dst, x, _ []T) {
	return func(dst, x, _ []T) {
		for i := range dst {
			dst[i] = 1
		}
		f(dst, dst, x)
	}
}

func plain1(f func(float64) float64) func(x, _ float64) float64 {
	return func(x, _ float64) float64 { return f(x) }
}

// refSigmoidDD is exp(x)/(1 + exp(x)) or 1/(1 + exp(-x)).
func refSigmoidDD(x float64) testkit.Scaled {
	e := testkit.ExpDD(testkit.Wide(-math.Abs(x)))
	tail := testkit.DD{}
	if e.E > -300 {
		tail = e.Ldexp(e.E)
	}
	sum := testkit.Wide(1).Add(tail)
	if x > 0 {
		return testkit.Wide(1).Div(sum).Plain()
	}
	return testkit.Scaled{DD: e.DD.Div(sum), E: e.E}
}

func refSoftplusDD(x float64) testkit.Scaled {
	e := testkit.ExpDD(testkit.Wide(-math.Abs(x)))
	if e.E < -200 {
		if x > 0 {
			return testkit.Wide(x).Plain()
		}
		return e
	}
	return testkit.Wide(max(x, 0)).Add(testkit.Log1pDD(e.Ldexp(e.E))).Plain()
}

func refTanhDD(x float64) testkit.Scaled {
	if math.Abs(x) > 60 {
		return testkit.Wide(math.Copysign(1, x)).Plain()
	}
	m := testkit.Expm1DD(testkit.Product(2, x))
	return m.Div(m.Add(testkit.Wide(2))).Plain()
}

func refGELUDD(x float64) testkit.Scaled {
	root2 := testkit.Wide(2).Sqrt()
	z := testkit.Wide(-x).Div(root2)
	if math.Abs(x) < 0x1p-200 {
		z = testkit.DD{}
	}
	c := testkit.ErfcDD(z)
	c.E--
	return c.Times(x)
}

// refPowDD is the power of a finite x and y other than 0.
func refPowDD(x, y float64) testkit.Scaled {
	if x < 0 && y != math.Trunc(y) {
		return testkit.Wide(math.NaN()).Plain()
	}
	l := testkit.LogDD(testkit.Wide(math.Abs(x)))
	p := testkit.Scaled{DD: testkit.Wide(math.Exp(math.Copysign(2000, l.Hi*y)))}
	if size := math.Abs(l.Hi) * math.Abs(y); size < 0x1p-200 {
		p = testkit.Wide(1).Plain()
	} else if size < 1000 {
		p = testkit.ExpDD(l.Mul(testkit.Wide(y)))
	}
	if x < 0 && math.Mod(y, 2) != 0 {
		p.DD = p.Neg()
	}
	return p
}

// refSwishGradDD is s·(1 + x·(1 - s)), s = sigmoid(x).
func refSwishGradDD(x float64) testkit.Scaled {
	if math.Abs(x) > 800 {
		return testkit.Wide(max(math.Copysign(1, x), 0)).Plain()
	}
	s, r := refSigmoidDD(x), refSigmoidDD(-x)
	if s.E < -300 {
		return testkit.Scaled{}
	}
	if r.E < -300 {
		return testkit.Wide(1).Plain()
	}
	return s.Ldexp(s.E).Mul(testkit.Wide(1).Add(r.Ldexp(r.E).Mul(testkit.Wide(x)))).Plain()
}

// refGELUGradDD is Φ(x) + x·φ(x).
func refGELUGradDD(x float64) testkit.Scaled {
	if math.Abs(x) > 40 {
		return testkit.Wide(max(math.Copysign(1, x), 0)).Plain()
	}
	z := testkit.Wide(-x).Div(testkit.Wide(2).Sqrt())
	square := testkit.Product(x, x)
	e, c := testkit.ExpDD(square.Div(testkit.Wide(-2))), testkit.ErfcDD(z)
	density := e.Times(x / math.Sqrt(2*math.Pi)) // whose relative error of 1e-16 is small beside what is allowed
	return c.Ldexp(c.E - 1).Add(density.Ldexp(density.E)).Plain()
}

// exact is the reference of an operation that is rounded once: in float64 the operation itself.
func exact(f func(x, y float64) float64) func(x, y float64) testkit.Scaled {
	return func(x, y float64) testkit.Scaled { return testkit.Wide(f(x, y)).Plain() }
}

func ref1(f func(x float64) testkit.Scaled) func(x, _ float64) testkit.Scaled {
	return func(x, _ float64) testkit.Scaled { return f(x) }
}

// farFloor is what SinCosF64 promises beyond 1e6, half of 1e-15 being the unit; float32 is right to 2 ULP everywhere.
func farFloor(x, eps float64) float64 {
	if math.Abs(x) > 1e6 && eps < 0x1p-50 {
		return 0.5e-15
	}
	return 0
}

// onlyPositive is NaN for a logarithm's negative arguments.
func onlyPositive(least float64, f func(x float64) testkit.Scaled) func(x, _ float64) testkit.Scaled {
	return func(x, _ float64) testkit.Scaled {
		if x < least {
			return testkit.Wide(math.NaN()).Plain()
		}
		if x == least {
			return testkit.Wide(math.Inf(-1)).Plain()
		}
		return f(x)
	}
}

const rounded = 0.5 + 0x1p-20 // the reference of float32 is itself rounded to float64

var trialCases = func() []trialCase {
	w := testkit.Wide
	add := func(x, y float64) float64 { return x + y }
	mul := func(x, y float64) float64 { return x * y }
	div := func(x, y float64) float64 { return x / y }
	sine := func(x float64) testkit.Scaled { s, _ := testkit.SinCosDD(x); return s.Plain() }
	cosine := func(x float64) testkit.Scaled { _, c := testkit.SinCosDD(x); return c.Plain() }
	return []trialCase{
		{"exp", one(ExpF32), one(ExpF64), ref1(func(x float64) testkit.Scaled { return testkit.ExpDD(w(x)) }), plain1(math.Exp),
			2, 2, nil, anyArgs},
		{"expm1", one(Expm1F32), one(Expm1F64), ref1(func(x float64) testkit.Scaled { return testkit.Expm1DD(w(x)) }), plain1(math.Expm1),
			1, 2, nil, anyArgs},
		{"log", one(LogF32), one(LogF64), onlyPositive(0, func(x float64) testkit.Scaled { return testkit.LogDD(w(x)).Plain() }),
			plain1(math.Log), 2, 2, nil, oneSign},
		{"log1p", one(Log1pF32), one(Log1pF64), onlyPositive(-1, func(x float64) testkit.Scaled { return testkit.Log1pDD(w(x)).Plain() }),
			plain1(math.Log1p), 1, 2, nil, oneSign},
		{"sigmoid", one(SigmoidF32), one(SigmoidF64), ref1(refSigmoidDD), plain1(refSigmoid), 2, 4, nil, anyArgs},
		{"swish", one(SwishF32), one(SwishF64), ref1(func(x float64) testkit.Scaled { return refSigmoidDD(x).Times(x) }), plain1(refSwish),
			2, 4, nil, anyArgs},
		{"softplus", one(SoftplusF32), one(SoftplusF64), ref1(refSoftplusDD), plain1(refSoftplus), 2, 4, nil, anyArgs},
		{"tanh", one(TanhF32), one(TanhF64), ref1(refTanhDD), plain1(math.Tanh), 2, 4, nil, anyArgs},
		{"erf", one(ErfF32), one(ErfF64), ref1(func(x float64) testkit.Scaled { return testkit.ErfDD(w(x)) }), plain1(math.Erf),
			1, 2, nil, anyArgs},
		{"gelu", one(GELUF32), one(GELUF64), ref1(refGELUDD), plain1(gelu), 2, 5, nil, anyArgs},
		{"sin", sineOf(SinCosF32), sineOf(SinCosF64), ref1(sine), plain1(math.Sin), 2, 2, farFloor, anyArgs},
		{"cos", cosineOf(SinCosF32), cosineOf(SinCosF64), ref1(cosine), plain1(math.Cos), 2, 2, farFloor, anyArgs},
		{"swish'", derivative(SwishGradF32), derivative(SwishGradF64), ref1(refSwishGradDD), plain1(func(x float64) float64 {
			switch {
			case x > 0:
				return 1
			case x < 0:
				return 0
			}
			return x + 0.5
		}), 4, 4, func(_, eps float64) float64 { return eps }, anyArgs},
		{"gelu'", derivative(GELUGradF32), derivative(GELUGradF64), ref1(refGELUGradDD), plain1(func(x float64) float64 {
			switch {
			case x > 0:
				return 1
			case x < 0:
				return 0
			}
			return x + 0.5
		}), 4, 4, func(_, eps float64) float64 { return eps }, anyArgs},
		{"tanh'", derivative(TanhGradF32), derivative(TanhGradF64),
			ref1(func(y float64) testkit.Scaled {
				if math.Abs(y) > 2 { // no tanh
					return testkit.Wide((1 - y) * (1 + y)).Plain()
				}
				return testkit.Sum(1, -y).Mul(testkit.Sum(1, y)).Plain()
			}), plain1(func(y float64) float64 { return (1 - y) * (1 + y) }), 2, 2, nil, anyArgs},
		{"softplus'", derivative(SoftplusGradF32), derivative(SoftplusGradF64),
			ref1(func(y float64) testkit.Scaled { e := testkit.Expm1DD(w(-y)); e.DD = e.Neg(); return e }),
			plain1(func(y float64) float64 { return -math.Expm1(-y) }), 2, 2, nil, nonNegative},
		{"sqrt", one(SqrtF32), one(SqrtF64), exact(plain1(math.Sqrt)), plain1(math.Sqrt), rounded, 0, nil, oneSign},
		{"atan2", Atan2F32, Atan2F64, testkit.Atan2DD, math.Atan2, 2, 2, nil, pairs},
		{"hypot", HypotF32, HypotF64, testkit.HypotDD, refHypot, 1, 2, nil, pairs},
		{"pow", PowF32, PowF64, refPowDD, math.Pow, 1, 2, nil, powerArgs},
		{"add", AddF32, AddF64, exact(add), add, rounded, 0, nil, pairs},
		{"mul", MulF32, MulF64, exact(mul), mul, rounded, 0, nil, pairs},
		{"div", DivF32, DivF64, exact(div), div, rounded, 0, nil, pairs},
	}
}()

// TestAccuracy compares every elementwise function with arithmetic of 106 bits and holds it to its documented bound, at every
// level: 10,000 arguments, or as many as -trial says. bench/results/accuracy.md has the rows of 10^7.
func TestAccuracy(t *testing.T) {
	for _, c := range trialCases {
		t.Run(c.name, func(t *testing.T) {
			t.Run("F32", func(t *testing.T) { testTrial(t, &c, c.f32, c.ulp32) })
			t.Run("F64", func(t *testing.T) { testTrial(t, &c, c.f64, c.ulp64) })
		})
	}
}

func testTrial[T Float](t *testing.T, c *trialCase, f func(dst, x, y []T), bound float64) {
	const chunk = 1024
	rng, edges := testkit.Rand(uint64(len(c.name))+1000), testkit.Edges[T]()
	x, y, got, want := make([]T, chunk), make([]T, chunk), make([]T, chunk), make([]testkit.Scaled, chunk)
	worst, at := map[Level]float64{}, map[Level]string{}
	for n := 0; n < trials(); n += chunk {
		trialArgs(rng, c.args, x, y)
		for i := range x { // first of all, all pairs of edge values
			if k := n + i; k < len(edges)*len(edges) {
				x[i], y[i] = edges[k/len(edges)], edges[k%len(edges)]
			}
			if c.args == nonNegative {
				x[i] = max(x[i], -x[i])
			}
		}
		for i := range want {
			want[i] = c.wanted(float64(x[i]), float64(y[i]))
		}
		eachLevelQuietly(t, func(l Level) {
			f(got, x, y)
			for i, w := range want {
				if e := c.off(float64(got[i]), float64(x[i]), w, eps[T]()); !(e <= worst[l]) {
					worst[l], at[l] = e, c.describe(float64(x[i]), float64(y[i]), float64(got[i]), w.Float64())
				}
			}
		})
	}
	var row strings.Builder
	for _, l := range Levels() {
		fmt.Fprintf(&row, " %s %.4f at %s |", l, worst[l], at[l])
		if !(worst[l] <= bound) {
			t.Errorf("level=%v: %s is off by %g, need at most %g, at %s", l, c.name, worst[l], bound, at[l])
		}
	}
	t.Logf("| %s | %T | %g |%s", c.name, x[0], bound, row.String())
}

// describe prints a result, in as many digits as tell float64 apart.
func (c *trialCase) describe(x, y, got, want float64) string {
	if c.unary() {
		return fmt.Sprintf("%v: %v, not %v", x, got, want)
	}
	return fmt.Sprintf("(%v, %v): %v, not %v", x, y, got, want)
}

func (c *trialCase) unary() bool { return c.args != pairs && c.args != powerArgs }

// wanted is the exact value, or that of the plain function where there is none.
func (c *trialCase) wanted(x, y float64) testkit.Scaled {
	if x-x != 0 || x == 0 || !c.unary() && (y-y != 0 || y == 0) || c.args == powerArgs && x == 1 {
		return testkit.Wide(c.plain(x, y)).Plain()
	}
	return c.ref(x, y)
}

// off is the error of got in units of the last place or of the floor.
func (c *trialCase) off(got, x float64, w testkit.Scaled, eps float64) float64 {
	var e, ulp float64
	value := w.Float64()
	if eps < 0x1p-50 {
		e = w.ULP64(got)
		ulp = math.Ldexp(1, max(math.Ilogb(value), -1022)-52)
	} else {
		e = testkit.ULP32(float32(got), value)
		ulp = math.Ldexp(1, max(math.Ilogb(value), -126)-23)
		if got == 0 && math.Signbit(got) != math.Signbit(value) {
			e = math.Inf(1)
		}
	}
	if c.floor != nil {
		if unit := c.floor(x, eps); unit > ulp {
			if e *= ulp / unit; math.IsInf(e, 0) && math.Abs(got-value) <= unit {
				return math.Abs(got-value) / unit // zeros of other sign
			}
		}
	}
	return e
}

// eachLevelQuietly calls f at every level, without a subtest.
func eachLevelQuietly(t *testing.T, f func(l Level)) {
	before := CurrentLevel()
	defer func() { require.NoError(t, SetLevel(before)) }()
	for _, l := range Levels() {
		require.NoError(t, SetLevel(l))
		f(l)
	}
}

// trialArgs draws arguments that are hard in different ways, all over the range of T.
func trialArgs[T Float](rng *rand.Rand, kind argsOf, x, y []T) {
	for i := range x {
		x[i] = hardArg[T](rng)
		switch kind {
		case oneSign:
			if rng.IntN(16) != 0 {
				x[i] = max(x[i], -x[i])
			} else if rng.IntN(4) != 0 { // around 0 and 1, and above -1
				x[i] = T(2*rng.Float64() - 1)
			}
		case pairs:
			switch y[i] = hardArg[T](rng); rng.IntN(4) {
			case 0:
				y[i] = x[i] * T(1+math.Exp2(-60*rng.Float64())*(rng.Float64()-0.5))
			case 1:
				y[i] = x[i] * T(math.Exp2(60*(rng.Float64()-0.5)))
			}
		case powerArgs:
			switch y[i] = hardArg[T](rng); rng.IntN(8) {
			case 0, 1, 2:
				if x[i] < 0 {
					x[i] = -x[i]
				}
				y[i] = T((2*rng.Float64() - 1) * 750 / math.Log(float64(x[i])))
			case 3, 4:
				x[i] = T(1 + math.Exp2(-40*rng.Float64())*(rng.Float64()-0.5))
				y[i] = T((2*rng.Float64() - 1) * 750 / math.Log(float64(x[i])))
			case 5:
				y[i] = T(rng.IntN(200) - 100)
			}
		}
	}
}

// hardArg is a bit pattern of the whole range, a number between 2^-30 and 2^10, one next to a multiple of π/2 or ln2/2, one
// next to a threshold, or an edge value.
func hardArg[T Float](rng *rand.Rand) T {
	var v float64
	switch rng.IntN(10) {
	case 0, 1, 2:
		return testkit.Pattern[T](rng)
	case 3, 4, 5, 6:
		v = math.Exp2(40*rng.Float64() - 30)
	case 7:
		v = float64(1+rng.IntN(1<<(1+rng.IntN(20)))) * (math.Pi / 4)
	case 8:
		v = float64(1+rng.IntN(2200)) * (math.Ln2 / 2)
	default:
		return nextTo(rng, testkit.Edge[T](rng))
	}
	if rng.IntN(2) == 0 {
		v = -v
	}
	return nextTo(rng, T(v))
}

// nextTo is v, or a number at most two places from it.
func nextTo[T Float](rng *rand.Rand, v T) T {
	return v * (1 + T(rng.IntN(5)-2)*T(eps[T]()/2))
}
