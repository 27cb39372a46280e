package simd

import (
	"math"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// unary lists the elementwise functions of one argument; sine and cosine count as two.
var unary = []struct {
	name string
	f32  func(dst, x []float32)
	f64  func(dst, x []float64)
	// ref is the reference for float32.
	ref func(x float64) float64
}{
	{"exp", ExpF32, ExpF64, math.Exp},
	{"log", LogF32, LogF64, math.Log},
	{"sigmoid", SigmoidF32, SigmoidF64, refSigmoid},
	{"swish", SwishF32, SwishF64, refSwish},
	{"softplus", SoftplusF32, SoftplusF64, refSoftplus},
	{"tanh", TanhF32, TanhF64, math.Tanh},
	{"relu", ReLUF32, ReLUF64, func(x float64) float64 { return max(x, 0) }},
	{"erf", ErfF32, ErfF64, math.Erf},
	{"gelu", GELUF32, GELUF64, gelu},
	{"expm1", Expm1F32, Expm1F64, math.Expm1},
	{"log1p", Log1pF32, Log1pF64, math.Log1p},
	{"sin", func(dst, x []float32) { SinCosF32(dst, make([]float32, len(x)), x) },
		func(dst, x []float64) { SinCosF64(dst, make([]float64, len(x)), x) }, math.Sin},
	{"cos", func(dst, x []float32) { SinCosF32(make([]float32, len(x)), dst, x) },
		func(dst, x []float64) { SinCosF64(make([]float64, len(x)), dst, x) }, math.Cos},
}

// binary lists the elementwise functions of two arguments.
var binary = []struct {
	name string
	f32  func(dst, x, y []float32)
	f64  func(dst, x, y []float64)
}{{"atan2", Atan2F32, Atan2F64}, {"hypot", HypotF32, HypotF64}, {"add", AddF32, AddF64}, {"pow", PowF32, PowF64}}

func refSigmoid(x float64) float64 {
	if x < 0 {
		return math.Exp(x) / (1 + math.Exp(x))
	}
	return 1 / (1 + math.Exp(-x))
}

func refSwish(x float64) float64 {
	if math.IsInf(x, -1) {
		return math.Copysign(0, -1)
	}
	return x * refSigmoid(x)
}

func refSoftplus(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }

func refHypot(x, y float64) float64 {
	if x != x || y != y {
		return math.NaN()
	}
	return math.Hypot(x, y)
}

// TestF32Accuracy holds every float32 function to 2 ULP, on a million numbers spread over all bit patterns, or on all of
// them with -long; TestAccuracy has those where more happens. The reference is float64 arithmetic, itself right to 2^-51, or 1e-8
// ULP of float32.
func TestF32Accuracy(t *testing.T) {
	step := uint64(4099)
	if *long {
		step = 1
	}
	eachLevel(t, func(t *testing.T) {
		for _, f := range unary {
			t.Run(f.name, func(t *testing.T) {
				worst, at := 0.0, float32(0)
				// All bit patterns, in as many pieces as there are processors.
				pieces := uint64(runtime.GOMAXPROCS(0))
				worsts, ats := make([]float64, pieces), make([]float32, pieces)
				var wait sync.WaitGroup
				for p := range pieces {
					wait.Go(func() { worsts[p], ats[p] = worstOnBits(f.f32, f.ref, 1<<32*p/pieces, 1<<32*(p+1)/pieces, step) })
				}
				wait.Wait()
				for p, e := range worsts {
					if !(e <= worst) {
						worst, at = e, ats[p]
					}
				}
				t.Logf("worst %.4f ULP at %g (%x)", worst, at, math.Float32bits(at))
				if !(worst <= 2) {
					t.Errorf("%s(%g) is off by %g ULP", f.name, at, worst)
				}
			})
		}
	})
}

// worstOnBits returns the largest error of f in ULP, and where it is, on every step-th bit pattern from lo to hi.
func worstOnBits(f func(dst, x []float32), ref func(float64) float64, lo, hi, step uint64) (worst float64, at float32) {
	const chunk = 4096
	x, got := make([]float32, chunk), make([]float32, chunk)
	for u := lo; u < hi; u += chunk * step {
		for i := range x {
			x[i] = math.Float32frombits(uint32(u + uint64(i)*step))
		}
		f(got, x)
		for i, v := range x {
			if e := testkit.ULP32(got[i], ref(float64(v))); !(e <= worst) {
				worst, at = e, v
			}
		}
	}
	return worst, at
}

// TestSinCosF32NearZeros looks where the reduction is hardest: at the float32 numbers next to multiples of π/2.
func TestSinCosF32NearZeros(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		var x []float32
		for k := 1; k < 1<<22; k += 1 + k/64 {
			x = append(x, float32(float64(k)*math.Pi/2))
		}
		s, c := make([]float32, len(x)), make([]float32, len(x))
		SinCosF32(s, c, x)
		for i, v := range x {
			if e := testkit.ULP32(s[i], math.Sin(float64(v))); !(e <= 2) {
				t.Errorf("sin(%g) = %g is off by %g ULP", v, s[i], e)
			}
			if e := testkit.ULP32(c[i], math.Cos(float64(v))); !(e <= 2) {
				t.Errorf("cos(%g) = %g is off by %g ULP", v, c[i], e)
			}
		}
	})
}

func TestSpecialValues(t *testing.T) { eachLevel(t, testSpecialValues) }

func testSpecialValues(t *testing.T) {
	inf, nan, negZero := math.Inf(1), math.NaN(), math.Copysign(0, -1)
	for _, c := range []struct {
		name    string
		x, want float64
	}{
		{"exp", 0, 1}, {"exp", negZero, 1}, {"exp", inf, inf}, {"exp", -inf, 0}, {"exp", nan, nan},
		{"exp", 1e6, inf}, {"exp", -1e6, 0},
		{"log", 0, -inf}, {"log", negZero, -inf}, {"log", 1, 0}, {"log", -1, nan},
		{"log", inf, inf}, {"log", -inf, nan}, {"log", nan, nan},
		{"sigmoid", 0, 0.5}, {"sigmoid", inf, 1}, {"sigmoid", -inf, 0}, {"sigmoid", nan, nan},
		{"sigmoid", 1e30, 1}, {"sigmoid", -1e30, 0},
		{"swish", 0, 0}, {"swish", negZero, negZero}, {"swish", inf, inf}, {"swish", -inf, negZero},
		{"swish", nan, nan}, {"swish", 1e30, 1e30}, {"swish", -1e30, negZero},
		{"softplus", 0, math.Ln2}, {"softplus", inf, inf}, {"softplus", -inf, 0}, {"softplus", nan, nan},
		{"softplus", 1e30, 1e30},
		{"tanh", negZero, negZero}, {"tanh", inf, 1}, {"tanh", -inf, -1}, {"tanh", nan, nan},
		{"relu", -3, 0}, {"relu", 3, 3}, {"relu", negZero, 0}, {"relu", inf, inf}, {"relu", -inf, 0},
		{"relu", nan, nan},
		{"erf", negZero, negZero}, {"erf", inf, 1}, {"erf", -inf, -1}, {"erf", nan, nan}, {"erf", 1e30, 1},
		{"gelu", negZero, negZero}, {"gelu", inf, inf}, {"gelu", -inf, negZero}, {"gelu", nan, nan}, {"gelu", 1e30, 1e30},
		{"gelu", -1e30, negZero},
		{"expm1", negZero, negZero}, {"expm1", inf, inf}, {"expm1", -inf, -1}, {"expm1", nan, nan}, {"expm1", 1e30, inf},
		{"log1p", negZero, negZero}, {"log1p", inf, inf}, {"log1p", -1, -inf}, {"log1p", -2, nan}, {"log1p", -inf, nan},
		{"log1p", nan, nan},
		{"sin", 0, 0}, {"sin", negZero, negZero}, {"sin", inf, nan}, {"sin", -inf, nan},
		{"sin", nan, nan},
		{"cos", 0, 1}, {"cos", negZero, 1}, {"cos", inf, nan}, {"cos", nan, nan},
	} {
		for _, f := range unary {
			if f.name != c.name {
				continue
			}
			got32, got64 := []float32{0}, []float64{0}
			f.f32(got32, []float32{float32(c.x)})
			f.f64(got64, []float64{c.x})
			if !testkit.SameBits(got32, []float32{float32(c.want)}) {
				t.Errorf("%s32(%g) = %g, want %g", c.name, c.x, got32[0], c.want)
			}
			if !testkit.SameBits(got64, []float64{c.want}) {
				t.Errorf("%s64(%g) = %g, want %g", c.name, c.x, got64[0], c.want)
			}
		}
	}
	// The last numbers that give something, in float32.
	got := make([]float32, 3)
	ExpF32(got, []float32{-103.9, 88.72283, 88.72284})
	require.Equal(t, []float32{math.SmallestNonzeroFloat32, 0x1.ffff08p127, float32(inf)}, got)
	SwishF32(got, []float32{-100, -104, -108})
	require.Equal(t, []float32{-3.72008e-42, -7.1e-44, -1e-45}, got)
}

// TestVectorMemory runs every elementwise function at all lengths, in memory that ends on and starts after an unreadable page, at
// odd offsets, in place, with sentinels around, and wants the same bits everywhere: those of one element alone.
func TestVectorMemory(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		for _, f := range unary {
			t.Run(f.name, func(t *testing.T) {
				testMemory(t, f.f32, awkward32)
				testMemory(t, f.f64, awkward64)
			})
		}
		for _, f := range binary {
			t.Run(f.name, func(t *testing.T) {
				testMemory(t, func(dst, x []float32) { f.f32(dst, x, x) }, awkward32)
				testMemory(t, func(dst, x []float64) { f.f64(dst, x, x) }, awkward64)
			})
		}
		t.Run("axpy", func(t *testing.T) {
			testMemory(t, func(dst, x []float32) { copy(dst, x); AxpyF32(dst, 3, x) }, awkward32)
			testMemory(t, func(dst, x []float64) { copy(dst, x); AxpyF64(dst, 3, x) }, awkward64)
		})
		t.Run("scale", func(t *testing.T) {
			testMemory(t, func(dst, x []float32) { ScaleF32(dst, 0.3, x) }, awkward32)
			testMemory(t, func(dst, x []float64) { ScaleF64(dst, 0.3, x) }, awkward64)
		})
	})
}

// TestScaleRows takes rows of all widths, at the end and the start of memory, and wants the bits of the plain product.
func TestScaleRows(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		for _, c := range []int{1, 3, 8, 15, 16, 17, 31, 32, 33, 48, 100, 130, 513} {
			for _, rows := range []int{0, 1, 2, 7, 600} {
				testScaleRows(t, rows, c, awkward32)
				testScaleRows(t, rows, c, awkward64)
			}
		}
		ScaleRows([]float32{}, make([]float32, 3), 0)
		require.PanicsWithValue(t, "simd: ScaleRowsF32: len(x) = 5, need 6",
			func() { ScaleRowsF32(make([]float32, 5), make([]float32, 3), 2) })
		require.PanicsWithValue(t, "simd: ScaleRowsF64: len(x) = 5, need 6",
			func() { ScaleRowsF64(make([]float64, 5), make([]float64, 3), 2) })
		require.PanicsWithValue(t, "simd: ScaleRowsF32: c = -1, need at least 0", func() { ScaleRowsF32(nil, nil, -1) })
	})
}

func testScaleRows[T Float](t *testing.T, rows, c int, data func(n int) []T) {
	t.Helper()
	x, by := data(rows*c), data(rows)
	want := make([]T, len(x))
	for i, v := range x {
		want[i] = by[i/c] * v
	}
	for place, got := range map[string][]T{"at end": testkit.CopyAtEnd(t, x), "at start": testkit.CopyAtStart(t, x)} {
		ScaleRows(got, testkit.CopyAtEnd(t, by), c)
		require.True(t, testkit.SameBits(got, want), "%d rows of %d %s", rows, c, place)
	}
}

// awkward32 and awkward64 draw awkward data for testMemory.
func awkward32(n int) []float32 { return testkit.Awkward[float32](testkit.Rand(uint64(n)), n) }
func awkward64(n int) []float64 { return testkit.Awkward[float64](testkit.Rand(uint64(n)), n) }

func testMemory[T Float](t *testing.T, f func(dst, x []T), data func(n int) []T) {
	t.Helper()
	const sentinel = 12345.5
	all := data(1100)
	alone := make([]T, len(all))
	for i := range all {
		f(alone[i:i+1], all[i:i+1])
	}
	for _, n := range lengths() {
		for off := range 3 {
			in, want := all[off:off+n], alone[off:off+n]
			for place, x := range map[string][]T{
				"at end": testkit.CopyAtEnd(t, in), "at start": testkit.CopyAtStart(t, in), "inside": append([]T(nil), in...),
			} {
				around := make([]T, n+2*(off+1))
				for i := range around {
					around[i] = sentinel
				}
				dst := around[off+1:][:n]
				f(dst, x)
				require.True(t, testkit.SameBits(dst, want), "n=%d offset=%d %s", n, off, place)
				require.True(t, testkit.SameBits(x, in), "n=%d offset=%d %s: input changed", n, off, place)
				for i, v := range around {
					if (i <= off || i > off+n) && v != sentinel {
						t.Fatalf("n=%d offset=%d %s: wrote outside", n, off, place)
					}
				}
				f(x, x)
				require.True(t, testkit.SameBits(x, want), "n=%d offset=%d %s in place", n, off, place)
			}
			if off > 0 && n > 8 {
				break // the guard pages shift the offset with n already
			}
		}
	}
}

// TestSinCosInPlace covers the aliasing that the one-argument table cannot.
func TestSinCosInPlace(t *testing.T) { eachLevel(t, testSinCosInPlace) }

func testSinCosInPlace(t *testing.T) {
	x := testkit.Awkward[float32](testkit.Rand(5), 100)
	s, c := make([]float32, 100), make([]float32, 100)
	SinCosF32(s, c, x)
	s2, c2 := append([]float32(nil), x...), make([]float32, 100)
	SinCosF32(s2, c2, s2)
	require.True(t, testkit.SameBits(s, s2) && testkit.SameBits(c, c2))
	SinCosF32(s2, x, x)
	require.True(t, testkit.SameBits(s, s2) && testkit.SameBits(c, x))
}
