package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/safetensors"
)

// answers writes the expected numbers of a model into a folder as another implementation's file, after a change.
func answers(t *testing.T, folder, model string, change func(name string, v []float64)) {
	t.Helper()
	f, err := safetensors.Read(filepath.Join("..", conformanceVectors, model+".safetensors"))
	require.NoError(t, err)
	out := &safetensors.File{}
	for i := range f.Tensors {
		name, expected := strings.CutPrefix(f.Tensors[i].Name, "expected_")
		if !expected {
			continue
		}
		v, err := f.Tensors[i].Float64s()
		require.NoError(t, err)
		change(name, v)
		out.Tensors = append(out.Tensors, safetensors.FromFloat64s(name, f.Tensors[i].Shape, v))
	}
	require.NoError(t, safetensors.Write(filepath.Join(folder, model+".safetensors"), out))
}

// TestConformanceAgainst: a wrong file does not keep the others from being compared, and the output says what is wrong where.
func TestConformanceAgainst(t *testing.T) {
	dir := t.TempDir()
	run := func(args ...string) (string, error) {
		args = append(args, "--vectors", filepath.Join("..", conformanceVectors), "--against", dir)
		return quiet(t, conformanceCommand(), args...)
	}
	_, err := run()
	require.ErrorContains(t, err, "no file of these models")

	same := func(string, []float64) {}
	answers(t, dir, "rbf-levels", same)
	out, err := run()
	require.NoError(t, err)
	require.Regexp(t, `\n1 of \d+ models compared, 2 tensors: 0 models failed\n$`, out)

	require.NoError(t, os.WriteFile(filepath.Join(dir, "bench-eq.safetensors"), []byte("not one"), 0o666))
	answers(t, dir, "bench-matern", func(name string, v []float64) {
		if name == "mean" {
			v[0], v[53] = v[0]+1, math.NaN()
		}
	})
	out, err = run()
	require.EqualError(t, err, "not within the tolerances: bench-eq, bench-matern")
	require.Regexp(t, `bench-eq +FAILED: .*bench-eq.safetensors: not a valid`, out)
	require.Equal(t, 1, strings.Count(out, "bench-eq.safetensors"), "the path is named once")
	require.Regexp(t, `bench-matern +mean +NaN of +1e-05 +FAILED, 2 of 200 numbers, the worst at \[1 3 0\]: NaN, expected `, out)
	require.Regexp(t, `rbf-levels +std +0 of +1e-05 +ok\n`, out)
	require.Regexp(t, `\n3 of \d+ models compared, 4 tensors: 2 models failed\n$`, out)

	out, err = run("--json", "--only", "bench")
	require.Error(t, err)
	objects := map[string]map[string]any{}
	for line := range strings.Lines(out) {
		var o map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &o))
		objects[o["model"].(string)+" "+o["tensor"].(string)] = o
	}
	require.Contains(t, objects["bench-eq "]["problem"], "not a valid")
	require.Equal(t, "NaN", objects["bench-matern mean"]["difference"])
	require.Equal(t, "[1 3 0]", objects["bench-matern mean"]["index"])
	require.Equal(t, false, objects["bench-matern mean"]["ok"])
	require.Equal(t, true, objects["bench-matern std"]["ok"])
}
