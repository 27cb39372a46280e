package krige

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var long = flag.Bool("long", false, "populations of every waveform, of more and larger tables, and larger samples")

// table draws a table: waves and a trend, with noise.
func table(n, d int, noise float64, seed uint64) (x, y []float64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	for range n {
		var v float64
		for range d {
			c := rng.Float64()
			x = append(x, c)
			v += math.Sin(7*c) + 0.5*c
		}
		y = append(y, v+noise*rng.NormFloat64())
	}
	return x, y
}

func predict(t *testing.T, x, y, targets []float64, opt Options) (mean, std []float64) {
	t.Helper()
	m, err := Fit(t.Context(), x, y, opt)
	require.NoError(t, err)
	mean, std, err = m.Predict(t.Context(), targets)
	require.NoError(t, err)
	return mean, std
}

// moved applies a function to every number of a copy.
func moved(v []float64, f func(i int, a float64) float64) []float64 {
	out := slices.Clone(v)
	for i, a := range out {
		out[i] = f(i, a)
	}
	return out
}

func requireClose(t *testing.T, want, got []float64, tolerance float64, what string) {
	t.Helper()
	require.Len(t, got, len(want))
	for i := range want {
		if !(math.Abs(want[i]-got[i]) <= tolerance*(1+math.Abs(want[i]))) {
			t.Fatalf("%s: value %d is %v, need %v", what, i, got[i], want[i])
		}
	}
}

// TestEquivariance moves tables in every way that predictions must follow.
func TestEquivariance(t *testing.T) {
	for _, c := range []struct {
		name string
		n, d int
	}{{"line", 60, 1}, {"few", 6, 1}, {"plane", 90, 2}, {"many", 700, 2}, {"space", 60, 3}} {
		t.Run(c.name, func(t *testing.T) {
			d := c.d
			x, y := table(c.n, d, 0.1, 3)
			targets, _ := table(40, d, 0, 4)
			mean, std := predict(t, x, y, targets, Options{Dim: d})
			for _, g := range []struct {
				name           string
				fx             func(i int, a float64) float64
				shift, scale   float64
				rowsBackwards  bool
				differentUnits bool
			}{
				{name: "shift", fx: func(i int, a float64) float64 { return a + 3 + float64(i%d) }, scale: 1},
				{name: "scale", fx: func(_ int, a float64) float64 { return a * 1234.5 }, scale: 1},
				{name: "tiny", fx: func(_ int, a float64) float64 { return a * 1e-200 }, scale: 1e-150},
				{name: "huge", fx: func(_ int, a float64) float64 { return a * 1e150 }, scale: 1e150},
				{name: "reflect", fx: func(i int, a float64) float64 {
					if i%d == 0 {
						return -a
					}
					return a
				}, scale: 1},
				{name: "values", fx: func(_ int, a float64) float64 { return a }, shift: 15, scale: -0.37},
				{name: "rows", fx: func(_ int, a float64) float64 { return a }, scale: 1, rowsBackwards: true},
			} {
				mx, mt := moved(x, g.fx), moved(targets, g.fx)
				my := moved(y, func(_ int, a float64) float64 { return g.shift + g.scale*a })
				if g.rowsBackwards {
					slices.Reverse(my)
					for i, k := 0, c.n-1; i < k; i, k = i+1, k-1 {
						for a := range d {
							mx[i*d+a], mx[k*d+a] = mx[k*d+a], mx[i*d+a]
						}
					}
				}
				m, s := predict(t, mx, my, mt, Options{Dim: d})
				m = moved(m, func(_ int, a float64) float64 { return (a - g.shift) / g.scale })
				s = moved(s, func(_ int, a float64) float64 { return a / math.Abs(g.scale) })
				requireClose(t, mean, m, 1e-7, g.name)
				requireClose(t, std, s, 1e-6, g.name)
			}
		})
	}
}

// TestTurned: tables of too few rows for anisotropy have a covariance of the distance, and so have those of the globe. Turned tables give
// turned predictions. In the plane a turn by 45 degrees tells the distance from other forms of dx and dy.
func TestTurned(t *testing.T) {
	for _, c := range []struct{ n, d int }{{4, 2}, {9, 2}, {15, 2}, {12, 3}} {
		x, y := table(c.n, c.d, 0.02, 5)
		targets, _ := table(20, c.d, 0, 6)
		turned := func(v []float64) []float64 {
			out := slices.Clone(v)
			for i := 0; i < len(v); i += c.d {
				out[i], out[i+1] = (v[i]-v[i+1])*math.Sqrt2/2, (v[i]+v[i+1])*math.Sqrt2/2
			}
			return out
		}
		mean, std := predict(t, x, y, targets, Options{Dim: c.d})
		tmean, tstd := predict(t, turned(x), y, turned(targets), Options{Dim: c.d})
		requireClose(t, mean, tmean, 1e-5, fmt.Sprint(c, " mean"))
		requireClose(t, std, tstd, 1e-5, fmt.Sprint(c, " std"))
	}
}

// TestDip: layers that dip by 40 degrees are predicted as well as level ones, also where depths have a unit of their own, and the report
// says how they lie.
func TestDip(t *testing.T) {
	const n, dip = 120, 40 * math.Pi / 180
	rng := rand.New(rand.NewPCG(3, 4))
	at := func() (level, turned []float64, y float64) {
		u, v, w := 4*rng.Float64(), 4*rng.Float64(), 4*rng.Float64()
		y = math.Sin(0.5*u+0.3) + math.Cos(0.4*v) + math.Sin(3*w)
		level = []float64{u, v, w}
		return level, []float64{u*math.Cos(dip) - w*math.Sin(dip), v, u*math.Sin(dip) + w*math.Cos(dip)}, y
	}
	var x, targets [2][]float64
	var y, truth []float64
	for i := range n + 60 {
		level, turned, v := at()
		if i < n {
			x[0], x[1], y = append(x[0], level...), append(x[1], turned...), append(y, v+0.05*rng.NormFloat64())
		} else {
			targets[0], targets[1], truth = append(targets[0], level...), append(targets[1], turned...), append(truth, v)
		}
	}
	feet := func(i int, v float64) float64 {
		if i%3 == 2 {
			return v / 0.3048
		}
		return v
	}
	var errors [3]float64
	var report Report
	for k, at := range [][]float64{x[0], moved(x[1], feet), x[1]} {
		m, err := Fit(t.Context(), at, y, Options{Dim: 3, DifferentUnits: k == 1})
		require.NoError(t, err)
		mean, _, err := m.Predict(t.Context(), [][]float64{targets[0], moved(targets[1], feet), targets[1]}[k])
		require.NoError(t, err)
		for i := range mean {
			errors[k] += (mean[i] - truth[i]) * (mean[i] - truth[i]) / float64(len(mean))
		}
		report = m.Report()
	}
	require.Less(t, errors[0], 0.05)
	require.Less(t, errors[1], 1.4*errors[0])
	require.Less(t, errors[2], 1.2*errors[0])
	q := report.Members[0]
	require.Greater(t, q.Stretch, 2.5)
	// The direction across the layers is that of the largest eigenvalue.
	values, vectors := eigen(slices.Concat(q.Metric...), 3)
	across := slices.Index(values, slices.Max(values))
	require.InDelta(t, math.Sin(dip), math.Abs(vectors[across]), 0.1)
	require.InDelta(t, 0, vectors[3+across], 0.1)
	require.InDelta(t, math.Cos(dip), math.Abs(vectors[6+across]), 0.1)
}

// TestUnits gives one axis another unit than the others.
func TestUnits(t *testing.T) {
	x, y := table(80, 2, 0.1, 5)
	targets, _ := table(30, 2, 0, 6)
	opt := Options{Dim: 2, DifferentUnits: true}
	mean, std := predict(t, x, y, targets, opt)
	wide := func(i int, a float64) float64 {
		if i%2 == 1 {
			return 1e4*a + 7
		}
		return a
	}
	m, s := predict(t, moved(x, wide), y, moved(targets, wide), opt)
	requireClose(t, mean, m, 1e-7, "mean")
	requireClose(t, std, s, 1e-6, "std")
}

// TestRecovers holds predictions of smooth tables to the truth, and intervals to their coverage.
func TestRecovers(t *testing.T) {
	for _, c := range []struct{ n, d int }{{40, 1}, {150, 2}, {600, 2}, {250, 3}, {900, 1}} {
		x, y := table(c.n, c.d, 0.1, 11)
		targets, truth := table(300, c.d, 0.1, 12)
		mean, std := predict(t, x, y, targets, Options{Dim: c.d})
		var square float64
		inside := 0
		for i := range truth {
			e := truth[i] - mean[i]
			square += e * e / float64(len(truth))
			if math.Abs(e) < 1.96*std[i] {
				inside++
			}
		}
		require.Less(t, math.Sqrt(square), 0.2, "n = %d, d = %d", c.n, c.d)
		require.Greater(t, inside, 264, "n = %d, d = %d", c.n, c.d)
	}
}

// TestSeason finds a period, and carries it on beyond the end.
func TestSeason(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var x, y, tx, ty []float64
	for i := range 120 {
		v := float64(i) / 12
		f := 0.3*v + math.Sin(2*math.Pi*v) + 0.4*math.Cos(4*math.Pi*v) + 0.1*rng.NormFloat64()
		if i < 100 {
			x, y = append(x, 1990+v), append(y, f)
		} else {
			tx, ty = append(tx, 1990+v), append(ty, f)
		}
	}
	m, err := Fit(t.Context(), x, y, Options{Dim: 1})
	require.NoError(t, err)
	require.InDelta(t, 1, m.Report().Members[0].Period, 0.01)
	mean, _, err := m.Predict(t.Context(), tx)
	require.NoError(t, err)
	for i := range ty {
		require.InDelta(t, ty[i], mean[i], 0.6)
	}
	m, err = Fit(t.Context(), x, y, Options{Dim: 1, Periods: []float64{1}})
	require.NoError(t, err)
	require.InDelta(t, 1, m.Report().Members[0].Period, 0.01)
}

// TestSeasonOfBursts: values that were taken a few at a time, minutes apart, have short gaps, and so high frequencies to search. They must
// not make the search so coarse that it misses a season.
func TestSeasonOfBursts(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 8))
	var x, y []float64
	for day := range 150 {
		start := rng.Float64()
		for k := range 4 {
			v := float64(day) + 0.3*start + 0.003*float64(k)
			x, y = append(x, v), append(y, 2*math.Sin(2*math.Pi*v/8.3)+0.3*rng.NormFloat64())
		}
	}
	m, err := Fit(t.Context(), x, y, Options{Dim: 1})
	require.NoError(t, err)
	require.InDelta(t, 8.3, m.Report().Members[0].Period, 0.1)
	mean, _, err := m.Predict(t.Context(), []float64{8.3 * 19.25, 8.3 * 19.75})
	require.NoError(t, err)
	require.InDelta(t, 2, mean[0], 0.5)
	require.InDelta(t, -2, mean[1], 0.5)
}

// TestFew holds tables with hardly anything in them to finite answers of a sensible size.
func TestFew(t *testing.T) {
	for _, c := range []struct {
		name string
		x, y []float64
		d    int
	}{
		{"one", []float64{3}, []float64{5}, 1},
		{"two", []float64{3, 4}, []float64{5, 7}, 1},
		{"three", []float64{0, 0, 1, 0, 0, 1}, []float64{1, 2, 3}, 2},
		{"constant", []float64{1, 2, 3, 4}, []float64{2, 2, 2, 2}, 1},
		{"zeros", []float64{1, 2, 3, 4}, []float64{0, 0, 0, 0}, 1},
		{"one place", []float64{1, 1, 1, 1}, []float64{1, 2, 3, 4}, 1},
		{"duplicates", []float64{1, 1, 2, 2, 3, 3, 4, 4, 5, 5}, []float64{1, 1.2, 2, 2.1, 3, 3.3, 4, 4, 5, 5.1}, 1},
		{"a line in the plane", []float64{0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5}, []float64{0, 1, 2, 3, 4, 6}, 2},
		{"outlier", []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, []float64{1, 2, 3, 4, 5, 1e9, 7, 8, 9, 10}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			targets := append(slices.Clone(c.x), make([]float64, c.d)...)
			mean, std := predict(t, c.x, c.y, targets, Options{Dim: c.d})
			lo, hi := slices.Min(c.y), slices.Max(c.y)
			for i := range mean {
				require.False(t, math.IsNaN(mean[i]) || math.IsInf(std[i], 0) || !(std[i] > 0), "%v ± %v", mean[i], std[i])
				require.GreaterOrEqual(t, mean[i], lo-(hi-lo)-1e-9)
				require.LessOrEqual(t, mean[i], hi+(hi-lo)+1e-9)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name string
		x, y []float64
		opt  Options
		want string
	}{
		{"nothing", nil, nil, Options{Dim: 1}, "no values"},
		{"lengths", []float64{1}, []float64{1, 2}, Options{Dim: 1}, "1 coordinates for 2 values"},
		{"coordinate", []float64{1, math.NaN()}, []float64{1, 2}, Options{Dim: 1}, "x: row 1, column 0 is NaN"},
		{"value", []float64{1, 2}, []float64{1, math.Inf(1)}, Options{Dim: 1}, "y: row 1, column 0 is +Inf"},
		{"latitude", []float64{91, 0}, []float64{1}, Options{Dim: 2, Sphere: true}, "latitude 91"},
		{"dimension", []float64{1}, []float64{1}, Options{Dim: 9}, "9 coordinates"},
		{"period", []float64{1, 2}, []float64{1, 2}, Options{Dim: 1, Periods: []float64{-1}}, "period -1"},
	} {
		_, err := Fit(t.Context(), c.x, c.y, c.opt)
		require.ErrorIs(t, err, ErrInput, c.name)
		require.ErrorContains(t, err, c.want, c.name)
	}
	m, err := Fit(t.Context(), []float64{1, 2, 3}, []float64{1, 3, 2}, Options{Dim: 1})
	require.NoError(t, err)
	_, _, err = m.Predict(t.Context(), []float64{math.NaN()})
	require.ErrorContains(t, err, "targets: row 0, column 0 is NaN")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Fit(ctx, []float64{1, 2, 3}, []float64{1, 3, 2}, Options{Dim: 1})
	require.ErrorIs(t, err, context.Canceled)
}

// TestSphere predicts across the date line and around a pole.
func TestSphere(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	f := func(lat, lon float64) float64 {
		u := unitVectors([]float64{lat, lon})
		return u[0] + math.Sin(3*u[1]) + u[2]*u[2]
	}
	var x, y []float64
	for range 250 {
		lat, lon := 180/math.Pi*math.Asin(2*rng.Float64()-1), 360*rng.Float64()-180
		x, y = append(x, lat, lon), append(y, f(lat, lon)+0.02*rng.NormFloat64())
	}
	mean, _ := predict(t, x, y, []float64{0, 180, 0, -180, 89.999, 10, 89.999, 190, 30, 40}, Options{Dim: 2, Sphere: true})
	require.InDelta(t, mean[0], mean[1], 1e-6)
	require.InDelta(t, mean[2], mean[3], 1e-3)
	require.InDelta(t, f(30, 40), mean[4], 0.15)
}

// TestSamples compares moments of samples with the predictions, and near targets with each other.
func TestSamples(t *testing.T) {
	for _, n := range []int{60, 500} {
		x, y := table(n, 2, 0.02, 21)
		m, err := Fit(t.Context(), x, y, Options{Dim: 2})
		require.NoError(t, err)
		targets := []float64{0.5, 0.5, 0.5, 0.5001, 0.1, 0.9, 1.6, 1.6, 1.6, 1.62}
		for i := range 150 {
			targets = append(targets, float64(i)/150, 0.3)
		}
		mean, std, err := m.Predict(t.Context(), targets)
		require.NoError(t, err)
		samples, err := m.Samples(t.Context(), targets, 400, 5)
		require.NoError(t, err)
		again, err := m.Samples(t.Context(), targets, 400, 5)
		require.NoError(t, err)
		require.Equal(t, samples, again)
		for i := range mean {
			var s, s2 float64
			for _, row := range samples {
				z := (row[i] - mean[i]) / std[i]
				s, s2 = s+z/400, s2+z*z/400
			}
			require.InDelta(t, 0, s, 0.35, "target %d", i)
			require.InDelta(t, 1, s2, 0.45, "target %d", i)
		}
		var together float64 // far from the context, near each other
		for _, row := range samples {
			together += (row[3] - mean[3]) / std[3] * (row[4] - mean[4]) / std[4] / 400
		}
		require.Greater(t, together, 0.6)
	}
}

// TestSamplesOfFew: samples of a few rows are as wide as predictions. What the rows say of the level counts once.
func TestSamplesOfFew(t *testing.T) {
	for _, n := range []int{2, 3, 5, 12} {
		for d := 1; d <= 2; d++ {
			x, y := table(n, d, 0.1, uint64(n))
			m, err := Fit(t.Context(), x, y, Options{Dim: d})
			require.NoError(t, err)
			targets, _ := table(40, d, 0, 3)
			require.InDelta(t, 1, sampledSquare(t, m, targets, 1000, 5), 0.05, "n = %d, d = %d", n, d)
		}
	}
}

// sampledSquare draws samples at targets, and returns the mean square of their distances from the predicted means, in predicted deviations.
func sampledSquare(t *testing.T, m *Model, targets []float64, count int, seed uint64) (square float64) {
	t.Helper()
	mean, std, err := m.Predict(t.Context(), targets)
	require.NoError(t, err)
	samples, err := m.Samples(t.Context(), targets, count, seed)
	require.NoError(t, err)
	for _, row := range samples {
		for i, v := range row {
			z := (v - mean[i]) / std[i]
			square += z * z / float64(count*len(row))
		}
	}
	return square
}

// TestLarge holds a large table to its time, which grows with the number of points and no faster.
func TestLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short; 100,000 points take seconds (make test runs it)")
	}
	x, y := table(100000, 2, 0.1, 31)
	targets, truth := table(2000, 2, 0, 32)
	start := time.Now()
	mean, _ := predict(t, x, y, targets, Options{Dim: 2})
	require.Less(t, time.Since(start), 60*time.Second)
	var square float64
	for i := range truth {
		square += (mean[i] - truth[i]) * (mean[i] - truth[i]) / float64(len(truth))
	}
	require.Less(t, math.Sqrt(square), 0.05)
}

// TestLogDensityLengths: fewer values than targets are not the first of them.
func TestLogDensityLengths(t *testing.T) {
	m, err := Fit(t.Context(), []float64{1, 2, 3, 4}, []float64{1, 3, 2, 2}, Options{Dim: 1})
	require.NoError(t, err)
	p, err := m.At(t.Context(), []float64{0, 1.5})
	require.NoError(t, err)
	for _, y := range [][]float64{{1}, {1, 2, 3}} {
		require.PanicsWithValue(t, fmt.Sprintf("krige: LogDensity: len(y) = %d, need 2", len(y)), func() { p.LogDensity(y) })
	}
}

// TestTargetsAlone: a target's prediction does not depend on the others, not by a bit, also where many are predicted from some points.
func TestTargetsAlone(t *testing.T) {
	for _, d := range []int{1, 2, 3} {
		x, y := table(1000, d, 0.01, 41)
		for i := range 60 * d { // more than a prediction sees, in one place
			x[i] = x[i%d]
		}
		m, err := Fit(t.Context(), x, y, Options{Dim: d})
		require.NoError(t, err)
		require.False(t, m.exact)
		targets, _ := table(700, d, 0, 42)
		targets = append(targets, x[:200*d]...)
		for i := range 40 * d { // beyond the table, and on one point
			targets[i] *= 3
			targets[40*d+i] = x[i%d]
		}
		mean, std, err := m.Predict(t.Context(), targets)
		require.NoError(t, err)
		for i := range mean {
			one, dev, err := m.Predict(t.Context(), targets[i*d:(i+1)*d])
			require.NoError(t, err)
			require.Equal(t, []float64{mean[i], std[i]}, []float64{one[0], dev[0]}, "%d coordinates, target %d", d, i)
		}
	}
}

// TestManyTargets: nor does it depend on how many the others are where predictions are exact.
func TestManyTargets(t *testing.T) {
	x, y := table(155, 2, 0.1, 43)
	m, err := Fit(t.Context(), x, y, Options{Dim: 2})
	require.NoError(t, err)
	require.True(t, m.exact)
	require.Greater(t, len(m.members), 1)
	targets, _ := table(50_000, 2, 0, 44)
	mean, std, err := m.Predict(t.Context(), targets)
	require.NoError(t, err)
	few, dev, err := m.Predict(t.Context(), targets[:2*100])
	require.NoError(t, err)
	requireClose(t, few, mean[:100], 1e-9, "mean")
	requireClose(t, dev, std[:100], 1e-9, "std")
}

// TestStretch: of lengths that differ by a factor of four the report says so, with two coordinates as with three.
func TestStretch(t *testing.T) {
	for _, d := range []int{2, 3} {
		rng := rand.New(rand.NewPCG(7, uint64(d)))
		x, y := make([]float64, 120*d), make([]float64, 120)
		for i := range y {
			for k := range d {
				x[i*d+k] = 4 * rng.Float64()
			}
			y[i] = math.Sin(2*x[i*d]) + math.Sin(0.5*x[i*d+1]) + math.Sin(x[i*d+d-1])
		}
		m, err := Fit(t.Context(), x, y, Options{Dim: d, DifferentUnits: true})
		require.NoError(t, err)
		require.Greater(t, m.Report().Members[0].Stretch, 1.5, "%d coordinates", d)
		require.Less(t, m.Report().Members[0].Stretch, 12.0, "%d coordinates", d)
	}
}

func TestReport(t *testing.T) {
	x, y := table(120, 2, 0.1, 41)
	m, err := Fit(t.Context(), x, y, Options{Dim: 2})
	require.NoError(t, err)
	r := m.Report()
	require.Equal(t, 120, r.Values)
	require.Greater(t, r.LogDensity, r.Constant+0.5)
	require.InDelta(t, 0.95, r.Coverage95, 0.06)
	require.Contains(t, r.String(), "each of 120 values predicted from the others")
	r.Constant = -749999998033.026 // of 0, 0 and 1: the values beside the last have no deviation
	require.Contains(t, r.String(), "a constant's below -1000, inverse")
}

// TestAmounts holds predictions of amounts above zero, and moments and quantiles of bent values to each other.
func TestAmounts(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 1))
	var x, y []float64
	for range 100 {
		c := 6 * rng.Float64()
		x, y = append(x, c), append(y, math.Exp(1.5*math.Sin(c)+0.3*rng.NormFloat64()))
	}
	for _, v := range []Values{Logarithmic, Positive} {
		m, err := Fit(t.Context(), x, y, Options{Dim: 1, Values: v})
		require.NoError(t, err)
		require.Equal(t, "logarithm", m.Report().Bend)
		p, err := m.At(t.Context(), []float64{1, 2, 3, 4, 5})
		require.NoError(t, err)
		low, middle, high := p.Quantile(0.025), p.Quantile(0.5), p.Quantile(0.975)
		for i := range low {
			require.Greater(t, low[i], 0.)
			require.Greater(t, middle[i], low[i])
			require.Greater(t, high[i], middle[i])
			require.Greater(t, p.Mean[i], middle[i]) // the distribution is skewed
		}
		l, n := p.LogDensity([]float64{1, 2, math.NaN(), 0.5, 0.3})
		require.Equal(t, 4, n)
		require.False(t, math.IsInf(l, 0) || math.IsNaN(l))
		samples, err := m.Samples(t.Context(), []float64{1, 2}, 50, 1)
		require.NoError(t, err)
		for _, row := range samples {
			require.Greater(t, slices.Min(row), 0.)
		}
	}
	_, err := Fit(t.Context(), []float64{1, 2}, []float64{0, 1}, Options{Dim: 1, Values: Logarithmic})
	require.ErrorContains(t, err, "row 0: a value of 0 has no logarithm")
	_, err = Fit(t.Context(), []float64{1, 2}, []float64{-1, 1}, Options{Dim: 1, Values: Positive})
	require.ErrorContains(t, err, "never negative")
	zeros, err := Fit(t.Context(), x, moved(y, func(i int, a float64) float64 { return max(0, a-1) }), Options{Dim: 1, Values: Positive})
	require.NoError(t, err)
	mean, _, err := zeros.Predict(t.Context(), x)
	require.NoError(t, err)
	require.GreaterOrEqual(t, slices.Min(mean), 0.)
}

// TestLeaveOut: a block that is left out is predicted as by a fit without it that has the same covariance, and a forecast
// as by one that ends before it and knows nothing of what follows: neither level, nor variance, nor weights.
func TestLeaveOut(t *testing.T) {
	x, y := table(60, 1, 0.1, 21)
	m, err := Fit(t.Context(), x, y, Options{Dim: 1})
	require.NoError(t, err)
	g := m.members[0]
	for _, forecast := range []bool{false, true} {
		b := block{forecast: forecast, index: []int{40, 41, 42, 43}}
		given := upTo(40)
		if !forecast {
			for i := 44; i < 60; i++ {
				given = append(given, i)
			}
		}
		mean, variance := make([]float64, 4), make([]float64, 4)
		spread := g.variance
		if forecast {
			g.forecast(nil, b.index, mean, variance)
			part := &evidence{y: m.y[:40], dim: 1, units: []unit{{index: upTo(40)}}}
			part.units[0].fill(m.x, 1, false)
			s, ok := part.sums(g.kernel)
			require.True(t, ok)
			spread = s.spread()
			before := g.before(40)
			require.InDelta(t, s.density(), before.density(), 1e-9)
			weights := m.weightsBefore(&b)
			for k, other := range m.members[1:] {
				if other.weight == 0 {
					continue
				}
				o, ok := part.sums(other.kernel)
				require.True(t, ok)
				a, all := g.before(60), other.before(60)
				require.InDelta(t, math.Log(other.weight/g.weight)+o.density()-s.density()-all.density()+a.density(),
					math.Log(weights[k+1]/weights[0]), 1e-6)
			}
		} else {
			require.True(t, g.leaveOut(m, &b, mean, variance, new(square)))
		}
		n := len(given)
		u := unit{index: append(given, b.index...)}
		u.fill(m.x, 1, false)
		cov := make([]float64, tri(n+4))
		g.kernel.covariances(cov, &u.features, new(scratch))
		for i := range n + 4 {
			cov[tri(i)+i] += g.kernel.noise
		}
		inner := inverse(lowerOf(t, cov[:tri(n)], n), n)
		ones, level := 0.0, 0.0
		for i := range inner {
			ones, level = ones+inner[i], level+inner[i]*m.y[given[i%n]]
		}
		level /= ones
		for k := range 4 {
			row := cov[tri(n+k) : tri(n+k)+n]
			mu, rest, v := level, 1.0, cov[tri(n+k)+n+k]
			for i := range n {
				var w float64
				for j := range n {
					w += row[j] * inner[i*n+j]
				}
				mu, rest, v = mu+w*(m.y[given[i]]-level), rest-w, v-w*row[i]
			}
			v += rest * rest / ones
			require.InDelta(t, mu, mean[k], 1e-6)
			require.InDelta(t, spread*v, variance[k], 1e-6)
		}
	}
}

// lowerOf is the Cholesky factor of a copy.
func lowerOf(t *testing.T, a []float64, n int) []float64 {
	t.Helper()
	out := slices.Clone(a)
	require.True(t, cholesky(out, n, nil, new(square)))
	return out
}

// TestSmoothForecast: the end of a smooth series is no reason to be sure of what follows.
func TestSmoothForecast(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	waves := make([]float64, 2*300)
	for i := range 300 {
		g := 0.0
		for range 3 {
			z := rng.NormFloat64()
			g += z * z / 3
		}
		waves[2*i], waves[2*i+1] = rng.NormFloat64()/math.Sqrt(g)/0.1, 2*math.Pi*rng.Float64()
	}
	var x, y []float64
	for i := range 300 {
		v, s := float64(i)/300, 0.0
		for k := range 300 {
			s += math.Cos(waves[2*k]*v + waves[2*k+1])
		}
		x, y = append(x, v), append(y, s)
	}
	mean, std := predict(t, x[:270], y[:270], x[270:], Options{Dim: 1})
	for i, v := range y[270:] {
		require.Less(t, math.Abs(v-mean[i]), 6*std[i], "%d values after the end", i+1)
	}
}

// TestSpreadWithDuplicates: many values at each of some places, whose spread grows from place to place. A value must not
// find out from the means of its neighbours how far off it is itself.
func TestSpreadWithDuplicates(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	var x, y, tx, ty []float64
	for i := range 800 {
		at := float64(i % 10)
		v := 3*at + (0.2+at)*rng.NormFloat64()
		if i < 400 {
			x, y = append(x, at), append(y, v)
		} else {
			tx, ty = append(tx, at), append(ty, v)
		}
	}
	mean, std := predict(t, x, y, tx, Options{Dim: 1})
	inside := 0
	for i, v := range ty {
		if math.Abs(v-mean[i]) < 1.96*std[i] {
			inside++
		}
	}
	require.Greater(t, inside, 360)
	require.Less(t, inside, 397)
	require.Less(t, 3*std[0], std[9], "spread at the first place and the last")
}

func TestRounding(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 3))
	var whole, exact []float64
	for range 100 {
		v := 3 * rng.NormFloat64()
		whole, exact = append(whole, math.Round(v)), append(exact, v)
	}
	_, sd := moments(whole)
	require.InDelta(t, 1/sd/sd/12, rounding(whole), 1e-9)
	require.Zero(t, rounding(exact))
	require.Zero(t, rounding([]float64{2, 2, 2, 2, 2, 2, 2, 2, 2, 2}))
	require.LessOrEqual(t, rounding([]float64{0, 0, 0, 0, 0, 0, 0, 0, 0, 1}), 1./12)
}

// TestMaximumLikelihood: one covariance, the likeliest one.
func TestMaximumLikelihood(t *testing.T) {
	x, y := table(80, 2, 0.1, 31)
	m, err := Fit(t.Context(), x, y, Options{Dim: 2, MaximumLikelihood: true})
	require.NoError(t, err)
	require.Len(t, m.Report().Members, 1)
	e := m.evidence()
	b := m.members[0]
	at := e.cost(b.spec, b.theta)
	for i := range b.theta {
		for _, step := range []float64{-0.3, 0.3} {
			theta := slices.Clone(b.theta)
			theta[i] += step
			require.Greater(t, e.cost(b.spec, theta), at-0.1, "parameter %d", i)
		}
	}
	mean, std := predict(t, x, y, x[:2], Options{Dim: 2, MaximumLikelihood: true})
	require.InDelta(t, y[0], mean[0], 0.5)
	require.InDelta(t, 0.1, std[0], 0.1)
}

// TestOwn: a model keeps what it found, whatever becomes of the table, the options and the reports.
func TestOwn(t *testing.T) {
	x, y := table(30, 1, 0.1, 1)
	periods := []float64{3}
	m, err := Fit(t.Context(), x, y, Options{Dim: 1, Periods: periods})
	require.NoError(t, err)
	want, _, err := m.Predict(t.Context(), []float64{0.3})
	require.NoError(t, err)
	text := m.Report().String()
	clear(x)
	clear(y)
	clear(periods)
	clear(m.Report().Members)
	got, _, err := m.Predict(t.Context(), []float64{0.3})
	require.NoError(t, err)
	require.Equal(t, want, got)
	require.Equal(t, text, m.Report().String())
}
