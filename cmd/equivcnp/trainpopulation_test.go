package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// dayTables writes ten tables of a smooth function in the plane, and one more of five rows with targets.
func dayTables(b *bench) {
	require.NoError(b.t, os.MkdirAll(b.path("days"), 0o777))
	rng := rand.New(rand.NewPCG(8, 9))
	table := func(n int) (context, targets string) {
		phase, level := 2*math.Pi*rng.Float64(), 12+rng.NormFloat64()
		rows := []string{}
		for range n {
			east, north := 100*rng.Float64(), 100*rng.Float64()
			v := level + 2*math.Sin(east/30+phase) + math.Cos(north/25-phase) + 0.1*rng.NormFloat64()
			rows = append(rows, fmt.Sprintf("%.3f,%.3f,%.3f\n", east, north, v))
		}
		head := "east,north,temperature\n"
		return head + strings.Join(rows[:min(n, 5)], ""), head + strings.Join(rows[min(n, 5):], "")
	}
	var history strings.Builder
	history.WriteString("day,lat,lon,t2m\n")
	for k := range 10 {
		_, rows := table(17)
		b.write(fmt.Sprintf("days/%d.csv", k), rows)
		for _, row := range strings.Split(strings.TrimSpace(rows), "\n")[1:] {
			fmt.Fprintf(&history, "2024-06-%02d,%s\n", k+1, row)
		}
	}
	b.write("history.csv", history.String())
	today, targets := table(40)
	b.write("today.csv", today)
	b.write("places.csv", targets)
}

// TestTrainPopulation: what many tables know predicts a new one of five rows better than that alone, by regress, eval, predict and sample.
func TestTrainPopulation(t *testing.T) {
	b := newBench(t)
	dayTables(b)
	columns := []string{"--x", "east,north", "--y", "temperature"}
	train := append([]string{"train", "population", "--csv", b.path("days") + "/*.csv", "--out", "@days.safetensors", "--json"}, columns...)
	var made populationResult
	require.NoError(t, json.Unmarshal([]byte(b.ok(train...)), &made))
	require.Equal(t, 9, made.Tasks)
	require.Equal(t, 1, made.Score.Tasks)
	require.Equal(t, "population", made.Architecture)

	density := func(args ...string) float64 {
		var r regressResult
		args = append([]string{"regress", "--csv", "@today.csv", "--targets", "@places.csv", "--out", "@p.csv", "--json"}, args...)
		require.NoError(t, json.Unmarshal([]byte(b.ok(append(args, columns...)...)), &r))
		return float64(*r.LogLikelihood)
	}
	var alone interpolateResult
	require.NoError(t, json.Unmarshal([]byte(b.ok(append([]string{"regress", "--csv", "@today.csv", "--targets", "@places.csv", "--out",
		"@q.csv", "--json"}, columns...)...)), &alone))
	together := density("--model", "@days.safetensors", "--quantiles", "0.1,0.9", "--samples", "2")
	text, err := os.ReadFile(b.path("p.csv"))
	require.NoError(t, err)
	require.Contains(t, string(text), "temperature_mean,temperature_std,temperature_q0.1,temperature_q0.9,temperature_sample1")
	require.Greater(t, together, float64(*alone.LogLikelihood)+0.05)

	require.Contains(t, b.ok(append([]string{"eval", "--model", "@days.safetensors", "--csv", "@days/3.csv"}, columns...)...), "log-likelihood")
	require.Contains(t, b.ok("inspect", "@days.safetensors"), "Gaussian processes of")

	b.fails(2, "--units \"feet\"", append(train, "--units", "feet")...)
	b.fails(2, "--holdout 2", append(train, "--holdout", "2")...)
	b.fails(1, "no file of such a name", "train", "population", "--csv", b.path("nights")+"/*.csv", "--out", "@n.safetensors")
	b.fails(1, "eight tasks", append([]string{"train", "population", "--csv", "@today.csv", "--out", "@n.safetensors"}, columns...)...)
	_, err = os.Stat(b.path("n.safetensors"))
	require.ErrorIs(t, err, os.ErrNotExist)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	status, _, _ := b.runContext(ctx, train...)
	require.NotZero(t, status)
}
