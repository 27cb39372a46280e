package main

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/weights"
	"github.com/equivcnp/equivcnp/internal/npy"
	"github.com/equivcnp/equivcnp/internal/safetensors"
	"github.com/equivcnp/equivcnp/layers"
)

// rasterModel writes a small model under T(2) that sees a few pixels.
func (b *bench) rasterModel(name string, channels int) *cnp.ImageEquivCNP[float32] {
	b.t.Helper()
	c := imageConfig("T(2)", channels)
	m, err := cnp.New[float32](c, 1)
	require.NoError(b.t, err)
	for _, p := range m.State() {
		if strings.HasSuffix(p.Name, ".r") {
			p.Data[0] = 0.5 // 2.5 pixels
		}
	}
	require.NoError(b.t, weights.Save(b.path(name), m, nil))
	return m.(*cnp.ImageEquivCNP[float32])
}

// array writes an .npy file.
func (b *bench) array(name string, shape []int, v []float32) {
	b.t.Helper()
	var buf bytes.Buffer
	x := safetensors.FromFloat32s("", shape, v)
	require.NoError(b.t, npy.EncodeArray(&buf, &x))
	b.write(name, buf.String())
}

// values reads an .npy file.
func (b *bench) values(name string, shape ...int) []float32 {
	b.t.Helper()
	data, err := os.ReadFile(b.path(name))
	require.NoError(b.t, err)
	all, err := npy.Decode(data)
	require.NoError(b.t, err)
	require.Equal(b.t, shape, all[0].Shape)
	v, err := all[0].Float32s()
	require.NoError(b.t, err)
	return v
}

// noise is a raster with gaps.
func gappyRaster(n int) []float32 {
	rng := rand.New(rand.NewPCG(5, 6))
	v := make([]float32, n)
	for i := range v {
		if v[i] = rng.Float32(); rng.IntN(2) == 0 {
			v[i] = float32(math.NaN())
		}
	}
	return v
}

// The program's raster is the model's own prediction of the whole, from every format that holds the same numbers.
func TestRaster(t *testing.T) {
	b := newBench(t)
	m := b.rasterModel("m.safetensors", 1)
	const h, w = 37, 120
	v := gappyRaster(h * w)
	b.array("in.npy", []int{h, w}, v)
	im := &cnp.Images[float32]{B: 1, C: 1, H: h, W: w, Pixels: v, Mask: make([]bool, h*w)}
	for i, x := range v {
		im.Mask[i] = x == x
	}
	g, err := m.RasterGeometry(h, w)
	require.NoError(t, err)
	plan, err := m.PlanGeometry(context.Background(), g, cnp.PlanOptions{Algorithm: layers.Direct})
	require.NoError(t, err)
	want := &cnp.Prediction[float32]{Mean: make([]float32, h*w), Std: make([]float32, h*w)}
	require.NoError(t, plan.Predict(context.Background(), want, im))
	out := decode[rasterResult](t, b.ok("raster", "--model", "@m.safetensors", "--in", "@in.npy", "--out", "@mean.npy",
		"--std-out", "@std.npy", "--tile-width", "64", "--tile-height", "10", "--json"))
	require.Equal(t, []int{w, h, 1, 0}, []int{out.Width, out.Height, out.Channels, out.Kept})
	require.Greater(t, out.Tiles, 8)
	require.Equal(t, want.Mean, b.values("mean.npy", h, w))
	require.Equal(t, want.Std, b.values("std.npy", h, w))
	require.ElementsMatch(t, []string{"in.npy", "m.safetensors", "mean.npy", "std.npy"}, b.names(), "nothing else stays")

	// A picture and a mask: one whole, and one by bands.
	grey, mask := image.NewGray16(image.Rect(0, 0, w, h)), image.NewGray(image.Rect(0, 0, w, h))
	pgm, ppm := fmt.Appendf(nil, "P5\n# a comment\n%d %d\n65535\n", w, h), fmt.Appendf(nil, "P6 %d %d 255\n", w, h)
	for i := range h * w {
		k := uint16(i * 37)
		grey.SetGray16(i%w, i/w, color.Gray16{Y: k})
		pgm = append(pgm, byte(k>>8), byte(k))
		ppm = append(ppm, byte(k), byte(k), byte(k))
		if im.Mask[i] {
			mask.SetGray(i%w, i/w, color.Gray{Y: 255})
		}
	}
	for name, picture := range map[string]image.Image{"in.png": grey, "mask.png": mask} {
		var buf bytes.Buffer
		require.NoError(t, png.Encode(&buf, picture))
		b.write(name, buf.String())
	}
	b.write("in.pgm", string(pgm))
	b.write("in.ppm", string(ppm))
	var first []float32
	for i, in := range []string{"@in.png", "@in.pgm"} {
		b.ok("raster", "--model", "@m.safetensors", "--in", in, "--mask", "@mask.png", "--out", "@mean.npy", "--tile-width",
			fmt.Sprint(64+8*i))
		if got := b.values("mean.npy", h, w); i == 0 {
			first = got
		} else {
			require.Equal(t, first, got)
		}
	}
	b.ok("raster", "--model", "@m.safetensors", "--in", "@in.ppm", "--rate", "0.5", "--seed", "3", "--out", "@mean.pgm")
	require.Len(t, b.files()["mean.pgm"], len(fmt.Sprintf("P5\n%d %d\n65535\n", w, h))+2*h*w)
	b.ok("raster", "--model", "@m.safetensors", "--in", "@mean.pgm", "--out", "@again.npy") // it reads what it writes

	for words, args := range map[string][]string{
		"needs [1, H, W]":      {"--in", "@bad.npy", "--out", "@x.npy"},
		"must end in .npy":     {"--in", "@in.npy", "--out", "@x.jpg"},
		"of three as .ppm":     {"--in", "@in.npy", "--out", "@x.ppm"},
		"not a usable image":   {"--in", "@m.safetensors", "--out", "@x.npy"},
		"the mask has 5 x 4":   {"--in", "@in.npy", "--mask", "@small.npy", "--out", "@x.npy"},
		"multiple of 8":        {"--in", "@in.npy", "--out", "@x.npy", "--tile-width", "65"},
		"refusing to replace":  {"--in", "@in.npy", "--out", "@in.npy"},
		"a number from 0 to 1": {"--in", "@in.npy", "--out", "@x.npy", "--rate", "2"},
		"the file has 4 bytes": {"--in", "@short.pgm", "--out", "@x.npy"},
		"Fortran's order":      {"--in", "@fortran.npy", "--out", "@x.npy"},
	} {
		b.array("bad.npy", []int{2, 3, 4}, make([]float32, 24))
		b.array("small.npy", []int{4, 5}, make([]float32, 20))
		b.write("short.pgm", "P5 3 2 255\n1234")
		b.write("fortran.npy", strings.Replace(b.files()["small.npy"], "False", "True ", 1))
		status, _, errs := b.run(append([]string{"raster", "--model", "@m.safetensors"}, args...)...)
		require.NotZero(t, status, words)
		require.Contains(t, errs, words)
		require.NotContains(t, b.names(), "x.npy")
	}
	b.save("so2.safetensors", imageConfig("SO(2)", 1))
	b.fails(1, "depend on where a pixel lies", "raster", "--model", "@so2.safetensors", "--in", "@in.npy", "--out", "@x.npy")
	b.save("curve.safetensors", curveConfig())
	b.fails(1, "tiles need", "raster", "--model", "@curve.safetensors", "--in", "@in.npy", "--out", "@x.npy")
}

// A raster whose process is killed again and again resumes, and has the same bits.
func TestRasterKilled(t *testing.T) {
	for seed, ending := range []string{".npy", ".tif"} {
		t.Run(ending, func(t *testing.T) { testRasterKilled(t, ending, uint64(seed)+2) })
	}
}

func testRasterKilled(t *testing.T, ending string, seed uint64) {
	b := newBench(t)
	b.rasterModel("m.safetensors", 3)
	const h, w = 240, 160
	b.array("in.npy", []int{h, w, 3}, gappyRaster(3*h*w))
	args := func(out string) []string {
		return []string{"raster", "--model", b.path("m.safetensors"), "--in", b.path("in.npy"), "--out", b.path(out), "--std-out",
			b.path("std-" + out),
			"--tile-width", "64", "--tile-height", "12", "--json"}
	}
	whole := decode[rasterResult](t, b.ok(args("whole"+ending)...))
	rng := rand.New(rand.NewPCG(seed, 2))
	steps := func() int {
		text, _ := os.ReadFile(b.path("killed" + ending + ".progress"))
		return bytes.Count(text, []byte(`"tile"`))
	}
	killed := 0
	for k := range 4 {
		cmd := program(t, []string{fmt.Sprintf("GOMAXPROCS=%d", 1+k%2)}, args("killed"+ending)...)
		require.NoError(t, cmd.Start())
		for until, waited := steps()+1+rng.IntN(whole.Tiles/6), 0; steps() < until && waited < 2000; waited++ {
			time.Sleep(time.Millisecond)
		}
		_ = cmd.Process.Kill()
		if cmd.Wait() != nil {
			killed++
		}
		if _, err := os.Stat(b.path("killed" + ending)); err == nil {
			break // it was faster
		}
	}
	require.Positive(t, killed)
	done := steps()
	require.Positive(t, done)
	out := decode[rasterResult](t, b.ok(args("killed"+ending)...))
	require.GreaterOrEqual(t, out.Kept, done-1)
	require.Less(t, out.Observed, whole.Observed, "finished tiles are not computed again")
	files := b.files()
	require.Equal(t, files["whole"+ending], files["killed"+ending])
	require.Equal(t, files["std-whole"+ending], files["std-killed"+ending])
	require.NotContains(t, files, "killed"+ending+".progress")
	require.NotContains(t, files, "killed"+ending+".partial")
}
