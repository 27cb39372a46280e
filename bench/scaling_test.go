package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// runScaling runs the command and returns what it prints.
func runScaling(t *testing.T, args ...string) (string, error) {
	t.Helper()
	cmd := scalingCommand()
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(io.Discard)
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

// TestScaling: rows of every kind have the same bits on one and three processors, and print what they say.
func TestScaling(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "profiles")
	rows := []string{"limits/multiply-adds", "limits/memory", "blas/sgemm/512", "curve/bench-eq/one",
		"train/curve/rbf/batch16", "serve/curve/bench-eq", "krige/fit/300"}
	out, err := runScaling(t, "--procs", "1,3", "--seconds", "1e-9", "--filter", "^("+strings.Join(rows, "|")+")$", "--json",
		"--profile", dir)
	require.NoError(t, err)
	seen := map[sample]bool{}
	for line := range strings.Lines(out) {
		var s sample
		require.NoError(t, json.Unmarshal([]byte(line), &s))
		require.True(t, s.Value >= 0, line)
		require.False(t, strings.HasSuffix(s.Metric, "_per_s") && s.Value == 0, line)
		if s.Metric == "same_bits" {
			seen[s] = true
		}
	}
	for _, name := range rows {
		for _, p := range []int{1, 3} {
			require.True(t, seen[sample{"scaling/" + name, p, "same_bits", 1}], "%s on %d", name, p)
		}
		_, err := os.Stat(filepath.Join(dir, strings.ReplaceAll(name, "/", "-")+".pprof"))
		require.NoError(t, err)
	}
	out, err = runScaling(t, "--procs", "1,2", "--seconds", "1e-9", "--filter", "limits/multiply|curve/bench-eq/one")
	require.NoError(t, err)
	require.Regexp(t, `(?m)^\| row \| unit \| 1 \| 2 \| processor time \| bits \|\n\|---\|---\|---:\|---:\|---:\|---\|$`, out)
	require.Regexp(t, `(?m)^\| limits/multiply-adds \| GFLOP/s \| [0-9.e+]+ \| [0-9.e+]+ \([0-9]+ %\) \| x [0-9.]+ \| same \|$`, out)
	require.Regexp(t, `(?m)^\| curve/bench-eq/one \| ms \| `, out)
}

// TestScalingNumbers: efficiency is by how much speed grows with processors, and results that differ are seen.
func TestScalingNumbers(t *testing.T) {
	require.Equal(t, []int{1}, numbersOfProcessors(1))
	require.Equal(t, []int{1, 2, 4, 6}, numbersOfProcessors(6))
	require.Equal(t, []int{1, 2, 4, 8, 16}, numbersOfProcessors(16))
	cells := []scalingCell{{1, 10, 2, 2, 7}, {4, 30, 0.7, 2.1, 7}}
	require.InDelta(t, 0.75, efficiency(&cells[0], &cells[1]), 1e-12)
	c := scalingCase{name: "a", unit: "things"}
	require.Equal(t, "| a | things/s | 10 | 30 (75 %) | x 1.00 | same |", c.line(cells))
	cells[1].bits = 8
	require.Equal(t, "| a | things/s | 10 | 30 (75 %) | x 1.00 | DIFFER |", c.line(cells))
	c.latency = true
	require.Contains(t, c.line(cells), "| a | ms | 2000 | 700 (75 %) |")
}

func TestScalingFlags(t *testing.T) {
	for want, args := range map[string][]string{
		"--procs 0: need 1 to 1024":                           {"--procs", "0"},
		"--procs: 2 after 4: need ascending numbers":          {"--procs", "1,4,2"},
		"--seconds NaN: need a number above 0, 3600 at most":  {"--seconds", "NaN"},
		"--filter none: no row's name matches":                {"--filter", "none"},
		"image/T2/64x64/one on 1 processors: --weights none:": {"--filter", "^image/T2/64x64/one", "--weights", "none"},
	} {
		_, err := runScaling(t, args...)
		require.ErrorContains(t, err, want)
	}
}
