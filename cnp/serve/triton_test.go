package serve

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"connectrpc.com/connect"
	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp/serve/inference"
)

// TestExtensions: configuration, statistics and index have Triton's names, over REST and gRPC alike.
func TestExtensions(t *testing.T) {
	s := newServer(t, nil)
	url, _ := listen(t, s, Limits{})
	b := curves(rngOf(1), 3, 4, 5)
	for range 2 {
		require.Equal(t, 200, do(s, "POST", "/v2/models/rbf/infer", nil, curvesJSON(t, b)).Code)
	}
	require.Equal(t, 400, do(s, "POST", "/v2/models/rbf/infer", nil, []byte("{}")).Code)

	var stats struct {
		Models []struct {
			Name, Version string
			Inferences    int                                `json:"inference_count"`
			Executions    int                                `json:"execution_count"`
			Last          int                                `json:"last_inference"`
			Requests      map[string]struct{ Count, NS int } `json:"inference_stats"`
			Batches       []struct {
				Size  int                     `json:"batch_size"`
				Infer struct{ Count, NS int } `json:"compute_infer"`
			} `json:"batch_stats"`
		} `json:"model_stats"`
	}
	for _, path := range []string{"/v2/models/rbf/stats", "/v2/models/rbf/versions/1/stats", "/v2/models/stats"} {
		require.NoError(t, json.Unmarshal(do(s, "GET", path, nil, nil).Body.Bytes(), &stats))
		m := stats.Models[len(stats.Models)-1]
		require.Equal(t, "rbf", m.Name)
		require.Equal(t, 6, m.Inferences)
		require.Equal(t, 2, m.Executions)
		require.Equal(t, 2, m.Requests["success"].Count)
		require.Equal(t, 1, m.Requests["fail"].Count)
		require.Positive(t, m.Requests["compute_infer"].NS)
		require.Equal(t, 3, m.Batches[0].Size)
		require.Equal(t, 2, m.Batches[0].Infer.Count)
		require.Positive(t, m.Last)
	}
	require.Equal(t, 404, do(s, "GET", "/v2/models/none/stats", nil, nil).Code)
	got, err := grpcClient[inference.ModelStatisticsRequest, inference.ModelStatisticsResponse](url,
		"ModelStatistics").CallUnary(t.Context(),
		connect.NewRequest(&inference.ModelStatisticsRequest{Name: "rbf"}))
	require.NoError(t, err)
	require.EqualValues(t, 6, got.Msg.ModelStats[0].InferenceCount)
	require.EqualValues(t, stats.Models[1].Requests["compute_infer"].NS, got.Msg.ModelStats[0].InferenceStats.ComputeInfer.Ns)

	config, err := grpcClient[inference.ModelConfigRequest, inference.ModelConfigResponse](url, "ModelConfig").CallUnary(t.Context(),
		connect.NewRequest(&inference.ModelConfigRequest{Name: "digits"}))
	require.NoError(t, err)
	require.Equal(t, inference.DataType_TYPE_FP32, config.Msg.Config.Input[0].DataType)
	require.Equal(t, []int64{-1, 1, -1, -1}, config.Msg.Config.Output[0].Dims)
	require.Equal(t, "T(2)", config.Msg.Config.Parameters["group"].StringValue)
	index, err := grpcClient[inference.RepositoryIndexRequest, inference.RepositoryIndexResponse](url,
		"RepositoryIndex").CallUnary(t.Context(),
		connect.NewRequest(&inference.RepositoryIndexRequest{Ready: true}))
	require.NoError(t, err)
	require.Equal(t, "READY", index.Msg.Models[1].State)
	meta, err := grpcClient[inference.ModelMetadataRequest, inference.ModelMetadataResponse](url, "ModelMetadata").CallUnary(t.Context(),
		connect.NewRequest(&inference.ModelMetadataRequest{Name: "digits"}))
	require.NoError(t, err)
	require.Equal(t, object(t, do(s, "GET", "/v2/models/digits", nil, nil).Body.Bytes())["properties"].(map[string]any)["digest"],
		meta.Msg.Properties["digest"])
	require.Regexp(t, "^sha256:[0-9a-f]{64}$", meta.Msg.Properties["digest"])

	all := object(t, do(s, "GET", "/v2/models", nil, nil).Body.Bytes())["models"].([]any)
	require.Len(t, all, 2)
	require.Equal(t, "T(2)", all[0].(map[string]any)["config"].(map[string]any)["group"])
	metrics := do(s.MetricsHandler(), "GET", "/metrics", nil, nil).Body.String()
	require.Contains(t, metrics, "equivcnp_build_info{")
	require.Contains(t, metrics, `equivcnp_request_seconds_bucket{model="rbf",protocol="rest",le="32.768"}`, "buckets reach the timeout")
}

// clientRequest is a request as a published client writes it.
type clientRequest struct {
	name, path string
	header     map[string]string
	body       string
	binary     string // what follows the JSON
	status     int
	says       string
}

// TestPublishedClients replays the requests of published clients, byte by byte as their sources write them: keys in their order, spaces,
// parameters and headers. Answers are read as those clients read them. The sources are tritonclient's (triton-inference-server/client,
// http/_utils.py, _infer_input.py and _requested_output.py), which dumps JSON without spaces and puts parameters last; KServe's SDK
// (kserve/protocol/infer_type.py and inference_client.py), which names the model and sends no content type with JSON; and MLServer's types
// (mlserver/types), which leave out what is not set and go through requests' JSON with spaces, and its command "infer", which is
// tritonclient's with headers of its own.
func TestPublishedClients(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Models = testSources[1:] })
	f8, f4 := string(make([]byte, 8)), string(make([]byte, 4))
	const (
		binaryInputs = `"inputs":[{"name":"x_context","shape":[1,1,1],"datatype":"FP64","parameters":{"binary_data_size":8}},` +
			`{"name":"y_context","shape":[1,1,1],"datatype":"FP32","parameters":{"binary_data_size":4}},` +
			`{"name":"x_target","shape":[1,1,1],"datatype":"FP64","parameters":{"binary_data_size":8}}]`
		numbers = `"inputs":[{"name":"x_context","shape":[1,1,1],"datatype":"FP64","data":[0.5]},` +
			`{"name":"y_context","shape":[1,1,1],"datatype":"FP32","data":[1.0]},` +
			`{"name":"x_target","shape":[1,2,1],"datatype":"FP64","data":[0.0,1.0]}]`
		np    = `"parameters": {"content_type": "np"}`
		coded = `"inputs": [{"name": "x_context", "shape": [1, 1, 1], "datatype": "FP64", ` + np + `, "data": [0.5]}, ` +
			`{"name": "y_context", "shape": [1, 1, 1], "datatype": "FP32", ` + np + `, "data": [1.0]}, ` +
			`{"name": "x_target", "shape": [1, 1, 1], "datatype": "FP64", ` + np + `, "data": [0.0]}]`
		path, id = "/v2/models/rbf/infer", "c6f8d8bd-52a5-4a4e-b1a5-3a7f24a0a7d6"
	)
	stream := map[string]string{"content-type": "application/octet-stream"}
	for _, c := range []clientRequest{
		{name: "tritonclient, binary in and out", path: path, binary: f8 + f4 + f8, status: 200, says: `"binary_data_size":4`,
			body: `{` + binaryInputs + `,"outputs":[{"name":"mean","parameters":{"binary_data":true}}]}`},
		{name: "tritonclient, all outputs, with an id, a priority and a timeout", path: "/v2/models/rbf/versions/1/infer",
			binary: f8 + f4 + f8, status: 200, says: `"id":"1"`,
			body: `{"id":"1",` + binaryInputs + `,"parameters":{"priority":1,"timeout":10000000,"binary_data_output":true}}`},
		{name: "tritonclient, JSON", path: path, status: 200, says: `"data":[`,
			body: `{` + numbers + `,"outputs":[{"name":"std","parameters":{"binary_data":false}}]}`},
		{name: "tritonclient, an answer with deflate, which need not be", path: path, status: 200, says: `"data":[`,
			header: map[string]string{"Accept-Encoding": "deflate"},
			body:   `{` + numbers + `,"outputs":[{"name":"std","parameters":{"binary_data":false}}]}`},
		{name: "tritonclient, classes", path: path, binary: f8 + f4 + f8, status: 400, says: "no classes",
			body: `{` + binaryInputs + `,"outputs":[{"name":"mean","parameters":{"classification":3,"binary_data":true}}]}`},
		{name: "tritonclient, shared memory", path: path, status: 400, says: "no shared memory",
			body: `{"inputs":[{"name":"x_context","shape":[1,1,1],"datatype":"FP64","parameters":{"shared_memory_region":"r",` +
				`"shared_memory_byte_size":8}}],"parameters":{"binary_data_output":true}}`},
		{name: "tritonclient, shared memory for an answer", path: path, binary: f8 + f4 + f8, status: 400, says: "no shared memory",
			body: `{` + binaryInputs + `,"outputs":[{"name":"mean","parameters":{"binary_data":false,"shared_memory_region":"r",` +
				`"shared_memory_byte_size":4}}]}`},
		{name: "tritonclient, a sequence", path: path, binary: f8 + f4 + f8, status: 400, says: "no state",
			body: `{` + binaryInputs + `,"parameters":{"sequence_id":3,"sequence_start":true,"sequence_end":false,` +
				`"binary_data_output":true}}`},
		{name: "KServe's SDK, JSON", path: path, status: 200, says: `"model_name":"rbf"`,
			body: `{"id":"` + id + `","model_name":"rbf",` + numbers + `}`},
		{name: "KServe's SDK, binary in and out", path: path, binary: f8 + f4 + f8, status: 200, says: `"binary_data_size":4`,
			header: stream,
			body:   `{"id":"` + id + `","model_name":"rbf",` + binaryInputs + `,"parameters":{"binary_data_output":true}}`},
		{name: "KServe's SDK, an output by name", path: path, binary: f8 + f4 + f8, status: 200, says: `"binary_data_size":4`,
			header: stream,
			body: `{"id":"` + id + `","model_name":"rbf",` + binaryInputs +
				`,"outputs":[{"name":"std","parameters":{"binary_data":true}}]}`},
		{name: "MLServer, codecs", path: path, status: 200, says: `"outputs"`,
			header: map[string]string{"Content-Type": "application/json"},
			body:   `{` + np + `, ` + coded + `}`},
		{name: "MLServer, outputs by name", path: path, status: 200, says: `"id":"one"`,
			header: map[string]string{"Content-Type": "application/json"},
			body:   `{"id": "one", ` + coded + `, "outputs": [{"name": "mean", ` + np + `}]}`},
		{name: "MLServer, nested data and what is not set", path: path, status: 200, says: `"outputs"`,
			body: `{"id":null,"parameters":null,` +
				`"inputs":[{"name":"x_context","shape":[1,1,1],"datatype":"FP64","parameters":null,"data":[[[0.5]]]},` +
				`{"name":"y_context","shape":[1,1,1],"datatype":"FP32","data":[[[1.0]]]},` +
				`{"name":"x_target","shape":[1,1,1],"datatype":"FP64","data":[[[0.0]]]}],"outputs":null}`},
		{name: "mlserver infer", path: path, binary: f8 + f4 + f8, status: 200, says: `"id":"` + id,
			header: map[string]string{"content-type": "application/json", "seldon-puid": id, "x-request-id": id},
			body:   `{"id":"` + id + `",` + binaryInputs + `,"parameters":{"binary_data_output":true}}`},
	} {
		h := map[string]string{}
		for k, v := range c.header {
			h[k] = v
		}
		if c.binary != "" {
			h[headerLength] = jsonNumber(len(c.body))
		}
		for _, encoding := range []string{"", "gzip", "deflate"} { // tritonclient's two
			body := []byte(c.body + c.binary)
			if encoding != "" {
				h["Content-Encoding"], body = encoding, packed(t, encoding, body)
			}
			w := do(s, "POST", c.path, h, body)
			require.Equal(t, c.status, w.Code, "%s: %s", c.name, w.Body)
			require.Contains(t, w.Body.String(), c.says, c.name)
			if c.status != http.StatusOK {
				require.Equal(t, "application/json", w.Header().Get("Content-Type"), "KServe's SDK reads errors of no other type")
				require.NotEmpty(t, object(t, w.Body.Bytes())["error"], c.name)
				continue
			}
			require.NotEmpty(t, readAsClients(t, c.name, w), c.name)
		}
	}
}

// readAsClients reads an answer as tritonclient (http/_infer_result.py) and KServe's SDK do, and returns its outputs: each has a name, a
// shape, a datatype, and as many elements as its shape says, as data or as bytes after the JSON.
func readAsClients(t *testing.T, name string, w *httptest.ResponseRecorder) map[string]any {
	t.Helper()
	body, rest := w.Body.Bytes(), []byte(nil)
	if text := w.Header().Get(headerLength); text != "" {
		n, err := strconv.Atoi(text)
		require.NoError(t, err, name)
		body, rest = body[:n], body[n:]
	}
	answer := object(t, body)
	require.Equal(t, "rbf", answer["model_name"], name)
	require.NotEmpty(t, answer["model_version"], name)
	out := map[string]any{}
	for _, v := range answer["outputs"].([]any) {
		o := v.(map[string]any)
		elements := 1
		for _, n := range o["shape"].([]any) {
			elements *= int(n.(float64))
		}
		require.Equal(t, "FP32", o["datatype"], name)
		if data, ok := o["data"].([]any); ok {
			require.Len(t, data, elements, name)
		} else {
			size := int(o["parameters"].(map[string]any)["binary_data_size"].(float64))
			require.Equal(t, 4*elements, size, name)
			rest = rest[size:]
		}
		out[o["name"].(string)] = o
	}
	require.Empty(t, rest, name)
	return out
}

// TestPublishedQuestions asks what the same clients ask beside inference: tritonclient posts nothing for the index, and reads statuses;
// KServe's SDK reads the fields live and ready.
func TestPublishedQuestions(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Models = testSources[1:] })
	for path, field := range map[string]string{"/v2/health/live": "live", "/v2/health/ready": "ready", "/v2/models/rbf/ready": "ready",
		"/v2/models/rbf/versions/1/ready": "ready"} {
		w := do(s, "GET", path, nil, nil)
		require.Equal(t, 200, w.Code, path)
		require.Equal(t, true, object(t, w.Body.Bytes())[field], path)
	}
	for _, path := range []string{"/v2", "/v2/models/rbf", "/v2/models/rbf/versions/1", "/v2/models/rbf/config",
		"/v2/models/rbf/versions/1/config", "/v2/models/stats", "/v2/models/rbf/stats", "/v2/models/rbf/versions/1/stats"} {
		w := do(s, "GET", path, nil, nil)
		require.Equal(t, 200, w.Code, path)
		require.NotEmpty(t, object(t, w.Body.Bytes()), path)
	}
	w := do(s, "POST", "/v2/repository/index", nil, []byte(""))
	require.Equal(t, 200, w.Code, "%s", w.Body)
	require.Contains(t, w.Body.String(), `"name":"rbf"`)
	for _, path := range []string{"/v2/repository/models/rbf/load", "/v2/repository/models/rbf/unload",
		"/v2/systemsharedmemory/region/r/register", "/v2/logging", "/v2/trace/setting"} { // extensions that the server does not announce
		w := do(s, "POST", path, nil, []byte("{}"))
		require.Equal(t, 404, w.Code, path)
		require.NotEmpty(t, object(t, w.Body.Bytes())["error"], path)
	}
}

func jsonNumber(n int) string {
	b, _ := json.Marshal(n)
	return string(b)
}

// TestPublishedGRPC replays what clients send over gRPC: tritonclient (grpc/_utils.py) and KServe's SDK (infer_type.py) raw contents,
// with parameters of every choice; KServe's SDK and MLServer (grpc/converters.py) typed contents, MLServer with how it made the tensors.
func TestPublishedGRPC(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Models = testSources[1:] })
	url, _ := listen(t, s, Limits{})
	infer := grpcClient[inference.ModelInferRequest, inference.ModelInferResponse](url, "ModelInfer")
	whole := func(v int64) *inference.InferParameter {
		return &inference.InferParameter{ParameterChoice: &inference.InferParameter_Int64Param{Int64Param: v}}
	}
	text := func(v string) *inference.InferParameter {
		return &inference.InferParameter{ParameterChoice: &inference.InferParameter_StringParam{StringParam: v}}
	}
	m := curvesMessage(curves(rngOf(1), 2, 3, 4))
	m.Id, m.ModelVersion = "1", "1"
	m.Parameters = map[string]*inference.InferParameter{"timeout": whole(10_000_000),
		"priority": {ParameterChoice: &inference.InferParameter_Uint64Param{Uint64Param: 2}}}
	m.Outputs = []*inference.ModelInferRequest_InferRequestedOutputTensor{{Name: "mean"}, {Name: "std"}}
	got, err := infer.CallUnary(t.Context(), connect.NewRequest(m))
	require.NoError(t, err)
	require.Len(t, got.Msg.RawOutputContents, 2)
	m.Outputs[0].Parameters = map[string]*inference.InferParameter{"classification": whole(3)}
	_, err = infer.CallUnary(t.Context(), connect.NewRequest(m))
	require.Equal(t, connect.CodeInvalidArgument, connect.CodeOf(err))
	m.Outputs[0].Parameters = map[string]*inference.InferParameter{"shared_memory_region": text("r")}
	_, err = infer.CallUnary(t.Context(), connect.NewRequest(m))
	require.Equal(t, connect.CodeInvalidArgument, connect.CodeOf(err))
	m.Outputs[0].Parameters = nil
	m.Inputs[0].Parameters = map[string]*inference.InferParameter{"shared_memory_region": text("r"), "shared_memory_byte_size": whole(48)}
	_, err = infer.CallUnary(t.Context(), connect.NewRequest(m))
	require.Equal(t, connect.CodeInvalidArgument, connect.CodeOf(err))

	b := curves(rngOf(1), 2, 3, 4)
	want := wantCurves(t, b)
	m = curvesMessage(b)
	m.Id = "c6f8d8bd"
	m.RawInputContents = nil
	m.Inputs[0].Contents = &inference.InferTensorContents{Fp64Contents: b.XContext}
	m.Inputs[1].Contents = &inference.InferTensorContents{Fp32Contents: b.YContext}
	m.Inputs[2].Contents = &inference.InferTensorContents{Fp64Contents: b.XTarget}
	for _, codec := range []string{"", "np"} { // KServe's SDK names no outputs, MLServer neither
		if codec != "" {
			m.Parameters = map[string]*inference.InferParameter{"content_type": text(codec)}
			for _, in := range m.Inputs {
				in.Parameters = map[string]*inference.InferParameter{"content_type": text(codec)}
			}
		}
		got, err = infer.CallUnary(t.Context(), connect.NewRequest(m))
		require.NoError(t, err)
		require.Equal(t, "c6f8d8bd", got.Msg.Id)
		require.Len(t, got.Msg.Outputs, 2)
		sameBits(t, want.Mean, got.Msg.Outputs[0].Contents.Fp32Contents, "mean")
	}
}
