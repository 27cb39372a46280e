package main

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// ownCurves are waves of ten tasks.
func ownCurves(t *testing.T, b *bench) {
	var csv strings.Builder
	csv.WriteString("wave,x,y\n")
	for k := range 10 {
		for i := range 12 {
			fmt.Fprintf(&csv, "%d,%d,%.4f\n", k, i, 5+math.Sin(float64(i)/2+float64(k)))
		}
	}
	require.NoError(t, os.WriteFile(b.path("waves.csv"), []byte(csv.String()), 0o600))
}

// TestTrainOwn: a training on a user's own data keeps the best model unless it is told not to.
func TestTrainOwn(t *testing.T) {
	b := newBench(t)
	ownCurves(t, b)
	args := []string{"train", "regression", "--csv", "@waves.csv", "--task", "wave", "--model", "cnp", "--steps", "6", "--eval-every", "2",
		"--eval-tasks", "2", "--overwrite", "--out", "@m.safetensors"}
	require.Contains(t, b.ok(args...), "and the model is that one")
	require.NotContains(t, b.ok(append(args, "--patience", "0")...), "and the model is that one")
	require.NotContains(t, b.ok(append(args, "--holdout", "0")...), "and the model is that one")
	b.ok(append(args, "--patience", "0")...)
	args[len(args)-3] = "--resume"
	require.NotContains(t, b.ok(append(args, "--steps", "8")...), "and the model is that one", "as it began")
	b.fails(1, "its run had 0 for --patience, this one has 3", append(args, "--patience", "3")...)
}

// TestTrainBaselines: beside the score stand those of methods without training on the same tasks, in the result and in the
// model's file, and a model that does not reach them is pointed out. Drawn tasks have none.
func TestTrainBaselines(t *testing.T) {
	b := newBench(t)
	ownCurves(t, b)
	args := []string{"train", "regression", "--csv", "@waves.csv", "--task", "wave", "--model", "cnp", "--steps", "4", "--eval-tasks", "5",
		"--overwrite", "--out", "@m.safetensors"}
	res := decode[trainResult](t, b.ok(append(args, "--json")...))
	require.Len(t, res.Baselines, 2)
	mean, alone := res.Baselines[0], res.Baselines[1]
	require.Equal(t, []string{"context mean", "interpolation"}, []string{mean.Name, alone.Name})
	require.Equal(t, []int{5, 5}, []int{mean.Tasks, alone.Tasks})
	require.InDelta(t, 0.7, mean.RMSE, 0.2, "waves of amplitude 1")
	require.Less(t, alone.RMSE, mean.RMSE)
	require.Greater(t, alone.LogLikelihood, mean.LogLikelihood)
	require.Contains(t, strings.Join(res.Notes, "\n"), fmt.Sprintf("no better than the %.4f of the interpolation", alone.LogLikelihood))
	require.Contains(t, b.ok("inspect", "@m.safetensors"), fmt.Sprintf("interpolation %.4f", alone.LogLikelihood))
	require.Regexp(t, `interpolation +-?[0-9.]+ ± [0-9.]+, RMSE [0-9.]+, without training`, b.ok(args...))

	seen := b.ok("eval", "--model", "@m.safetensors", "--csv", "@waves.csv", "--task", "wave")
	require.Contains(t, seen, "9 of these 10 tasks were trained on")

	require.NotContains(t, b.ok(append(args, "--holdout", "0")...), "without training")
	drawn := append([]string{"train", "regression", "--kernel", "rbf"}, args[6:]...)
	require.NotContains(t, b.ok(drawn...), "without training")
}
