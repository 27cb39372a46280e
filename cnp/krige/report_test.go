package krige

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
)

// shapes are the correlation functions as the comment of Member has them.
var shapes = map[string]func(r float64) float64{
	"Matérn 1/2":          func(r float64) float64 { return math.Exp(-r) },
	"Matérn 3/2":          func(r float64) float64 { r *= math.Sqrt(3); return (1 + r) * math.Exp(-r) },
	"Matérn 5/2":          func(r float64) float64 { r *= math.Sqrt(5); return (1 + r + r*r/3) * math.Exp(-r) },
	"squared exponential": func(r float64) float64 { return math.Exp(-r * r / 2) },
	"rational quadratic":  func(r float64) float64 { return 1 / (1 + r*r/2) },
}

// covariance is that of values at two places, as the comment of Member has it, but for noise and the level.
func (q *Member) covariance(a, b []float64) float64 {
	r2, trend := 0.0, 0.0
	for i := range a {
		for j := range a {
			w := 0.0
			switch {
			case q.Metric != nil:
				w = q.Metric[i][j]
			case i == j:
				w = 1
			}
			r2 += w * (a[i] - b[i]) * (a[j] - b[j])
		}
		slope := q.Trend
		if q.Trends != nil {
			slope = q.Trends[i]
		}
		trend += slope * slope * a[i] * b[i]
	}
	r := math.Sqrt(max(0, r2))
	first, second, two := strings.Cut(q.Shape, " + ")
	shape := shapes[first]
	if first == "smoothed Matérn 1/2" {
		part := q.SmoothLength / q.Length
		shape = func(r float64) float64 { return (math.Exp(-r) - part*math.Exp(-r/part)) / (1 - part) }
	}
	k := trend + q.Signal*q.Signal*shape(r/q.Length)
	if two {
		k += q.SecondSignal * q.SecondSignal * shapes[second](r/q.SecondAt)
	}
	if q.LongPeriod > 0 {
		s := math.Sin(math.Pi*r/q.LongPeriod) / q.LongWidth
		k += q.LongSignal * q.LongSignal * math.Exp(-2*s*s-r*r/(2*q.LongLength*q.LongLength))
	}
	if q.Period > 0 {
		s := math.Sin(math.Pi*r/q.Period) / q.SeasonWidth
		k += q.SeasonSignal * q.SeasonSignal * math.Exp(-2*s*s-r*r/(2*q.SeasonLength*q.SeasonLength))
	}
	return k
}

// predict is universal kriging with an unknown level: mean and variance of a new value at each target.
func (q *Member) predict(t *testing.T, x [][]float64, y []float64, targets [][]float64) (mean, variance []float64) {
	n := len(y)
	k := mat.NewDense(n+1, n+1, nil)
	for i := range n {
		for j := range n {
			k.Set(i, j, q.covariance(x[i], x[j]))
		}
		k.Set(i, i, k.At(i, i)+q.Noise*q.Noise)
		k.Set(i, n, 1)
		k.Set(n, i, 1)
	}
	var inverse mat.Dense
	require.NoError(t, inverse.Inverse(k))
	for _, at := range targets {
		c := mat.NewVecDense(n+1, nil)
		for i := range n {
			c.SetVec(i, q.covariance(x[i], at))
		}
		c.SetVec(n, 1)
		var w mat.VecDense
		w.MulVec(&inverse, c)
		m := 0.0
		for i, v := range y {
			m += w.AtVec(i) * v
		}
		mean, variance = append(mean, m), append(variance, q.covariance(at, at)+q.Noise*q.Noise-mat.Dot(c, &w))
	}
	return mean, variance
}

// TestMembersRebuild: members say all that a prediction depends on, as their comment explains it: with isotropic and anisotropic
// covariances, two scales, seasons, coordinates of different units, and on the sphere.
func TestMembersRebuild(t *testing.T) {
	seen := map[string]bool{}
	for name, c := range map[string]struct {
		opt   Options
		n     int
		scale []float64
		value func(x []float64, rng *rand.Rand) float64
	}{
		"line": {Options{Dim: 1}, 40, []float64{10}, func(x []float64, rng *rand.Rand) float64 {
			return math.Sin(x[0]) + 0.3*math.Sin(9*x[0]) + 0.1*rng.NormFloat64()
		}},
		"season": {Options{Dim: 1, Periods: []float64{1}}, 60, []float64{8}, func(x []float64, rng *rand.Rand) float64 {
			return x[0] + 3*math.Sin(2*math.Pi*x[0]) + 0.2*rng.NormFloat64()
		}},
		"plane": {Options{Dim: 2}, 90, []float64{4, 4}, func(x []float64, rng *rand.Rand) float64 {
			return math.Sin(3*x[0]+3*x[1]) + 0.1*rng.NormFloat64()
		}},
		"two scales": {Options{Dim: 2}, 100, []float64{10, 10}, func(x []float64, rng *rand.Rand) float64 {
			return x[0]*x[0]/20 + math.Sin(3*x[0])*math.Cos(3*x[1]) + 0.1*rng.NormFloat64()
		}},
		"units": {Options{Dim: 2, DifferentUnits: true}, 80, []float64{4, 4000}, func(x []float64, rng *rand.Rand) float64 {
			return math.Sin(2*x[0]) + x[1]/1000 + 0.1*rng.NormFloat64()
		}},
		"space": {Options{Dim: 3}, 80, []float64{4, 4, 4}, func(x []float64, rng *rand.Rand) float64 {
			return math.Sin(2*x[0]) + 0.1*x[1] + 0.1*rng.NormFloat64()
		}},
		"layers that dip": {Options{Dim: 3}, 80, []float64{4, 4, 4}, func(x []float64, rng *rand.Rand) float64 {
			return math.Sin(1.5*x[0]+0.5*x[1]+2*x[2]) + 0.1*rng.NormFloat64()
		}},
		"sphere": {Options{Dim: 2, Sphere: true}, 80, []float64{80, 170}, func(x []float64, rng *rand.Rand) float64 {
			return math.Sin(x[0]/20) + math.Cos(x[1]/40) + 0.1*rng.NormFloat64()
		}},
	} {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(11, 12))
			d := c.opt.Dim
			var x, y, targets []float64
			for i := range c.n + 20 {
				at := make([]float64, d)
				for k := range at {
					at[k] = c.scale[k] * rng.Float64()
				}
				if i < c.n {
					x, y = append(x, at...), append(y, c.value(at, rng))
				} else {
					targets = append(targets, at...)
				}
			}
			c.opt.NoCheck = true
			m, err := Fit(t.Context(), x, y, c.opt)
			require.NoError(t, err)
			mean, std, err := m.Predict(t.Context(), targets)
			require.NoError(t, err)
			rows, at := rowsOf(x, d, c.opt.Sphere), rowsOf(targets, d, c.opt.Sphere)
			own, square := make([]float64, len(mean)), make([]float64, len(mean))
			for _, q := range m.Report().Members {
				seen["two"] = seen["two"] || q.SecondSignal > 0
				seen["season"] = seen["season"] || q.SeasonSignal > 0
				turned := q.Metric != nil && q.Metric[0][1] != 0
				seen["metric"] = seen["metric"] || turned
				seen["turned in space"] = seen["turned in space"] || turned && d == 3
				ms, vs := q.predict(t, rows, y, at)
				seen["beyond"] = seen["beyond"] || q.WeightBeyond > 0
				for i, v := range ms {
					weight := q.Weight
					if q.Step > 0 {
						weight += min(1, max(0, slices.Min(x)-targets[i], targets[i]-slices.Max(x))/q.Step) * (q.WeightBeyond - q.Weight)
					}
					own[i] += weight * v
					square[i] += weight * (vs[i] + v*v)
				}
			}
			for i, v := range own {
				require.InDelta(t, mean[i], v, 1e-4*std[i], "mean of target %d", i)
				require.InDelta(t, std[i], math.Sqrt(square[i]-v*v), 1e-4*std[i], "std of target %d", i)
			}
		})
	}
	require.Equal(t, map[string]bool{"two": true, "season": true, "metric": true, "turned in space": true, "beyond": true}, seen,
		"what the tables have shown")
}

// rowsOf returns the rows of coordinates, on the sphere as unit vectors.
func rowsOf(x []float64, d int, sphere bool) (rows [][]float64) {
	if sphere {
		x, d = unitVectors(x), 3
	}
	for ; len(x) > 0; x = x[d:] {
		rows = append(rows, x[:d])
	}
	return rows
}
