package main

import (
	"fmt"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp/taskfile"
	"github.com/equivcnp/equivcnp/cnp/weights"
	"github.com/equivcnp/equivcnp/internal/netcdf"
	"github.com/equivcnp/equivcnp/internal/raster"
	"github.com/equivcnp/equivcnp/internal/safetensors"
)

// Stacks of images train and measure models whatever the format of the file, and what is no stack is an error that names the array.
func TestStacks(t *testing.T) {
	b := newBench(t)
	const n, h, w = 10, 6, 5
	pixels := make([]float32, n*h*w)
	for i := range pixels {
		pixels[i] = float32(i*7%11) / 10
	}
	stack := func(name string, more ...safetensors.Tensor) {
		f, err := os.Create(b.path(name))
		require.NoError(t, err)
		require.NoError(t, taskfile.Write(f, name,
			append([]safetensors.Tensor{safetensors.FromFloat32s("t2m", []int{n, h, w}, pixels)}, more...)))
		require.NoError(t, f.Close())
	}
	stack("a.npz")
	stack("a.safetensors")
	wide := make([]float64, len(pixels))
	for i, v := range pixels {
		wide[i] = float64(v)
	}
	grid := &netcdf.File{Dims: []netcdf.Dim{{Name: "time", Len: n}, {Name: "lat", Len: h}, {Name: "lon", Len: w}}}
	require.NoError(t, grid.Add("lat", netcdf.Double, []int{1}, make([]float64, h)))
	require.NoError(t, grid.Add("t2m", netcdf.Float, []int{0, 1, 2}, wide))
	f, err := os.Create(b.path("a.nc"))
	require.NoError(t, err)
	require.NoError(t, netcdf.Encode(f, grid, 1))
	require.NoError(t, f.Close())
	stack("two.npz", safetensors.FromFloat32s("rain", []int{n / 2, 2, h, w}, pixels))

	train := []string{"train", "image", "--group", "T2", "--width", "4", "--blocks", "1", "--steps", "2", "--eval-tasks", "2",
		"--overwrite", "--out", "@m.safetensors"}
	said := b.ok(append(train, "--in", "@a.nc", "--holdout-last")...)
	require.Contains(t, said, fmt.Sprintf("9 images of %d x %d pixels, upright, from the first 9 of t2m of ", w, h))
	state := func() any {
		m, err := weights.Load[float32](b.path("m.safetensors"), weights.Options{})
		require.NoError(t, err)
		return m.State()
	}
	first := state()
	for _, name := range []string{"a.npz", "a.safetensors", "two.npz"} {
		b.ok(append(train, "--in", "@"+name, "--array", "t2m", "--holdout-last")...)
		require.Equal(t, first, state(), name)
	}
	require.Contains(t, b.ok("eval", "--model", "@m.safetensors", "--in", "@a.nc", "--tasks", "10"), "10 images")
	b.fails(1, `array "rain" [5 2 6 5] has images of 2 channels, the model has 1`, "eval", "--model", "@m.safetensors", "--in",
		"@two.npz", "--array", "rain")
	b.fails(1, `2 arrays [N, H, W] or [N, C, H, W], name one of them; the file has ["t2m [10 6 5]" "rain [5 2 6 5]"]; `+
		"--array names the array to take",
		append(train, "--in", "@two.npz")...)
	b.fails(1, `there is no array "snow"`, append(train, "--in", "@two.npz", "--array", "snow")...)
	b.fails(2, "--array is for --in", append(train, "--digits", "--array", "t2m")...)
	b.fails(2, "--holdout is for your own images", append(train, "--digits", "--holdout-last")...)

	// A fill value of NetCDF is a missing pixel, and so is NaN of the other formats: it is neither observed nor scored,
	// and an image without any value is none.
	gaps, nan := slices.Clone(pixels), float32(math.NaN())
	gaps[3], gaps[7*h*w] = nan, nan
	for i := range h * w {
		wide[2*h*w+i], gaps[2*h*w+i] = -99, nan
	}
	wide[3], wide[7*h*w] = -99, -99
	grid.Vars = grid.Vars[:1]
	require.NoError(t, grid.Add("t2m", netcdf.Float, []int{0, 1, 2}, wide, netcdf.Attr{Name: "_FillValue", Type: netcdf.Float,
		Numbers: []float64{-99}}))
	f, err = os.Create(b.path("gap.nc"))
	require.NoError(t, err)
	require.NoError(t, netcdf.Encode(f, grid, 1))
	require.NoError(t, f.Close())
	b.tensors("gap.npz", safetensors.FromFloat32s("t2m", []int{n, h, w}, gaps))
	said = b.ok(append(train, "--in", "@gap.nc", "--holdout-last")...)
	require.Contains(t, said, fmt.Sprintf("2 of %d pixels missing", 9*h*w))
	require.Contains(t, said, `array "t2m" has no value at all in image 2`)
	first = state()
	b.ok(append(train, "--in", "@gap.npz", "--holdout-last")...)
	require.Equal(t, first, state())
	said = b.ok("eval", "--model", "@m.safetensors", "--in", "@gap.nc", "--tasks", "9", "--picture", "@tasks.png")
	require.Contains(t, said, "2 of 270 pixels missing")
	require.NotContains(t, said, "NaN")
	b.tensors("empty.npz", safetensors.FromFloat32s("t2m", []int{1, 1, 2}, []float32{nan, nan}))
	b.fails(1, `array "t2m" has no value at all`, append(train, "--in", "@empty.npz")...)
	b.tensors("inf.npz", safetensors.FromFloat32s("t2m", []int{1, 1, 2}, []float32{nan, float32(math.Inf(-1))}))
	b.fails(1, `array "t2m" is -Inf in image 0, channel 0, row 0, column 1`, append(train, "--in", "@inf.npz")...)

	// TIFF images of floats, in a folder.
	require.NoError(t, os.Mkdir(b.path("floats"), 0o700))
	for i := range 3 {
		path := b.path(fmt.Sprintf("floats/%d.tif", i))
		s, err := raster.OpenStripWriter(path, path, 1, h, w, nil)
		require.NoError(t, err)
		v := pixels[i*h*w : (i+1)*h*w]
		if i == 2 {
			v = append([]float32{float32(math.NaN())}, v[1:]...)
		}
		require.NoError(t, s.Write(v, 0, 0, h, w))
		require.NoError(t, s.Close())
		require.NoError(t, raster.FinishStrips(path, path))
	}
	one, err := raster.ReadChannels(b.path("floats/1.tif"), 1)
	require.NoError(t, err)
	require.Equal(t, pixels[h*w:2*h*w], one.Pix)
	said = b.ok(append(train, "--images", "@floats", "--holdout", "0")...)
	require.Contains(t, said, "3 images of 5 x 6 pixels")
	require.Contains(t, said, "1 of 90 pixels missing")
}
