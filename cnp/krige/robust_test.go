package krige

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
)

// spoiled are values of which some are outliers, by so many units, up or down.
func spoiled(rng *rand.Rand, y []float64, n int, by float64) (out []float64, rows []int) {
	out = slices.Clone(y)
	rows = rng.Perm(len(y))[:n]
	slices.Sort(rows)
	for _, i := range rows {
		out[i] += by * float64(1-2*rng.IntN(2))
	}
	return out, rows
}

// wavy is a table of n values of a smooth function with noise, in d dimensions.
func wavy(rng *rand.Rand, n, d int) (x, y []float64) {
	for range n {
		v := 0.1 * rng.NormFloat64()
		for range d {
			a := 10 * rng.Float64()
			x = append(x, a)
			v += math.Sin(a)
		}
		y = append(y, v)
	}
	return x, y
}

// TestRobust finds the outliers of small and large tables, whatever their size, and predicts as if they were not there.
func TestRobust(t *testing.T) {
	for _, c := range []struct {
		n, d, out int
		by        float64
	}{{40, 1, 1, 3}, {120, 1, 8, 30}, {120, 2, 6, 1e9}, {1500, 1, 30, 100}} {
		rng := rand.New(rand.NewPCG(uint64(c.n), 1))
		x, y := wavy(rng, c.n, c.d)
		bad, rows := spoiled(rng, y, c.out, c.by)
		opt := Options{Dim: c.d, Robust: true}
		m, err := Fit(t.Context(), x, bad, opt)
		require.NoError(t, err)
		require.Equal(t, rows, m.Report().Outliers, "%v", c)
		require.Equal(t, c.n-c.out, m.n)

		kept := others(rows, c.n)
		without, err := Fit(t.Context(), takeRows(x, c.d, kept), takeRows(y, 1, kept), Options{Dim: c.d})
		require.NoError(t, err)
		targets, _ := wavy(rng, 50, c.d)
		mean, std, err := m.Predict(t.Context(), targets)
		require.NoError(t, err)
		wantMean, wantStd, err := without.Predict(t.Context(), targets)
		require.NoError(t, err)
		require.Equal(t, wantMean, mean)
		require.Equal(t, wantStd, std)
	}
}

// TestRobustClean leaves tables without outliers as they are.
func TestRobustClean(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	for n := range 12 {
		x, y := wavy(rng, 10*n+1, 1+n%2)
		opt := Options{Dim: 1 + n%2}
		plain, err := Fit(t.Context(), x, y, opt)
		require.NoError(t, err)
		opt.Robust = true
		m, err := Fit(t.Context(), x, y, opt)
		require.NoError(t, err)
		require.Empty(t, m.Report().Outliers)
		a, _, err := plain.Predict(t.Context(), x)
		require.NoError(t, err)
		b, _, err := m.Predict(t.Context(), x)
		require.NoError(t, err)
		require.Equal(t, a, b)
	}
	for _, y := range [][]float64{slices.Repeat([]float64{2}, 30), append(make([]float64, 29), 1)} { // nothing says what is far
		x, _ := wavy(rng, 30, 1)
		m, err := Fit(t.Context(), x, y, Options{Dim: 1, Robust: true})
		require.NoError(t, err)
		require.Empty(t, m.Report().Outliers)
	}
}

// TestFar names values that lie far from what the others say, by their rows, and none of those that are left out.
func TestFar(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 1))
	x, y := wavy(rng, 90, 1)
	y[20] += 9 // beside smaller ones the check takes values there for ones that vary more
	for _, robust := range []bool{false, true} {
		m, err := Fit(t.Context(), x, y, Options{Dim: 1, Robust: robust})
		require.NoError(t, err)
		far := m.Report().Far
		if robust {
			require.Equal(t, []int{20}, m.Report().Outliers)
			require.Empty(t, far)
		} else {
			require.Equal(t, []int{20}, far)
		}
	}
}

// TestRobustMoves permutes, shifts, scales and reflects a table: the same values are outliers.
func TestRobustMoves(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	x, y := wavy(rng, 80, 2)
	y, rows := spoiled(rng, y, 5, 20)
	order := rng.Perm(len(y))
	var x2, y2 []float64
	var want []int
	for i, p := range order {
		x2, y2 = append(x2, 3-100*x[2*p], 7-100*x[2*p+1]), append(y2, 5-0.01*y[p])
		if slices.Contains(rows, p) {
			want = append(want, i)
		}
	}
	m, err := Fit(t.Context(), x2, y2, Options{Dim: 2, Robust: true})
	require.NoError(t, err)
	require.Equal(t, want, m.Report().Outliers)
}

// TestRobustMost leaves out no more than a tenth, and nothing of fewer than ten values.
func TestRobustMost(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	x, y := wavy(rng, 60, 1)
	bad, rows := spoiled(rng, y, 9, 50)
	m, err := Fit(t.Context(), x, bad, Options{Dim: 1, Robust: true})
	require.NoError(t, err)
	require.LessOrEqual(t, len(m.Report().Outliers), 6)
	for _, i := range m.Report().Outliers {
		require.Contains(t, rows, i)
	}
	m, err = Fit(t.Context(), []float64{0, 1, 2, 3, 4, 5, 6, 7, 8}, []float64{0, 1, 2, 3, 400, 5, 6, 7, 8}, Options{Dim: 1, Robust: true})
	require.NoError(t, err)
	require.Empty(t, m.Report().Outliers)
}

// TestRobustAmounts finds outliers on the scale that suits amounts: of a log-normal table the large values are none.
func TestRobustAmounts(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 1))
	x, y := wavy(rng, 80, 1)
	for i, v := range y {
		y[i] = math.Exp(2 * v)
	}
	y[40], y[70] = 1e-6, 1e6
	for _, values := range []Values{Logarithmic, Positive} {
		m, err := Fit(t.Context(), x, y, Options{Dim: 1, Values: values, Robust: true})
		require.NoError(t, err)
		require.Equal(t, []int{40, 70}, m.Report().Outliers)
		require.Equal(t, "logarithm", m.Report().Bend)
	}
}

// TestRobustSentinel leaves out the largest number that there is, which some programs write for a missing value.
func TestRobustSentinel(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 1))
	x, y := wavy(rng, 60, 1)
	y[5], y[50] = math.MaxFloat64, -math.MaxFloat64
	m, err := Fit(t.Context(), x, y, Options{Dim: 1, Robust: true})
	require.NoError(t, err)
	require.Equal(t, []int{5, 50}, m.Report().Outliers)
	mean, _, err := m.Predict(t.Context(), x[5:6])
	require.NoError(t, err)
	require.InDelta(t, math.Sin(x[5]), mean[0], 1)
}

// TestRobustDrift has an outlier beside a column that values depend on.
func TestRobustDrift(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 1))
	at, y := wavy(rng, 100, 1)
	var x []float64
	for i, a := range at {
		z := 100 * rng.NormFloat64()
		x = append(x, a, z)
		y[i] += 0.3 * z
	}
	y[33] += 10
	m, err := Fit(t.Context(), x, y, Options{Dim: 2, Drift: 1, Robust: true})
	require.NoError(t, err)
	require.Equal(t, []int{33}, m.Report().Outliers)
	require.InDelta(t, 0.3, m.Report().Drift[0].Mean, 0.003)
}

// TestRobustShared finds an outlier in one of tables too small to know their covariance, which they share.
func TestRobustShared(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 1))
	const tasks, n = 24, 14
	b := &cnp.Batch[float32]{B: tasks, Nc: n, Nt: 1}
	var want []int
	for k := range tasks {
		x, y := wavy(rng, n, 1)
		if k%6 == 0 {
			y[3] += 100
			want = append(want, k*n+3)
		}
		b.XContext, b.XTarget = append(b.XContext, x...), append(b.XTarget, 5)
		for _, v := range y {
			b.YContext = append(b.YContext, float32(v))
		}
	}
	r, err := NewRegressor(Options{Dim: 1, Robust: true})
	require.NoError(t, err)
	r, shared, _, err := r.Learn(t.Context(), b)
	require.NoError(t, err)
	require.Equal(t, 1, shared)
	var places []int
	for k := range tasks {
		of, err := r.Outliers(t.Context(), b, k)
		require.NoError(t, err)
		places = append(places, of...)
	}
	require.Equal(t, want, places)
	values, of := r.LeftOut()
	require.Zero(t, values+of)
	for range 2 { // each table counts once
		p, err := r.Predict(t.Context(), b)
		require.NoError(t, err)
		for _, v := range p.Mean {
			require.InDelta(t, math.Sin(5), v, 1)
		}
	}
	values, of = r.LeftOut()
	require.Equal(t, []int{len(want), len(want)}, []int{values, of})
}

// TestRobustRefused names what is not robust.
func TestRobustRefused(t *testing.T) {
	_, err := Fit(t.Context(), []float64{0, 1}, []float64{0, 1}, Options{Dim: 1, Robust: true, MaximumLikelihood: true})
	require.ErrorIs(t, err, ErrInput)
	_, err = FitPopulation(t.Context(), nil, nil, Options{Dim: 1, Robust: true})
	require.ErrorIs(t, err, ErrInput)
}

// TestRobustJump leaves what lies beside a jump, and what differs where most values are equal.
func TestRobustJump(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 1))
	const n = 40
	x, jump, rare := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range n {
		x[i] = float64(i) / 4
		jump[i] = 0.05*rng.NormFloat64() + 10*float64(i/20)
		if i%9 == 3 {
			rare[i] = rng.ExpFloat64()
		}
	}
	for name, y := range map[string][]float64{"jump": jump, "rare": rare} {
		m, err := Fit(t.Context(), x, y, Options{Dim: 1, Robust: true})
		require.NoError(t, err)
		require.Empty(t, m.Report().Outliers, name)
		y[5] = -1e4
		m, err = Fit(t.Context(), x, y, Options{Dim: 1, Robust: true})
		require.NoError(t, err)
		require.Equal(t, []int{5}, m.Report().Outliers, name)
	}
}

// TestRobustMany leaves out nothing where codes are more than a tenth, instead of the values beside some of them.
func TestRobustMany(t *testing.T) {
	rng := rand.New(rand.NewPCG(19, 1))
	var x, y []float64
	for i := range 120 {
		x, y = append(x, float64(i)), append(y, 20+5*math.Sin(float64(i)/8)+0.3*rng.NormFloat64())
	}
	for i := 30; i < 43; i++ {
		y[i] = -9999
	}
	m, err := Fit(t.Context(), x, y, Options{Dim: 1, Robust: true})
	require.NoError(t, err)
	require.Empty(t, m.Report().Outliers)
	y[42] = 16
	m, err = Fit(t.Context(), x, y, Options{Dim: 1, Robust: true})
	require.NoError(t, err)
	require.Len(t, m.Report().Outliers, 12)
}

// TestRobustFar fits a table that can be fitted, although nothing can be predicted where its outlier is.
func TestRobustFar(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 1))
	x, y := wavy(rng, 60, 1)
	x[30], y[30] = 1e200, 1e9
	plain, err := Fit(t.Context(), x, y, Options{Dim: 1})
	require.NoError(t, err)
	m, err := Fit(t.Context(), x, y, Options{Dim: 1, Robust: true})
	require.NoError(t, err)
	require.Equal(t, plain.Report().LogDensity, m.Report().LogDensity)
}
