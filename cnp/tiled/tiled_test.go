package tiled_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/pretrained"
	"github.com/equivcnp/equivcnp/cnp/tiled"
	"github.com/equivcnp/equivcnp/internal/npy"
	"github.com/equivcnp/equivcnp/internal/raster"
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
	interrupt(t, model, opt)
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

// interrupt cancels a run after its first tile.
func interrupt(t *testing.T, model cnp.Model[float32], opt tiled.Options) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := tiled.Run(cnp.WithProgress(ctx, func(done, _ int) {
		if done > 0 {
			cancel()
		}
	}), model, opt)
	require.ErrorIs(t, err, tiled.ErrInterrupted)
}

// TestPlace: outputs are where the input is, which its world file says, in tiles and after an interruption; those that
// cannot say so are named.
func TestPlace(t *testing.T) {
	model, err := pretrained.Load("digits-T2-small")
	require.NoError(t, err)
	dir := t.TempDir()
	in := filepath.Join(dir, "in.tif")
	w, err := raster.OpenStripWriter(in, in, 1, 64, 48, nil)
	require.NoError(t, err)
	require.NoError(t, w.Write(make([]float32, 64*48), 0, 0, 64, 48))
	require.NoError(t, w.Close())
	require.NoError(t, os.WriteFile(filepath.Join(dir, "in.tfw"), []byte("30 0 0 -30 500015 4601185"), 0o600))
	opt := tiled.Options{In: in, Rate: 0.4, Memory: 1 << 30, Out: filepath.Join(dir, "a.tif"), StdOut: filepath.Join(dir, "b.npy"),
		Down: 16}
	interrupt(t, model, opt)
	rep, err := tiled.Run(t.Context(), model, opt)
	require.NoError(t, err)
	require.Positive(t, rep.Kept)
	require.Equal(t, []string{opt.StdOut + " does not say where its pixels are: write .tif for that"}, rep.Notes)
	want, err := raster.OpenStrips(in, 1)
	require.NoError(t, err)
	defer want.Close()
	got, err := raster.OpenStrips(opt.Out, 1)
	require.NoError(t, err)
	defer got.Close()
	a, err := want.Place()
	require.NoError(t, err)
	b, err := got.Place()
	require.NoError(t, err)
	require.True(t, a.Located())
	require.Equal(t, a, b)

	opt.Out, opt.StdOut = filepath.Join(dir, "c.tif"), ""
	require.NoError(t, os.WriteFile(filepath.Join(dir, "in.tfw"), []byte("nothing"), 0o600))
	rep, err = tiled.Run(t.Context(), model, opt)
	require.NoError(t, err)
	require.Len(t, rep.Notes, 1)
	require.Contains(t, rep.Notes[0], "in.tfw is not a world file")
}

// TestMaskBeside: a run does not resume where the mask beside the input is another than before.
func TestMaskBeside(t *testing.T) {
	model, err := pretrained.Load("digits-T2-small")
	require.NoError(t, err)
	dir := t.TempDir()
	in := filepath.Join(dir, "in.tif")
	w, err := raster.OpenStripWriter(in, in, 1, 64, 48, nil)
	require.NoError(t, err)
	require.NoError(t, w.Write(make([]float32, 64*48), 0, 0, 64, 48))
	require.NoError(t, w.Close())
	opt := tiled.Options{In: in, Rate: 1, Memory: 1 << 30, Out: filepath.Join(dir, "a.npy"), Down: 16}
	require.NoError(t, os.WriteFile(in+".msk", mask(64, 48, 20), 0o600))
	interrupt(t, model, opt)
	require.NoError(t, os.Remove(in+".msk"))
	require.NoError(t, os.WriteFile(in+".msk", mask(64, 48, 10), 0o600))
	rep, err := tiled.Run(t.Context(), model, opt)
	require.NoError(t, err)
	require.Zero(t, rep.Kept)
	require.Equal(t, 480, rep.Observed)
}

// mask is a TIFF file of bytes, 255 in the first rows.
func mask(h, w, rows int) []byte {
	le := binary.LittleEndian
	b := le.AppendUint16([]byte("II*\x00\x08\x00\x00\x00"), 8)
	for _, x := range [][2]int{{256, w}, {257, h}, {258, 8}, {259, 1}, {262, 1}, {273, 8 + 2 + 8*12 + 4}, {278, h}, {279, h * w}} {
		b = le.AppendUint32(le.AppendUint32(le.AppendUint16(le.AppendUint16(b, uint16(x[0])), 4), 1), uint32(x[1]))
	}
	b = append(b, 0, 0, 0, 0)
	return append(append(b, bytes.Repeat([]byte{255}, rows*w)...), make([]byte, (h-rows)*w)...)
}
