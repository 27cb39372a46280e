package likelihood

import (
	"fmt"
	"math"
	"testing"

	"github.com/equivcnp/equivcnp/internal/testkit"
	"github.com/stretchr/testify/require"
)

// fullOf is the full normal likelihood of targets with so many values.
func fullOf(t *testing.T, values int, o Output, floor float64) full {
	t.Helper()
	l, err := Parse("full", Options{Spread: Spread{o, floor}, Values: values})
	require.NoError(t, err)
	require.Equal(t, "full", l.Name())
	return l.(full)
}

// TestFullOne: of targets with one value it is the normal likelihood.
func TestFullOne(t *testing.T) {
	for _, o := range []Output{OutputVariance, OutputStd} {
		l, n, rng := fullOf(t, 1, o, 0.1), likelihoodOf(t, "normal", o, 0.1), testkit.Rand(1)
		for range 50 {
			raw, y := []float64{rng.NormFloat64(), 3 * rng.NormFloat64()}, rng.NormFloat64()
			got, want, dg, dw := make([]float64, 2), make([]float64, 2), make([]float64, 2), make([]float64, 2)
			l.Parameters(got, raw)
			n.Parameters(want, raw)
			require.Equal(t, want, got)
			require.InDelta(t, n.LogDensity(y, want), l.LogDensityOf([]float64{y}, got, nil), 1e-12)
			l.Gradient(dg, y, got, raw)
			n.Gradient(dw, y, want, raw)
			for i := range dg {
				require.InDelta(t, dw[i], dg[i], 1e-9*(1+math.Abs(dw[i])))
			}
		}
	}
}

// TestFullGradient: the gradient is that of the density, of all values and of those that are known, with and without the objective's noise.
func TestFullGradient(t *testing.T) {
	for _, o := range []Output{OutputVariance, OutputStd} {
		for _, values := range []int{1, 2, 3, 5} {
			for _, noise := range []float64{0, 0.3} {
				l, rng := fullOf(t, values, o, 1e-3), testkit.Rand(2)
				l.loss = noise
				n := values * l.Outputs()
				raw, params, d, y := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, values)
				for round := range 12 {
					for i := range raw {
						raw[i] = 1.5 * rng.NormFloat64()
					}
					if round == 0 { // equal eigenvalues
						clear(raw)
					}
					known := []bool(nil)
					for i := range y {
						y[i] = rng.NormFloat64()
						if round%3 == 1 {
							known = append(known, i != round%values)
						}
					}
					if round%3 == 1 {
						y[round%values] = math.NaN()
					}
					l.ParametersOf(params, raw)
					sum := l.GradientOf(d, y, params, raw, known)
					require.InDelta(t, l.LogDensityOf(y, params, known), sum, 1e-12)
					near := make([]float64, n)
					for i, was := range raw {
						const h = 1e-4
						value := func(at float64) float64 {
							raw[i] = at
							l.ParametersOf(near, raw)
							raw[i] = was
							return l.LogDensityOf(y, near, known)
						}
						slope := func(h float64) float64 { return (value(was+h) - value(was-h)) / (2 * h) }
						want := (4*slope(h) - slope(2*h)) / 3 // without the error of order h²
						require.InDelta(t, want, d[i], 1e-5*(1+math.Abs(want)), "values %d, round %d, number %d", values, round, i)
					}
				}
			}
		}
	}
}

// TestEigen: eigenvectors are orthonormal and make up the matrix.
func TestEigen(t *testing.T) {
	rng := testkit.Rand(8)
	for _, n := range []int{1, 2, 3, 8, 32} {
		for round := range 5 {
			a := make([]float64, n*n)
			for i := range n {
				for j := range i + 1 {
					v := rng.NormFloat64()
					if round == 1 && i != j {
						v *= 1e-9
					}
					a[i*n+j], a[j*n+i] = v, v
				}
			}
			lambda, v, back := make([]float64, n), make([]float64, n*n), make([]float64, n*n)
			eigen(lambda, v, append([]float64(nil), a...), n)
			diag := make([]float64, n*n)
			for i, l := range lambda {
				diag[i*n+i] = l
			}
			conjugate(back, v, diag, n, false)
			testkit.Close(t, fmt.Sprintf("n = %d", n), back, a, 1e-13*float64(n))
		}
	}
}
