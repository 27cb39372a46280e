package serve

import (
	"encoding/json"
	"net/http"
	"strings"
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

// TestPublishedClients sends requests as clients of Triton, KServe and MLServer make them, written from the definition
// of the protocol and its extensions: keys in their order, parameters and headers.
func TestPublishedClients(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Models = testSources[1:] })
	f8, f4 := string(make([]byte, 8)), string(make([]byte, 4))
	for _, c := range []clientRequest{
		{name: "tritonclient, binary in and out", path: "/v2/models/rbf/infer", binary: f8 + f4 + f8, status: 200,
			says:   `"binary_data_size":4`,
			header: map[string]string{"Content-Type": "application/octet-stream"},
			body: `{"inputs":[{"name":"x_context","shape":[1,1,1],"datatype":"FP64","parameters":{"binary_data_size":8}},` +
				`{"name":"y_context","shape":[1,1,1],"datatype":"FP32","parameters":{"binary_data_size":4}},{"name":"x_target","shape":[1,1,1],"datatype":"FP64","parameters":{"binary_data_size":8}}],` +
				`"outputs":[{"name":"mean","parameters":{"binary_data":true}}]}`},
		{name: "tritonclient, all outputs, with an id, a priority and a timeout", path: "/v2/models/rbf/versions/1/infer",
			binary: f8 + f4 + f8, status: 200, says: `"id":"1"`,
			body: `{"id":"1","parameters":{"priority":1,"timeout":10000000,"binary_data_output":true},"inputs":[{"name":"x_context","shape":[1,1,1],"datatype":"FP64","parameters":{"binary_data_size":8}},` +
				`{"name":"y_context","shape":[1,1,1],"datatype":"FP32","parameters":{"binary_data_size":4}},{"name":"x_target","shape":[1,1,1],"datatype":"FP64","parameters":{"binary_data_size":8}}]}`},
		{name: "tritonclient, JSON", path: "/v2/models/rbf/infer", status: 200, says: `"data":[`,
			body: `{"inputs":[{"name":"x_context","shape":[1,1,1],"datatype":"FP64","data":[0.5]},{"name":"y_context","shape":[1,1,1],"datatype":"FP32","data":[1.0]},` +
				`{"name":"x_target","shape":[1,2,1],"datatype":"FP64","data":[0.0,1.0]}],"outputs":[{"name":"std","parameters":{"binary_data":false}}]}`},
		{name: "tritonclient, shared memory", path: "/v2/models/rbf/infer", status: 400, says: "no shared memory",
			body: `{"inputs":[{"name":"x_context","shape":[1,1,1],"datatype":"FP64","parameters":{"shared_memory_region":"r","shared_memory_byte_size":8}}]}`},
		{name: "tritonclient, a sequence", path: "/v2/models/rbf/infer", status: 400, says: "no state",
			body: `{"parameters":{"sequence_id":3,"sequence_start":true,"sequence_end":false},"inputs":[]}`},
		{name: "KServe's SDK, JSON", path: "/v2/models/rbf/infer", status: 200, says: `"model_name":"rbf"`,
			header: map[string]string{"Content-Type": "application/json"},
			body: `{"id": "c6f8d8bd", "model_name": "rbf", "inputs": [{"name": "x_context", "shape": [1, 1, 1], "datatype": "FP64", "data": [0.5]}, ` +
				`{"name": "y_context", "shape": [1, 1, 1], "datatype": "FP32", "data": [1.0]}, {"name": "x_target", "shape": [1, 1, 1], "datatype": "FP64", "data": [0.0]}]}`},
		{name: "KServe's SDK, binary", path: "/v2/models/rbf/infer", binary: f8 + f4 + f8, status: 200, says: `"mean"`,
			header: map[string]string{"Content-Type": "application/octet-stream"},
			body: `{"id": "c6f8d8bd", "model_name": "rbf", "inputs": [{"name": "x_context", "shape": [1, 1, 1], "datatype": "FP64", "parameters": {"binary_data_size": 8}}, ` +
				`{"name": "y_context", "shape": [1, 1, 1], "datatype": "FP32", "parameters": {"binary_data_size": 4}}, {"name": "x_target", "shape": [1, 1, 1], "datatype": "FP64", "parameters": {"binary_data_size": 8}}], ` +
				`"parameters": {"binary_data_output": true}}`},
		{name: "MLServer, codecs", path: "/v2/models/rbf/infer", status: 200, says: `"outputs"`,
			body: `{"id":null,"parameters":{"content_type":"np"},"inputs":[{"name":"x_context","shape":[1,1,1],"datatype":"FP64","parameters":{"content_type":"np"},"data":[0.5]},` +
				`{"name":"y_context","shape":[1,1,1],"datatype":"FP32","parameters":{"content_type":"np"},"data":[1.0]},` +
				`{"name":"x_target","shape":[1,1,1],"datatype":"FP64","parameters":{"content_type":"np"},"data":[0.0]}],"outputs":null}`},
		{name: "MLServer, nested data", path: "/v2/models/rbf/infer", status: 200, says: `"outputs"`,
			body: `{"inputs":[{"name":"x_context","shape":[1,1,1],"datatype":"FP64","data":[[[0.5]]]},{"name":"y_context","shape":[1,1,1],"datatype":"FP32","data":[[[1.0]]]},` +
				`{"name":"x_target","shape":[1,1,1],"datatype":"FP64","data":[[[0.0]]]}],"outputs":[]}`},
	} {
		h := map[string]string{}
		for k, v := range c.header {
			h[k] = v
		}
		if c.binary != "" {
			h[headerLength] = jsonNumber(len(c.body))
		}
		for _, compressed := range []bool{false, true} {
			body := []byte(c.body + c.binary)
			if compressed {
				h["Content-Encoding"], body = "gzip", packed(t, "gzip", body)
			}
			w := do(s, "POST", c.path, h, body)
			require.Equal(t, c.status, w.Code, "%s: %s", c.name, w.Body)
			require.Contains(t, w.Body.String(), c.says, c.name)
			if c.status == http.StatusOK && strings.Contains(c.name, "binary") {
				require.NotEmpty(t, w.Header().Get(headerLength), c.name)
			}
		}
	}
}

func jsonNumber(n int) string {
	b, _ := json.Marshal(n)
	return string(b)
}

// TestPublishedGRPC replays what tritonclient and KServe's SDK send over gRPC: raw contents with parameters of every choice, and typed
// contents.
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
	m.Parameters = map[string]*inference.InferParameter{"priority": {ParameterChoice: &inference.InferParameter_Uint64Param{Uint64Param: 2}}, "timeout": whole(10_000_000)}
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
	m.Outputs = nil // KServe's SDK names none; MLServer says how it made the tensors
	m.Parameters = map[string]*inference.InferParameter{"content_type": text("np")}
	m.Inputs[0].Parameters = map[string]*inference.InferParameter{"content_type": text("np")}
	got, err = infer.CallUnary(t.Context(), connect.NewRequest(m))
	require.NoError(t, err)
	require.Len(t, got.Msg.Outputs, 2)
}
