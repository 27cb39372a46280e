package main

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/predict"
	"github.com/equivcnp/equivcnp/cnp/pretrained"
	"github.com/equivcnp/equivcnp/cnp/serve"
	"github.com/equivcnp/equivcnp/internal/safetensors"
)

// quickModels are the shipped models that short tests look at: one of each kind.
var quickModels = []string{"rbf-equivcnp", "rbf-levels", "bench-mixture", "bench-eq-lowrank", "vectors-curl-free", "globe",
	"digits-T2-small"}

// shippedModels lists the shipped models, or under -short some of them.
func shippedModels() []string {
	if testing.Short() {
		return quickModels
	}
	return pretrained.Names()
}

// smallTask returns a small task of the kind that a model takes, and its tensors.
func smallTask(cfg *cnp.Config) (*cnp.Batch[float32], *cnp.Images[float32], []safetensors.Tensor) {
	rng := rand.New(rand.NewPCG(1, 2))
	if cfg.Architecture.Image() {
		im := &cnp.Images[float32]{B: 1, C: cfg.DimY, H: 12, W: 12, Pixels: make([]float32, cfg.DimY*144), Mask: make([]bool, 144)}
		mask := make([]byte, 144)
		for i := range mask {
			if i%3 == 0 {
				im.Mask[i], mask[i] = true, 1
			}
		}
		for i := range im.Pixels {
			im.Pixels[i] = rng.Float32()
		}
		return nil, im, []safetensors.Tensor{safetensors.FromFloat32s("image", []int{1, im.C, 12, 12}, im.Pixels),
			{Name: "mask", DType: safetensors.Bool, Shape: []int{1, 1, 12, 12}, Data: mask}}
	}
	const nc, nt = 5, 3
	x := func(n int) (out []float64) {
		for range n {
			if cfg.OnSphere() && !cfg.Degrees() {
				u := cnp.UnitVector(60*rng.Float64()-30, 60*rng.Float64())
				out = append(out, u[:]...)
				continue
			}
			for range cfg.DimX {
				out = append(out, 2*rng.Float64()-1)
			}
		}
		return out
	}
	b := &cnp.Batch[float32]{B: 1, Nc: nc, Nt: nt, XContext: x(nc), XTarget: x(nt)}
	for i := range nc * cfg.DimY {
		b.YContext = append(b.YContext, float32(math.Sin(float64(i))))
	}
	return b, nil, []safetensors.Tensor{safetensors.FromFloat64s("x_context", []int{1, nc, cfg.DimX}, b.XContext),
		safetensors.FromFloat32s("y_context", []int{1, nc, cfg.DimY}, b.YContext),
		safetensors.FromFloat64s("x_target", []int{1, nt, cfg.DimX}, b.XTarget)}
}

// TestSameOutputs: the library, the program and the server give the same outputs of every shipped model: names, shapes and bits.
func TestSameOutputs(t *testing.T) {
	b := newBench(t)
	quantiles := []float64{0.05, 0.9}
	for _, name := range shippedModels() {
		t.Run(name, func(t *testing.T) {
			m, err := pretrained.Load(name)
			require.NoError(t, err)
			cfg := m.Config()
			curves, images, tensors := smallTask(&cfg)
			result := &predict.Result{Quantiles: quantiles}
			if images != nil {
				result.Shape = []int{1, images.C, images.H, images.W}
				result.Prediction, err = m.(cnp.Completer[float32]).Complete(context.Background(), images)
			} else {
				result.Shape = []int{1, curves.Nt, cfg.DimY}
				result.Prediction, err = cnp.Standardised(m.(cnp.Regressor[float32])).Predict(context.Background(), curves)
			}
			require.NoError(t, err)
			names := slices.DeleteFunc(predict.Names(predict.Outputs(result.Prediction.Distribution())),
				func(n string) bool { return n == "samples" })
			want, err := result.Tensors(names...)
			require.NoError(t, err)

			b.tensors("in.safetensors", tensors...)
			b.ok("predict", "--model", name, "--in", "@in.safetensors", "--out", "@out.safetensors", "--quantiles", "0.05,0.9",
				"--outputs", strings.Join(names, ","), "--quiet")
			file, err := safetensors.Read(b.path("out.safetensors"))
			require.NoError(t, err)
			require.Len(t, file.Tensors, len(want))

			s, err := serve.New(serve.Options{Models: []serve.Source{{Name: name, Path: name}}})
			require.NoError(t, err)
			defer s.Close()
			answers := asked(t, s, name, tensors, names)
			require.Len(t, answers, len(want))
			for i, w := range want {
				got := file.Get(w.Name)
				require.NotNil(t, got, w.Name)
				require.Equal(t, w.Shape, got.Shape, w.Name)
				values, err := got.Float32s()
				require.NoError(t, err)
				require.Equal(t, w.Values, values, "%s of the program", w.Name)
				require.Equal(t, w, answers[i], "the server's")
			}
		})
	}
}

// asked asks a server for the outputs of a task, in JSON.
func asked(t *testing.T, s http.Handler, name string, tensors []safetensors.Tensor, outputs []string) (out []predict.Tensor) {
	t.Helper()
	var inputs, wanted []any
	for i := range tensors {
		x := &tensors[i]
		datatype, data := map[safetensors.DType]string{safetensors.F32: "FP32", safetensors.F64: "FP64",
			safetensors.Bool: "BOOL"}[x.DType], any(nil)
		if x.DType == safetensors.Bool {
			var list []bool
			for _, v := range x.Data {
				list = append(list, v != 0)
			}
			data = list
		} else {
			list, err := x.Float64s()
			require.NoError(t, err)
			data = list
		}
		inputs = append(inputs, map[string]any{"name": x.Name, "datatype": datatype, "shape": x.Shape, "data": data})
	}
	for _, o := range outputs {
		wanted = append(wanted, map[string]any{"name": o})
	}
	body, err := json.Marshal(map[string]any{"inputs": inputs, "outputs": wanted, "parameters": map[string]any{"quantiles": "0.05,0.9"}})
	require.NoError(t, err)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("POST", "/v2/models/"+name+"/infer", strings.NewReader(string(body))))
	require.Equal(t, 200, w.Code, "%s", w.Body)
	var answer struct {
		Outputs []struct {
			Name  string
			Shape []int
			Data  []float32
		}
	}
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &answer))
	for _, o := range answer.Outputs {
		out = append(out, predict.Tensor{Name: o.Name, Shape: o.Shape, Values: o.Data})
	}
	return out
}
