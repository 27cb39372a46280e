package likelihood

import (
	"math"
	"testing"

	"github.com/equivcnp/equivcnp/internal/testkit"
	"github.com/stretchr/testify/require"
)

// otherLikelihoods are those beside the normal one, each with every way that it takes.
var otherLikelihoods = []string{"normal:noise", "lowrank:3", "lowrank:2:noise", "bernoulli-gamma", "spiked-beta", "gamma", "log-normal",
	"mixture:2", "mixture:3", "scales:0.5*0.3,0.4*1,0.1*2.5", "scales:0.3@0.5*0.3,0.5*1;1.5@1*0.8"}

// likelihoodOf is a likelihood by name, with a floor.
func likelihoodOf(t *testing.T, name string, o Output, floor float64) Family {
	t.Helper()
	l, err := Parse(name, Options{Spread: Spread{o, floor}, Values: 1})
	require.NoError(t, err)
	require.Equal(t, name, l.Name())
	return l
}

// TestLikelihoods: of every likelihood and many parameters, gradients are derivatives, moments and quantiles those of samples, and
// other units change the density by their factor.
func TestLikelihoods(t *testing.T) {
	for _, name := range append([]string{"normal"}, otherLikelihoods...) {
		for _, o := range []Output{OutputVariance, OutputStd} {
			t.Run(name+"/"+string(o), func(t *testing.T) {
				l, rng := likelihoodOf(t, name, o, 1e-3), testkit.Rand(7)
				n := l.Outputs()
				lo, _ := l.Support()
				raw, params, d, near := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
				for range 60 {
					for i := range raw {
						raw[i] = 2 * rng.NormFloat64()
					}
					l.Parameters(params, raw)
					for k := range 6 {
						y := l.Sample(rng, params)
						l.Gradient(d, y, params, raw)
						for i, was := range raw {
							const h = 1e-5
							value := func(at float64) float64 {
								raw[i] = at
								l.Parameters(near, raw)
								raw[i] = was
								return l.LogDensity(y, near)
							}
							want := (value(was+h) - value(was-h)) / (2 * h)
							require.InDelta(t, want, d[i], 1e-6*(1+math.Abs(want)+math.Abs(d[i])), "output %d, sample %d", i, k)
						}
						lo, hi := l.Support()
						require.True(t, y >= lo && y <= hi, y)
					}
				}
				for range 4 {
					for i := range raw {
						raw[i] = rng.NormFloat64()
					}
					l.Parameters(params, raw)
					const draws = 1 << 16
					sum, squares := 0.0, 0.0
					below, quantiles := make([]float64, 9), make([]float64, 9)
					for k := range quantiles {
						quantiles[k] = l.Quantile(float64(k+1)/10, params)
					}
					for range draws {
						y := l.Sample(rng, params)
						sum, squares = sum+y, squares+y*y
						for k, at := range quantiles {
							if y <= at {
								below[k]++
							}
						}
					}
					mean, std := l.Moments(params)
					require.InDelta(t, mean, sum/draws, 6*std/math.Sqrt(draws))
					require.InDelta(t, std, math.Sqrt(squares/draws-sum*sum/draws/draws), 0.05*std)
					for k, b := range below {
						q := float64(k+1) / 10
						y := quantiles[k]
						if y < l.Quantile(q+1e-6, params) || y > l.Quantile(q-1e-6, params) { // no atom
							require.InDelta(t, q, b/draws, 0.015)
						} else {
							require.GreaterOrEqual(t, b/draws, q-0.015)
						}
					}
					require.LessOrEqual(t, l.Quantile(0, params), l.Quantile(1, params))
				}
				if r, ok := l.(Rescaler); ok {
					a := Affine{Offset: 3, Factor: 4}
					if lo > 0 { // no offset leaves values positive
						a.Offset = 0
					}
					y := l.Sample(rng, params)
					before := l.LogDensity(y, params)
					r.Rescale(params, a)
					require.InDelta(t, before, l.LogDensity(a.Undo(y), params)-math.Log(a.Factor), 1e-9)
				}
				if noisy, ok := l.(Noisy); ok {
					f, e := noisy.Parts(params)
					_, std := l.Moments(params)
					require.InDelta(t, std, math.Hypot(f, e), 1e-12)
				}
			})
		}
	}
}

// TestDensities: the density of likelihoods that are no normal one is 1 in sum, has the moments that they say, and lies
// between quantiles as these say. Integrals go over the logarithm of a value's distance from both ends.
func TestDensities(t *testing.T) {
	for _, c := range []struct {
		name   string
		atoms  []float64
		params [][]float64
	}{
		{"bernoulli-gamma", []float64{0}, [][]float64{{0, 1, 1}, {2, 3, 0.4}, {-3, 0.2, 5}, {8, 100, 40}, {-0.5, 1e-3, 0.1}}},
		{"spiked-beta", []float64{0, 1}, [][]float64{{0, 0, 1, 1}, {-3, 1, 0.3, 0.6}, {2, -5, 4, 0.5}, {-20, -20, 30, 50}, {1, 2, 0.1, 3}}},
	} {
		l := likelihoodOf(t, c.name, OutputStd, 0)
		_, hi := l.Support()
		for _, p := range c.params {
			// between returns the integral of the density times f from one value to another.
			between := func(lo, up float64, f func(y float64) float64) float64 {
				to, from := func(y float64) float64 { return math.Log(y) }, math.Exp
				slope := func(y float64) float64 { return y }
				if hi == 1 {
					to, from = func(y float64) float64 { return math.Log(y) - math.Log1p(-y) }, logistic
					slope = func(y float64) float64 { return y * (1 - y) }
				}
				const n = 20000
				a, b := to(lo), to(up)
				sum := 0.0
				for i := range n + 1 { // Simpson
					y := from(a + (b-a)*float64(i)/n)
					w := []float64{2, 4}[i%2]
					if i == 0 || i == n {
						w = 1
					}
					sum += w * math.Exp(l.LogDensity(y, p)) * slope(y) * f(y)
				}
				return sum * (b - a) / n / 3
			}
			least, most := 1e-150, math.Max(l.Quantile(1-1e-12, p), 1)
			if hi == 1 {
				most = 1 - 1e-15
			}
			total, mean, square := between(least, most, func(float64) float64 { return 1 }),
				between(least, most, func(y float64) float64 { return y }),
				between(least, most, func(y float64) float64 { return y * y })
			for _, y := range c.atoms {
				q := math.Exp(l.LogDensity(y, p))
				total, mean, square = total+q, mean+q*y, square+q*y*y
			}
			m, s := l.Moments(p)
			require.InDelta(t, 1, total, 1e-5, "%s %v", c.name, p)
			require.InDelta(t, m, mean, 1e-5*(1+m), "%s %v", c.name, p)
			require.InDelta(t, s, math.Sqrt(square-mean*mean), 1e-4*(1+s), "%s %v", c.name, p)
			last, at := -1.0, 0.0
			for q := 0.05; q < 1; q += 0.05 {
				y := l.Quantile(q, p)
				if last > 0 && y > at && y < hi && at > 0 {
					require.InDelta(t, q-last, between(at, y, func(float64) float64 { return 1 }), 1e-6, "%s %v up to %g", c.name, p, q)
				}
				if y > 0 {
					last, at = q, y
				}
			}
		}
	}
}
