package main

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/tabular"
)

// TestRobust leaves out outliers of one table and of tasks, says which ones or how many, and does not judge predictions by them.
func TestRobust(t *testing.T) {
	b := newBench(t)
	var series, tasks, sites strings.Builder
	series.WriteString("time,height\n")
	sites.WriteString("time\n")
	tasks.WriteString("day,time,height\n")
	value := func(i int) float64 { return 10 + 5*math.Sin(float64(i)/5) + 0.1*float64(i*7%5) }
	for i := range 80 {
		switch i {
		case 10:
			fmt.Fprintf(&series, "%d,\n", i)
		case 40:
			fmt.Fprintf(&series, "%d,-1e7\n", i)
		default:
			fmt.Fprintf(&series, "%d,%.3f\n", i, value(i))
		}
		fmt.Fprintf(&sites, "%d.5\n", i)
	}
	for day := range 6 {
		for i := range 15 {
			v := value(i*day%17) + float64(i)
			if day == 2 && i == 7 {
				v = 500
			}
			fmt.Fprintf(&tasks, "%d,%d,%.3f\n", day, i, v)
		}
	}
	b.write("series.csv", series.String())
	b.write("sites.csv", sites.String())
	b.write("tasks.csv", tasks.String())

	one := []string{"--csv", "@series.csv", "--x", "time", "--y", "height", "--robust", "--targets", "@sites.csv"}
	got := decode[interpolateResult](t, b.ok(append([]string{
		"regress", "--out", "@pred.csv", "--plot", "@curve.svg", "--json"}, one...)...))
	require.Contains(t, got.Notes, "1 outlier of height left out, as the others make them all but impossible: -1e+07 in line 42")
	require.NotContains(t, strings.Join(got.Notes, "\n"), "or --robust")
	require.Equal(t, []int{40}, got.Check["height"].Outliers, "rows of the table, although row 10 has no value")
	require.Equal(t, 78, got.Check["height"].Values)
	out := b.ok(append([]string{"regress", "--out", "@pred.csv", "--cross-validate", "@cv.csv"}, one...)...)
	require.Contains(t, out, "height: each of 78 values predicted")
	pred, err := tabular.ReadFile(b.path("pred.csv"))
	require.NoError(t, err)
	for i := range 80 {
		require.InDelta(t, value(i), pred.Values[3*i+1], 3)
	}

	plain := b.ok("regress", "--out", "@out.csv", "--csv", "@series.csv", "--x", "time", "--y", "height", "--targets", "@sites.csv")
	require.Contains(t, plain, "height: 1 value farther than six standard deviations from what the others say: -1e+07 in line 42; if "+
		"that is wrong, --robust leaves it out")

	for _, command := range []string{"sample", "stations", "predict"} {
		args := append([]string{command, "--out", "@out.csv"}, one...)
		if command == "stations" {
			args = append(args, "--rows", "9")
		}
		if command == "predict" {
			args = []string{command, "--in", "@tasks.csv", "--x", "time", "--y", "height", "--task", "day", "--robust",
				"--grid", "time=0:14:2", "--out", "@out.csv"}
		}
		out := b.ok(args...)
		require.Equal(t, 1, strings.Count(out, "--robust: 1 outlier in 1 task left out"), "%s: %s", command, out)
		require.NotContains(t, out, "do not trust", command)
	}
	out = b.ok("design", "--csv", "@series.csv", "--x", "time", "--y", "height", "--robust", "--candidates", "@sites.csv",
		"--out", "@chosen.csv")
	require.Contains(t, out, "1 outlier of height left out")
	chosen, err := tabular.ReadFile(b.path("chosen.csv"))
	require.NoError(t, err)
	require.Greater(t, chosen.Values[len(chosen.Values)-1], 1e-3, "the noise is not that of the outlier")
	quiet := strings.ReplaceAll(series.String(), "40,-1e7\n", "")
	b.write("series.csv", quiet)
	require.Contains(t, b.ok(append([]string{"regress", "--out", "@pred.csv"}, one...)...), "no value of height is an outlier")
}
