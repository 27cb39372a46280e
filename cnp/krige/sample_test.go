package krige

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
)

// TestSampledSquares: samples are as wide as predictions, however many rows there are.
func TestSampledSquares(t *testing.T) {
	for _, n := range []int{60, 120, 400, 1500} {
		for d := 1; d <= 2; d++ {
			x, y := table(n, d, 0.05, uint64(n))
			m, err := Fit(t.Context(), x, y, Options{Dim: d})
			require.NoError(t, err)
			targets, _ := table(60, d, 0, 3)
			require.InDelta(t, 1, sampledSquare(t, m, targets, 200, 5), 0.06, "n = %d, d = %d", n, d)
		}
	}
}

// TestSampledCovariance compares moments of functions with what they must be, written down densely: the posterior's where predictions
// are exact or by way of inducing points, and otherwise those of the errors of predictions from near rows.
func TestSampledCovariance(t *testing.T) {
	const count, nt = 800, 12
	wave := func(x, y []float64, period float64) {
		for i := range y {
			y[i] += 0.7*math.Sin(2*math.Pi*x[i]/period) + 0.3*math.Cos(4*math.Pi*x[i]/period)
		}
	}
	for _, c := range []struct {
		name   string
		n, d   int
		period float64
		exact  bool
	}{{"line", 60, 1, 0, true}, {"season", 70, 1, 0.16, true}, {"plane", 60, 2, 0, true}, {"near", 400, 2, 0, false},
		{"inducing", 400, 2, 0, false}} {
		t.Run(c.name, func(t *testing.T) {
			x, y := table(c.n, c.d, 0.02, uint64(c.n))
			if c.period > 0 {
				wave(x, y, c.period)
			}
			m, err := Fit(t.Context(), x, y, Options{Dim: c.d, NoCheck: true})
			require.NoError(t, err)
			require.Equal(t, c.exact, m.exact)
			for _, b := range m.members {
				if c.name == "near" {
					b.inducing = nil
				}
				require.Equal(t, c.name == "inducing", b.inducing != nil)
			}
			require.Equal(t, c.period > 0, m.seasonsOf() != nil)
			targets, _ := table(nt, c.d, 0, 3)
			for i := range 4 * c.d { // pairs of near targets
				targets[4*c.d+i] = targets[i] + 0.01
			}
			mean, cov := m.mixtureMoments(t, m.frame.coordinates(targets))
			samples, err := m.Functions(t.Context(), targets, count, 5)
			require.NoError(t, err)
			z := func(row []float64, i int) float64 {
				return ((row[i]-m.frame.y0)/m.frame.ys - mean[i]) / math.Sqrt(cov[i*nt+i])
			}
			for i := range nt {
				var sum float64
				for _, row := range samples {
					sum += z(row, i) / count
				}
				require.InDelta(t, 0, sum, 4.5/math.Sqrt(count), "mean of target %d", i)
				for j := range i + 1 {
					var sum float64
					for _, row := range samples {
						sum += z(row, i) * z(row, j) / count
					}
					r := cov[i*nt+j] / math.Sqrt(cov[i*nt+i]*cov[j*nt+j])
					require.InDelta(t, r, sum, 5*math.Sqrt((1+r*r)/count), "targets %d and %d", i, j)
				}
			}
		})
	}
}

// mixtureMoments are mean and covariance of functions at normalised targets.
func (m *Model) mixtureMoments(t *testing.T, at []float64) (mean, cov []float64) {
	t.Helper()
	d, n := m.frame.dim, m.n
	nt := len(at) / d
	all := slices.Concat(m.x, at)
	mean, cov = make([]float64, nt), make([]float64, nt*nt)
	var total float64
	for _, b := range m.members {
		total += b.weight
	}
	for _, b := range m.members {
		k := *b.kernel
		if m.exact {
			k.level2 = 1e4 // nothing is known of the level
		}
		size := n + nt
		dense := denseCovariances(m, &k, all)
		errs := make([]float64, nt*size) // [targets, rows and targets]: predictions' errors as sums of values
		mu := make([]float64, nt)
		for i := range nt {
			near := upTo(n)
			if !m.exact && b.inducing == nil {
				err := m.local.visit(t.Context(), at[i*d:(i+1)*d], func(w *desk, _ []int32) {
					near = near[:0]
					for _, p := range w.index {
						near = append(near, int(p))
					}
				})
				require.NoError(t, err)
			}
			a, w := make([]float64, 0, tri(len(near))), make([]float64, len(near))
			for r, p := range near {
				for _, q := range near[:r+1] {
					a = append(a, dense[p*size+q])
				}
				w[r] = dense[(n+i)*size+p]
			}
			require.True(t, cholesky(a, len(near), w, new(square)))
			backward(a, w, len(near))
			mu[i] = b.level
			errs[i*size+n+i] = 1
			for r, p := range near {
				mu[i] += w[r] * (m.y[p] - b.level)
				errs[i*size+p] = -w[r]
			}
			mean[i] += b.weight / total * mu[i]
		}
		for i := range n + nt {
			if i >= n {
				dense[i*size+i] -= k.noise // functions have none
			}
		}
		with := make([]float64, size) // covariances of all values with an error
		for j := range nt {
			for p := range with {
				with[p] = dot(dense[p*size:(p+1)*size], errs[j*size:(j+1)*size], size)
			}
			for i := range nt {
				sum := dot(errs[i*size:(i+1)*size], with, size)
				cov[i*nt+j] += b.weight / total * (b.variance*sum + mu[i]*mu[j])
			}
		}
	}
	for i := range nt {
		for j := range nt {
			cov[i*nt+j] -= mean[i] * mean[j]
		}
	}
	return mean, cov
}

// denseCovariances is the covariance matrix of new values at places.
func denseCovariances(m *Model, k *kernel, places []float64) []float64 {
	d := m.frame.dim
	n := len(places) / d
	var f features
	f.grow(d, n*n, m.aniso())
	for i := range n {
		for j := range n {
			f.set(i*n+j, places[i*d:(i+1)*d], places[j*d:(j+1)*d])
		}
	}
	out := make([]float64, n*n)
	k.covariances(out, &f, new(scratch))
	for i := range n {
		out[i*n+i] += k.noise
	}
	return out
}

// TestPaths compares covariances of paths with those of their kernels, near and far, on a line and in space.
func TestPaths(t *testing.T) {
	const count = 1500
	for _, d := range []int{1, 3} {
		for _, s := range []shape{matern12, matern32, matern52, squared, rational} {
			spec := spec{dim: d, shape: s, aniso: d == 3, turned: d == 3 && s != matern12}
			theta := []float64{math.Log(0.5), math.Log(0.1), math.Log(0.2), 0.4, -0.3, 0.3, -0.5, 0.2}[:spec.params()]
			if d == 1 && s == matern32 {
				spec.second, spec.period, spec.long = matern12, 0.7, 1.9
				theta = append(theta, math.Log(0.5), math.Log(0.1), math.Log(0.8), 0.2, math.Log(3), 0)
				theta = append(theta, math.Log(0.6), 0, math.Log(2))
			}
			b := &member{spec: &spec, theta: theta, kernel: spec.kernel(theta)}
			b.kernel.level2 = 0.3
			places := make([]float64, 4*d)
			for i, v := range []float64{0, 0.01, 0.3, 2} {
				for c := range d {
					places[i*d+c] = 0.4 + v*[]float64{1, 0.5, -0.3}[c]
				}
			}
			var m Model
			m.frame = &frame{dim: d}
			want := denseCovariances(&m, b.kernel, places)
			rng := rand.New(rand.NewPCG(uint64(s), uint64(d)))
			products := make([][]float64, 16)
			phase, sin, cos := make([]float64, pathWaves), make([]float64, pathWaves), make([]float64, pathWaves)
			for range count {
				f := newPath(b.kernel, metricRoot(b), d, rng)
				n := len(f.cos)
				var v [4]float64
				for i := range v {
					v[i] = f.at(places[i*d:(i+1)*d], phase[:n], sin[:n], cos[:n])
				}
				for i := range products {
					products[i] = append(products[i], v[i/4]*v[i%4])
				}
			}
			for i, p := range products {
				if i/4 == i%4 {
					want[i] -= b.kernel.noise
				}
				mean, sd := moments(p)
				require.InDelta(t, want[i], mean, 4.5*sd/math.Sqrt(count), "d = %d, %v, places %d and %d", d, s, i/4, i%4)
			}
		}
	}
}

// TestFunctionsAlone: what a function is at a target depends neither on other targets, nor on how many samples or threads there are.
func TestFunctionsAlone(t *testing.T) {
	for _, n := range []int{60, 400} {
		x, y := table(n, 2, 0.1, 8)
		m, err := Fit(t.Context(), x, y, Options{Dim: 2})
		require.NoError(t, err)
		targets, _ := table(70, 2, 0, 3)
		all, err := m.Functions(t.Context(), targets, 9, 5)
		require.NoError(t, err)
		before := runtime.GOMAXPROCS(1)
		one, err := m.Functions(t.Context(), targets, 9, 5)
		runtime.GOMAXPROCS(before)
		require.NoError(t, err)
		require.Equal(t, all, one)
		some, err := m.Functions(t.Context(), targets[80:100], 4, 5)
		require.NoError(t, err)
		values, err := m.Samples(t.Context(), targets, 4, 5)
		require.NoError(t, err)
		fewer, err := m.Samples(t.Context(), targets[:40], 4, 5)
		require.NoError(t, err)
		for k, row := range some {
			requireClose(t, all[k][40:50], row, 1e-9, "other targets")
			requireClose(t, values[k][:20], fewer[k], 1e-9, "fewer targets")
			require.NotEqual(t, all[k], values[k])
		}
	}
}

// TestSampledMemory: many samples at few places of a long table take no memory for rows that predict none of them.
func TestSampledMemory(t *testing.T) {
	const n = 30000
	rng := rand.New(rand.NewPCG(3, 1))
	x, y := make([]float64, 2*n), make([]float64, n)
	for i := range y {
		x[2*i], x[2*i+1] = 100*rng.Float64(), 100*rng.Float64()
		y[i] = math.Sin(x[2*i]/5) + 0.1*rng.NormFloat64()
	}
	m, err := Fit(t.Context(), x, y, Options{Dim: 2})
	require.NoError(t, err)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = m.Samples(t.Context(), []float64{1, 1, 2, 2}, 2000, 1)
	require.NoError(t, err)
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(200<<20)) // values at all rows would be 480 MB
}

// TestSamplesTooMany: numbers of samples that no memory holds are errors, with targets and without, and so is a model that nothing made.
func TestSamplesTooMany(t *testing.T) {
	ctx := t.Context()
	x, y := table(12, 1, 0.1, 1)
	m, err := Fit(ctx, x, y, Options{Dim: 1})
	require.NoError(t, err)
	var xs, ys [][]float64
	for i := range 8 {
		x, y := table(10, 1, 0.1, uint64(i))
		xs, ys = append(xs, x), append(ys, y)
	}
	p, err := FitPopulation(ctx, xs, ys, Options{Dim: 1})
	require.NoError(t, err)
	for _, targets := range [][]float64{nil, {0.5}} {
		for _, count := range []int{math.MaxInt, math.MaxInt / 4, math.MaxInt / 16} {
			_, err = m.Samples(ctx, targets, count, 1)
			require.ErrorIs(t, err, cnp.ErrMemory)
			_, err = m.Functions(ctx, targets, count, 1)
			require.ErrorIs(t, err, cnp.ErrMemory)
			_, err = p.Samples(ctx, x, y, targets, count, 1, false)
			require.ErrorIs(t, err, cnp.ErrMemory)
		}
		_, err = m.Samples(ctx, targets, -1, 1)
		require.ErrorIs(t, err, ErrInput)
	}
	r, err := NewRegressor(Options{Dim: 1})
	require.NoError(t, err)
	b := &cnp.Batch[float32]{B: 1, Nc: 2, Nt: 1, XContext: []float64{0, 1}, YContext: []float32{1, 2}, XTarget: []float64{0.5}}
	for samples, want := range map[int]error{math.MaxInt: cnp.ErrMemory, math.MaxInt / 16: cnp.ErrMemory, 0: cnp.ErrRange,
		-1: cnp.ErrRange} {
		_, err = r.SampleCurves(ctx, b, cnp.SampleOptions{Samples: samples})
		require.ErrorIs(t, err, want)
	}
	var empty Model
	_, err = empty.At(ctx, []float64{1})
	require.ErrorIs(t, err, ErrInput)
	_, err = empty.Samples(ctx, []float64{1}, 1, 1)
	require.ErrorIs(t, err, ErrInput)
}

// TestSampledEqualValues: what lies behind equal values is one value wherever it is asked for, and new values differ by their noise.
func TestSampledEqualValues(t *testing.T) {
	m, err := Fit(t.Context(), []float64{0, 1, 2, 3}, []float64{5, 5, 5, 5}, Options{Dim: 1})
	require.NoError(t, err)
	functions, err := m.Functions(t.Context(), []float64{0, 2, 9}, 400, 1)
	require.NoError(t, err)
	alone, err := m.Functions(t.Context(), []float64{9}, 400, 1)
	require.NoError(t, err)
	values, err := m.Samples(t.Context(), []float64{0, 2, 9}, 400, 1)
	require.NoError(t, err)
	_, std, err := m.Predict(t.Context(), []float64{9})
	require.NoError(t, err)
	var square float64
	for s, row := range functions {
		require.Equal(t, []float64{row[0], row[0], alone[s][0]}, row)
		require.NotEqual(t, values[s][0], values[s][1])
		square += (row[0] - 5) * (row[0] - 5) / 400
	}
	require.InDelta(t, 1, math.Sqrt(square)/std[0], 0.15)
}
