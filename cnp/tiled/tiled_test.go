package tiled_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/pretrained"
	"github.com/equivcnp/equivcnp/cnp/tiled"
	"github.com/equivcnp/equivcnp/internal/npy"
	"github.com/equivcnp/equivcnp/internal/safetensors"
)

// TestRun: tiles of another size, and a run that goes on after an interruption, write the same bytes; a mask of another
// size is refused.
func TestRun(t *testing.T) {
	model, err := pretrained.Load("digits-T2-small")
	require.NoError(t, err)
	dir := t.TempDir()
	array := func(name string, h, w int) string {
		v := make([]float32, h*w)
		for i := range v {
			v[i] = float32(i*7%11) / 10
		}
		f, err := os.Create(filepath.Join(dir, name))
		require.NoError(t, err)
		x := safetensors.FromFloat32s("", []int{h, w}, v)
		require.NoError(t, npy.EncodeArray(f, &x))
		require.NoError(t, f.Close())
		return f.Name()
	}
	opt := tiled.Options{In: array("in.npy", 64, 48), Rate: 0.4, Seed: 3, Memory: 1 << 30, Out: filepath.Join(dir, "a.npy")}
	rep, err := tiled.Run(t.Context(), model, opt)
	require.NoError(t, err)
	require.Equal(t, [3]int{64, 48, 1}, [3]int{rep.H, rep.W, rep.C})
	require.InDelta(t, 0.4*64*48, rep.Observed, 150)
	want, err := os.ReadFile(opt.Out)
	require.NoError(t, err)
	require.NoFileExists(t, opt.Out+".progress")

	opt.Out, opt.Down = filepath.Join(dir, "b.npy"), 16
	ended, cancel := context.WithCancel(t.Context())
	_, err = tiled.Run(cnp.WithProgress(ended, func(done, _ int) {
		if done > 0 {
			cancel()
		}
	}), model, opt)
	require.ErrorIs(t, err, tiled.ErrInterrupted)
	require.NoFileExists(t, opt.Out)
	rep, err = tiled.Run(t.Context(), model, opt)
	require.NoError(t, err)
	require.Greater(t, rep.Tiles, 1)
	require.Positive(t, rep.Kept)
	got, err := os.ReadFile(opt.Out)
	require.NoError(t, err)
	require.Equal(t, want, got)

	opt.Mask = array("mask.npy", 48, 64)
	_, err = tiled.Run(t.Context(), model, opt)
	require.ErrorContains(t, err, "mask.npy: ")
}
