package main

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestSplitmix: the first numbers that the peers' documentation lists.
func TestSplitmix(t *testing.T) {
	rng := peerSeed
	require.Equal(t, []float32{0.48312973976135254, -0.68017923831939697, -0.44279778003692627, -0.31161868572235107}, rng.floats(4, 1))
}

func TestNearestOnGrid(t *testing.T) {
	const j = 273
	index := make([]int32, 64*64*j)
	nearestOnGrid(index, j)
	for _, i := range []int{0, 77, 4095} {
		require.Equal(t, int32(i), index[i*j], "the nearest is the point itself")
		seen := map[int32]bool{}
		for _, k := range index[i*j : (i+1)*j] {
			require.False(t, seen[k], "%d twice", k)
			seen[k] = true
		}
	}
	require.Equal(t, int32(63*64+63), index[0*j+5], "the sixth nearest of the first pixel is across both borders")
}

// TestKernels runs every case once and checks the lines that it prints; how long it takes is not this test's business.
func TestKernels(t *testing.T) {
	t.Setenv("PEER_SECONDS", "1e-9")
	for _, only := range []string{"gemm/ours/16x16x50", "swish/L2", "atan2/L2", "weightnet"} {
		cmd := kernelsCommand()
		var out bytes.Buffer
		cmd.SetOut(&out)
		cmd.SetErr(io.Discard)
		cmd.SetArgs([]string{"--json", "--levels", "--only", only})
		require.NoError(t, cmd.Execute())
		lines := bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n"))
		require.NotEmpty(t, lines)
		for _, l := range lines {
			var s sample
			require.NoError(t, json.Unmarshal(l, &s))
			require.Contains(t, s.Name, "ours")
			require.Positive(t, s.Value, s.Name)
			require.Positive(t, s.N, s.Name)
		}
	}
}

func TestBestIsPositive(t *testing.T) {
	t.Setenv("PEER_SECONDS", "1e-9")
	require.GreaterOrEqual(t, best(func() { time.Sleep(time.Millisecond) }), 0.0)
}
