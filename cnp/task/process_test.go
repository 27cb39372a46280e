package task

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestProcessByName(t *testing.T) {
	for expr, want := range map[string]int{"rbf": 0, "rbf+periodic": 0, "sawtooth": 0, "rbf, matern": 2,
		"rbf+matern,sawtooth,periodic": 3} {
		p, err := ProcessByName(expr)
		require.NoError(t, err, expr)
		m, _ := p.(Mixture)
		require.Len(t, m, want, expr)
	}
	p, err := ProcessByName("rbf+periodic")
	require.NoError(t, err)
	k := p.(GP).Kernel
	require.Equal(t, 1.0, k(0))
	require.InDelta(t, (math.Exp(-0.5)+1)/2, k(1), 1e-15)
	for _, expr := range []string{"", "rbf,", "sawtooth+rbf", "linear"} {
		_, err := ProcessByName(expr)
		require.ErrorContains(t, err, "not one of rbf, matern, periodic, sawtooth")
	}
}

func TestParseKernel(t *testing.T) {
	for text, want := range map[string]float64{ // at distance 0.5, with a length of 2 where none is said
		"rbf":                             math.Exp(-0.25 / 8),
		"rbf(0.5)":                        math.Exp(-0.5),
		" rbf ( length = 5e-1 ) ":         math.Exp(-0.5),
		"2*rbf(0.5)+0.25":                 2*math.Exp(-0.5) + 0.25,
		"2*(rbf(0.5)+1)*matern12(1)":      2 * (math.Exp(-0.5) + 1) * math.Exp(-0.5),
		"matern32(1)":                     (1 + math.Sqrt(3)/2) * math.Exp(-math.Sqrt(3)/2),
		"periodic(1,1)":                   math.Exp(-2),
		"periodic(length=1)+noise(7)":     math.Exp(-2),
		"matern(1)*0 ":                    math.NaN(),
		"rbf(1,2)":                        math.NaN(),
		"rbf(period=1)":                   math.NaN(),
		"rbf(":                            math.NaN(),
		"rbf)":                            math.NaN(),
		"rbf(0.5":                         math.NaN(),
		"linear":                          math.NaN(),
		"":                                math.NaN(),
		"1 2":                             math.NaN(),
		strings.Repeat("(", 1000) + "rbf": math.NaN(),
	} {
		k, err := ParseKernel(text, 2)
		if math.IsNaN(want) {
			require.ErrorContains(t, err, "it is made of rbf(length)", text)
			require.Less(t, len(err.Error()), 400)
			continue
		}
		require.NoError(t, err, text)
		require.InDelta(t, want, k(0.5), 1e-15, text)
	}
	p, err := ParseProcess("gp:periodic(1,0.5)+rbf, sawtooth", 1)
	require.NoError(t, err)
	require.Len(t, p, 2)
	p, err = ParseProcess("rbf", 0.5)
	require.NoError(t, err)
	require.InDelta(t, math.Exp(-0.5), p.(GP).Kernel(0.5), 1e-15)
	for _, bad := range []string{"gp:", "gp:rbf+", "rbf(2)", "noise", "2*rbf"} {
		_, err := ParseProcess(bad, 1)
		require.Error(t, err, bad)
	}
	_, err = ParseProcess("rbf", -1)
	require.ErrorContains(t, err, "length = -1")
}

// TestSawtooth: every wave is linear with the slope of its frequency but for jumps by 1, and the frequencies fill their range.
func TestSawtooth(t *testing.T) {
	x := make([]float64, 200)
	for i := range x {
		x[i] = -2 + 4*float64(i)/199
	}
	draw := Sawtooth{3, 5}.At(x)
	y, rng := make([]float64, len(x)), rand.New(rand.NewPCG(1, 1))
	up, lo, hi := 0, math.Inf(1), 0.0
	for range 200 {
		require.NoError(t, draw(y, rng))
		// The slope is what all steps agree on up to whole numbers: steps of 4/199 · 5 < 1/2 wrap at most once.
		slope := y[1] - y[0]
		slope -= math.Round(slope)
		for i := range y {
			require.True(t, y[i] >= -0.5 && y[i] < 0.5)
			if i > 0 {
				d := y[i] - y[i-1] - slope
				require.InDelta(t, 0, d-math.Round(d), 1e-12)
			}
		}
		f := slope / (x[1] - x[0])
		if f > 0 {
			up++
		}
		lo, hi = min(lo, math.Abs(f)), max(hi, math.Abs(f))
	}
	require.InDelta(t, 100, up, 30)
	require.True(t, lo >= 3 && lo < 3.1 && hi > 4.9 && hi <= 5)
}

// TestMixture: a half of the functions of a mixture of two are of either kind.
func TestMixture(t *testing.T) {
	c := PaperTestOf(Mixture{Sawtooth{3, 5}, constant(7)})
	c.Targets = 50
	b, y, err := Draw[float64](c, 100, rand.New(rand.NewPCG(5, 1)))
	require.NoError(t, err)
	sevens := 0
	for i := range 100 {
		if y[i*50] == 7 {
			sevens++
		}
	}
	require.InDelta(t, 50, sevens, 20)
	require.Equal(t, 100, b.B)
	require.Equal(t, 1.0, PaperTestOf(GP{RBF(1), 0.1}).GP.Kernel(0))
}

type constant float64

func (c constant) At([]float64) Sampler {
	return func(dst []float64, _ *rand.Rand) error {
		for i := range dst {
			dst[i] = float64(c)
		}
		return nil
	}
}
