package merge_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp/taskfile"
	"github.com/equivcnp/equivcnp/internal/merge"
	"github.com/equivcnp/equivcnp/internal/safetensors"
	"github.com/equivcnp/equivcnp/internal/shards"
)

// TestJoin: tensors follow each other along the tasks, samples along their second axis, failed lines are left out, and the
// mean of log-likelihoods is that over values.
func TestJoin(t *testing.T) {
	dir := t.TempDir()
	m := &shards.Merged{Kind: "predict"}
	for i, result := range []string{`{"tasks": 1, "log_likelihood": -1, "log_likelihood_values": 1}`,
		`{"tasks": 2, "log_likelihood": 2, "log_likelihood_values": 3}`} {
		name := string(rune('a'+i)) + ".safetensors"
		f, err := os.Create(filepath.Join(dir, name))
		require.NoError(t, err)
		v := []float32{float32(10 * i), float32(10*i + 1), float32(10*i + 2), float32(10*i + 3)}
		require.NoError(t, taskfile.Write(f, name, []safetensors.Tensor{safetensors.FromFloat32s("mean", []int{i + 1, 1}, v[:i+1]),
			safetensors.FromFloat32s("samples", []int{2, i + 1, 1}, append(append([]float32{}, v[:i+1]...), v[:i+1]...))}))
		require.NoError(t, f.Close())
		m.Records = append(m.Records, shards.Record{Out: name, Result: json.RawMessage(result)})
	}
	m.Records = append(m.Records, shards.Record{Error: "broken"})
	s, err := merge.Summarize(m)
	require.NoError(t, err)
	require.Equal(t, [2]int{3, 4}, [2]int{s.Tasks, s.Values})
	require.InDelta(t, 1.25, *s.LogLikelihood, 1e-12)

	out := filepath.Join(dir, "all")
	require.NoError(t, merge.Join(out, "all.safetensors", dir, m))
	all, err := safetensors.Read(out)
	require.NoError(t, err)
	want := map[string][]float32{"mean": {0, 10, 11}, "samples": {0, 10, 11, 0, 10, 11}}
	require.Len(t, all.Tensors, 2)
	for i := range all.Tensors {
		v, err := all.Tensors[i].Float32s()
		require.NoError(t, err)
		require.Equal(t, want[all.Tensors[i].Name], v)
	}
	require.EqualError(t, merge.Join(out, "all.png", dir, m), "all.png: tensors go into a file of "+taskfile.Endings)
}

// TestJoinFormats: predictions that stand in files of several formats are joined, and stay float32.
func TestJoinFormats(t *testing.T) {
	dir := t.TempDir()
	m := &shards.Merged{Kind: "predict"}
	for i, name := range []string{"0.nc", "1.npz", "2.safetensors", "3.nc"} {
		f, err := os.Create(filepath.Join(dir, name))
		require.NoError(t, err)
		require.NoError(t, taskfile.Write(f, name, []safetensors.Tensor{
			safetensors.FromFloat32s("mean", []int{1, 1}, []float32{float32(i) / 3})}))
		require.NoError(t, f.Close())
		m.Records = append(m.Records, shards.Record{Line: i + 1, Out: name, Result: json.RawMessage(`{"tasks": 1}`)})
	}
	out := filepath.Join(dir, "all")
	require.NoError(t, merge.Join(out, "all.safetensors", dir, m))
	all, err := safetensors.Read(out)
	require.NoError(t, err)
	require.Equal(t, safetensors.F32, all.Tensors[0].DType)
	got, err := all.Tensors[0].Float32s()
	require.NoError(t, err)
	require.Equal(t, []float32{0, 1. / 3, 2. / 3, 1}, got)
}
