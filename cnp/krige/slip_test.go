package krige

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSlip: residuals as expected leave the rule of succession, and a few that are far off count as often as they occur.
func TestSlip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const n, d = 200, 2
	e2, variance := make([]float64, n), make([]float64, n)
	for i := range e2 {
		variance[i] = 1e-4 * (1 + rng.Float64())
		e := rng.NormFloat64()
		e2[i] = e * e * variance[i]
	}
	require.InEpsilon(t, 0.1/(195*196), slip(e2, variance, n, d), 1e-12)
	for i := 0; i < n; i += 20 {
		e2[i] = 1
	}
	require.InEpsilon(t, 0.05, slip(e2, variance, n, d), 0.5)
}

// TestFewValues: tables of a few values promise no more than so few can, whatever these are. An error as large as their
// magnitude, or as the values' range, must stay possible.
func TestFewValues(t *testing.T) {
	at := func(n, d int) []float64 {
		rng := rand.New(rand.NewPCG(uint64(n), uint64(d)))
		x := make([]float64, n*d)
		for i := range x {
			x[i] = 4*rng.Float64() - 2
		}
		return x
	}
	plane := func(n, d int) []float64 {
		x, y := at(n, d), make([]float64, n)
		for i := range y {
			for k := range d {
				y[i] += x[i*d+k] * float64(k+1)
			}
		}
		return y
	}
	for name, c := range map[string]struct {
		d     int
		y     []float64
		least float64 // of the deviation of a new value
	}{
		"two alike":               {1, []float64{0.5, 0.5003}, 0.01},
		"three alike":             {2, []float64{0.5, 0.5003, 0.4999}, 4 * 0.00017},
		"two alike, large":        {1, []float64{5e5, 500300}, 1e4},
		"equal":                   {1, []float64{1, 1, 1, 1, 1, 1, 1, 1, 1}, 0.2},
		"a plane in space":        {5, plane(13, 5), 0.02 * 8},
		"a line of ten":           {1, plane(10, 1), 0.02},
		"zeros and a one, of 30 ": {1, append(make([]float64, 29), 1), 0.1},
	} {
		t.Run(name, func(t *testing.T) {
			n := len(c.y)
			m, err := Fit(context.Background(), at(n, c.d), c.y, Options{Dim: c.d})
			require.NoError(t, err)
			_, std, err := m.Predict(context.Background(), at(40, c.d))
			require.NoError(t, err)
			for i, s := range std {
				require.True(t, s >= c.least && s < 100*(1+math.Abs(c.y[0])), "deviation %d: %g, need %g at least", i, s, c.least)
			}
		})
	}
}

// TestWavesWithEdges: noiseless saw teeth in the plane. A metric that is stretched a hundredfold knows the values of each tooth to a
// hundredth, and believes that of those across its edges.
func TestWavesWithEdges(t *testing.T) {
	var sum float64
	const tables = 12
	for k := range tables {
		rng := rand.New(rand.NewPCG(7, uint64(k)))
		turn, frequency, phase := 2*math.Pi*rng.Float64(), (0.5+0.5*rng.Float64())/math.Sqrt2, rng.Float64()
		sin, cos := math.Sincos(turn)
		draw := func(n int) (x, y []float64) {
			for range n {
				a, b := 4*rng.Float64()-2, 4*rng.Float64()-2
				v := frequency*(cos*a+sin*b) - phase
				x, y = append(x, a, b), append(y, v-math.Floor(v))
			}
			return x, y
		}
		x, y := draw(50 + 5*k)
		targets, values := draw(200)
		m, err := Fit(context.Background(), x, y, Options{Dim: 2})
		require.NoError(t, err)
		mean, std, err := m.Predict(context.Background(), targets)
		require.NoError(t, err)
		var density float64
		for i, v := range values {
			density += logNormal(v, mean[i], std[i]*std[i]) / float64(len(values))
		}
		require.Greater(t, density, -10.0, fmt.Sprint("table ", k))
		sum += density / tables
	}
	t.Logf("mean log density %.3f", sum)
	require.Greater(t, sum, -1.0)
}
