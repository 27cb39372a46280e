package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// dayTables writes 24 tables of a smooth function in the plane, the same as one table of days with latitudes and longitudes, one day more
// of five rows with targets, and 12 tables of two amounts.
func dayTables(b *bench) {
	require.NoError(b.t, os.MkdirAll(b.path("days"), 0o777))
	rng := rand.New(rand.NewPCG(8, 9))
	day := func(n int) (rows [][3]float64) {
		phase, level := 2*math.Pi*rng.Float64(), 12+rng.NormFloat64()
		for range n {
			east, north := 100*rng.Float64(), 100*rng.Float64()
			value := level + 2*math.Sin(east/30+phase) + math.Cos(north/25-phase) + 0.1*rng.NormFloat64()
			rows = append(rows, [3]float64{east, north, value})
		}
		return rows
	}
	text := func(rows [][3]float64) string {
		out := "east,north,temperature\n"
		for _, r := range rows {
			out += fmt.Sprintf("%.3f,%.3f,%.3f\n", r[0], r[1], r[2])
		}
		return out
	}
	history := "day,lat,lon,t2m\n"
	for k := range 24 {
		rows := day(12)
		b.write(fmt.Sprintf("days/%d.csv", k), text(rows))
		for _, r := range rows {
			history += fmt.Sprintf("2024-06-%02d,%.3f,%.3f,%.3f\n", k+1, r[1]-10, r[0], r[2])
		}
	}
	b.write("history.csv", history)
	require.NoError(b.t, os.MkdirAll(b.path("surveys"), 0o777))
	for k := range 12 {
		metals := "east,north,zinc,lead\n"
		for _, r := range day(12) {
			metals += fmt.Sprintf("%.3f,%.3f,%.3f,%.3f\n", r[0], r[1], math.Exp(r[2]/3), math.Exp(1-r[2]/4))
		}
		b.write(fmt.Sprintf("surveys/%d.csv", k), metals)
	}
	rows := day(40)
	b.write("today.csv", text(rows[:5]))
	b.write("sites.csv", text(rows[5:]))
}

// TestTrainPopulation: what many tables know predicts held out ones better than each alone, and
// regress, eval and predict take the model, in the plane and on the globe.
func TestTrainPopulation(t *testing.T) {
	b := newBench(t)
	dayTables(b)
	columns := []string{"--x", "east,north", "--y", "temperature"}
	train := append([]string{"train", "population", "--csv", b.path("days") + "/*.csv", "--out", "@days.safetensors", "--holdout", "0.25",
		"--json"}, columns...)
	var made populationResult
	require.NoError(t, json.Unmarshal([]byte(b.ok(train...)), &made))
	require.Equal(t, 18, made.Tasks)
	require.Equal(t, 6, made.Score.Tasks)
	require.Greater(t, made.Score.Gain.Mean, 0.05)
	require.Equal(t, "population", made.Architecture)
	require.Regexp(t, "^Gaussian processes of", made.Consists)
	require.Regexp(t, "consists of *Gaussian processes of", b.ok(slices.DeleteFunc(slices.Clone(train), func(s string) bool {
		return s == "--json"
	})...))

	b.ok(append([]string{"regress", "--model", "@days.safetensors", "--csv", "@today.csv", "--targets", "@sites.csv", "--out", "@p.csv",
		"--quantiles", "0.1,0.9", "--samples", "2"}, columns...)...)
	text, err := os.ReadFile(b.path("p.csv"))
	require.NoError(t, err)
	require.Contains(t, string(text), "temperature_mean,temperature_std,temperature_q0.1,temperature_q0.9,temperature_sample1")
	require.Contains(t, b.ok(append([]string{"eval", "--model", "@days.safetensors", "--csv", "@days/3.csv"}, columns...)...),
		"log-likelihood")
	require.Contains(t, b.ok("inspect", "@days.safetensors"), "none: Gaussian processes of")

	b.ok("train", "population", "--csv", "@history.csv", "--x", "lat,lon", "--y", "t2m", "--task", "day", "--sphere",
		"--out", "@t.safetensors")
	globe := b.ok("eval", "--model", "@t.safetensors", "--csv", "@history.csv", "--x", "lat,lon", "--y", "t2m", "--task", "day")
	require.Contains(t, globe, "random element of SO(3)")
	b.ok("predict", "--model", "@t.safetensors", "--in", "@history.csv", "--x", "lat,lon", "--y", "t2m", "--task", "day",
		"--out", "@p2.csv")

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

// TestTrainPopulationScales: amounts and logarithms are flags, by the names of outputs.
func TestTrainPopulationScales(t *testing.T) {
	b := newBench(t)
	dayTables(b)
	train := []string{"train", "population", "--csv", b.path("days") + "/*.csv", "--out", "@days.safetensors", "--x", "east,north", "--y",
		"temperature"}
	require.Contains(t, b.ok(append(train, "--log", "temperature")...), "on the scale of the logarithm")
	require.Contains(t, b.ok("inspect", "@days.safetensors"), "bent-normal")
	b.ok("regress", "--model", "@days.safetensors", "--csv", "@today.csv", "--targets", "@sites.csv", "--out", "@p.csv", "--x",
		"east,north", "--y", "temperature", "--quantiles", "0.1,0.9", "--samples", "2")
	b.fails(2, "--log rain: no output of this name: temperature", append(train, "--log", "rain")...)
	b.fails(2, "--positive: --log already names every output", append(train, "--log", "temperature", "--positive")...)
	b.write("days/24.csv", "east,north,temperature\n1,2,3\n2,3,-4\n")
	b.fails(1, "24.csv: task 0, row 1: output 1 of 1 is -4: amounts are never negative", append(train, "--positive")...)
}
