package main

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/predict"
	"github.com/equivcnp/equivcnp/internal/safetensors"
)

// TestOutputs: a pipeline gives what the library does, the covariances of a vector field too: names, shapes and bits.
func TestOutputs(t *testing.T) {
	m, err := use("vectors-rbf")
	if err != nil {
		t.Fatal(err)
	}
	b := &cnp.Batch[float32]{B: 1, Nc: 3, Nt: 2, XContext: []float64{0, 0, 1, 0, 0, 1},
		YContext: []float32{1, 0, 0.5, 0.5, -1, 1}, XTarget: []float64{0.5, 0.5, 0.2, 0.8}}
	p, err := cnp.Standardised(m.model.Model.(cnp.Regressor[float32])).Predict(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	names := predict.Names(predict.Outputs(p.Distribution()))
	names = names[:len(names)-1] // without samples
	want, err := (&predict.Result{Prediction: p, Shape: []int{1, 2, 2}, Quantiles: []float64{0.1, 0.9}}).Tensors(names...)
	if err != nil {
		t.Fatal(err)
	}
	f := &predictFn{Options: Options{Outputs: names, Quantiles: []float64{0.1, 0.9}}, m: m}
	part, err := f.partOf(p, 1, []int{1, 2, 2}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := safetensors.Decode(part.Data)
	if err != nil || len(got.Tensors) != len(want) {
		t.Fatal(err, len(got.Tensors))
	}
	for _, w := range want {
		g := got.Get(w.Name)
		if g == nil || len(g.Shape) != len(w.Shape) {
			t.Fatalf("%s: %v, want %v", w.Name, g, w.Shape)
		}
		values, err := g.Float32s()
		if err != nil || len(values) != len(w.Values) {
			t.Fatal(err)
		}
		for i, v := range values {
			if v != w.Values[i] {
				t.Fatalf("%s[%d] = %v, want %v", w.Name, i, v, w.Values[i])
			}
		}
	}
}

// small is a small task of the kind that a model takes, as tensors.
func small(cfg *cnp.Config) (*cnp.Batch[float32], *cnp.Images[float32], []safetensors.Tensor) {
	if cfg.Architecture.Image() {
		im := &cnp.Images[float32]{B: 1, C: cfg.DimY, H: 12, W: 12, Pixels: make([]float32, cfg.DimY*144), Mask: make([]bool, 144)}
		mask := make([]byte, 144)
		for i := range mask {
			if i%3 == 0 {
				im.Mask[i], mask[i] = true, 1
			}
		}
		for i := range im.Pixels {
			im.Pixels[i] = float32(i%7) / 7
		}
		return nil, im, []safetensors.Tensor{safetensors.FromFloat32s("image", []int{1, im.C, 12, 12}, im.Pixels),
			{Name: "mask", DType: safetensors.Bool, Shape: []int{1, 12, 12}, Data: mask}}
	}
	const nc, nt = 5, 3
	places := func(n int, first float64) (x []float64) {
		for i := range n {
			p := make([]float64, cfg.DimX)
			for d := range p {
				p[d] = math.Sin(first + float64(3*i+5*d))
			}
			if cfg.OnSphere() && !cfg.Degrees() {
				u := cnp.UnitVector(30*p[0], 60*p[1])
				copy(p, u[:])
			}
			x = append(x, p...)
		}
		return x
	}
	b := &cnp.Batch[float32]{B: 1, Nc: nc, Nt: nt, XContext: places(nc, 0), XTarget: places(nt, 1)}
	for i := range nc * cfg.DimY {
		b.YContext = append(b.YContext, float32(math.Sin(float64(i))))
	}
	return b, nil, []safetensors.Tensor{safetensors.FromFloat64s("x_context", []int{1, nc, cfg.DimX}, b.XContext),
		safetensors.FromFloat32s("y_context", []int{1, nc, cfg.DimY}, b.YContext),
		safetensors.FromFloat64s("x_target", []int{1, nt, cfg.DimX}, b.XTarget)}
}

// TestList: the pipeline gives the outputs that the list of all front ends says of every model: names, shapes and bits
// of the library.
func TestList(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "cnp", "predict", "testdata", "outputs.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var models []string
	listed := map[string][][]string{} // by model: name and shape
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if f[1] == "samples" {
			continue
		}
		if listed[f[0]] == nil {
			models = append(models, f[0])
		}
		listed[f[0]] = append(listed[f[0]], f[1:])
	}
	quick := []string{"rbf-levels", "bench-mixture", "bench-eq-lowrank", "vectors-curl-free", "globe", "digits-T2-small", "universal-2"}
	for _, name := range models {
		if testing.Short() && !slices.Contains(quick, name) {
			continue
		}
		t.Run(name, func(t *testing.T) { holds(t, name, listed[name]) })
	}
}

// holds runs a model in the pipeline's step and compares what it gives.
func holds(t *testing.T, name string, list [][]string) {
	m, err := use(name)
	if err != nil {
		t.Fatal(err)
	}
	cfg := m.model.Config()
	curves, images, tensors := small(&cfg)
	var names []string
	for _, o := range list {
		names = append(names, o[0])
	}
	quantiles := []float64{0.05, 0.9}
	var prepared *predict.Prepared
	if images != nil {
		prepared, err = predict.PrepareImages(m.model, images, predict.Options{Quantiles: quantiles})
	} else {
		prepared, err = predict.PrepareCurves(m.model, curves, predict.Options{Quantiles: quantiles})
	}
	if err != nil {
		t.Fatal(err)
	}
	result, err := prepared.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want, err := result.Tensors(names...)
	if err != nil {
		t.Fatal(err)
	}
	data, err := safetensors.Encode(&safetensors.File{Tensors: tensors})
	if err != nil {
		t.Fatal(err)
	}
	f := &predictFn{Options: Options{Model: name, Outputs: names, Quantiles: quantiles, Batch: 1, Memory: 1 << 26}}
	if err := f.Setup(); err != nil {
		t.Fatal(err)
	}
	var parts []Part
	f.StartBundle(t.Context(), nil)
	emit := func(_ int, p Part) { parts = append(parts, p) }
	if err := f.ProcessElement(t.Context(), Chunk{File: File{Name: name}, Parts: 1, Data: data}, emit); err != nil {
		t.Fatal(err)
	}
	if err := f.FinishBundle(t.Context(), emit); err != nil {
		t.Fatal(err)
	}
	if len(parts) != 1 || parts[0].Error != "" {
		t.Fatalf("%d parts, %s", len(parts), parts[0].Error)
	}
	got, err := safetensors.Decode(parts[0].Data)
	if err != nil || len(got.Tensors) != len(want) {
		t.Fatal(err, len(got.Tensors))
	}
	for i, w := range want {
		g := got.Get(w.Name)
		if g == nil || !slices.Equal(g.Shape, w.Shape) || len(list[i])-1 != len(w.Shape) {
			t.Fatalf("%s: %v, want %v", w.Name, g, w.Shape)
		}
		for k, n := range w.Shape {
			if said := list[i][1+k]; said != "-1" && said != strconv.Itoa(n) {
				t.Fatalf("%s: %v, the list says %s", w.Name, w.Shape, list[i][1:])
			}
		}
		values, err := g.Float32s()
		if err != nil || !slices.Equal(values, w.Values) {
			t.Fatalf("%s: %v, want %v", w.Name, values, w.Values)
		}
	}
}
