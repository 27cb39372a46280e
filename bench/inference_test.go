package main

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

func TestPercentile(t *testing.T) {
	s := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	for p, want := range map[int]float64{1: 1, 10: 1, 11: 2, 50: 5, 99: 10, 100: 10} {
		require.Equal(t, want, percentile(s, p), "%d", p)
	}
	require.Equal(t, 3.0, percentile([]float64{3}, 50))
}

// TestInference runs small cases once and checks the lines that they print.
func TestInference(t *testing.T) {
	dir := testkit.Shared(t, "weights")
	t.Setenv("PEER_SECONDS", "1e-9")
	for name, lines := range map[string]int{"image/T2/cold": 2, "image/SO2/evaluated": 14, "curve/rbf": 9} {
		cmd := inferenceCommand()
		var out bytes.Buffer
		cmd.SetOut(&out)
		cmd.SetArgs([]string{"--one", "--json", "--only", name, "--size", "8", "--times", "1", "--weights", dir})
		require.NoError(t, cmd.Execute(), name)
		got := bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n"))
		require.GreaterOrEqual(t, len(got), lines-3, "%s, without memory where the system does not tell it", name)
		require.LessOrEqual(t, len(got), lines, name)
		for _, l := range got {
			var s sample
			require.NoError(t, json.Unmarshal(l, &s))
			require.Regexp(t, "^(image|curve)/ours/", s.Name)
			require.Positive(t, s.Value, s.Name)
			require.Positive(t, s.N, s.Name)
		}
	}
}
