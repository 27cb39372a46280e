package simd

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// portableF64 says why kernels of float32 have no twin of float64. A name stands for all kernels that begin with it.
var portableF64 = map[string]string{
	"bfFrom":          "bfloat16 is made from float32",
	"depthwiseBF":     "weights in bfloat16 belong to float32",
	"depthwiseHalf":   "weights in bfloat16 belong to float32",
	"depthwisePlan":   "no function of float64 takes a plan",
	"depthwiseSeq":    "a part of depthwisePlan",
	"depthwiseStream": "fetches ahead the weights of large models, which are float32",
	"depthwiseGroup":  "computes neighbouring rows together, for models; float64 takes them one by one",
	"depthwiseTall":   "as depthwiseGroup",
	"depthwisePack":   "as depthwiseGroup",
	"depthwisePlaces": "as depthwiseGroup",
	"gemmPanel":       "two strips of two vectors take as long as one of four; its small products gain from it in float32",
	"gemmWide":        "float64 has half as many columns in a strip, whose sums fill the registers as they are",
	"swishSums":       "a part of WeightNet's fast path, which is for inference in float32",
	"dotSingle":       "sums of float64 are in float64 as it is: dotF64",
	"squaresRow":      "distances of stored vectors, which are float32",
	"absoluteRow":     "as squaresRow",
	"NEON moment":     "two passes over rows, bound by memory; portable Go on arm64",
	"NEON square":     "as moment",
	"NEON norm":       "as moment",
}

// TestFloat64Kernels wants a kernel of float64 for every one of float32, at every level, or a reason; and no reason that nothing needs.
func TestFloat64Kernels(t *testing.T) {
	files, err := filepath.Glob("z*.go")
	require.NoError(t, err)
	var text strings.Builder
	for _, f := range files {
		b, err := os.ReadFile(f)
		require.NoError(t, err)
		text.Write(b)
	}
	digits, f64 := regexp.MustCompile(`\d+(x\d+)?`), map[string]bool{}
	kernel := func(m []string) string { return digits.ReplaceAllString(m[1], "") + " " + m[2] }
	for _, m := range regexp.MustCompile(`(?m)^func (\w+?)F64(AVX2|AVX512|NEON)\(`).FindAllStringSubmatch(text.String(), -1) {
		f64[kernel(m)] = true
	}
	used := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^func (\w+?)F32(AVX2|AVX512|NEON)\(`).FindAllStringSubmatch(text.String(), -1) {
		name, found := kernel(m), f64[kernel(m)]
		for prefix := range portableF64 {
			if !found && (strings.HasPrefix(name, prefix) || strings.HasPrefix(m[2]+" "+name, prefix)) {
				used[prefix], found = true, true
			}
		}
		require.True(t, found || used[name], "%sF32%s has no twin for float64, and portableF64 does not say why", m[1], m[2])
	}
	require.NotEmpty(t, f64)
	for prefix, why := range portableF64 {
		require.NotEmpty(t, why)
		if !used[prefix] && prefix != "depthwiseBF" {
			t.Errorf("portableF64 excuses %s, which needs no excuse", prefix)
		}
	}
}

// TestActivationsF64Special holds every level to the values at the ends of the range.
func TestActivationsF64Special(t *testing.T) {
	inf, nan, minusZero := math.Inf(1), math.NaN(), math.Copysign(0, -1)
	const tiny = math.SmallestNonzeroFloat64 // exp(-745)
	eachLevel(t, func(t *testing.T) {
		for _, c := range []struct {
			name    string
			f       func(dst, x []float64)
			x, want float64
		}{
			{"sigmoid", SigmoidF64, inf, 1}, {"sigmoid", SigmoidF64, -inf, 0}, {"sigmoid", SigmoidF64, nan, nan},
			{"sigmoid", SigmoidF64, minusZero, 0.5},
			{"sigmoid", SigmoidF64, 1e300, 1}, {"sigmoid", SigmoidF64, -1e300, 0}, {"sigmoid", SigmoidF64, -745, tiny},
			{"swish", SwishF64, inf, inf}, {"swish", SwishF64, -inf, minusZero}, {"swish", SwishF64, nan, nan},
			{"swish", SwishF64, minusZero, minusZero},
			{"swish", SwishF64, 1e300, 1e300}, {"swish", SwishF64, -1e300, minusZero},
			{"softplus", SoftplusF64, inf, inf}, {"softplus", SoftplusF64, -inf, 0}, {"softplus", SoftplusF64, nan, nan},
			{"softplus", SoftplusF64, 0, math.Ln2}, {"softplus", SoftplusF64, 1e300, 1e300}, {"softplus", SoftplusF64, -745, tiny},
			{"tanh", TanhF64, inf, 1}, {"tanh", TanhF64, -inf, -1}, {"tanh", TanhF64, nan, nan}, {"tanh", TanhF64, minusZero, minusZero},
			{"tanh", TanhF64, 1e-300, 1e-300}, {"tanh", TanhF64, 1e300, 1}, {"relu", ReLUF64, minusZero, 0}, {"relu", ReLUF64, nan, nan},
		} {
			for _, n := range []int{1, 7, 40} { // one, the tail, whole vectors
				x, got := make([]float64, n), make([]float64, n)
				for i := range x {
					x[i] = c.x
				}
				c.f(got, x)
				for _, v := range got {
					if v == math.Exp(-745) && c.want == tiny && level == Generic {
						continue // which is 0 on arm64
					}
					if math.Float64bits(v) != math.Float64bits(c.want) && !(v != v && c.want != c.want) {
						t.Fatalf("%s(%g) = %g, want %g", c.name, c.x, v, c.want)
					}
				}
			}
		}
	})
}

// TestHypotF64Ends: numbers whose squares leave the range on either side.
func TestHypotF64Ends(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		got := make([]float64, 1)
		for _, scale := range []float64{math.MaxFloat64 / 8, 1, 0x1p-1022, 0x1p-1060, 0x1p-1072} {
			HypotF64(got, []float64{-3 * scale}, []float64{4 * scale})
			require.Equal(t, 5*scale, got[0], "%g", scale)
		}
		HypotF64(got, []float64{math.MaxFloat64}, []float64{math.MaxFloat64})
		require.Equal(t, math.Inf(1), got[0])
	})
}

// TestMinMaxF64 compares with the portable twin where zeros have signs and NaN stands anywhere.
func TestMinMaxF64(t *testing.T) {
	values := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), 5e-324, -5e-324, 1, -1, math.MaxFloat64, -math.MaxFloat64}
	rng := testkit.Rand(71)
	eachLevel(t, func(t *testing.T) {
		for n := 1; n < 60; n++ {
			x := make([]float64, n)
			for i := range x {
				x[i] = values[rng.IntN(len(values)-8*(n%2))]
			}
			if n%7 == 0 {
				x[rng.IntN(n)] = math.Copysign(math.NaN(), float64(n%2)-0.5)
			}
			lo, hi := MinMaxF64(testkit.CopyAtEnd(t, x))
			wantLo, wantHi := minMaxGeneric(x)
			require.True(t, testkit.SameBits([]float64{lo, hi}, []float64{wantLo, wantHi}) || n%7 == 0 && lo != lo &&
				hi != hi, "%v: %g, %g", x, lo, hi)
		}
	})
}

// TestPackedRefuses: no product reads a matrix that was not packed.
func TestPackedRefuses(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		c, a := make([]float32, 4), make([]float32, 4)
		require.PanicsWithValue(t, "simd: GemmPackedF32: b was not packed; Pack makes it",
			func() { GemmPackedF32(c, 2, a, 2, &Packed[float32]{}, nil, ActNone, 2) })
		require.Panics(t, func() { GemmPackedF64(nil, 0, nil, 0, new(Packed[float64]), nil, ActNone, 2) })
		require.Panics(t, func() { DenseSwishF32(c, a, &Dense[float32]{B: &Packed[float32]{}}, 2) })
		require.NotPanics(t, func() { GemmPackedF32(nil, 0, nil, 0, Pack([]float32(nil), 0, 0, 0), nil, ActNone, 2) })
	})
}

// TestSizesBeyondInt: sizes whose product wraps are refused, with a message that does not wrap either.
func TestSizesBeyondInt(t *testing.T) {
	const huge = math.MaxInt
	more := ", need more than an int holds"
	require.PanicsWithValue(t, "simd: GemmF32: len(c) = 4"+more,
		func() { GemmF32(make([]float32, 4), huge, nil, 0, nil, 2, 1, 0, 3, 2, 0) })
	require.PanicsWithValue(t, "simd: DepthwiseF32: len(out) = 0"+more,
		func() { DepthwiseF32(nil, nil, nil, []int{0, 0, 0, 0, 0}, nil, nil, huge/2+1, false) })
	layer := &Dense[float32]{B: Pack(make([]float32, 16), 4, 4, 4)}
	require.PanicsWithValue(t, "simd: DenseSwishF32: len(x) = 0"+more, func() { DenseSwishF32(nil, nil, layer, huge/2+1) })
}
