package main

import (
	"bytes"
	"context"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// noisy returns runs of one line: value, times 1 plus normal noise.
func noisy(seed uint64, name, metric string, value, noise float64, runs int) []sample {
	var all []sample
	for _, x := range testkit.Normal[float64](testkit.Rand(seed), runs) {
		all = append(all, sample{name, 1, metric, value * (1 + noise*x)})
	}
	return all
}

// TestCompare: differences of 10 % are told from noise of 2 %, in both directions of "better", and equal lines are not called different.
func TestCompare(t *testing.T) {
	var old, now []sample
	for i, name := range []string{"a", "b", "c", "d", "e", "f"} {
		old = append(old, noisy(uint64(i), name, "gflops", 50, 0.02, 10)...)
		now = append(now, noisy(uint64(i+100), name, "gflops", 50, 0.02, 10)...)
	}
	old = append(old, noisy(20, "time", "p50_s", 1, 0.02, 10)...)
	now = append(now, noisy(21, "time", "p50_s", 1.1, 0.02, 10)...)
	old = append(old, noisy(22, "speed", "images_per_s", 70, 0.02, 10)...)
	now = append(now, noisy(23, "speed", "images_per_s", 77, 0.02, 10)...)
	for i, metric := range []string{"fma_percent", "efficiency", "queries", "requests", "log_likelihood"} { // larger is better
		old = append(old, noisy(uint64(30+i), metric, metric, 70, 0.02, 10)...)
		now = append(now, noisy(uint64(40+i), metric, metric, 77, 0.02, 10)...)
	}
	old = append(old, sample{"gone", 1, "gflops", 1})
	c := compareSamples(old, now, 0.01)
	require.Equal(t, []string{"gone"}, c.onlyOld)
	require.Empty(t, c.onlyNew)
	for _, d := range c.lines {
		switch d.Name {
		case "time":
			require.True(t, d.Different)
			require.InDelta(t, 1.1, d.Slower, 0.03)
		case "log_likelihood":
			require.True(t, d.Different)
			require.True(t, math.IsNaN(d.Slower), "a ratio of two says nothing")
		case "speed", "fma_percent", "efficiency", "queries", "requests":
			require.True(t, d.Different)
			require.InDelta(t, 1/1.1, d.Slower, 0.03)
		default:
			require.False(t, d.Different, "%+v", d)
		}
	}
}

// TestCompareFalse: among lists of 100 lines of pure noise, few are called different: the level holds for the list.
func TestCompareFalse(t *testing.T) {
	lists := 0
	for list := range 20 {
		var old, now []sample
		for i := range 100 {
			name := strings.Repeat("x", i+1)
			old = append(old, noisy(uint64(list*1000+i), name, "gbps", 10, 0.05, 8)...)
			now = append(now, noisy(uint64(list*1000+500+i), name, "gbps", 10, 0.05, 8)...)
		}
		for _, d := range compareSamples(old, now, 0.05).lines {
			if d.Different {
				lists++
				break
			}
		}
	}
	require.LessOrEqual(t, lists, 3, "about one list of 20 may have such a line")
}

// TestCompareOdd: values that are equal, zero, single or not numbers neither panic nor count as differences.
func TestCompareOdd(t *testing.T) {
	for _, x := range [][]float64{{1}, {0, 0, 0}, {math.NaN(), 1, 2}, {5, 5, 5, 5, 5, 5, 5, 5}, {math.Inf(1), 1, 1}} {
		d := compareValues(key{"a", 1, "gflops"}, x, x)
		require.False(t, d.P < 0.05, "%v: %v", x, d.P)
	}
	require.Equal(t, 2.5, middle([]float64{1, 2, 3, 4}))
	require.InDelta(t, 0.2, spread([]float64{1, 2, 2.5, 3, 4}), 1e-12)
}

// TestCompareFiles goes through the command: a table, what is doubtful, and errors that name file and line.
func TestCompareFiles(t *testing.T) {
	dir := t.TempDir()
	path := func(name string, all []sample) string {
		p := filepath.Join(dir, name)
		require.NoError(t, writeSamples(p, all))
		return p
	}
	old := append(noisy(1, "gemm", "gflops", 50, 0.01, 4), noisy(2, "limits/fma", "gflops", 100, 0.2, 4)...)
	a, b := path("a.jsonl", old), path("b.jsonl", append(noisy(3, "gemm", "gflops", 50, 0.01, 4),
		noisy(4, "limits/fma", "gflops", 100, 0.2, 4)...))
	run := func(args ...string) (string, error) {
		cmd := compareCommand()
		var out bytes.Buffer
		cmd.SetOut(&out)
		cmd.SetErr(io.Discard)
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetArgs(args)
		err := cmd.ExecuteContext(context.Background())
		return out.String(), err
	}
	out, err := run("--all", a, b)
	require.NoError(t, err)
	for _, want := range []string{"gemm", "same", "0 of 2 lines differ", "only 4 runs", "limits moved"} {
		require.Contains(t, out, want)
	}
	out, err = run(path("low.jsonl", noisy(5, "score", "log_likelihood", -1.5, 0.01, 10)),
		path("high.jsonl", noisy(6, "score", "log_likelihood", -1.2, 0.01, 10)))
	require.NoError(t, err)
	require.Contains(t, out, " better ")
	bad := filepath.Join(dir, "bad.jsonl")
	require.NoError(t, os.WriteFile(bad, []byte("{\"name\":\"x\",\"metric\":\"s\",\"value\":1}\n{\"name\":"), 0o666))
	compared := filepath.Join(dir, "compared.jsonl") // as compare --json prints it
	require.NoError(t, os.WriteFile(compared, []byte(`{"name":"x","n":1,"metric":"s","old":1,"new":2}`), 0o666))
	for want, args := range map[string][]string{
		"no name, metric or value": {a, compared},
		"--out and --rounds":       {"--out", dir, a, b},
		"bad.jsonl: line 2":        {a, bad},
		"need two files":           {a},
		"--alpha":                  {"--alpha", "NaN", a, b},
		"--old and --new":          {"--old", "x"},
		"arguments of both":        {"--old", "x", "--new", "y"},
		"no such file":             {a, filepath.Join(dir, "absent")},
		"--rounds":                 {"--old", "x", "--new", "y", "--rounds", "0", "--", "kernels"},
		"holds no results":         {a, path("empty.jsonl", nil)},
		"--least":                  {"--least", "-1", a, b},
		"executable file not":      {"--old", "no-such-program", "--new", "y", "--", "kernels"},
	} {
		_, err := run(args...)
		require.ErrorContains(t, err, want)
	}
}

// TestPrintWithoutRatios: files without a line in common, or without a line that has a ratio, have no mean ratio.
func TestPrintWithoutRatios(t *testing.T) {
	for _, names := range [][2]string{{"a", "b"}, {"limits/a", "limits/a"}} {
		old, now := []sample{{names[0], 1, "s", 1}}, []sample{{names[1], 1, "s", 1}}
		var out bytes.Buffer
		require.NoError(t, (&compareFlags{alpha: 0.05}).print(&out, compareSamples(old, now, 0.05), ""))
		require.Contains(t, out.String(), " lines differ at level 0.05\n")
		require.NotContains(t, out.String(), "NaN")
	}
}
