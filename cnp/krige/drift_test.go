package krige

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/simd"
)

// driftTable is a smooth function of d coordinates plus 3 z - 2 w, of columns z and w that are partly functions of the place, and noise.
func driftTable(n, d int, seed uint64) (x, y []float64) {
	rng := rand.New(rand.NewPCG(seed, 2))
	at, smooth := table(n, d, 0.02, seed)
	for i, v := range smooth {
		z, w := 5+math.Sin(4*at[i*d])+0.5*rng.NormFloat64(), 100*rng.NormFloat64()
		x, y = append(append(x, at[i*d:(i+1)*d]...), z, w), append(y, v+3*z-0.02*w)
	}
	return x, y
}

// driftMoments are what the exact members of a model predict at places, or at rows without the others, from dense matrices alone: the
// drift's prior is a covariance, and that of the level has a variance of 1e5.
func driftMoments(t *testing.T, m *Model, at places, without func(i int) []int) (mean, variance []float64) {
	t.Helper()
	d, beside := m.frame.dim, m.opt.Drift
	nt := len(at.x) / d
	mean, variance = make([]float64, nt), make([]float64, nt)
	all := places{slices.Concat(m.x, at.x), slices.Concat(m.drift.z, at.z)}
	size := m.n + nt
	var total float64
	for _, b := range m.members {
		total += b.weight
		dense := denseCovariances(m, b.kernel, all.x)
		for i := range size {
			for j := range size {
				dense[i*size+j] += 1e5 + driftPrior*driftPrior*simd.DotF64(all.row(i, beside), all.row(j, beside))
			}
		}
		for i := range nt {
			rows := without(i)
			a, w := []float64{}, make([]float64, 2*len(rows))
			for r, p := range rows {
				for _, q := range rows[:r+1] {
					a = append(a, dense[p*size+q])
				}
				w[r], w[len(rows)+r] = dense[(m.n+i)*size+p], m.y[p]
			}
			require.True(t, cholesky(a, len(rows), w, new(square)))
			k, y := w[:len(rows)], w[len(rows):]
			mu, v := simd.DotF64(k, y), b.variance*(dense[(m.n+i)*size+m.n+i]-simd.SumSqF64(k))
			mean[i] += b.weight * mu
			variance[i] += b.weight * (v + mu*mu)
		}
	}
	for i := range mean {
		mean[i] /= total
		variance[i] = variance[i]/total - mean[i]*mean[i]
	}
	return mean, variance
}

// TestDriftDense compares predictions with a drift with those of dense covariances.
func TestDriftDense(t *testing.T) {
	for d := 1; d <= 2; d++ {
		x, y := driftTable(60, d, 3)
		m, err := Fit(t.Context(), x, y, Options{Dim: d + 2, Drift: 2, NoCheck: true})
		require.NoError(t, err)
		require.True(t, m.exact)
		targets, _ := driftTable(20, d, 4)
		at, err := m.places(targets)
		require.NoError(t, err)
		mean, variance := make([]float64, 20), make([]float64, 20)
		require.NoError(t, m.processes(t.Context(), at, mean, variance, inside))
		wantMean, wantVariance := driftMoments(t, m, at, func(int) []int { return upTo(m.n) })
		require.InDeltaSlice(t, wantMean, mean, 1e-4)
		require.InDeltaSlice(t, wantVariance, variance, 1e-4)

		// A row from the others, by each member alone.
		own := places{m.x, m.drift.z}
		for _, b := range m.members {
			if b.weight == 0 {
				continue
			}
			alone := *m
			alone.members = []*member{b}
			wantMean, wantVariance := driftMoments(t, &alone, own, func(i int) []int { return slices.Delete(upTo(m.n), i, i+1) })
			mu, v, density := make([]float64, m.n), make([]float64, m.n), make([]float64, m.n)
			b.leaveOneOut(m.y, mu, v, density)
			require.InDeltaSlice(t, wantMean, mu, 1e-4)
			for i, p := range v {
				s := b.sums // the variance of the signal is that of the others
				s.n--
				s.yy -= (m.y[i] - mu[i]) * (m.y[i] - mu[i]) * b.precision(i, i)
				require.InEpsilon(t, wantVariance[i]/b.variance, p/s.spread(), 2e-3)
			}
			if d > 1 {
				continue
			}
			// A block of a line from the rows before it, with the variance that these say.
			block := []int{50, 51, 52}
			mu, v = make([]float64, 3), make([]float64, 3)
			b.forecast(m.drift.z, block, mu, v)
			after := places{m.x[50:53], m.drift.z[50*2 : 53*2]}
			wantMean, wantVariance = driftMoments(t, &alone, after, func(int) []int { return upTo(50) })
			require.InDeltaSlice(t, wantMean, mu, 1e-4)
			before := b.before(50)
			for i := range v {
				require.InEpsilon(t, wantVariance[i]/b.variance, v[i]/before.spread(), 2e-3)
			}
		}
	}
}

// TestDriftEvidence: the density of a table with a drift is, up to a constant, that of dense covariances.
func TestDriftEvidence(t *testing.T) {
	x, y := driftTable(40, 2, 5)
	m, err := Fit(t.Context(), x, y, Options{Dim: 4, Drift: 2, NoCheck: true})
	require.NoError(t, err)
	e := m.evidence()
	var differences []float64
	for _, theta := range [][]float64{{-1, -3, -1, 0, 0}, {0, -1, -2, 0.3, 0.1}, {0.5, -5, -1, 0, 0.2}} {
		s := spec{dim: 2, shape: matern32, aniso: true}
		k := s.kernel(theta)
		got, ok := e.density(k)
		require.True(t, ok)
		dense := denseCovariances(m, k, m.x)
		a := make([]float64, 0, tri(40))
		at := places{m.x, m.drift.z}
		const level = 1e6
		for i := range 40 {
			for j := range i + 1 {
				a = append(a, dense[i*40+j]+level+driftPrior*driftPrior*simd.DotF64(at.row(i, 2), at.row(j, 2)))
			}
		}
		z := slices.Clone(m.y)
		require.True(t, cholesky(a, 40, z, new(square)))
		total := sums{n: 40, ones: 1, yy: simd.SumSqF64(z)}
		for i := range 40 {
			total.logdet -= math.Log(a[tri(i)+i])
		}
		differences = append(differences, got-total.density())
	}
	require.InDelta(t, differences[0], differences[1], 1e-4)
	require.InDelta(t, differences[0], differences[2], 1e-4)
}

// TestDriftHelps: values that depend on a column are predicted to the rest of them, in small and in large tables, and the coefficients are
// found.
func TestDriftHelps(t *testing.T) {
	for _, n := range []int{100, 1500} {
		for d := 1; d <= 2; d++ {
			x, y := driftTable(n+200, d, 7)
			dim := d + 2
			m, err := Fit(t.Context(), x[:n*dim], y[:n], Options{Dim: dim, Drift: 2})
			require.NoError(t, err)
			mean, std, err := m.Predict(t.Context(), x[n*dim:])
			require.NoError(t, err)
			var square, z2 float64
			for i, v := range y[n:] {
				e := v - mean[i]
				square, z2 = square+e*e/200, z2+e*e/std[i]/std[i]/200
			}
			require.Less(t, math.Sqrt(square), 0.1, "n = %d, d = %d: the values' deviation is 2.8", n, d)
			require.InDelta(t, 1, z2, 0.45, "n = %d, d = %d", n, d)
			found := m.Report().Drift
			require.Len(t, found, 2)
			require.InDelta(t, 3, found[0].Mean, 4*found[0].Std)
			require.InDelta(t, -0.02, found[1].Mean, 4*found[1].Std)
			require.Less(t, found[0].Std, 0.2)
			require.Positive(t, found[0].Std)
		}
	}
}

// TestDriftSamples: samples have the moments of predictions, exact ones, by inducing points and from near rows, also far from the columns'
// usual values, where the drift is what is not known.
func TestDriftSamples(t *testing.T) {
	const count = 1500
	for _, c := range []struct {
		n, d int
		near bool
	}{{40, 1, false}, {40, 2, false}, {400, 2, true}, {400, 2, false}} {
		x, y := driftTable(c.n, c.d, 9)
		dim := c.d + 2
		m, err := Fit(t.Context(), x, y, Options{Dim: dim, Drift: 2, NoCheck: true})
		require.NoError(t, err)
		if c.near {
			for _, b := range m.members {
				b.inducing = nil
			}
		} else if c.n > 320 {
			require.NotNil(t, m.members[0].inducing)
		}
		targets, _ := driftTable(8, c.d, 10)
		targets[c.d] = 500 // z is 5 +- 1
		mean, std, err := m.Predict(t.Context(), targets)
		require.NoError(t, err)
		require.Greater(t, std[0], 10*std[1], "%v: far away little is known", c)
		samples, err := m.Samples(t.Context(), targets, count, 3)
		require.NoError(t, err)
		for i := range mean {
			var s, s2 float64
			for _, row := range samples {
				z := (row[i] - mean[i]) / std[i]
				s, s2 = s+z/count, s2+z*z/count
			}
			require.InDelta(t, 0, s, 4.5/math.Sqrt(count), "%v: target %d", c, i)
			require.InDelta(t, 1, s2, 6/math.Sqrt(count), "%v: target %d", c, i)
		}
	}
}

// TestDriftLargeIsExact: inducing points and near rows know about what dense matrices do.
func TestDriftLargeIsExact(t *testing.T) {
	x, y := driftTable(400, 2, 11)
	m, err := Fit(t.Context(), x, y, Options{Dim: 4, Drift: 2, NoCheck: true})
	require.NoError(t, err)
	require.False(t, m.exact)
	targets, _ := driftTable(30, 2, 12)
	targets[2] = 50
	at, err := m.places(targets)
	require.NoError(t, err)
	mean, variance := make([]float64, 30), make([]float64, 30)
	require.NoError(t, m.processes(t.Context(), at, mean, variance, inside))
	for _, b := range m.members {
		b.kernel.level2 = 0
	}
	wantMean, wantVariance := driftMoments(t, m, at, func(int) []int { return upTo(m.n) })
	for i := range mean {
		require.InDelta(t, wantMean[i], mean[i], 0.5*math.Sqrt(wantVariance[i]), "target %d", i)
		require.InEpsilon(t, wantVariance[i], variance[i], 0.5, "target %d", i)
	}
}

// TestDriftUnits: neither units nor the order of rows or the sign of columns change what is predicted.
func TestDriftUnits(t *testing.T) {
	x, y := driftTable(50, 2, 13)
	targets, _ := driftTable(10, 2, 14)
	opt := Options{Dim: 4, Drift: 2}
	m, err := Fit(t.Context(), x, y, opt)
	require.NoError(t, err)
	mean, std, err := m.Predict(t.Context(), targets)
	require.NoError(t, err)
	change := func(x []float64) []float64 {
		out := slices.Clone(x)
		for i := 0; i < len(out); i += 4 {
			out[i], out[i+1], out[i+2], out[i+3] = 7*x[i]+1e3, 7*x[i+1], -0.01*x[i+2]+4, 1e5*x[i+3]
		}
		return out
	}
	m, err = Fit(t.Context(), change(x), y, opt)
	require.NoError(t, err)
	got, gotStd, err := m.Predict(t.Context(), change(targets))
	require.NoError(t, err)
	require.InDeltaSlice(t, mean, got, 1e-6)
	require.InDeltaSlice(t, std, gotStd, 1e-6)
}

// TestDriftExplains: where a column explains nearly all or all of the values, deviations are those of what it leaves, by the processes and
// after the check, and nothing is lost to rounding.
func TestDriftExplains(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 2))
	for _, n := range []int{60, 900} {
		for _, coefficient := range []float64{0, 1, 100, 1e4, 1e8, 1e13} {
			var x, y, targets, truth []float64
			for i := range n + 100 {
				u, v, z := rng.Float64(), rng.Float64(), rng.NormFloat64()
				value := math.Sin(3*u) + 0.2*rng.NormFloat64() + coefficient*z
				if i < n {
					x, y = append(x, u, v, z), append(y, value)
				} else {
					targets, truth = append(targets, u, v, z), append(truth, value)
				}
			}
			for _, uncorrected := range []bool{true, false} {
				m, err := Fit(t.Context(), x, y, Options{Dim: 3, Drift: 1, NoCheck: uncorrected})
				require.NoError(t, err)
				mean, std, err := m.Predict(t.Context(), targets)
				require.NoError(t, err)
				var squares float64
				for i, v := range truth {
					squares += (v - mean[i]) * (v - mean[i]) / float64(len(truth))
				}
				if coefficient < 1e5 {
					require.InDelta(t, 0.23, math.Sqrt(squares), 0.06, "n %d, coefficient %g", n, coefficient)
					require.InDelta(t, 0.25, std[0], 0.12, "n %d, coefficient %g, uncorrected %v", n, coefficient, uncorrected)
				}
				require.Less(t, math.Sqrt(squares), 1e-6*coefficient+0.3, "n %d, coefficient %g", n, coefficient)
				require.Less(t, std[0], 1e-3*coefficient+0.4, "n %d, coefficient %g", n, coefficient)
			}
		}
	}
}

// TestDriftInput: columns that are constant, equal or missing, and options that are none.
func TestDriftInput(t *testing.T) {
	x, y := table(40, 1, 0.02, 15)
	plain, err := Fit(t.Context(), x, y, Options{Dim: 1})
	require.NoError(t, err)
	var constant, twice []float64
	for i, v := range x {
		constant, twice = append(constant, v, 7), append(twice, v, y[i], y[i])
	}
	m, err := Fit(t.Context(), constant, y, Options{Dim: 2, Drift: 1})
	require.NoError(t, err)
	mean, _, err := m.Predict(t.Context(), []float64{0.3, 7, 0.3, 99})
	require.NoError(t, err)
	want, _, err := plain.Predict(t.Context(), []float64{0.3})
	require.NoError(t, err)
	require.Equal(t, mean[0], mean[1], "a constant says nothing")
	require.InDelta(t, want[0], mean[0], 1e-9)
	require.Equal(t, []Coefficient{{}}, m.Report().Drift)

	m, err = Fit(t.Context(), twice, y, Options{Dim: 3, Drift: 2})
	require.NoError(t, err)
	mean, std, err := m.Predict(t.Context(), []float64{0.3, 0.5, 0.5})
	require.NoError(t, err)
	require.InDelta(t, 0.5, mean[0], 0.1, "the columns are the values")
	require.Less(t, std[0], 0.2)

	for _, opt := range []Options{{Dim: 2, Drift: 2}, {Dim: 2, Drift: -1}, {Dim: 2, Drift: 1, Sphere: true},
		{Dim: 2, Drift: 1, MaximumLikelihood: true}} {
		_, err := Fit(t.Context(), constant, y, opt)
		require.ErrorIs(t, err, ErrInput, "%+v", opt)
	}
	globe := []float64{10, 20, 1, 30, 200, 2, -95, 0, 3, 5, 5, 5}
	_, err = Fit(t.Context(), globe, y[:4], Options{Dim: 3, Drift: 1, Sphere: true})
	require.ErrorContains(t, err, "row 2: latitude -95")
	globe[6] = 60
	_, err = Fit(t.Context(), globe, y[:4], Options{Dim: 3, Drift: 1, Sphere: true})
	require.NoError(t, err)
	_, err = FitPopulation(t.Context(), [][]float64{constant, constant}, [][]float64{y, y}, Options{Dim: 2, Drift: 1})
	require.ErrorIs(t, err, ErrInput)
	_, _, err = m.Predict(t.Context(), []float64{0.3, 0.5, 1e300})
	require.ErrorContains(t, err, "column 2 is 1e+300")
}

// driftDays are tables of few stations, whose values fall with elevation, by about the same in each of them.
func driftDays(days, stations int, seed uint64) (xs, ys [][]float64) {
	rng := rand.New(rand.NewPCG(seed, 3))
	for range days {
		var x, y []float64
		level, slope := 10*rng.NormFloat64(), -0.0065+0.0005*rng.NormFloat64()
		a, b := rng.Float64()*6, rng.Float64()*6
		for range stations {
			e, n, h := 100*rng.Float64(), 100*rng.Float64(), 1500*rng.Float64()
			x = append(x, e, n, h)
			y = append(y, level+slope*h+1.5*math.Sin(e/25+a)*math.Cos(n/25+b)+0.2*rng.NormFloat64())
		}
		xs, ys = append(xs, x), append(ys, y)
	}
	return xs, ys
}

// TestDriftShared: tables of few values have the coefficients of a drift from each other, and predict better with them, also one whose
// column is constant, or that has a single value.
func TestDriftShared(t *testing.T) {
	const stations = 12
	ctx, opt := t.Context(), Options{Dim: 3, Drift: 1}
	xs, ys := driftDays(30, 3*stations, 21)
	var contextX, contextY [][]float64
	for i := range xs {
		contextX, contextY = append(contextX, xs[i][:3*stations]), append(contextY, ys[i][:stations])
	}
	s, err := FitShared(ctx, contextX, contextY, opt)
	require.NoError(t, err)
	require.InDelta(t, -0.0065, s.opt.slopes.mean[0], 0.0004)
	require.Greater(t, s.opt.slopes.std[0], 0.0001)
	require.Less(t, s.opt.slopes.std[0], 0.0012)
	gain, spread, err := s.Helps(ctx, contextX, contextY)
	require.NoError(t, err)
	require.Greater(t, gain, spread)
	score := func(fit func(x, y []float64) (*Model, error)) (density, z2 float64) {
		for i := range xs {
			m, err := fit(contextX[i], contextY[i])
			require.NoError(t, err)
			mean, std, err := m.Predict(ctx, xs[i][3*stations:])
			require.NoError(t, err)
			for k, v := range ys[i][stations:] {
				density += logNormal(v, mean[k], std[k]*std[k]) / (30 * 2 * stations)
				z2 += (v - mean[k]) * (v - mean[k]) / (std[k] * std[k]) / (30 * 2 * stations)
			}
		}
		return density, z2
	}
	alone, _ := score(func(x, y []float64) (*Model, error) { return Fit(ctx, x, y, opt) })
	together, z2 := score(func(x, y []float64) (*Model, error) { return s.Fit(ctx, x, y) })
	require.Greater(t, together, alone+0.15)
	require.InDelta(t, 0.85, z2, 0.3)

	flat := []float64{10, 10, 300, 20, 80, 300, 70, 30, 300, 90, 90, 300, 50, 40, 300}
	for _, n := range []int{1, 5} {
		m, err := s.Fit(ctx, flat[:3*n], contextY[0][:n])
		require.NoError(t, err)
		mean, std, err := m.Predict(ctx, []float64{15, 15, 300, 15, 15, 1300})
		require.NoError(t, err)
		require.InDelta(t, -6.5, mean[1]-mean[0], 0.5, "n = %d", n)
		require.GreaterOrEqual(t, std[1], std[0])
		samples, err := m.Samples(ctx, []float64{15, 15, 300, 15, 15, 1300}, 200, 1)
		require.NoError(t, err)
		var sum float64
		for _, row := range samples {
			sum += (row[1] - row[0]) / 200
		}
		require.InDelta(t, mean[1]-mean[0], sum, 4*(std[0]+std[1])/math.Sqrt(200))
	}
}

// TestDriftEqualColumns: several columns that say the same, and all of the values but little, are no reason to fail.
func TestDriftEqualColumns(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 2))
	for _, n := range []int{30, 900} {
		for _, noise := range []float64{0, 1e-6, 1e-3} {
			var x, y []float64
			for range n {
				u, z := rng.Float64(), rng.NormFloat64()
				x, y = append(x, u, z, -2*z, z), append(y, 1e3*z+noise*rng.NormFloat64())
			}
			m, err := Fit(t.Context(), x, y, Options{Dim: 4, Drift: 3})
			require.NoError(t, err)
			mean, std, err := m.Predict(t.Context(), []float64{0.5, 1, -2, 1})
			require.NoError(t, err)
			require.InDelta(t, 1e3, mean[0], 1, "n %d, noise %g", n, noise)
			require.Less(t, std[0], 3.0, "n %d, noise %g", n, noise)
		}
	}
}
