package task

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestProcessByName(t *testing.T) {
	for expr, want := range map[string]int{"rbf": 0, "rbf+periodic": 0, "sawtooth": 0, "rbf, matern": 2, "rbf+matern,sawtooth,periodic": 3} {
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
		require.ErrorContains(t, err, "none of rbf, matern, periodic, sawtooth")
	}
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
