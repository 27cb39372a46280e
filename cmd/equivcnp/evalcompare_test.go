package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEvalCompareWithItself: a model predicts drawn tasks beside itself as it does alone, to the bit.
func TestEvalCompareWithItself(t *testing.T) {
	b := newBench(t)
	b.ok("train", "regression", "--plane", "isotropic", "--steps", "2", "--batch", "2", "--eval-every", "0", "--out", "@m.safetensors")
	r := decode[evalResult](t, b.ok("eval", "--model", "@m.safetensors", "--compare", b.path("m.safetensors"), "--plane", "stationary+0.5",
		"--tasks", "4", "--equivariance-tasks", "0", "--json"))
	require.Len(t, r.Compared, 2)
	require.Zero(t, r.Compared[1].LogLikelihood.Mean)
	require.Zero(t, r.Compared[1].SquaredError.Mean)
}
