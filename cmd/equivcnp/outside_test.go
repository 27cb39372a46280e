package main

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/safetensors"
)

// TestFarTarget: one target that no lattice reaches is named, and the others are predicted as without it; one alone is an error.
func TestFarTarget(t *testing.T) {
	b := newBench(t)
	write := func(name, text string) { require.NoError(t, os.WriteFile(b.path(name), []byte(text), 0o600)) }
	write("data.csv", "x,y\n-1,0.5\n0,1\n1,0.2\n")
	write("near.csv", "x\n0.25\n0.5\n")
	write("far.csv", "x\n0.25\n1e12\n0.5\n")
	write("alone.csv", "x\n1e12\n")
	b.ok("regress", "--model", "rbf-equivcnp", "--csv", "@data.csv", "--targets", "@near.csv", "--out", "@near.out.csv")
	status, out, errs := b.run("regress", "--model", "rbf-equivcnp", "--csv", "@data.csv", "--targets", "@far.csv", "--out", "@far.out.csv",
		"--plot", "@far.png", "--json")
	require.Equal(t, 0, status, errs)
	require.Contains(t, errs, "x_target[0, 1] = 1e+12 lies outside")
	var got regressResult
	require.NoError(t, json.Unmarshal([]byte(out), &got))
	require.Contains(t, strings.Join(got.Notes, "\n"), "x_target[0, 1]")
	lines := func(name string) []string {
		text, err := os.ReadFile(b.path(name))
		require.NoError(t, err)
		return strings.Split(strings.TrimSpace(string(text)), "\n")
	}
	near, far := lines("near.out.csv"), lines("far.out.csv")
	require.Equal(t, near[1:], []string{far[1], far[3]})
	require.Contains(t, far[2], "NaN")
	b.fails(1, "x_target[0, 0] = 1e+12 lies outside", "regress", "--model", "rbf-equivcnp", "--csv", "@data.csv", "--targets", "@alone.csv",
		"--out", "@alone.out.csv")

	// A sample goes on from its own values, so that it may not reach a target that a prediction does; nor the others from there.
	write("way.csv", "x\n0.25\n1e6\n")
	status, out, errs = b.run("regress", "--model", "rbf-levels", "--csv", "@data.csv", "--targets", "@way.csv", "--out", "@way.out.csv",
		"--samples", "2")
	require.Equal(t, 0, status, errs)
	require.Contains(t, lines("way.out.csv")[2], "NaN")
	require.Contains(t, errs+out, "samples: out of range: x_target[0, ")

	// Under a model that brings data into its own range a target is still named as its user has it, in all commands.
	write("large.csv", "x,y\n-1000,50\n0,100\n1000,20\n")
	write("beyond.csv", "x\n250\n1e15\n")
	_, out, errs = b.run("regress", "--model", "rbf-equivcnp", "--csv", "@large.csv", "--targets", "@beyond.csv", "--out",
		"@beyond.out.csv", "--json")
	require.Contains(t, out, "standardised: 1 of 1 task")
	require.Contains(t, errs, "x_target[0, 1] = 1e+15 lies outside")
	require.Contains(t, errs, "in the model's units")

	require.NoError(t, safetensors.Write(b.path("tasks.safetensors"), &safetensors.File{Tensors: []safetensors.Tensor{
		safetensors.FromFloat64s("x_context", []int{1, 2, 1}, []float64{0, 1}),
		safetensors.FromFloat64s("y_context", []int{1, 2, 1}, []float64{0, 1}),
		safetensors.FromFloat64s("x_target", []int{1, 2, 1}, []float64{0.5, 1e12}),
		safetensors.FromFloat64s("y_target", []int{1, 2, 1}, []float64{0.5, 0}),
	}}))
	status, out, errs = b.run("predict", "--model", "rbf-equivcnp", "--in", "@tasks.safetensors", "--out", "@pred.safetensors", "--json")
	require.Equal(t, 0, status, errs)
	require.Contains(t, errs, "x_target[0, 1]")
	var predicted predictResult
	require.NoError(t, json.Unmarshal([]byte(out), &predicted))
	require.NotNil(t, predicted.LogLikelihood)
	require.False(t, math.IsNaN(float64(*predicted.LogLikelihood)))
}
