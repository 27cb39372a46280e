package serve

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"connectrpc.com/connect"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/interpolate"
	"github.com/equivcnp/equivcnp/cnp/krige"
	"github.com/equivcnp/equivcnp/cnp/serve/client"
	"github.com/equivcnp/equivcnp/cnp/serve/inference"
	"github.com/equivcnp/equivcnp/cnp/tabletask"
	"github.com/equivcnp/equivcnp/internal/safetensors"
)

// driftTask is a task in the plane whose values fall with the first of so many columns; all numbers are those of float32.
func driftTask(n, targets, columns int) *cnp.Batch[float32] {
	rng := rngOf(uint64(columns))
	b := &cnp.Batch[float32]{B: 1, Nc: n, Nt: targets}
	quarters := func(scale float64) float64 { return math.Round(4*scale*rng.NormFloat64()) / 4 }
	for range n {
		x, y := quarters(10), quarters(10)
		b.XContext = append(b.XContext, x, y)
		var aux []float32
		for range columns {
			aux = append(aux, float32(quarters(100)))
		}
		v := 20 + 5*math.Sin(x/8) + quarters(1)
		if columns > 0 {
			v -= float64(aux[0]) / 16
		}
		b.YContext, b.AuxContext = append(b.YContext, float32(v)), append(b.AuxContext, aux...)
	}
	for range targets {
		b.XTarget = append(b.XTarget, quarters(10), quarters(10))
		for range columns {
			b.AuxTarget = append(b.AuxTarget, float32(quarters(100)))
		}
	}
	return b
}

// driftInputs are the inputs of a request for such a task, less those that are named.
func driftInputs(b *cnp.Batch[float32], columns int, without ...string) (inputs []map[string]any) {
	for _, in := range []map[string]any{tensorJSON("x_context", "FP64", []int{b.B, b.Nc, 2}, b.XContext),
		tensorJSON("y_context", "FP32", []int{b.B, b.Nc, 1}, b.YContext), tensorJSON("x_target", "FP64", []int{b.B, b.Nt, 2}, b.XTarget),
		tensorJSON("aux_context", "FP32", []int{b.B, b.Nc, columns}, b.AuxContext),
		tensorJSON("aux_target", "FP32", []int{b.B, b.Nt, columns}, b.AuxTarget)} {
		if !slices.Contains(without, in["name"].(string)) {
			inputs = append(inputs, in)
		}
	}
	return inputs
}

func driftBody(t *testing.T, params map[string]any, inputs []map[string]any) []byte {
	v, err := json.Marshal(map[string]any{"inputs": inputs, "parameters": params})
	require.NoError(t, err)
	return v
}

// driftTables are a task as the tables that the program reads.
func driftTables(t *testing.T, b *cnp.Batch[float32], columns int) *tabletask.Options {
	dir := t.TempDir()
	table := func(name string, n int, x []float64, aux, y []float32) string {
		text := "east,north"
		var names []string
		for k := range columns {
			names = append(names, fmt.Sprint("a", k+1))
			text += "," + names[k]
		}
		for i := range n {
			line := fmt.Sprintf("\n%v,%v", x[2*i], x[2*i+1])
			for k := range columns {
				line += fmt.Sprintf(",%v", aux[i*columns+k])
			}
			if y != nil {
				line += fmt.Sprintf(",%v", y[i])
			}
			text += line
		}
		if y != nil {
			text = strings.Replace(text, "\n", ",t\n", 1)
		}
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text+"\n"), 0o600))
		return path
	}
	o := &tabletask.Options{CSV: table("context.csv", b.Nc, b.XContext, b.AuxContext, b.YContext),
		Targets: table("targets.csv", b.Nt, b.XTarget, b.AuxTarget, nil)}
	o.X, o.Y = []string{"east", "north"}, []string{"t"}
	for k := range columns {
		o.Aux = append(o.Aux, fmt.Sprint("a", k+1))
	}
	return o
}

// TestDrift: columns that values depend on make a drift of a model that interpolates, with the numbers of the library and of the program,
// over every protocol, together with other requests and with every other output.
func TestDrift(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Models = []Source{{Name: "universal-2", Path: "universal-2"}} })
	const path = "/v2/models/universal-2/infer"
	url, _ := listen(t, s, Limits{})
	cl := client.New(url, client.Options{})
	type of struct {
		columns int
		values  krige.Values
	}
	means := map[of][]float32{}
	for _, c := range []of{{0, krige.Plain}, {1, krige.Plain}, {3, krige.Plain}, {3, krige.Positive}} {
		b := driftTask(20, 3, c.columns)
		regressor, err := krige.NewRegressor(krige.Options{Dim: 2 + c.columns, Drift: c.columns, Values: c.values})
		require.NoError(t, err)
		want, err := regressor.Predict(t.Context(), b)
		require.NoError(t, err)
		means[c] = want.Mean
		in, err := interpolate.Run(t.Context(), driftTables(t, b, c.columns), interpolate.Options{Positive: c.values == krige.Positive,
			Samples: 2, Seed: 3})
		require.NoError(t, err)
		params := map[string]any{"samples": 2, "seed": 3, "quantiles": "0.9"}
		if c.values == krige.Positive {
			params["positive"] = true
		}
		var without []string
		if c.columns == 0 {
			without = columnTensors[:]
		} else if c.values == krige.Plain {
			got, err := cl.Predict(t.Context(), "universal-2", b, 2, 1)
			require.NoError(t, err)
			sameBits(t, want.Mean, got.Mean, "mean")
			sameBits(t, want.Std, got.Std, "std")
		}
		w := do(s, "POST", path, nil, driftBody(t, params, driftInputs(b, c.columns, without...)))
		require.Equal(t, http.StatusOK, w.Code, "%s", w.Body)
		got := answersOf(t, w.Body.Bytes())
		for i := range want.Mean {
			require.InDelta(t, want.Mean[i], got["mean"][i], 1e-5, "%+v: library", c)
			require.InDelta(t, in.Predicted[0].Mean[i], got["mean"][i], 1e-5, "%+v: program", c)
			require.InDelta(t, in.Predicted[0].Std[i], got["std"][i], 1e-5, "%+v: program", c)
			require.InDelta(t, in.Predicted[0].Quantile(0.9)[i], got["quantiles"][i], 1e-3, "%+v: program", c)
			for k := range 2 {
				require.InDelta(t, in.Samples[0][k][i], got["samples"][k*3+i], 1e-4, "%+v: program", c)
			}
		}
		w = do(s, "POST", path, nil, driftBody(t, map[string]any{"check": true}, driftInputs(b, c.columns, without...)))
		require.Equal(t, http.StatusOK, w.Code, "%s", w.Body)
	}
	require.NotEqual(t, means[of{1, krige.Plain}], means[of{3, krige.Plain}])

	// Many at a time, of several widths.
	var asking sync.WaitGroup
	for i := range 18 {
		asking.Go(func() {
			columns := []int{0, 1, 3}[i%3]
			b := driftTask(20, 3, columns)
			if columns == 0 {
				b.AuxContext, b.AuxTarget = nil, nil
			}
			got, err := cl.Predict(t.Context(), "universal-2", b, 2, 1)
			if assert.NoError(t, err) {
				assert.Equal(t, means[of{columns, krige.Plain}], got.Mean)
			}
		})
	}
	asking.Wait()
	var jobs []*job
	m := s.list()[0]
	for range 2 {
		b := driftTask(20, 3, 3)
		r := &request{inputs: driftTensors(t, b, 3)}
		j, err := m.prepare(r)
		require.NoError(t, err)
		require.True(t, j.merge)
		jobs = append(jobs, j)
	}
	require.Equal(t, jobs[0].lane, jobs[1].lane)
	other, err := m.prepare(&request{inputs: driftTensors(t, driftTask(20, 3, 1), 1)})
	require.NoError(t, err)
	require.NotEqual(t, jobs[0].lane, other.lane, "another number of columns")
	require.Greater(t, jobs[0].load(), other.load())
	require.NoError(t, runJobs(t.Context(), jobs))
	for _, j := range jobs {
		sameBits(t, means[of{3, krige.Plain}], j.prediction.Mean, "together")
	}
	wide, err := m.prepare(&request{inputs: driftTensors(t, driftTask(20, 3, 64), 64)})
	require.NoError(t, err)
	many := cnp.Work{Batch: 1, Context: 1000, Targets: 100000}
	of1, of64 := other.regressor.(*krige.Regressor).EstimateNeed(many), wide.regressor.(*krige.Regressor).EstimateNeed(many)
	require.Greater(t, of64.Bytes(), of1.Bytes()+100_000_000)

	// gRPC.
	b := driftTask(20, 3, 3)
	req := &inference.ModelInferRequest{ModelName: "universal-2"}
	for _, in := range driftInputs(b, 3) {
		tensor := &inference.ModelInferRequest_InferInputTensor{Name: in["name"].(string), Datatype: in["datatype"].(string),
			Contents: &inference.InferTensorContents{}}
		for _, n := range in["shape"].([]int) {
			tensor.Shape = append(tensor.Shape, int64(n))
		}
		switch data := in["data"].(type) {
		case []float64:
			tensor.Contents.Fp64Contents = data
		case []float32:
			tensor.Contents.Fp32Contents = data
		}
		req.Inputs = append(req.Inputs, tensor)
	}
	infer := grpcClient[inference.ModelInferRequest, inference.ModelInferResponse](url, "ModelInfer")
	over, err := infer.CallUnary(t.Context(), connect.NewRequest(req))
	require.NoError(t, err)
	sameBits(t, means[of{3, krige.Plain}], over.Msg.Outputs[0].Contents.Fp32Contents, "gRPC")
	req.Inputs = req.Inputs[:4]
	_, err = infer.CallUnary(t.Context(), connect.NewRequest(req))
	require.Equal(t, connect.CodeInvalidArgument, connect.CodeOf(err))
	require.ErrorContains(t, err, `input "aux_target" is missing`)
}

// TestDriftWrong: what is wrong with the columns is said, and rows without one of theirs count for nothing.
func TestDriftWrong(t *testing.T) {
	s := newServer(t, func(o *Options) {
		o.Models = []Source{{Name: "universal-2", Path: "universal-2"}, {Name: "trained", Path: "rbf-equivcnp"}}
	})
	inputs := object(t, do(s, "GET", "/v2/models/universal-2", nil, nil).Body.Bytes())["inputs"]
	require.Contains(t, fmt.Sprint(inputs), "map[datatype:FP32 name:aux_context shape:[-1 -1 -1]]")
	b := driftTask(12, 2, 2)
	with := func(change func(map[string]map[string]any), without ...string) []map[string]any {
		list, by := driftInputs(b, 2, without...), map[string]map[string]any{}
		for _, in := range list {
			by[in["name"].(string)] = in
		}
		if change != nil {
			change(by)
		}
		return list
	}
	nulls := func(n, at int) []any {
		out := make([]any, n)
		for i := range out {
			if i != at {
				out[i] = float64(i % 5)
			}
		}
		return out
	}
	type by = map[string]map[string]any
	for _, c := range []struct {
		model  string
		inputs []map[string]any
		want   string
	}{
		{"universal-2", with(nil, "aux_target"), `input \"aux_target\" is missing: \"aux_context\" is there`},
		{"universal-2", with(nil, "aux_context"), `input \"aux_context\" is missing: \"aux_target\" is there`},
		{"universal-2", with(func(in by) { in["aux_target"]["shape"] = []int{1, 4, 1} }), "have 2 and 1 columns"},
		{"universal-2", with(func(in by) { in["aux_target"]["shape"] = []int{4} }), "shape [4], need [B, Nt, columns]"},
		{"universal-2", with(func(in by) {
			in["aux_target"]["shape"], in["aux_target"]["data"] = []int{1, 1, 2}, []int{1, 2}
		}), `\"aux_target\"`},
		{"universal-2", with(func(in by) {
			in["aux_context"]["shape"], in["aux_context"]["data"] = []int{1, 12, 65}, make([]float32, 12*65)
			in["aux_target"]["shape"], in["aux_target"]["data"] = []int{1, 2, 65}, make([]float32, 2*65)
		}), "65 columns, need at most 64"},
		{"universal-2", with(func(in by) { in["aux_target"]["data"] = nulls(4, 3) }), `tensor \"aux_target\": `},
		{"trained", with(nil), `input \"aux_context\": the model has x_context`},
	} {
		w := do(s, "POST", "/v2/models/"+c.model+"/infer", nil, driftBody(t, nil, c.inputs))
		require.Equal(t, http.StatusBadRequest, w.Code, "%s: %s", c.want, w.Body)
		require.Contains(t, w.Body.String(), c.want)
	}
	ask := func(inputs []map[string]any) map[string][]float64 {
		w := do(s, "POST", "/v2/models/universal-2/infer", nil, driftBody(t, nil, inputs))
		require.Equal(t, http.StatusOK, w.Code, "%s", w.Body)
		return answersOf(t, w.Body.Bytes())
	}
	lacking := ask(with(func(in by) { in["aux_context"]["data"] = nulls(24, 7) }))
	mask := make([]bool, 12)
	for i := range mask {
		mask[i] = i != 3
	}
	masked := ask(append(with(func(in by) { in["aux_context"]["data"] = nulls(24, -1) }),
		tensorJSON("context_mask", "BOOL", []int{1, 12}, mask)))
	require.Equal(t, masked, lacking)
	none := with(func(in by) {
		in["aux_context"]["shape"], in["aux_context"]["data"] = []int{1, 12, 0}, []float32{}
		in["aux_target"]["shape"], in["aux_target"]["data"] = []int{1, 2, 0}, []float32{}
	})
	require.Equal(t, ask(with(nil, columnTensors[:]...)), ask(none), "no columns")
	empty := ask(with(func(in by) { in["y_context"]["data"] = make([]any, 12) }))
	require.Equal(t, map[string][]float64{"mean": {0, 0}, "std": {1, 1}}, empty)
}

// driftTensors are the inputs of such a task as a request has them.
func driftTensors(t *testing.T, b *cnp.Batch[float32], columns int) (out []safetensors.Tensor) {
	for _, in := range driftInputs(b, columns) {
		tensor := safetensors.Tensor{Name: in["name"].(string), DType: datatypes[in["datatype"].(string)], Shape: in["shape"].([]int)}
		switch data := in["data"].(type) {
		case []float64:
			tensor.Data = safetensors.Float64Bytes(data)
		case []float32:
			tensor.Data = safetensors.Float32Bytes(data)
		}
		require.NotEmpty(t, tensor.Data)
		out = append(out, tensor)
	}
	return out
}
