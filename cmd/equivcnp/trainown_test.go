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
