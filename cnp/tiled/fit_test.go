package tiled_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp/pretrained"
	"github.com/equivcnp/equivcnp/cnp/tiled"
	"github.com/equivcnp/equivcnp/internal/npy"
	"github.com/equivcnp/equivcnp/internal/safetensors"
)

// TestFit: a run says that the mean misses observed pixels that a model was not trained for, by as much whatever the tiles; it
// says nothing of a picture that the model follows, of equal values, and where nothing is observed.
func TestFit(t *testing.T) {
	model, err := pretrained.Load("digits-T2-small")
	require.NoError(t, err)
	dir := t.TempDir()
	const h, w = 64, 150
	run := func(rate float64, across, down int, value func(y, x int) float64) ([]string, []float64) {
		v, all := make([]float32, h*w), make([]float64, h*w)
		for i := range v {
			all[i] = value(i/w, i%w)
			v[i] = float32(all[i])
		}
		f, err := os.Create(filepath.Join(dir, "in.npy"))
		require.NoError(t, err)
		x := safetensors.FromFloat32s("", []int{h, w}, v)
		require.NoError(t, npy.EncodeArray(f, &x))
		require.NoError(t, f.Close())
		opt := tiled.Options{In: f.Name(), Rate: rate, Memory: 1 << 30, Out: filepath.Join(dir, "out.npy"), Across: across, Down: down}
		rep, err := tiled.Run(t.Context(), model, opt)
		require.NoError(t, err)
		return rep.Notes, all
	}
	smooth := func(y, x int) float64 { return 0.5 + 0.4*math.Sin(float64(x)/7)*math.Cos(float64(y)/9) }
	for name, v := range map[string]func(y, x int) float64{
		"smooth": smooth, "equal": func(int, int) float64 { return 0.3 }, "nothing": func(int, int) float64 { return math.NaN() },
	} {
		notes, _ := run(0.3, 0, 0, v)
		require.Empty(t, notes, name)
	}
	large := func(y, x int) float64 {
		if x > 60 && x < 70 {
			return math.NaN()
		}
		return 3000 * smooth(y, x)
	}
	whole, in := run(1, 0, 0, large)
	require.Len(t, whole, 1)
	tiles, _ := run(1, 112, 10, large)
	require.Equal(t, whole, tiles)
	data, err := os.ReadFile(filepath.Join(dir, "out.npy"))
	require.NoError(t, err)
	arrays, err := npy.Decode(data)
	require.NoError(t, err)
	mean, err := arrays[0].Float32s()
	require.NoError(t, err)
	var n, sum, sum2, off2 float64
	for i, v := range in {
		if v == v {
			n, sum, sum2, off2 = n+1, sum+v, sum2+v*v, off2+(float64(mean[i])-v)*(float64(mean[i])-v)
		}
	}
	off, sd := math.Sqrt(off2/n), math.Sqrt(sum2/n-sum/n*sum/n)
	require.Contains(t, whole[0],
		fmt.Sprintf("misses the observed pixels by %.3g (root mean square), and their standard deviation is %.3g:", off, sd))
}
