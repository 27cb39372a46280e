package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/internal/raster"
	"github.com/equivcnp/equivcnp/internal/safetensors"
	"github.com/equivcnp/equivcnp/internal/tabular"
)

// samples reads the tensor of samples from a file.
func (b *bench) samples(name string, shape ...int) []float32 {
	b.t.Helper()
	f, err := safetensors.Read(b.path(name))
	require.NoError(b.t, err)
	s := f.Get("samples")
	require.NotNil(b.t, s)
	require.Equal(b.t, shape, s.Shape)
	out, err := s.Float32s()
	require.NoError(b.t, err)
	return out
}

// sample writes the library's own samples, of a CSV file and of tasks of a safetensors file.
func TestSample(t *testing.T) {
	b := newBench(t)
	m := b.save("m.safetensors", curveConfig()).(cnp.Regressor[float32])
	b.write("data.csv", "x,y\n-1,0.5\n0.25,-1\n1,2\n")
	b.write("targets.csv", "x\n0.5\n-0.5\n0\n0.5\n")
	task := &cnp.Batch[float32]{B: 1, Nc: 3, Nt: 4, XContext: []float64{-1, 0.25, 1}, YContext: []float32{0.5, -1, 2},
		XTarget: []float64{0.5, -0.5, 0, 0.5}}
	chain := cnp.Chain{Order: cnp.OrderLeftToRight, Block: 2, Seed: 7}
	want, err := cnp.SampleCurves(t.Context(), m, task, cnp.SampleOptions{Chain: chain, Samples: 3})
	require.NoError(t, err)
	got := decode[sampleResult](t, b.ok("sample", "--model", "@m.safetensors", "--csv", "@data.csv", "--targets", "@targets.csv",
		"--samples", "3", "--seed", "7",
		"--order", "left-to-right", "--block", "2", "--out", "@s.csv", "--plot", "@fig.svg", "--json"))
	require.Equal(t, []int{1, 3, 4, 3}, []int{got.Tasks, got.ContextPoints, got.Targets, got.Samples})
	table, err := tabular.ReadFile(b.path("s.csv"))
	require.NoError(t, err)
	require.Equal(t, []string{"x", "sample1", "sample2", "sample3"}, table.Header)
	for i := range 4 {
		for s := range 3 {
			require.Equal(t, want[s*4+i], float32(table.Values[i*4+1+s]))
		}
	}
	require.Contains(t, b.files()["fig.svg"], "samples")

	// Functions, of regress.
	fn, err := cnp.SampleCurves(t.Context(), m, task, cnp.SampleOptions{Chain: cnp.Chain{Seed: 7}, Samples: 2, Function: true, Knots: 2})
	require.NoError(t, err)
	reg := decode[regressResult](t, b.ok("regress", "--model", "@m.safetensors", "--csv", "@data.csv", "--targets",
		"@targets.csv", "--samples", "2",
		"--seed", "7", "--knots", "2", "--out", "@p.csv", "--plot", "@fig.png", "--json"))
	require.Len(t, reg.Samples, 2)
	for s := range 2 {
		for i := range 4 {
			require.Equal(t, []number{number(fn[s*4+i])}, reg.Samples[s][i])
		}
	}

	// Tasks of a file: each has its own seed, and padding is 0.
	w := wave()
	w.TargetMask = make([]bool, w.B*w.Nt)
	for i := range w.TargetMask {
		w.TargetMask[i] = i%w.Nt > 0
	}
	seeds := cnp.Chain{Seed: 7}
	mask := make([]byte, len(w.TargetMask))
	for i, ok := range w.TargetMask {
		if ok {
			mask[i] = 1
		}
	}
	for k := range w.B {
		seeds.Seeds = append(seeds.Seeds, 7+uint64(k))
	}
	want, err = cnp.SampleCurves(t.Context(), m, w, cnp.SampleOptions{Chain: seeds, Samples: 2})
	require.NoError(t, err)
	b.tensors("tasks.safetensors", append(b.waveTensors(), u8s("target_mask", safetensors.U8, []int{w.B, w.Nt}, mask...))...)
	b.ok("sample", "--model", "@m.safetensors", "--in", "@tasks.safetensors", "--samples", "2", "--seed", "7", "--out", "@s.safetensors")
	require.Equal(t, want, b.samples("s.safetensors", 2, w.B, w.Nt, 1))
	b.ok("predict", "--model", "@m.safetensors", "--in", "@tasks.safetensors", "--samples", "2", "--seed", "7", "--out", "@p.safetensors")
	require.Equal(t, want, b.samples("p.safetensors", 2, w.B, w.Nt, 1))
}

// sample completes the images of a file; observed pixels stay what they are.
func TestSampleImages(t *testing.T) {
	b := newBench(t)
	m := b.save("m.safetensors", imageConfig("T(2)", 1)).(cnp.Completer[float32])
	im := &cnp.Images[float32]{B: 2, C: 1, H: 4, W: 5, Pixels: make([]float32, 40), Mask: make([]bool, 40)}
	pixels, mask := make([]float64, 40), make([]byte, 40)
	for i := range mask {
		pixels[i], im.Pixels[i] = float64(i)/64, float32(i)/64
		if i%3 == 0 {
			mask[i], im.Mask[i] = 1, true
		}
	}
	want, err := cnp.SampleImages(t.Context(), m, im, cnp.SampleOptions{Samples: 3, Chain: cnp.Chain{Seeds: []uint64{0, 1}}})
	require.NoError(t, err)
	b.tensors("in.safetensors", f64s("image", []int{2, 1, 4, 5}, pixels...), u8s("mask", safetensors.U8, []int{2, 4, 5}, mask...))
	b.ok("sample", "--model", "@m.safetensors", "--in", "@in.safetensors", "--samples", "3", "--out", "@s.safetensors")
	got := b.samples("s.safetensors", 3, 2, 1, 4, 5)
	require.Equal(t, want, got)
	for i := range got {
		require.True(t, mask[i%40] == 0 || got[i] == im.Pixels[i%40])
	}
	b.ok("predict", "--model", "@m.safetensors", "--in", "@in.safetensors", "--samples", "3", "--out", "@p.safetensors")
	require.Equal(t, want, b.samples("p.safetensors", 3, 2, 1, 4, 5))
}

// eval judges the values of a task together.
func TestEvalJoint(t *testing.T) {
	b := newBench(t)
	b.save("m.safetensors", curveConfig())
	b.save("im.safetensors", imageConfig("T(2)", 1))
	got := decode[evalResult](t, b.ok("eval", "--model", "@m.safetensors", "--kernel", "rbf", "--from", "0", "--to", "1",
		"--targets", "9", "--max-context", "5", "--tasks", "4", "--joint",
		"--joint-tasks", "3", "--json"))
	require.Equal(t, []int{3, 3}, []int{got.Joint.Tasks, got.Independent.Tasks})
	require.NotEqual(t, got.Joint.LogLikelihood.Mean, got.Independent.LogLikelihood.Mean)
	require.Greater(t, got.Joint.LogLikelihood.Error, 0.0)
	got = decode[evalResult](t, b.ok("eval", "--model", "@im.safetensors", "--digits", "--size", "12", "--tasks", "2", "--joint",
		"--block", "20", "--growth", "0.1", "--order", "given",
		"--json"))
	require.Equal(t, 2, got.Joint.Tasks)
	require.Contains(t, b.ok("eval", "--model", "@m.safetensors", "--kernel", "rbf", "--targets", "9", "--max-context", "5",
		"--tasks", "2", "--joint"), "by the chain rule")
}

// What cannot be drawn is refused before anything is written.
func TestSampleErrors(t *testing.T) {
	b := newBench(t)
	b.save("m.safetensors", curveConfig())
	b.save("im.safetensors", imageConfig("T(2)", 1))
	b.write("data.csv", "x,y\n-1,0.5\n")
	b.tensors("tasks.safetensors", b.waveTensors()...)
	csv := []string{"sample", "--model", "@m.safetensors", "--csv", "@data.csv", "--from", "0", "--to", "1", "--points", "3"}
	for words, args := range map[string][]string{
		"need 0 to":            append(csv, "--samples", "-1", "--out", "@s.csv"),
		"need one of random":   append(csv, "--order", "up", "--out", "@s.csv"),
		"need at least 1":      append(csv, "--block", "0", "--out", "@s.csv"),
		"--growth NaN":         append(csv, "--growth", "NaN", "--out", "@s.csv"),
		"the name must end in": append(csv, "--out", "@s.safetensors"),
		"say where to predict": {"sample", "--model", "@m.safetensors", "--csv", "@data.csv", "--out", "@s.csv"},
		"none of the others":   append(csv, "--in", "@tasks.safetensors", "--out", "@s.csv"),
	} {
		b.fails(2, words, args...)
	}
	b.fails(1, "too much memory", append(csv, "--out", "@s.csv", "--memory", "1K")...)
	b.fails(2, "those of --in", "sample", "--model", "@im.safetensors", "--csv", "@data.csv", "--from", "0", "--to", "1", "--out", "@s.csv")
	require.NotContains(t, b.names(), "s.csv")
}

// complete draws samples below what is predicted.
func TestCompleteSamples(t *testing.T) {
	b := newBench(t)
	b.save("m.safetensors", imageConfig("T(2)", 1))
	b.writeImage("in.png", gradient(12, 8))
	args := []string{"complete", "--model", "@m.safetensors", "--image", "@in.png", "--rate", "0.5", "--out", "@out.png"}
	b.ok(args...)
	plain, err := raster.Read(b.path("out.png"))
	require.NoError(t, err)
	b.ok(append(args, "--samples", "3", "--knots", "4", "--block", "2", "--growth", "0.5")...)
	drawn, err := raster.Read(b.path("out.png"))
	require.NoError(t, err)
	require.Greater(t, drawn.H, plain.H)
	b.fails(2, "--scale", append(args, "--samples", "3", "--scale", "2")...)
}
