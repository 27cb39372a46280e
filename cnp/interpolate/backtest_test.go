package interpolate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/equivcnp/equivcnp/cnp/krige"
	"github.com/equivcnp/equivcnp/cnp/tabletask"
)

// tried is the backtest of a table of this text.
func tried(t *testing.T, text string, columns tabletask.Columns, opt Options, r Rolling, quantiles ...float64) (*Backtest, error) {
	t.Helper()
	csv := filepath.Join(t.TempDir(), "t.csv")
	require.NoError(t, os.WriteFile(csv, []byte(text), 0o600))
	return RunBacktest(t.Context(), &tabletask.Options{CSV: csv, Columns: columns}, opt, r, quantiles, nil)
}

// monthly is a series of months with a season, by number of its row.
func monthly(seed uint64, n int) (y []float64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	for i := range n {
		y = append(y, 20+3*math.Sin(2*math.Pi*float64(i)/12)+rng.NormFloat64())
	}
	return y
}

// TestBacktest compares a backtest with fits by hand to what comes before each origin, and with naive forecasts by hand.
func TestBacktest(t *testing.T) {
	y := monthly(3, 60)
	var text strings.Builder
	text.WriteString("date,sales\n")
	for i, v := range y {
		fmt.Fprintf(&text, "%d-%02d-01,%v\n", 2020+i/12, i%12+1, v)
	}
	const origins, steps, stride = 2, 14, 3
	columns := tabletask.Columns{X: []string{"date"}, Y: []string{"sales"}}
	for _, positive := range []bool{false, true} {
		b, err := tried(t, text.String(), columns, Options{Positive: positive}, Rolling{origins, steps, stride}, 0.9)
		require.NoError(t, err)
		require.Equal(t, 12, b.Season)
		require.Equal(t, []int{1, 0}, []int{b.Series, b.Short})
		written := b.Table(&columns)
		require.Equal(t, []string{"date", "origin", "step", "value", "mean", "std", "q0.9"}, written.Header)
		require.Equal(t, origins*steps, written.Rows())
		x := b.all[0][0].x
		var density, crps, absolute, naive, seasonal, scaled, covered float64
		var plain, repeated ForecastScore // naive and seasonal naive
		for k := range origins {
			known := len(y) - steps - (origins-1-k)*stride
			own, values, err := b.in.options(Options{Positive: positive})
			require.NoError(t, err)
			own.Values = values[0]
			m, err := krige.Fit(t.Context(), x[:known], y[:known], own)
			require.NoError(t, err)
			p, err := m.At(t.Context(), x[known:known+steps])
			require.NoError(t, err)
			mean, _ := p.LogDensity(y[known : known+steps])
			density += mean / origins
			var scale float64
			for i := 12; i < known; i++ {
				scale += math.Abs(y[i]-y[i-12]) / float64(known-12)
			}
			lo, hi := p.Quantile(0.025), p.Quantile(0.975)
			plainStd, seasonStd := rootOfDifferences(y[:known], 1), rootOfDifferences(y[:known], 12)
			for i := range steps {
				plain.add(scoredByIntegral(y[known+i], y[known-1], plainStd*math.Sqrt(float64(i+1))))
				repeated.add(scoredByIntegral(y[known+i], y[known-12+i%12], seasonStd*math.Sqrt(float64(i/12+1))))
				v := y[known+i]
				e := math.Abs(v - p.Mean[i])
				absolute, scaled = absolute+e, scaled+e/scale
				naive, seasonal = naive+math.Abs(v-y[known-1]), seasonal+math.Abs(v-y[known-12+i%12])
				if lo[i] <= v && v <= hi[i] {
					covered++
				}
			}
			for q := 0.0005; q < 1; q += 0.001 {
				for i, v := range p.Quantile(q) {
					e := y[known+i] - v
					crps += 0.002 * max(q*e, (q-1)*e)
				}
			}
		}
		const n = origins * steps
		out := b.Outputs["sales"]
		got := out.Model.Overall
		require.Equal(t, n, got.Values)
		require.InDelta(t, density, got.LogLikelihood, 1e-9)
		require.InDelta(t, crps/n, got.CRPS, 0.002)
		require.InDelta(t, absolute/n, got.MAE, 1e-9)
		require.InDelta(t, scaled/n, got.Scaled, 1e-9)
		require.InDelta(t, covered/n, got.Coverage95, 1e-9)
		require.InDelta(t, naive/n, out.Naive.Overall.MAE, 1e-9)
		require.InDelta(t, seasonal/n, out.SeasonalNaive.Overall.MAE, 1e-9)
		for _, c := range []struct{ want, got ForecastScore }{{plain, out.Naive.Overall}, {repeated, out.SeasonalNaive.Overall}} {
			require.InDelta(t, c.want.LogLikelihood/n, c.got.LogLikelihood, 1e-9)
			require.InDelta(t, c.want.CRPS/n, c.got.CRPS, 1e-4)
			require.InDelta(t, c.want.Coverage95/n, c.got.Coverage95, 1e-9)
		}
		require.Len(t, out.Model.Steps, steps)
		require.Equal(t, origins, out.Model.Steps[13].Values)
	}
}

// rootOfDifferences is the root mean square of what values so many steps before miss.
func rootOfDifferences(y []float64, back int) float64 {
	sum := 0.0
	for i, v := range y[back:] {
		sum += (v - y[i]) * (v - y[i]) / float64(len(y)-back)
	}
	return math.Sqrt(sum)
}

// scoredByIntegral scores a normal forecast by gonum's distribution, CRPS by its definition.
func scoredByIntegral(y, mean, std float64) (s ForecastScore) {
	d := distuv.Normal{Mu: mean, Sigma: std}
	s.LogLikelihood = d.LogProb(y)
	const parts = 1 << 14
	for _, side := range [][2]float64{{min(mean-9*std, y), y}, {y, max(mean+9*std, y)}} {
		h := (side[1] - side[0]) / parts
		for i := range parts {
			v := side[0] + (float64(i)+0.5)*h
			miss := d.CDF(v)
			if v > y {
				miss--
			}
			s.CRPS += h * miss * miss
		}
	}
	if p := d.CDF(y); p >= 0.025 && p <= 0.975 {
		s.Coverage95 = 1
	}
	return s
}

// TestBacktestOfTasks: each task and output has series of its own, with missing values, unsorted rows and repeated times, and what is too
// short is left out.
func TestBacktestOfTasks(t *testing.T) {
	var text strings.Builder
	text.WriteString("x,shop,a,b\n")
	y := monthly(4, 40)
	for i := range y {
		k := i * 7 % 40 // in some order
		fmt.Fprintf(&text, "%d,north,%v,\n%d,south,%v,%v\n", k, y[k], k, 2*y[k], 5.0)
		if k == 39 || k < 8 {
			fmt.Fprintf(&text, "%d,east,1,NA\n%d,south,%v,NA\n", k, k, 2*y[k]+1)
		}
	}
	columns := tabletask.Columns{X: []string{"x"}, Y: []string{"a", "b"}, Task: "shop"}
	b, err := tried(t, text.String(), columns, Options{}, Rolling{Origins: 2, Steps: 3})
	require.NoError(t, err)
	require.Equal(t, []int{3, 1, 1, 3}, []int{b.Series, b.Short, b.Season, b.Stride})
	require.Equal(t, 2*6+1, b.Outputs["a"].Model.Overall.Values, "the last time of south has two values")
	require.Equal(t, 6, b.Outputs["b"].Model.Overall.Values)
	require.Nil(t, b.Outputs["a"].SeasonalNaive)
	require.Equal(t, []string{"shop", "x", "origin", "step", "value", "mean", "std", "output"}, b.Table(&columns).Header)
	lines, notes := b.Said()
	require.Equal(t, "2 origins of 3 series, 3 steps each, 3 steps apart", lines[0][1])
	require.Contains(t, notes[0], "1 series too short")

	periodic, err := ParsePeriods([]string{"12"})
	require.NoError(t, err)
	b, err = tried(t, text.String(), columns, Options{Period: periodic}, Rolling{Origins: 2, Steps: 3})
	require.NoError(t, err)
	require.Equal(t, 12, b.Season)
	require.NotNil(t, b.Outputs["a"].SeasonalNaive)
}

func TestBacktestErrors(t *testing.T) {
	short := "x,y\n" + strings.Repeat("1,2\n2,3\n", 9)
	for want, c := range map[string]struct {
		text string
		r    Rolling
	}{
		"needs values at 13 times": {short, Rolling{Origins: 2, Steps: 2, Stride: 1}},
		"has 2: ask for fewer":     {short, Rolling{Origins: 1, Steps: 1}},
		"Next says how many":       {short, Rolling{Origins: 1}},
		"Backtest -1":              {short, Rolling{Origins: -1, Steps: 1}},
		"Stride -2":                {short, Rolling{Origins: 1, Steps: 1, Stride: -2}},
		"has 2 inputs":             {"x1,x2,y\n1,2,3\n", Rolling{Origins: 1, Steps: 1}},
	} {
		_, err := tried(t, c.text, tabletask.Columns{}, Options{}, c.r)
		require.ErrorContains(t, err, want)
	}
}

// TestBacktestRobust does not judge forecasts by outliers, which its table has.
func TestBacktestRobust(t *testing.T) {
	y := monthly(5, 60)
	y[50] = 1e5
	var text strings.Builder
	text.WriteString("t,y\n")
	for i, v := range y {
		fmt.Fprintf(&text, "%d,%v\n", i, v)
	}
	columns := tabletask.Columns{X: []string{"t"}, Y: []string{"y"}}
	b, err := tried(t, text.String(), columns, Options{Robust: true}, Rolling{2, 10, 5})
	require.NoError(t, err)
	require.Equal(t, 20, b.Table(&columns).Rows())
	got := b.Outputs["y"].Model
	require.Equal(t, 18, got.Overall.Values)
	require.Equal(t, []int{1, 2, 2, 2, 2, 1}, []int{got.Steps[0].Values, got.Steps[1].Values, got.Steps[2].Values, got.Steps[3].Values,
		got.Steps[4].Values, got.Steps[5].Values})
	require.Less(t, got.Overall.MAE, 5.)
	_, notes := b.Said()
	require.Contains(t, notes, "2 forecasts of outliers not judged")
	require.Contains(t, notes[0], "holds 100000 in line 52")
	require.NotContains(t, notes[0], "--robust", "which is there already")
	b, err = tried(t, strings.ReplaceAll(text.String(), ",100000\n", ",-999\n"), columns, Options{}, Rolling{2, 10, 5})
	require.NoError(t, err)
	_, notes = b.Said()
	require.Contains(t, notes[0], "say --missing -999")
}
