package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"image"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/pretrained"
	"github.com/equivcnp/equivcnp/cnp/taskfile"
	"github.com/equivcnp/equivcnp/cnp/weights"
	"github.com/equivcnp/equivcnp/internal/cpu"
	"github.com/equivcnp/equivcnp/internal/safetensors"
	"github.com/equivcnp/equivcnp/simd"
)

// tensors writes a file of tensors.
func (b *bench) tensors(name string, ts ...safetensors.Tensor) {
	b.t.Helper()
	require.NoError(b.t, safetensors.Write(b.path(name), &safetensors.File{Tensors: ts}))
}

// prediction reads the two tensors of an output file, and checks that there are no others.
func (b *bench) prediction(name string, shape ...int) (mean, std []float32) {
	b.t.Helper()
	f, err := safetensors.Read(b.path(name))
	require.NoError(b.t, err)
	require.Len(b.t, f.Tensors, 2)
	var out [2][]float32
	for i, name := range []string{"mean", "std"} {
		x := f.Get(name)
		require.NotNil(b.t, x, name)
		require.Equal(b.t, safetensors.F32, x.DType)
		require.Equal(b.t, shape, x.Shape)
		out[i], err = x.Float32s()
		require.NoError(b.t, err)
	}
	return out[0], out[1]
}

func f64s(name string, shape []int, v ...float64) safetensors.Tensor {
	return safetensors.FromFloat64s(name, shape, v)
}

func u8s(name string, dtype safetensors.DType, shape []int, v ...byte) safetensors.Tensor {
	return safetensors.Tensor{Name: name, DType: dtype, Shape: shape, Data: v}
}

// wave is a batch of 2 tasks with 3 context points and 4 targets.
func wave() *cnp.Batch[float32] {
	b := &cnp.Batch[float32]{B: 2, Nc: 3, Nt: 4}
	for i := range 6 {
		b.XContext = append(b.XContext, math.Sin(float64(i)))
		b.YContext = append(b.YContext, float32(math.Cos(float64(i))))
	}
	for i := range 8 {
		b.XTarget = append(b.XTarget, float64(i)/4-1)
	}
	return b
}

func (b *bench) waveTensors() []safetensors.Tensor {
	w := wave()
	return []safetensors.Tensor{
		f64s("x_context", []int{2, 3, 1}, w.XContext...), safetensors.FromFloat32s("y_context", []int{2, 3, 1}, w.YContext),
		f64s("x_target", []int{2, 4, 1}, w.XTarget...),
	}
}

// The prediction is the model's own, bit for bit, and the coordinates keep their 64 bits.
func TestPredictCurves(t *testing.T) {
	b := newBench(t)
	m := b.save("m.safetensors", curveConfig()).(cnp.Regressor[float32])
	for i, x := range []float64{1e-12, 1 + 1e-13} { // lost in float32
		w := wave()
		w.XTarget[0] = x
		want, err := m.Predict(context.Background(), w)
		require.NoError(t, err)
		in := b.waveTensors()
		in[2] = f64s("x_target", []int{2, 4, 1}, w.XTarget...)
		b.tensors("in.safetensors", in...)
		out := b.ok("predict", "--model", "@m.safetensors", "--in", "@in.safetensors", "--out", "@out.safetensors", "--json")
		got := decode[predictResult](t, out)
		require.Equal(t, []int{2, 6, 8}, []int{got.Tasks, got.ContextPoints, got.Targets})
		require.Equal(t, []int{2, 4, 1}, got.Shape)
		require.Nil(t, got.LogLikelihood)
		require.Empty(t, got.Notes)
		mean, std := b.prediction("out.safetensors", 2, 4, 1)
		require.Equal(t, want.Mean, mean, i)
		require.Equal(t, want.Std, std, i)
	}
}

// Padding changes nothing, whatever stands there; masks may be of any type.
func TestPredictMasks(t *testing.T) {
	b := newBench(t)
	b.save("m.safetensors", curveConfig())
	b.tensors("in.safetensors", b.waveTensors()...)
	b.ok("predict", "--model", "@m.safetensors", "--in", "@in.safetensors", "--out", "@out.safetensors")
	mean, std := b.prediction("out.safetensors", 2, 4, 1)

	w := wave()
	nan, y := math.NaN(), func(i int) float64 { return float64(w.YContext[i]) }
	padded := []safetensors.Tensor{
		f64s("x_context", []int{2, 4, 1}, w.XContext[0], nan, w.XContext[1], w.XContext[2], w.XContext[3], w.XContext[4],
			w.XContext[5], 1e300),
		f64s("y_context", []int{2, 4, 1}, y(0), nan, y(1), y(2), y(3), y(4), y(5), math.Inf(1)),
		f64s("x_target", []int{2, 5, 1}, append(append(append([]float64{}, w.XTarget[:4]...), nan),
			append([]float64{-1e300}, w.XTarget[4:]...)...)...),
	}
	context, target := []byte{1, 0, 1, 1, 1, 1, 1, 0}, []byte{1, 1, 1, 1, 0, 0, 1, 1, 1, 1}
	floats := func(v []byte) (out []float64) {
		for _, x := range v {
			out = append(out, float64(x))
		}
		return out
	}
	for _, c := range []struct {
		name            string
		context, target safetensors.Tensor
	}{
		{"U8", u8s("context_mask", safetensors.U8, []int{2, 4}, context...), u8s("target_mask", safetensors.U8, []int{2, 5}, target...)},
		{"BOOL", u8s("context_mask", safetensors.Bool, []int{2, 4}, context...), u8s("target_mask", safetensors.Bool, []int{2, 5},
			target...)},
		{"F64", f64s("context_mask", []int{2, 4}, floats(context)...), f64s("target_mask", []int{2, 5}, floats(target)...)},
	} {
		t.Run(c.name, func(t *testing.T) {
			truth := f64s("y_target", []int{2, 5, 1}, 0, 0, 0, 0, nan, nan, 0, 0, 0, 0)
			b.tensors("in.safetensors", append(padded, c.context, c.target, truth)...)
			got := decode[predictResult](t, b.ok("predict", "--model", "@m.safetensors", "--in", "@in.safetensors", "--out",
				"@out.safetensors", "--json"))
			require.Equal(t, []int{6, 8}, []int{got.ContextPoints, got.Targets})
			pm, ps := b.prediction("out.safetensors", 2, 5, 1)
			keep := []int{0, 1, 2, 3, 6, 7, 8, 9}
			likelihood := 0.0
			for i, at := range keep {
				require.Equal(t, mean[i], pm[at])
				require.Equal(t, std[i], ps[at])
				z, s := float64(mean[i])/float64(std[i]), float64(std[i])
				likelihood -= (0.5*z*z + math.Log(s) + 0.5*math.Log(2*math.Pi)) / 8
			}
			require.Equal(t, []float32{0, 0, 0, 0}, []float32{pm[4], pm[5], ps[4], ps[5]})
			require.Equal(t, "y_target", got.LogLikelihoodOf)
			require.InDelta(t, likelihood, float64(*got.LogLikelihood), 1e-12)
		})
	}
}

// Empty axes are valid: no context is the prior, no targets and no tasks are empty answers.
func TestPredictEmpty(t *testing.T) {
	b := newBench(t)
	b.save("m.safetensors", curveConfig())
	b.save("i.safetensors", imageConfig("T(2)", 1))
	for _, c := range []struct {
		name      string
		b, nc, nt int
	}{{"no context", 2, 0, 3}, {"no targets", 2, 3, 0}, {"nothing", 2, 0, 0}, {"no tasks", 0, 3, 4},
		{"many tasks of nothing", 1 << 30, 0, 0}} {
		t.Run(c.name, func(t *testing.T) {
			xc, xt := make([]float64, c.b*c.nc), make([]float64, c.b*c.nt)
			for i := range xt {
				xt[i] = float64(i)
			}
			b.tensors("in.safetensors", f64s("x_context", []int{c.b, c.nc, 1}, xc...), f64s("y_context", []int{c.b, c.nc, 1}, xc...),
				f64s("x_target", []int{c.b, c.nt, 1}, xt...), f64s("y_target", []int{c.b, c.nt, 1}, xt...))
			got := decode[predictResult](t, b.ok("predict", "--model", "@m.safetensors", "--in", "@in.safetensors", "--out",
				"@out.safetensors", "--json"))
			require.Equal(t, c.b*c.nt == 0, got.LogLikelihood == nil)
			_, std := b.prediction("out.safetensors", c.b, c.nt, 1)
			for _, s := range std {
				require.Greater(t, s, float32(0))
			}
		})
	}
	b.tensors("in.safetensors", f64s("image", []int{0, 1, 4, 4}), f64s("mask", []int{0, 1, 4, 4}))
	b.ok("predict", "--model", "@i.safetensors", "--in", "@in.safetensors", "--out", "@out.safetensors")
	b.prediction("out.safetensors", 0, 1, 4, 4)
}

// Images of one file are predicted as if each stood alone, from masks of every shape and type.
func TestPredictImages(t *testing.T) {
	b := newBench(t)
	m := b.save("m.safetensors", imageConfig("SE(2)", 2)).(cnp.Completer[float32])
	const n, c, h, w = 3, 2, 5, 4
	pixels, mask := make([]float64, n*c*h*w), make([]byte, n*h*w)
	for i := range mask {
		mask[i] = byte(i * i % 3 & 1)
	}
	im := &cnp.Images[float32]{B: n, C: c, H: h, W: w}
	for i := range pixels {
		pixels[i] = math.Abs(math.Sin(float64(i)))
		if p := i/(c*h*w)*h*w + i%(h*w); mask[p] == 0 {
			pixels[i] = math.NaN() // never read
		}
		im.Pixels = append(im.Pixels, float32(pixels[i]))
	}
	for _, v := range mask {
		im.Mask = append(im.Mask, v == 1)
	}
	want, err := m.Complete(context.Background(), im)
	require.NoError(t, err)

	floats := make([]float32, len(mask))
	var wide []byte
	for i, v := range mask {
		floats[i] = float32(v)
		wide = binary.LittleEndian.AppendUint32(wide, uint32(v))
	}
	for _, mk := range []safetensors.Tensor{
		u8s("mask", safetensors.U8, []int{n, 1, h, w}, mask...),
		u8s("mask", safetensors.Bool, []int{n, 1, h, w}, mask...),
		u8s("mask", safetensors.U8, []int{n, h, w}, mask...),
		safetensors.FromFloat32s("mask", []int{n, 1, h, w}, floats),
		{Name: "mask", DType: safetensors.I32, Shape: []int{n, h, w}, Data: wide},
	} {
		b.tensors("in.safetensors", f64s("image", []int{n, c, h, w}, pixels...), mk)
		got := decode[predictResult](t, b.ok("predict", "--model", "@m.safetensors", "--in", "@in.safetensors", "--out",
			"@out.safetensors", "--json"))
		require.Nil(t, got.LogLikelihood, "the image holds NaN")
		mean, std := b.prediction("out.safetensors", n, c, h, w)
		require.Equal(t, want.Mean, mean)
		require.Equal(t, want.Std, std)
	}
	size := c * h * w
	for i := range n {
		b.tensors("one.safetensors", f64s("image", []int{1, c, h, w}, pixels[i*size:(i+1)*size]...),
			u8s("mask", safetensors.U8, []int{1, 1, h, w}, mask[i*h*w:(i+1)*h*w]...))
		b.ok("predict", "--model", "@m.safetensors", "--in", "@one.safetensors", "--out", "@out.safetensors")
		mean, std := b.prediction("out.safetensors", 1, c, h, w)
		require.Equal(t, want.Mean[i*size:(i+1)*size], mean)
		require.Equal(t, want.Std[i*size:(i+1)*size], std)
	}
}

// A pixel that lacks a value in one channel is not observed, with a mask and without one, and is not scored.
func TestPredictMissingPixels(t *testing.T) {
	b := newBench(t)
	b.save("m.safetensors", imageConfig("SE(2)", 2))
	const c, h, w = 2, 5, 4
	pixels, mask, known := make([]float64, c*h*w), make([]byte, h*w), 0.0
	for i := range pixels {
		pixels[i] = math.Abs(math.Sin(float64(i)))
	}
	for i := range mask {
		mask[i] = byte(i & 1)
	}
	predict := func(pixels []float64, more ...safetensors.Tensor) (r predictResult, mean []float32) {
		b.tensors("in.safetensors", append([]safetensors.Tensor{f64s("image", []int{1, c, h, w}, pixels...)}, more...)...)
		r = decode[predictResult](t, b.ok("predict", "--model", "@m.safetensors", "--in", "@in.safetensors", "--out",
			"@out.safetensors", "--json"))
		mean, _ = b.prediction("out.safetensors", 1, c, h, w)
		return r, mean
	}
	hidden := slices.Clone(mask)
	hidden[3], hidden[7] = 0, 0
	gaps := slices.Clone(pixels)
	gaps[3], gaps[h*w+7], gaps[h*w+8] = math.NaN(), math.NaN(), math.NaN()
	_, want := predict(pixels, u8s("mask", safetensors.U8, []int{1, h, w}, hidden...))
	got, mean := predict(gaps, u8s("mask", safetensors.U8, []int{1, h, w}, mask...))
	require.Equal(t, want, mean)
	require.Contains(t, fmt.Sprint(got.Notes), "2 pixels missing: not observed, whatever the mask says")
	_, values := b.prediction("out.safetensors", 1, c, h, w)
	for i, v := range gaps {
		if v == v {
			sd := float64(values[i])
			known += (-0.5*math.Log(2*math.Pi) - math.Log(sd) - 0.5*math.Pow((v-float64(mean[i]))/sd, 2)) / float64(len(gaps)-3)
		}
	}
	require.InDelta(t, known, float64(*got.LogLikelihood), 1e-4)

	all := bytes.Repeat([]byte{1}, h*w)
	all[3], all[7], all[8] = 0, 0, 0
	_, want = predict(pixels, u8s("mask", safetensors.U8, []int{1, h, w}, all...))
	got, mean = predict(gaps)
	require.Equal(t, want, mean, "without a mask")
	require.NotNil(t, got.LogLikelihood, "channels of missing pixels are known")
}

// The likelihood of a whole image is that of complete.
func TestPredictImageLikelihood(t *testing.T) {
	b := newBench(t)
	b.save("m.safetensors", imageConfig("T(2)", 1))
	b.writeImage("in.png", gradient(4, 4))
	b.writeImage("mask.png", gradient(4, 4))
	want := decode[completeResult](t, b.ok("complete", "--model", "@m.safetensors", "--image", "@in.png", "--mask", "@mask.png",
		"--out", "@o.png", "--json"))
	pixels, mask := make([]float32, 16), make([]byte, 16)
	for i, v := range gradient(4, 4).Pix {
		pixels[i] = float32(float64(v) / 255)
		if v >= 128 {
			mask[i] = 1
		}
	}
	b.tensors("in.safetensors", safetensors.FromFloat32s("image", []int{1, 1, 4, 4}, pixels),
		u8s("mask", safetensors.U8, []int{1, 1, 4, 4}, mask...),
		f64s("extra", []int{1}, 3))
	got := decode[predictResult](t, b.ok("predict", "--model", "@m.safetensors", "--in", "@in.safetensors", "--out",
		"@out.safetensors", "--json"))
	require.Equal(t, want.LogLikelihood, *got.LogLikelihood)
	require.Equal(t, "image", got.LogLikelihoodOf)
	require.Equal(t, want.ContextPixels, got.ContextPoints)
	require.Equal(t, []string{`tensors that this model does not read: ["extra"]`}, got.Notes)
}

// NaN among observed values is one that was not observed: it is as if the point were masked, and a missing true value does not count.
func TestPredictMissing(t *testing.T) {
	b := newBench(t)
	b.save("m.safetensors", curveConfig())
	nan := math.NaN()
	xc, xt := f64s("x_context", []int{1, 3, 1}, 0, 0.5, 1), f64s("x_target", []int{1, 2, 1}, 0, 0.25)
	b.tensors("nan.safetensors", xc, xt, f64s("y_context", []int{1, 3, 1}, 1, nan, 2), f64s("y_target", []int{1, 2, 1}, nan, 1))
	b.tensors("mask.safetensors", xc, xt, f64s("y_context", []int{1, 3, 1}, 1, 0, 2), f64s("context_mask", []int{1, 3}, 1, 0, 1),
		f64s("y_target", []int{1, 2, 1}, 9, 1),
		f64s("target_mask", []int{1, 2}, 0, 1))
	var results [2]predictResult
	for i, name := range []string{"nan", "mask"} {
		results[i] = decode[predictResult](t, b.ok("predict", "--model", "@m.safetensors", "--in", "@"+name+".safetensors",
			"--out", "@"+name+".out.safetensors", "--json"))
	}
	require.Equal(t, results[1].LogLikelihood, results[0].LogLikelihood)
	require.Equal(t, 2, results[0].ContextPoints)
	mean, _ := b.prediction("nan.out.safetensors", 1, 2, 1)
	want, _ := b.prediction("mask.out.safetensors", 1, 2, 1)
	require.Equal(t, want[1], mean[1])
	require.NotZero(t, mean[0])

	pair := cnp.Default(cnp.ConvCNPCurve, "", 2)
	pair.Channels, pair.PointsPerUnit = []int{4, 4}, 8
	b.save("each.safetensors", pair)
	pair.ChannelDensity = false
	b.save("whole.safetensors", pair)
	b.tensors("pair.safetensors", f64s("x_context", []int{1, 2, 1}, 0, 1), f64s("y_context", []int{1, 2, 2}, 1, nan, 2, 3),
		f64s("x_target", []int{1, 1, 1}, 0.5))
	b.ok("predict", "--model", "@each.safetensors", "--in", "@pair.safetensors", "--out", "@out.safetensors")
	b.fails(1, `tensor "y_context": [0, 0, 1] = NaN, and the model needs all outputs`, "predict", "--model", "@whole.safetensors",
		"--in", "@pair.safetensors", "--out", "@out2.safetensors")
}

func TestPredictErrors(t *testing.T) {
	b := newBench(t)
	b.save("curve.safetensors", curveConfig())
	b.save("image.safetensors", imageConfig("T(2)", 1))
	nan, inf := math.NaN(), math.Inf(1)
	xc, yc, xt := f64s("x_context", []int{1, 2, 1}, 0, 1), f64s("y_context", []int{1, 2, 1}, 0, 1), f64s("x_target", []int{1, 1, 1}, 0)
	im := f64s("image", []int{1, 1, 2, 2}, 0, 0, 0, 0)
	mask := u8s("mask", safetensors.U8, []int{1, 1, 2, 2}, 0, 1, 0, 1)
	type ts = []safetensors.Tensor
	for _, c := range []struct {
		name, model, want string
		in                ts
	}{
		{"no tensors", "curve", `tensor "x_target" is missing, a curve model needs x_context, y_context and x_target; there are []`, nil},
		{"missing y_context", "curve", `tensor "y_context" is missing`, ts{xc, xt}},
		{"image for a curve model", "curve", `tensor "x_target" is missing`, ts{im, mask}},
		{"curve for an image model", "image", `tensor "image" is missing, an image model needs image and mask`, ts{xc, yc, xt}},
		{"rank", "curve", `tensor "x_context" has shape [2 1], need [B = 1, Nc, dx = 1]`, ts{f64s("x_context", []int{2, 1}, 0, 1), yc, xt}},
		{"dx", "curve", `tensor "x_target" has shape [1 1 2], need [B, Nt, dx = 1]`, ts{xc, yc, f64s("x_target", []int{1, 1, 2}, 0, 1)}},
		{"dy", "curve", `tensor "y_context" has shape [1 2 2], need [B = 1, Nc = 2, dy = 1]`,
			ts{xc, f64s("y_context", []int{1, 2, 2}, 0, 1, 2, 3), xt}},
		{"B", "curve", `tensor "x_context" has shape [2 1 1], need [B = 1, Nc, dx = 1]`,
			ts{f64s("x_context", []int{2, 1, 1}, 0, 1), yc, xt}},
		{"Nc", "curve", `tensor "y_context" has shape [1 1 1], need [B = 1, Nc = 2, dy = 1]`,
			ts{xc, f64s("y_context", []int{1, 1, 1}, 0), xt}},
		{"mask's Nc", "curve", `tensor "context_mask" has shape [1 3], need [B = 1, Nc = 2]`,
			ts{xc, yc, xt, f64s("context_mask", []int{1, 3}, 0, 1, 1)}},
		{"mask's Nt", "curve", `tensor "target_mask" has shape [1 2], need [B = 1, Nt = 1]`,
			ts{xc, yc, xt, f64s("target_mask", []int{1, 2}, 0, 1)}},
		{"mask's values", "curve", `tensor "context_mask": [0, 1] = 0.5, a mask holds 0 and 1`,
			ts{xc, yc, xt, f64s("context_mask", []int{1, 2}, 1, 0.5)}},
		{"mask's NaN", "curve", `tensor "context_mask": [0, 0] = NaN`, ts{xc, yc, xt, f64s("context_mask", []int{1, 2}, nan, 1)}},
		{"y_target", "curve", `tensor "y_target" has shape [1 2 1], need [B = 1, Nt = 1, dy = 1]`,
			ts{xc, yc, xt, f64s("y_target", []int{1, 2, 1}, 0, 1)}},
		{"NaN in x_context", "curve", `tensor "x_context": [0, 1, 0] = NaN`, ts{f64s("x_context", []int{1, 2, 1}, 0, nan), yc, xt}},
		{"Inf in y_context", "curve", `tensor "y_context": [0, 0, 0] = +Inf`, ts{xc, f64s("y_context", []int{1, 2, 1}, inf, 0), xt}},
		{"y beyond float32", "curve", `tensor "y_context": [0, 0, 0] = 1e+300`, ts{xc, f64s("y_context", []int{1, 2, 1}, 1e300, 0), xt}},
		{"NaN in x_target", "curve", `tensor "x_target": [0, 0, 0] = NaN`, ts{xc, yc, f64s("x_target", []int{1, 1, 1}, nan)}},
		{"missing mask", "image", `tensor "mask" is missing`, ts{im}},
		{"image's rank", "image", `tensor "image" has shape [2 2], need [B, C = 1, H, W]`,
			ts{f64s("image", []int{2, 2}, 0, 0, 0, 0), mask}},
		{"image's channels", "image", `tensor "image" has shape [1 2 1 2], need [B, C = 1, H, W]`,
			ts{f64s("image", []int{1, 2, 1, 2}, 0, 0, 0, 0), mask}},
		{"no pixels", "image", "images need at least one pixel",
			ts{f64s("image", []int{1, 1, 0, 2}), u8s("mask", safetensors.U8, []int{1, 1, 0, 2})}},
		{"mask of another size", "image", `tensor "mask" has shape [1 1 4 1], need [B = 1, 1, H = 2, W = 2]`,
			ts{im, u8s("mask", safetensors.U8, []int{1, 1, 4, 1}, 0, 1, 0, 1)}},
		{"mask with a value of 255", "image", `tensor "mask": [0, 0, 0, 1] = 255, a mask holds 0 and 1`,
			ts{im, u8s("mask", safetensors.U8, []int{1, 1, 2, 2}, 0, 255, 0, 255)}},
		{"Inf at an observed pixel", "image", `tensor "image": [0, 0, 1, 1] = +Inf`,
			ts{f64s("image", []int{1, 1, 2, 2}, nan, 0, nan, inf), mask}},
		{"Inf in y_target", "image", `tensor "y_target": [0, 0, 1, 0] = -Inf`,
			ts{im, mask, f64s("y_target", []int{1, 1, 2, 2}, nan, 0, -inf, 0)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b.tensors("in.safetensors", c.in...)
			b.fails(1, c.want, "predict", "--model", "@"+c.model+".safetensors", "--in", "@in.safetensors", "--out", "@out.safetensors")
			_, _, errs := b.run("predict", "--model", "@"+c.model+".safetensors", "--in", "@in.safetensors", "--out", "@out.safetensors")
			require.Contains(t, errs, b.path("in.safetensors"), "the error names the file")
		})
	}
	b.write("in.safetensors", "not tensors")
	b.fails(1, "not a valid safetensors file", "predict", "--model", "@curve.safetensors", "--in", "@in.safetensors", "--out",
		"@out.safetensors")
	b.fails(1, "no such file", "predict", "--model", "@curve.safetensors", "--in", "@none.safetensors", "--out", "@out.safetensors")
	b.tensors("in.safetensors", xc, yc, xt)
	b.fails(1, "is an input", "predict", "--model", "@curve.safetensors", "--in", "@in.safetensors", "--out", "@in.safetensors")
	b.fails(1, "--out: ", "predict", "--model", "@curve.safetensors", "--in", "@in.safetensors", "--out", "@nowhere/out.safetensors")
}

// A denser lattice is another prediction, so the flag reaches the model.
func TestPredictPointsPerUnit(t *testing.T) {
	b := newBench(t)
	b.save("m.safetensors", curveConfig())
	b.tensors("in.safetensors", b.waveTensors()...)
	b.ok("predict", "--model", "@m.safetensors", "--in", "@in.safetensors", "--out", "@a.safetensors")
	b.ok("predict", "--model", "@m.safetensors", "--in", "@in.safetensors", "--out", "@b.safetensors", "--points-per-unit", "16")
	require.NotEqual(t, b.files()["a.safetensors"], b.files()["b.safetensors"])
	got, _ := b.prediction("b.safetensors", 2, 4, 1)
	for _, v := range got {
		require.False(t, math.IsNaN(float64(v)))
	}
}

// TestPrecision: --precision bfloat16 of a model under T(2) changes predictions a little where there are tiles, the
// same through predict and complete, and is refused by models and ways that know float32 alone.
func TestPrecision(t *testing.T) {
	b := newBench(t)
	cfg := imageConfig("T(2)", 1)
	cfg.Channels = []int{32}
	model := b.save("m.safetensors", cfg)
	b.save("curve.safetensors", curveConfig())
	b.save("so2.safetensors", imageConfig("SO(2)", 1))
	const side = 6
	pixels, mask := make([]float64, side*side), make([]byte, side*side)
	for i := range pixels {
		pixels[i], mask[i] = float64(i%7)/7, byte(i/3%2)
	}
	b.tensors("in.safetensors", f64s("image", []int{1, 1, side, side}, pixels...),
		u8s("mask", safetensors.U8, []int{1, side, side}, mask...))
	b.writeImage("i.png", image.NewGray(image.Rect(0, 0, side, side)))
	predict := []string{"predict", "--model", "@m.safetensors", "--in", "@in.safetensors", "--out", "@out.safetensors"}
	b.ok(predict...)
	exact, _ := b.prediction("out.safetensors", 1, 1, side, side)
	out := b.ok(append(predict, "--precision", "bfloat16")...)
	rounded, _ := b.prediction("out.safetensors", 1, 1, side, side)
	for i := range exact {
		require.InDelta(t, exact[i], rounded[i], 1e-1)
	}
	tiles := simd.CurrentLevel() == simd.AMX
	require.NotEqual(t, exact, rounded, "without tiles, so few pixels have stored weights")
	require.Equal(t, !tiles && !cpu.Dots(), strings.Contains(out, "neither tiles nor pairs"), out)
	require.Equal(t, !tiles && cpu.FastDots(), strings.Contains(out, "or else the dense maps of residual blocks"), out)

	complete := []string{"complete", "--model", "@m.safetensors", "--image", "@i.png", "--rate", "0.5", "--out", "@o.png",
		"--precision", "bfloat16"}
	b.ok(complete...)
	require.NoError(t, weights.Save(b.path("bad.safetensors"), model, map[string]string{pretrained.KeyBFloat16: "not suited: for a test"}))
	if says := b.ok(append([]string{"complete", "--model", "@bad.safetensors"}, complete[3:]...)...); tiles || cpu.Dots() {
		require.Contains(t, says, "bad.safetensors says: not suited: for a test")
	}
	require.NotContains(t, b.ok("complete", "--model", "@bad.safetensors", "--image", "@i.png", "--rate", "0.5", "--out",
		"@o.png"), "not suited")
	b.ok("eval", "--model", "@m.safetensors", "--in", "@in.safetensors", "--precision", "bfloat16", "--equivariance-tasks", "0")
	require.Contains(t, b.ok("complete", "--model", "@so2.safetensors", "--image", "@i.png", "--rate", "0.5", "--out", "@o.png",
		"--precision", "bfloat16"), "only stored weights are rounded")
	b.fails(2, "--samples: the chain rule computes in float32 alone, not with --precision bfloat16", append(complete, "--samples", "1")...)
	b.fails(2, "--scale: a finer grid computes in float32 alone", append(complete, "--scale", "2")...)
	b.fails(2, "--samples: the chain rule computes in float32 alone", append(predict, "--precision", "bfloat16", "--samples", "1")...)
	b.fails(2, "--joint: the chain rule computes in float32 alone", "eval", "--model", "@m.safetensors", "--in",
		"@in.safetensors", "--precision", "bfloat16", "--joint")
	b.fails(1, "curve.safetensors: precision bfloat16: architecture equivcnp computes in float32 alone, equivcnp-image can round",
		"predict",
		"--model", "@curve.safetensors", "--in", "@in.safetensors", "--out", "@o.safetensors",
		"--precision", "bfloat16")
	b.fails(2, `--precision "half": need float32 or bfloat16`, append(complete[:len(complete)-1], "half")...)
}

// TestPredictPlans: how many images go together and what is kept in memory changes nothing, and bfloat16 little.
func TestPredictPlans(t *testing.T) {
	b := newBench(t)
	b.save("m.safetensors", imageConfig("SO(2)", 1))
	const n, side = 5, 6
	pixels, mask := make([]float64, n*side*side), make([]byte, n*side*side)
	for i := range pixels {
		pixels[i], mask[i] = float64(i%7)/7, byte(i/3%2)
	}
	b.tensors("in.safetensors", f64s("image", []int{n, 1, side, side}, pixels...),
		u8s("mask", safetensors.U8, []int{n, side, side}, mask...))
	args := []string{"predict", "--model", "@m.safetensors", "--in", "@in.safetensors", "--out", "@out.safetensors"}
	b.ok(args...)
	mean, std := b.prediction("out.safetensors", n, 1, side, side)
	for _, more := range [][]string{{"--batch", "2"}, {"--batch", "1", "--memory", "0", "--threads", "1"}, {"--memory", "1.5M"},
		{"--memory", "1g"}} {
		b.ok(append(args, more...)...)
		m, s := b.prediction("out.safetensors", n, 1, side, side)
		require.Equal(t, mean, m, "%v", more)
		require.Equal(t, std, s, "%v", more)
	}
	b.ok(append(args, "--precision", "bfloat16")...)
	m, _ := b.prediction("out.safetensors", n, 1, side, side)
	for i := range m {
		require.InDelta(t, mean[i], m[i], 1e-2)
	}
	b.fails(2, `--precision "float16": need float32 or bfloat16`, append(args, "--precision", "float16")...)
	b.fails(2, `--batch -1: need 0 or more`, append(args, "--batch", "-1")...)
	for _, bad := range []string{"-1", "x", "1E", "G", "1e30", "NaN", "inf"} {
		b.fails(2, `--memory "`+bad+`"`, append(args, "--memory", bad)...)
	}
}

// Files of tensors hold the same tasks in every format, and so do the predictions.
func TestPredictFormats(t *testing.T) {
	b := newBench(t)
	b.save("m.safetensors", curveConfig())
	tasks := []safetensors.Tensor{safetensors.FromFloat64s("x_context", []int{2, 3, 1}, []float64{-1, 0, 1, -0.5, 0.5, 1}),
		safetensors.FromFloat32s("y_context", []int{2, 3, 1}, []float32{1, 2, 3, 4, 5, 6}),
		safetensors.FromFloat64s("x_target", []int{2, 2, 1}, []float64{0.25, 0.75, 0, 1})}
	want := map[string][]float64{}
	for _, ending := range strings.Fields(taskfile.Endings) {
		var text bytes.Buffer
		require.NoError(t, taskfile.Write(&text, ending, tasks))
		b.write("tasks"+ending, text.String())
		b.ok("predict", "--model", "@m.safetensors", "--in", "@tasks"+ending, "--out", "@pred"+ending)
		f, err := taskfile.Open(b.path("pred" + ending))
		require.NoError(t, err)
		for _, name := range []string{"mean", "std"} {
			require.Equal(t, []int{2, 2, 1}, []int{f.Axis(name, 0), f.Axis(name, 1), f.Axis(name, 2)})
			v, err := f.Tensor(name).Float64s()
			require.NoError(t, err)
			if want[name] == nil {
				want[name] = v
			}
			require.Equal(t, want[name], v, "%s of %s", name, ending)
		}
	}
}
