package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// lightCurve draws n values of a star that fades and flares up: of one form, a period and a phase of its own. It also returns the form
// without noise, and when it flares up.
func lightCurve(rng *rand.Rand, n int) (rows [][2]float64, of func(x float64) float64, flare float64) {
	rate, phase := 0.12+0.08*rng.Float64(), rng.Float64()
	of = func(x float64) float64 {
		u := rate*x - phase
		return 9 + 2*math.Exp(-3*(u-math.Floor(u)))
	}
	for range n {
		x := 20 * rng.Float64()
		rows = append(rows, [2]float64{x, of(x) + 0.03*rng.NormFloat64()})
	}
	return rows, of, (math.Ceil(rate*10-phase) + phase) / rate
}

// TestTrainWaves: tables of one waveform are learned as such, and a new one is predicted far better than alone, with its jumps.
func TestTrainWaves(t *testing.T) {
	b := newBench(t)
	rng := rand.New(rand.NewPCG(31, 7))
	history := "star,day,magnitude\n"
	for k := range 20 {
		rows, _, _ := lightCurve(rng, 30)
		for _, r := range rows {
			history += fmt.Sprintf("%d,%.4f,%.4f\n", k, r[0], r[1])
		}
	}
	b.write("stars.csv", history)
	columns := []string{"--x", "day", "--y", "magnitude"}
	var made populationResult
	require.NoError(t, json.Unmarshal([]byte(b.ok(append([]string{"train", "population", "--csv", "@stars.csv", "--task", "star",
		"--out", "@stars.safetensors", "--json"}, columns...)...)), &made))
	require.Contains(t, made.Consists, "waves")
	require.Greater(t, made.Score.Gain.Mean, 0.5)
	require.Contains(t, b.ok("inspect", "@stars.safetensors"), "waves, as")

	rows, of, flare := lightCurve(rng, 16)
	table := "day,magnitude\n"
	for _, r := range rows {
		table += fmt.Sprintf("%.4f,%.4f\n", r[0], r[1])
	}
	b.write("new.csv", table)
	targets := "day\n"
	var truth []float64
	for i := range 120 {
		x := 0.1 + float64(i)/6
		targets, truth = targets+fmt.Sprintf("%.6f\n", x), append(truth, of(x))
	}
	targets += fmt.Sprintf("%.6f\n%.6f\n%.6f\n", flare-0.3, flare, flare+0.3)
	b.write("days.csv", targets)
	predict := func(out string, args ...string) (mean, lo, hi []float64) {
		b.ok(append(append([]string{"regress", "--csv", "@new.csv", "--targets", "@days.csv", "--out", "@" + out,
			"--quantiles", "0.05,0.95"}, columns...), args...)...)
		text, err := os.ReadFile(b.path(out))
		require.NoError(t, err)
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		require.Len(t, lines, len(truth)+4)
		for _, line := range lines[1:] {
			var x, m, s, a, z float64
			_, err := fmt.Sscanf(strings.ReplaceAll(line, ",", " "), "%g %g %g %g %g", &x, &m, &s, &a, &z)
			require.NoError(t, err, line)
			mean, lo, hi = append(mean, m), append(lo, a), append(hi, z)
		}
		return mean, lo, hi
	}
	size := func(mean []float64) (e float64) {
		for i, v := range truth {
			e += math.Abs(mean[i]-v) / float64(len(truth))
		}
		return e
	}
	mean, lo, hi := predict("p.csv", "--model", "@stars.safetensors")
	alone, _, _ := predict("alone.csv")
	t.Logf("mean error %.3f by waves, %.3f alone; beside a jump %.2f..%.2f, at it %.2f..%.2f, behind %.2f..%.2f", size(mean), size(alone),
		lo[120], hi[120], lo[121], hi[121], lo[122], hi[122])
	require.Less(t, size(mean), size(alone)/3)
	require.Less(t, hi[120], 9.6)    // faded just before
	require.Greater(t, lo[122], 10.) // bright just behind
	inside := 0
	for i, v := range truth {
		if v > lo[i]-0.05 && v < hi[i]+0.05 {
			inside++
		}
	}
	require.Greater(t, inside, len(truth)*8/10)

	// Front ends that score, and that predict tasks of a table, take the mixture.
	lines := strings.SplitAfter(history, "\n")
	few := lines[0]
	for k := range 3 {
		few += strings.Join(lines[1+30*k:15+30*k], "")
	}
	b.write("few.csv", few)
	var scored evalResult
	require.NoError(t, json.Unmarshal([]byte(b.ok(append([]string{"eval", "--model", "@stars.safetensors", "--csv", "@few.csv", "--task",
		"star", "--tasks", "2", "--equivariance-tasks", "1", "--joint", "--json"}, columns...)...)), &scored))
	require.Greater(t, scored.Report.LogLikelihood.Mean, 0.5)
	require.Greater(t, scored.Joint.LogLikelihood.Mean, scored.Independent.LogLikelihood.Mean-0.1)
	b.ok(append([]string{"predict", "--model", "@stars.safetensors", "--in", "@few.csv", "--task", "star", "--quantiles", "0.05,0.95",
		"--samples", "2", "--out", "@few-p.csv"}, columns...)...)
	text, err := os.ReadFile(b.path("few-p.csv"))
	require.NoError(t, err)
	require.Contains(t, string(text), "magnitude_q0.05")
}
