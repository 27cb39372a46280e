package serve

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strings"
	"sync"
	"testing"

	"connectrpc.com/connect"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp/krige"
	"github.com/equivcnp/equivcnp/cnp/serve/inference"
)

// planeRequest is a request for a task in the plane, whose values are factor·y + offset.
func planeRequest(t *testing.T, factor, offset float64, n int, params map[string]any) []byte {
	x, y := []float64{0, 0, 1, 0, 0, 1, 1, 1, 0.5, 0.2}[:2*n], []float64{1, 2, 3, 2.5, 1.7}[:n]
	moved := make([]float64, n)
	for i, v := range y {
		moved[i] = factor*v + offset
	}
	v, err := json.Marshal(map[string]any{"inputs": []any{tensorJSON("x_context", "FP64", []int{1, n, 2}, x),
		tensorJSON("y_context", "FP32", []int{1, n, 1}, moved),
		tensorJSON("x_target", "FP64", []int{1, 2, 2}, []float64{0.5, 0.5, 0.1, 0.8})}, "parameters": params})
	require.NoError(t, err)
	return v
}

// answersOf returns the outputs of an answer by name.
func answersOf(t *testing.T, b []byte) map[string][]float64 {
	t.Helper()
	var answer struct {
		Outputs []struct {
			Name string
			Data []float64
		}
	}
	require.NoError(t, json.Unmarshal(b, &answer))
	out := map[string][]float64{}
	for _, o := range answer.Outputs {
		out[o.Name] = o.Data
	}
	return out
}

// TestUniversal: models that were not trained are served like others, in any units, also when many ask at a time, some
// without any values.
func TestUniversal(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Models = []Source{{Name: "universal-2", Path: "universal-2"}} })
	about := object(t, do(s, "GET", "/v2/models/universal-2", nil, nil).Body.Bytes())
	require.Contains(t, fmt.Sprint(about["properties"]), "trained_on:nothing")
	require.Contains(t, fmt.Sprint(about["inputs"]), "[-1 -1 2]")
	require.Equal(t, http.StatusOK, do(s, "GET", "/v2/models", nil, nil).Code)
	require.Equal(t, http.StatusOK, do(s, "GET", "/v2/models/universal-2/config", nil, nil).Code)

	const path = "/v2/models/universal-2/infer"
	w := do(s, "POST", path, nil, planeRequest(t, 1, 0, 5, nil))
	require.Equal(t, http.StatusOK, w.Code, "%s", w.Body)
	first := answersOf(t, w.Body.Bytes())
	want, std, err := krige.Interpolate([]float64{0, 0, 1, 0, 0, 1, 1, 1, 0.5, 0.2}, []float64{1, 2, 3, 2.5, float64(float32(1.7))},
		[]float64{0.5, 0.5, 0.1, 0.8})
	require.NoError(t, err)
	for i := range want {
		require.InDelta(t, want[i], first["mean"][i], 1e-6)
		require.InDelta(t, std[i], first["std"][i], 1e-6)
	}
	w = do(s, "POST", path, nil, planeRequest(t, 1000, 5000, 5, map[string]any{"samples": 2, "quantiles": "0.5", "check": true}))
	require.Equal(t, http.StatusOK, w.Code, "%s", w.Body)
	all := answersOf(t, w.Body.Bytes())
	for i := range want {
		require.InDelta(t, 1000*first["mean"][i]+5000, all["mean"][i], 1)
		require.InDelta(t, 1000*first["std"][i], all["std"][i], 1)
	}
	require.Len(t, all["samples"], 4)
	require.Len(t, all["quantiles"], 2)

	var asking sync.WaitGroup
	for i := range 16 {
		asking.Go(func() {
			n := 5
			if i%4 == 3 {
				n = 0
			}
			w := do(s, "POST", path, nil, planeRequest(t, 1, 0, n, nil))
			if n == 0 {
				assert.Equal(t, http.StatusOK, w.Code, "%s", w.Body)
				assert.Equal(t, map[string][]float64{"mean": {0, 0}, "std": {1, 1}}, answersOf(t, w.Body.Bytes()))
				return
			}
			assert.Equal(t, http.StatusOK, w.Code, "%s", w.Body)
			got := answersOf(t, w.Body.Bytes())
			assert.False(t, math.IsNaN(got["mean"][0]))
			assert.Equal(t, first, got)
		})
	}
	asking.Wait()
}

// seriesRequest is a request for a series of amounts with a season of 5, and its forecast.
func seriesRequest(t *testing.T, params map[string]any, outputs ...string) (body []byte, x, y, targets []float64) {
	for i := range 40 {
		x, y = append(x, float64(i)), append(y, float64(float32(math.Exp(math.Sin(2*math.Pi*float64(i)/5)+0.3*math.Cos(7*float64(i))))))
	}
	targets = []float64{41, 42.5}
	var named []any
	for _, o := range outputs {
		named = append(named, map[string]any{"name": o})
	}
	body, err := json.Marshal(map[string]any{"inputs": []any{tensorJSON("x_context", "FP64", []int{1, 40, 1}, x),
		tensorJSON("y_context", "FP32", []int{1, 40, 1}, y), tensorJSON("x_target", "FP64", []int{1, 2, 1}, targets)},
		"parameters": params, "outputs": named})
	require.NoError(t, err)
	return body, x, y, targets
}

// TestInterpolationRobust: the answer says how many values were left out, and the check does not judge by them.
func TestInterpolationRobust(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Models = []Source{{Name: "universal-1", Path: "universal-1"}} })
	var x, y []float64
	for i := range 40 {
		x, y = append(x, float64(i)), append(y, math.Sin(float64(i)/4))
	}
	y[17] = 1e6
	ask := func(robust bool) params {
		body, err := json.Marshal(map[string]any{"inputs": []any{tensorJSON("x_context", "FP64", []int{1, 40, 1}, x),
			tensorJSON("y_context", "FP32", []int{1, 40, 1}, y), tensorJSON("x_target", "FP64", []int{1, 1, 1}, []float64{17})},
			"parameters": map[string]any{"robust": robust, "check": true}})
		require.NoError(t, err)
		w := do(s, "POST", "/v2/models/universal-1/infer", nil, body)
		require.Equal(t, http.StatusOK, w.Code, "%s", w.Body)
		var answer struct{ Parameters params }
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &answer))
		if robust {
			require.InDelta(t, math.Sin(17./4), answersOf(t, w.Body.Bytes())["mean"][0], 0.05)
		}
		return answer.Parameters
	}
	require.Contains(t, ask(false)["note"], "do not trust")
	require.Equal(t, "1 outlier in 1 task left out", ask(true)["note"])
}

// TestInterpolationParameters: parameters of requests do what the options of package krige do, and wrong ones are refused by name.
func TestInterpolationParameters(t *testing.T) {
	s := newServer(t, func(o *Options) {
		o.Models = []Source{{Name: "universal-1", Path: "universal-1"}, {Name: "universal-2", Path: "universal-2"},
			{Name: "universal-globe", Path: "universal-globe"}, {Name: "trained", Path: "rbf-equivcnp"}}
	})
	for _, c := range []struct {
		params map[string]any
		opt    krige.Options
	}{
		{map[string]any{"log": false, "period": "", "units": "same"}, krige.Options{}},
		{map[string]any{"log": true}, krige.Options{Values: krige.Logarithmic}},
		{map[string]any{"positive": true}, krige.Options{Values: krige.Positive}},
		{map[string]any{"no_check": true}, krige.Options{NoCheck: true}},
		{map[string]any{"robust": true}, krige.Options{Robust: true}},
		{map[string]any{"period": 5}, krige.Options{Periods: []float64{5}}},
		{map[string]any{"period": "5, 2.5"}, krige.Options{Periods: []float64{5, 2.5}}},
		{map[string]any{"dates": true}, krige.Options{Calendar: []float64{365.2425, 7, 1}}},
		{map[string]any{"dates": true, "period": 7}, krige.Options{Calendar: []float64{365.2425, 7, 1}}},
		{map[string]any{"units": "different"}, krige.Options{DifferentUnits: true}},
	} {
		c.params["quantiles"] = "0.9"
		body, x, y, targets := seriesRequest(t, c.params)
		w := do(s, "POST", "/v2/models/universal-1/infer", nil, body)
		require.Equal(t, http.StatusOK, w.Code, "%v: %s", c.params, w.Body)
		got := answersOf(t, w.Body.Bytes())
		c.opt.Dim = 1
		m, err := krige.Fit(t.Context(), x, y, c.opt)
		require.NoError(t, err)
		p, err := m.At(t.Context(), targets)
		require.NoError(t, err)
		for i := range targets {
			require.InDelta(t, p.Mean[i], got["mean"][i], 1e-5*(1+math.Abs(p.Mean[i])), "%v", c.params)
			require.InDelta(t, p.Std[i], got["std"][i], 1e-5*(1+p.Std[i]), "%v", c.params)
			require.InDelta(t, p.Quantile(0.9)[i], got["quantiles"][i], 1e-4*(1+p.Std[i]), "%v", c.params)
		}
	}
	body, _, _, _ := seriesRequest(t, map[string]any{"positive": true}, "params", "mean")
	w := do(s, "POST", "/v2/models/universal-1/infer", nil, body)
	require.Equal(t, http.StatusOK, w.Code, "%s", w.Body)
	require.Len(t, answersOf(t, w.Body.Bytes())["params"], 10, "parameters of a distribution that is not normal")
	for _, c := range []struct {
		model  string
		params map[string]any
		want   string
	}{
		{"universal-1", map[string]any{"log": true, "positive": true}, "leave one of them out"},
		{"universal-1", map[string]any{"log": "y"}, "need true or false"},
		{"universal-1", map[string]any{"period": "7d"}, "unit of the input"},
		{"universal-1", map[string]any{"period": -1}, "period"},
		{"universal-1", map[string]any{"period": true}, "need a number, or a text of numbers"},
		{"universal-1", map[string]any{"units": "metres"}, `need \"same\" or \"different\"`},
		{"universal-1", map[string]any{"seasons": 2}, "not known"},
		{"universal-2", map[string]any{"period": 3}, "one input"},
		{"universal-2", map[string]any{"dates": true}, "one input"},
		{"universal-1", map[string]any{"dates": "2024-01-01"}, "need true or false"},
		{"universal-globe", map[string]any{"units": "different"}, "latitude and longitude"},
		{"trained", map[string]any{"positive": true}, `\"trained\" was trained`},
	} {
		body, _, _, _ := seriesRequest(t, c.params)
		if c.model == "universal-2" || c.model == "universal-globe" {
			body = planeRequest(t, 1, 0, 5, c.params)
		}
		w := do(s, "POST", "/v2/models/"+c.model+"/infer", nil, body)
		require.Equal(t, http.StatusBadRequest, w.Code, "%v: %s", c.params, w.Body)
		require.Contains(t, w.Body.String(), c.want, "%v", c.params)
	}
	w = do(s, "POST", "/v2/models/universal-2/infer", nil, planeRequest(t, -1, 2.2, 5, map[string]any{"positive": true}))
	require.Equal(t, http.StatusBadRequest, w.Code, "%s", w.Body)
	require.Contains(t, w.Body.String(), `"task 0: y: row 2: a value of `)
	require.Contains(t, w.Body.String(), "never negative")
	for name, has := range map[string]bool{"universal-1": true, "trained": false} {
		about := object(t, do(s, "GET", "/v2/models/"+name, nil, nil).Body.Bytes())
		listed := about["properties"].(map[string]any)["parameters"]
		require.Contains(t, listed, "quantiles")
		for _, p := range interpolating {
			require.Equal(t, has, strings.Contains(listed.(string), p), "%s: %s", name, p)
		}
	}
}

// TestInterpolationParametersGRPC: over gRPC they have the types of the protocol, and texts from clients that have no others.
func TestInterpolationParametersGRPC(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Models = []Source{{Name: "universal-1", Path: "universal-1"}} })
	url, _ := listen(t, s, Limits{})
	infer := grpcClient[inference.ModelInferRequest, inference.ModelInferResponse](url, "ModelInfer")
	_, x, y, targets := seriesRequest(t, nil)
	single := make([]float32, len(y))
	for i, v := range y {
		single[i] = float32(v)
	}
	input := func(name, datatype string, n int64, c *inference.InferTensorContents) *inference.ModelInferRequest_InferInputTensor {
		return &inference.ModelInferRequest_InferInputTensor{Name: name, Datatype: datatype, Shape: []int64{1, n, 1}, Contents: c}
	}
	ask := func(p map[string]*inference.InferParameter) ([]float32, error) {
		got, err := infer.CallUnary(t.Context(), connect.NewRequest(&inference.ModelInferRequest{ModelName: "universal-1", Parameters: p,
			Inputs: []*inference.ModelInferRequest_InferInputTensor{
				input("x_context", "FP64", 40, &inference.InferTensorContents{Fp64Contents: x}),
				input("y_context", "FP32", 40, &inference.InferTensorContents{Fp32Contents: single}),
				input("x_target", "FP64", 2, &inference.InferTensorContents{Fp64Contents: targets})}}))
		if err != nil {
			return nil, err
		}
		return got.Msg.Outputs[0].Contents.Fp32Contents, nil
	}
	m, err := krige.Fit(t.Context(), x, y, krige.Options{Dim: 1, Values: krige.Positive, Periods: []float64{5}})
	require.NoError(t, err)
	want, _, err := m.Predict(t.Context(), targets)
	require.NoError(t, err)
	positive := &inference.InferParameter{ParameterChoice: &inference.InferParameter_BoolParam{BoolParam: true}}
	for _, period := range []*inference.InferParameter{{ParameterChoice: &inference.InferParameter_Int64Param{Int64Param: 5}},
		{ParameterChoice: &inference.InferParameter_DoubleParam{DoubleParam: 5}},
		{ParameterChoice: &inference.InferParameter_StringParam{StringParam: "5"}}} {
		got, err := ask(map[string]*inference.InferParameter{"positive": positive, "period": period})
		require.NoError(t, err)
		for i, v := range want {
			require.InDelta(t, v, got[i], 1e-5*v)
		}
	}
	_, err = ask(map[string]*inference.InferParameter{"positive": positive, "log": positive})
	require.Equal(t, connect.CodeInvalidArgument, connect.CodeOf(err), "%v", err)
	require.ErrorContains(t, err, "leave one of them out")
}

// TestOtherMethods: an address that exists says by which methods it is asked.
func TestOtherMethods(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Models = []Source{{Name: "universal-2", Path: "universal-2"}} })
	for _, c := range []struct{ method, path, allowed string }{
		{"POST", "/v2", "GET, HEAD"}, {"POST", "/v2/", "GET, HEAD"}, {"POST", "/v2/models", "GET, HEAD"},
		{"PUT", "/v2/models/stats", "GET, HEAD"},
		{"POST", "/v2/models/universal-2", "GET, HEAD"}, {"DELETE", "/v2/models/universal-2/versions/1/config", "GET, HEAD"},
		{"POST", "/v2/health/ready", "GET, HEAD"}, {"POST", "/metrics", "GET, HEAD"}, {"DELETE", "/v2/repository/index", "GET, HEAD, POST"},
		{"GET", "/v2/table", "POST"}, {"PUT", "/v2/models/universal-2/infer", "POST"},
	} {
		w := do(s, c.method, c.path, nil, nil)
		require.Equal(t, http.StatusMethodNotAllowed, w.Code, "%s %s: %s", c.method, c.path, w.Body)
		require.Equal(t, c.allowed, w.Header().Get("Allow"), c.path)
		require.Contains(t, w.Body.String(), c.method+": "+c.path+" takes requests by "+strings.Split(c.allowed, ",")[0])
	}
	require.Equal(t, http.StatusNotFound, do(s, "POST", "/v2/model", nil, nil).Code)
	require.Equal(t, http.StatusOK, do(s, "HEAD", "/v2/health/ready", nil, nil).Code)
}

// TestCarelessRequests: what people send by mistake is answered by what is meant, in the protocol's words.
func TestCarelessRequests(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Models = []Source{{Name: "universal-2", Path: "universal-2"}} })
	const path = "/v2/models/universal-2/infer"
	whole := planeRequest(t, 1, 0, 5, nil)
	for _, c := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"GET", path, "", http.StatusMethodNotAllowed, "by POST"},
		{"POST", "/v2/models/universal2/infer", string(whole), http.StatusNotFound, `did you mean \"universal-2\"`},
		{"POST", path, "[]", http.StatusBadRequest, "the whole is of type array"},
		{"POST", path, `{"inputs": 3}`, http.StatusBadRequest, "inputs is of type number"},
		{"POST", path, strings.Replace(string(whole), "FP64", "float64", 1), http.StatusBadRequest, "is not one of BF16, BOOL, FP16"},
		{"POST", path, string(planeRequest(t, 1, 0, 5, map[string]any{"samples": 2, "order": "sideways"})), http.StatusBadRequest,
			"is not one of"},
		{"POST", path, string(planeRequest(t, 1, 0, 5, map[string]any{"samples": 2, "seed": 1.5})), http.StatusBadRequest, "whole number"},
	} {
		w := do(s, c.method, c.path, nil, []byte(c.body))
		require.Equal(t, c.status, w.Code, "%s", w.Body)
		require.Contains(t, w.Body.String(), c.want)
		require.NotContains(t, w.Body.String(), "serve.")
	}
}
