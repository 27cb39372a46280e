package serve

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"connectrpc.com/connect"
	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/serve/client"
	"github.com/equivcnp/equivcnp/cnp/serve/inference"
	"github.com/equivcnp/equivcnp/cnp/weights"
	"github.com/equivcnp/equivcnp/internal/safetensors"
)

// A model with auxiliary inputs is served: its metadata name the tensors, requests bring them, together or alone, and one that does not
// is told so.
func TestAuxiliary(t *testing.T) {
	c := cnp.Default(cnp.EquivCNPCurve, "T(1)", 1)
	c.Channels, c.Hidden, c.Mid, c.PointsPerUnit = []int{4, 6, 4}, 4, 4, 8
	c.Auxiliary, c.ChannelDensity = []string{"height", "hour"}, true
	m, err := cnp.New[float32](c, 1)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "aux.safetensors")
	require.NoError(t, weights.Save(path, m, nil))
	s := newServer(t, func(o *Options) { o.Models = []Source{{Name: "aux", Path: path}} })
	meta := object(t, do(s, "GET", "/v2/models/aux", nil, nil).Body.Bytes())
	text, err := json.Marshal(meta["inputs"])
	require.NoError(t, err)
	for _, name := range []string{`{"datatype":"FP32","name":"aux_context","shape":[-1,-1,2]}`,
		`{"datatype":"FP32","name":"aux_target","shape":[-1,-1,2]}`} {
		require.Contains(t, string(text), name)
	}
	meta = object(t, do(s, "GET", "/v2/models/aux/config", nil, nil).Body.Bytes())
	config := meta["parameters"].(map[string]any)["config"].(map[string]any)["string_value"].(string)
	require.Equal(t, []any{"height", "hour"}, object(t, []byte(config))["auxiliary"])

	url, _ := listen(t, s, Limits{})
	cl := client.New(url, client.Options{})
	rng := rand.New(rand.NewPCG(1, 1))
	b := &cnp.Batch[float32]{B: 2, Nc: 3, Nt: 2}
	for range 6 {
		b.XContext, b.YContext, b.AuxContext = append(b.XContext, rng.Float64()), append(b.YContext, rng.Float32()),
			append(b.AuxContext, rng.Float32(), rng.Float32())
	}
	for range 4 {
		b.XTarget, b.AuxTarget = append(b.XTarget, rng.Float64()), append(b.AuxTarget, rng.Float32(), rng.Float32())
	}
	want, err := m.(cnp.Regressor[float32]).Predict(context.Background(), b)
	require.NoError(t, err)
	got, err := cl.Predict(context.Background(), "aux", b, 1, 1)
	require.NoError(t, err)
	require.Equal(t, want.Mean, got.Mean)
	require.Equal(t, want.Std, got.Std)
	for _, none := range []*cnp.Batch[float32]{
		{B: 2, Nc: 3, XContext: b.XContext, YContext: b.YContext, AuxContext: b.AuxContext, AuxTarget: []float32{}},
		{B: 2, Nt: 2, XTarget: b.XTarget, AuxTarget: b.AuxTarget},
	} {
		want, err := m.(cnp.Regressor[float32]).Predict(context.Background(), none)
		require.NoError(t, err)
		got, err := cl.Predict(context.Background(), "aux", none, 1, 1)
		require.NoError(t, err, "%d points, %d targets", none.Nc, none.Nt)
		require.Len(t, got.Mean, len(want.Mean))
		require.InDeltaSlice(t, want.Mean, got.Mean, 0)
	}
	jobs := []*job{{curves: b}, {curves: &cnp.Batch[float32]{B: 1, Nc: 1, Nt: 1, XContext: []float64{1}, YContext: []float32{2},
		XTarget: []float64{3}, AuxContext: []float32{4, 5}, AuxTarget: []float32{6, 7}}}}
	all := joinCurves(jobs, &c)
	require.Equal(t, append(append([]float32(nil), b.AuxContext...), 4, 5, 0, 0, 0, 0), all.AuxContext)
	require.Equal(t, append(append([]float32(nil), b.AuxTarget...), 6, 7, 0, 0), all.AuxTarget)

	// The same over gRPC, raw and typed.
	input := func(name, datatype string, contents *inference.InferTensorContents,
		shape ...int64) *inference.ModelInferRequest_InferInputTensor {
		return &inference.ModelInferRequest_InferInputTensor{Name: name, Datatype: datatype, Shape: shape, Contents: contents}
	}
	infer := grpcClient[inference.ModelInferRequest, inference.ModelInferResponse](url, "ModelInfer")
	over, err := infer.CallUnary(context.Background(), connect.NewRequest(&inference.ModelInferRequest{ModelName: "aux",
		Inputs: []*inference.ModelInferRequest_InferInputTensor{input("x_context", "FP64", nil, 2, 3, 1),
			input("y_context", "FP32", nil, 2, 3, 1), input("x_target", "FP64", nil, 2, 2, 1),
			input("aux_context", "FP32", nil, 2, 3, 2), input("aux_target", "FP32", nil, 2, 2, 2)},
		RawInputContents: [][]byte{safetensors.Float64Bytes(b.XContext), safetensors.Float32Bytes(b.YContext),
			safetensors.Float64Bytes(b.XTarget), safetensors.Float32Bytes(b.AuxContext),
			safetensors.Float32Bytes(b.AuxTarget)}}))
	require.NoError(t, err)
	sameBits(t, want.Mean, floats(t, over.Msg.RawOutputContents[0]), "mean")
	typed := &inference.ModelInferRequest{ModelName: "aux", Inputs: []*inference.ModelInferRequest_InferInputTensor{
		input("x_context", "FP64", &inference.InferTensorContents{Fp64Contents: b.XContext}, 2, 3, 1),
		input("y_context", "FP32", &inference.InferTensorContents{Fp32Contents: b.YContext}, 2, 3, 1),
		input("x_target", "FP64", &inference.InferTensorContents{Fp64Contents: b.XTarget}, 2, 2, 1),
		input("aux_context", "FP32", &inference.InferTensorContents{Fp32Contents: b.AuxContext}, 2, 3, 2),
		input("aux_target", "FP32", &inference.InferTensorContents{Fp32Contents: b.AuxTarget}, 2, 2, 2)}}
	over, err = infer.CallUnary(context.Background(), connect.NewRequest(typed))
	require.NoError(t, err)
	sameBits(t, want.Std, over.Msg.Outputs[1].Contents.Fp32Contents, "std")
	typed.Inputs = typed.Inputs[:4]
	_, err = infer.CallUnary(context.Background(), connect.NewRequest(typed))
	require.Equal(t, connect.CodeInvalidArgument, connect.CodeOf(err))
	require.ErrorContains(t, err, `tensor "aux_target" is missing, the model has the auxiliary inputs height, hour`)

	b.AuxContext, b.AuxTarget = nil, nil
	_, err = cl.Predict(context.Background(), "aux", b, 1, 1)
	require.ErrorContains(t, err, `tensor "aux_context" is missing, the model has the auxiliary inputs height, hour`)
}

// A model with static fields is served likewise: requests that go together have fields of their own, at as many points as they like.
func TestStatic(t *testing.T) {
	c := cnp.Default(cnp.EquivCNPCurve, "T(1)", 1)
	c.Channels, c.Hidden, c.Mid, c.PointsPerUnit = []int{4, 6, 4}, 4, 4, 8
	c.Static, c.ChannelDensity = []string{"height", "land"}, true
	m, err := cnp.New[float32](c, 1)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "static.safetensors")
	require.NoError(t, weights.Save(path, m, nil))
	s := newServer(t, func(o *Options) { o.Models = []Source{{Name: "static", Path: path}} })
	text, err := json.Marshal(object(t, do(s, "GET", "/v2/models/static", nil, nil).Body.Bytes())["inputs"])
	require.NoError(t, err)
	for _, name := range []string{`{"datatype":"FP64","name":"x_static","shape":[-1,-1,1]}`,
		`{"datatype":"FP32","name":"y_static","shape":[-1,-1,2]}`} {
		require.Contains(t, string(text), name)
	}
	url, _ := listen(t, s, Limits{})
	cl := client.New(url, client.Options{})
	nan := float32(math.NaN())
	b := &cnp.Batch[float32]{B: 2, Nc: 1, Nt: 1, Ns: 2, XContext: []float64{0, 1}, YContext: []float32{1, 2}, XTarget: []float64{0.5, 1.5},
		XStatic: []float64{0, 1, 0.25, 1.25}, YStatic: []float32{1, nan, 2, 3, nan, nan, 4, 5}}
	want, err := m.(cnp.Regressor[float32]).Predict(context.Background(), b)
	require.NoError(t, err)
	got, err := cl.Predict(context.Background(), "static", b, 1, 1)
	require.NoError(t, err)
	require.Equal(t, want.Mean, got.Mean)
	require.Equal(t, want.Std, got.Std)

	other := &cnp.Batch[float32]{B: 1, Nc: 1, Nt: 1, Ns: 1, XContext: []float64{1}, YContext: []float32{2}, XTarget: []float64{3},
		XStatic: []float64{2}, YStatic: []float32{6, 7}}
	all := joinCurves([]*job{{curves: b}, {curves: other}}, &c)
	both, err := m.(cnp.Regressor[float32]).Predict(context.Background(), all)
	require.NoError(t, err)
	alone, err := m.(cnp.Regressor[float32]).Predict(context.Background(), other)
	require.NoError(t, err)
	require.Equal(t, append(append([]float32(nil), want.Mean...), alone.Mean...), both.Mean)

	b.XStatic[1] = 1e15
	got, err = cl.Predict(context.Background(), "static", b, 1, 1)
	require.NoError(t, err)
	require.True(t, math.IsNaN(float64(got.Mean[0])), "a place out of reach of any lattice")
	require.Equal(t, want.Mean[1], got.Mean[1])
	b.Ns, b.XStatic, b.YStatic = 0, nil, nil
	_, err = cl.Predict(context.Background(), "static", b, 1, 1)
	require.ErrorContains(t, err, `tensor "x_static" is missing, the model has the static fields height, land`)
}

// TestBeyondDrift: answers of models without training say, over both protocols, where targets lie outside the range of a column.
func TestBeyondDrift(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Models = []Source{{Name: "universal-1", Path: "universal-1"}} })
	x, y := []float64{0, 1, 2, 3, 4}, []float32{9, 8, 7, 6, float32(math.NaN())}
	aux := []float32{10, 1, 20, 1, 30, 1, 40, 2, 900, 900} // the last row has no value
	url, _ := listen(t, s, Limits{})
	infer := grpcClient[inference.ModelInferRequest, inference.ModelInferResponse](url, "ModelInfer")
	const text = "auxiliary inputs lie outside the context's range, where nothing tells whether their effect is linear: "
	for name, c := range map[string]struct {
		tasks  int
		target []float32 // of two targets of a task, two columns each
		note   string
	}{
		"inside": {1, []float32{10, 2, 40, 1}, ""},
		"beyond": {1, []float32{10, 2, 41, 0}, text + "column 0 of aux_target, 1 target outside 10 to 40; " +
			"column 1 of aux_target, 1 target outside 1 to 2"},
		"several": {2, []float32{10, 2, 41, 1}, text + "column 0 of aux_target, 2 targets outside 10 to 40"},
	} {
		var rest []map[string]any
		var tensors []*inference.ModelInferRequest_InferInputTensor
		var raw [][]byte
		var data []any
		for _, in := range []struct {
			name, kind    string
			rows, columns int64
			doubles       []float64
			singles       []float32
		}{{"x_context", "FP64", 5, 1, x, nil}, {"y_context", "FP32", 5, 1, nil, y}, {"x_target", "FP64", 2, 1, []float64{0.5, 2.5}, nil},
			{"aux_context", "FP32", 5, 2, nil, aux}, {"aux_target", "FP32", 2, 2, nil, c.target}} {
			rest = append(rest, tensorJSON(in.name, in.kind, []int{c.tasks, int(in.rows), int(in.columns)}, nil))
			tensors = append(tensors, &inference.ModelInferRequest_InferInputTensor{Name: in.name, Datatype: in.kind,
				Shape: []int64{int64(c.tasks), in.rows, in.columns}})
			if in.doubles != nil {
				all := slices.Repeat(in.doubles, c.tasks)
				data, raw = append(data, all), append(raw, safetensors.Float64Bytes(all))
			} else {
				all := slices.Repeat(in.singles, c.tasks)
				data, raw = append(data, all), append(raw, safetensors.Float32Bytes(all))
			}
		}
		for _, params := range []map[string]any{nil, {"quantiles": "0.5"}} {
			header, body := binaryBody(t, params, rest, data...)
			w := do(s, "POST", "/v2/models/universal-1/infer", header, body)
			require.Equal(t, 200, w.Code, "%s", w.Body)
			head, err := strconv.Atoi(w.Header().Get(headerLength))
			require.NoError(t, err)
			got, _ := object(t, w.Body.Bytes()[:head])["parameters"].(map[string]any)
			note, _ := got["note"].(string)
			require.Equal(t, c.note, note, name)
		}
		over, err := infer.CallUnary(t.Context(), connect.NewRequest(&inference.ModelInferRequest{ModelName: "universal-1", Inputs: tensors,
			RawInputContents: raw}))
		require.NoError(t, err)
		require.Equal(t, c.note, over.Msg.Parameters["note"].GetStringParam(), name)
	}
}
