package main

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/krige"
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
	least := 0.0
	if cfg.Likelihood == "gamma" { // its values are positive
		least = 2
	}
	for i := range nc * cfg.DimY {
		b.YContext = append(b.YContext, float32(least+math.Sin(float64(i))))
	}
	return b, nil, []safetensors.Tensor{safetensors.FromFloat64s("x_context", []int{1, nc, cfg.DimX}, b.XContext),
		safetensors.FromFloat32s("y_context", []int{1, nc, cfg.DimY}, b.YContext),
		safetensors.FromFloat64s("x_target", []int{1, nt, cfg.DimX}, b.XTarget)}
}

// outputsOf reads the list of the outputs of all models, which is that of every front end: by model and name the shape,
// in which -1 is what tasks decide.
func outputsOf(t *testing.T, model string) (names []string, shapes map[string][]string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "cnp", "predict", "testdata", "outputs.txt"))
	require.NoError(t, err)
	shapes = map[string][]string{}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); f[0] == model && f[1] != "samples" {
			names, shapes[f[1]] = append(names, f[1]), f[2:]
		}
	}
	require.NotEmpty(t, names, model)
	return names, shapes
}

// TestSameOutputs: the library, the program and the server give the outputs that the list says of every model: names,
// shapes and bits, of images with plans from a folder too. Beam's part is in its own module.
func TestSameOutputs(t *testing.T) {
	b := newBench(t)
	universal := krige.Names()
	if testing.Short() {
		universal = []string{"universal-2", "universal-globe"}
	}
	for _, name := range append(shippedModels(), universal...) {
		t.Run(name, func(t *testing.T) {
			m, err := predict.Open(t.Context(), predict.OpenOptions{}, name)
			require.NoError(t, err)
			cfg := m.Config()
			curves, images, tensors := smallTask(&cfg)
			opt := predict.Options{Quantiles: []float64{0.05, 0.9}}
			p, err := predict.PrepareCurves(m, curves, opt)
			if images != nil {
				p, err = predict.PrepareImages(m, images, opt)
			}
			require.NoError(t, err)
			result, err := p.Run(t.Context())
			require.NoError(t, err)
			names, shapes := outputsOf(t, name)
			want, err := result.Tensors(names...)
			require.NoError(t, err)
			for _, w := range want {
				require.Len(t, w.Shape, len(shapes[w.Name]))
				for i, n := range w.Shape {
					require.Contains(t, []string{"-1", strconv.Itoa(n)}, shapes[w.Name][i], "%s %v", w.Name, w.Shape)
				}
			}
			b.tensors("in.safetensors", tensors...)
			runs := [][]string{nil}
			if images != nil { // the first one makes the plan, the second one finds it
				runs = [][]string{nil, {"--plans", "@plans"}, {"--plans", "@plans"}}
			}
			for _, extra := range runs {
				b.ok(append([]string{"predict", "--model", name, "--in", "@in.safetensors", "--out", "@out.safetensors", "--quantiles",
					"0.05,0.9", "--outputs", strings.Join(names, ","), "--quiet"}, extra...)...)
				b.same("out.safetensors", want)
				// A machine with much else to do needs longer than requests have.
				opt := serve.Options{Models: []serve.Source{{Name: name, Path: name}}, Timeout: time.Hour}
				if extra != nil {
					opt.Plans = b.path("plans")
				}
				s, err := serve.New(opt)
				require.NoError(t, err)
				require.Equal(t, want, asked(t, s, name, tensors, names), "the server's")
				s.Close()
			}
		})
	}
}

// same holds a file to the tensors that it has to have.
func (b *bench) same(file string, want []predict.Tensor) {
	b.t.Helper()
	f, err := safetensors.Read(b.path(file))
	require.NoError(b.t, err)
	require.Len(b.t, f.Tensors, len(want))
	for _, w := range want {
		got := f.Get(w.Name)
		require.NotNil(b.t, got, w.Name)
		require.Equal(b.t, w.Shape, got.Shape, w.Name)
		values, err := got.Float32s()
		require.NoError(b.t, err)
		require.Equal(b.t, w.Values, values, "%s of the program", w.Name)
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
