package serve

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
)

// TestMetadata: the shapes of the answers of the protocol's description.
func TestMetadata(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Version = "1.2" })
	get := func(path string, status int) map[string]any {
		w := do(s, "GET", path, nil, nil)
		require.Equal(t, status, w.Code, "%s: %s", path, w.Body)
		require.Equal(t, "application/json", w.Header().Get("Content-Type"))
		return object(t, w.Body.Bytes())
	}
	require.Equal(t, map[string]any{"live": true}, get("/v2/health/live", 200))
	require.Equal(t, map[string]any{"ready": true}, get("/v2/health/ready", 200))
	for _, path := range []string{"/v2", "/v2/"} {
		v := get(path, 200)
		require.Equal(t, "equivcnp", v["name"])
		require.Equal(t, "1.2", v["version"])
		require.Contains(t, v["extensions"], "binary_tensor_data")
	}
	for _, path := range []string{"/v2/models/digits", "/v2/models/digits/versions/1"} {
		v := get(path, 200)
		require.Equal(t, "digits", v["name"])
		require.Equal(t, []any{"1"}, v["versions"])
		require.IsType(t, "", v["platform"])
		require.Equal(t, []any{
			map[string]any{"name": "image", "datatype": "FP32", "shape": []any{-1., 1., -1., -1.}},
			map[string]any{"name": "mask", "datatype": "BOOL", "shape": []any{-1., 1., -1., -1.}},
		}, v["inputs"])
		require.Equal(t, []any{
			map[string]any{"name": "mean", "datatype": "FP32", "shape": []any{-1., 1., -1., -1.}},
			map[string]any{"name": "std", "datatype": "FP32", "shape": []any{-1., 1., -1., -1.}},
		}, v["outputs"].([]any)[:2])
	}
	require.Equal(t, map[string]any{"name": "rbf", "ready": true}, get("/v2/models/rbf/ready", 200))
	require.Equal(t, map[string]any{"name": "rbf", "ready": true}, get("/v2/models/rbf/versions/1/ready", 200))
	for _, path := range []string{"/v2/models/no", "/v2/models/rbf/versions/2", "/v2/models/no/ready", "/v2/nothing",
		"/v2/models/rbf/versions/2/ready"} {
		v := get(path, 404)
		require.Len(t, v, 1)
		require.IsType(t, "", v["error"])
	}
	config := get("/v2/models/digits/config", 200)
	require.Equal(t, map[string]any{"string_value": "T(2)"}, config["parameters"].(map[string]any)["group"])
	require.Equal(t, map[string]any{"name": "mask", "data_type": "TYPE_BOOL", "dims": []any{-1., 1., -1., -1.}}, config["input"].([]any)[1])
	require.Equal(t, 0., config["max_batch_size"], "tensors have all of their axes")
	w := do(s, "POST", "/v2/repository/index", nil, nil)
	require.JSONEq(t,
		`[{"name":"digits","version":"1","state":"READY","reason":""},{"name":"rbf","version":"1","state":"READY","reason":""}]`,
		w.Body.String())
	w = do(s, "POST", "/v2/repository/index", nil, []byte(`{"ready": "yes"}`))
	require.Equal(t, 400, w.Code)
	require.Equal(t, "the request is not the JSON of the protocol: ready is of type string (byte 15)", object(t, w.Body.Bytes())["error"])
	require.Equal(t, 200, do(s, "GET", "/", nil, nil).Code)
	require.Contains(t, do(s, "GET", "/metrics", nil, nil).Body.String(), "equivcnp_models 2")
	for _, body := range []string{"", "{", "{}"} { // which model it is for is known before what it says
		require.Equal(t, 404, do(s, "POST", "/v2/models/no/infer", nil, []byte(body)).Code, "%q", body)
	}
}

// TestCountersBeginAtZero: whoever watches a counter's increase sees the first event as well.
func TestCountersBeginAtZero(t *testing.T) {
	text := do(newServer(t, nil), "GET", "/metrics", nil, nil).Body.String()
	for _, reason := range []string{"queue", "deadline", "bytes", "share", "memory", "size", "connections", "token"} {
		require.Contains(t, text, fmt.Sprintf("equivcnp_refused_total{reason=%q} 0\n", reason))
	}
	require.Contains(t, text, `equivcnp_model_loads_total{outcome="failed"} 0`)
}

// TestInferJSON: an answer has the bits of the library's prediction, the id, and the names of the model.
func TestInferJSON(t *testing.T) {
	s := newServer(t, nil)
	b := curves(rngOf(1), 3, 9, 7)
	want := wantCurves(t, b)
	w := do(s, "POST", "/v2/models/rbf/infer", nil, curvesJSON(t, b))
	require.Equal(t, 200, w.Code, "%s", w.Body)
	got := answerJSON(t, w.Body.Bytes())
	sameBits(t, want.Mean, got["mean"], "mean")
	sameBits(t, want.Std, got["std"], "std")
	v := object(t, w.Body.Bytes())
	require.Equal(t, "rbf", v["model_name"])
	require.Equal(t, "1", v["model_version"])
	require.NotContains(t, v, "id")

	im := images(rngOf(2), 2, 20, 16)
	p := wantImages(t, im)
	pixels := make([]any, len(im.Pixels)) // null where a pixel was not observed
	for i, x := range im.Pixels {
		if im.Mask[i] {
			pixels[i] = x
		}
	}
	body, err := json.Marshal(map[string]any{"id": "seven", "inputs": []any{tensorJSON("mask", "BOOL", []int{2, 20, 16}, im.Mask),
		tensorJSON("image", "FP32", []int{2, 1, 20, 16}, pixels)}, "outputs": []any{map[string]any{"name": "std"}}})
	require.NoError(t, err)
	w = do(s, "POST", "/v2/models/digits/versions/1/infer", nil, body)
	require.Equal(t, 200, w.Code, "%s", w.Body)
	got = answerJSON(t, w.Body.Bytes())
	require.Len(t, got, 1)
	sameBits(t, p.Std, got["std"], "std")
	require.Equal(t, "seven", object(t, w.Body.Bytes())["id"])
}

// TestInferBinary: the binary extension, and a mix of both.
func TestInferBinary(t *testing.T) {
	s := newServer(t, nil)
	im := images(rngOf(3), 1, 24, 24)
	want := wantImages(t, im)
	h, body := imagesBinary(t, map[string]any{"priority": 1, "timeout": 60e6}, im)
	w := do(s, "POST", "/v2/models/digits/infer", h, body)
	require.Equal(t, 200, w.Code, "%s", w.Body)
	got := answerBinary(t, w.Header(), w.Body.Bytes())
	sameBits(t, want.Mean, got["mean"], "mean")
	sameBits(t, want.Std, got["std"], "std")

	// One output binary, the other not, of inputs in other types.
	b := curves(rngOf(4), 2, 3, 4)
	for i := range b.XContext {
		b.XContext[i] = math.Trunc(4 * b.XContext[i])
	}
	p := wantCurves(t, b)
	x := make([]int8, len(b.XContext))
	for i, v := range b.XContext {
		x[i] = int8(v)
	}
	head, err := json.Marshal(map[string]any{"inputs": []any{
		map[string]any{"name": "x_context", "datatype": "INT8", "shape": []int{2, 3, 1},
			"parameters": map[string]any{"binary_data_size": 6}},
		tensorJSON("y_context", "FP32", []int{2, 3, 1}, b.YContext), tensorJSON("x_target", "FP64", []int{2, 4, 1}, b.XTarget)},
		"outputs": []any{map[string]any{"name": "mean", "parameters": map[string]any{"binary_data": true}},
			map[string]any{"name": "std", "parameters": map[string]any{"binary_data": false}}}})
	require.NoError(t, err)
	body = head
	for _, v := range x {
		body = append(body, byte(v))
	}
	w = do(s, "POST", "/v2/models/rbf/infer", map[string]string{headerLength: fmt.Sprint(len(head))}, body)
	require.Equal(t, 200, w.Code, "%s", w.Body)
	var v struct{ Outputs []restAnswer }
	var size int
	_, err = fmt.Sscan(w.Header().Get(headerLength), &size)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(w.Body.Bytes()[:size], &v))
	require.Len(t, w.Body.Bytes()[size:], 4*len(p.Mean))
	require.Nil(t, v.Outputs[0].Data)
	require.NotNil(t, v.Outputs[1].Data)
}

// TestInvalid: what is wrong is an error that says so, of the right status.
func TestInvalid(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Body = 1 << 20 })
	in := func(inputs ...string) string { return `{"inputs":[` + strings.Join(inputs, ",") + `]}` }
	tensor := func(name, datatype, shape, data string) string {
		return fmt.Sprintf(`{"name":%q,"datatype":%q,"shape":%s,"data":%s}`, name, datatype, shape, data)
	}
	xc, yc := tensor("x_context", "FP64", "[1,1,1]", "[0]"), tensor("y_context", "FP32", "[1,1,1]", "[0]")
	for _, c := range []struct{ name, body, header, says string }{
		{"empty", "", "", "JSON"},
		{"no JSON", "{", "", "JSON"},
		{"no inputs", `{}`, "", "x_target"},
		{"an array", `[]`, "", "JSON"},
		{"a missing tensor", in(xc, yc), "", "x_target"},
		{"another tensor", in(xc, yc, tensor("z", "FP32", "[1]", "[1]")), "", `"z"`},
		{"twice", in(xc, xc), "", "two inputs"},
		{"a datatype", in(tensor("x_context", "BYTES", "[1,1,1]", `["a"]`)), "", "BYTES"},
		{"a negative axis", in(tensor("x_context", "FP64", "[1,-1,1]", "[0]")), "", "axis of -1"},
		{"an overflow", in(tensor("x_context", "FP64", "[2147483647,2147483647,2147483647]", "[0]")), "",
			"more elements than can be counted"},
		{"an axis beyond int64", in(tensor("x_context", "FP64", "[99999999999999999999,1,1]", "[0]")), "", "JSON"},
		{"many axes", in(tensor("x_context", "FP64", "[1,1,1,1,1,1,1,1,1]", "[0]")), "", "axes"},
		{"too few", in(tensor("x_context", "FP64", "[1,4,1]", "[0,1,2]")), "", "needs 4 elements"},
		{"far too few", in(tensor("x_context", "FP64", "[1,4000000,1]", "[0,1,2]")), "", "too short"},
		{"too many", in(tensor("x_context", "FP64", "[1,1,1]", "[0,1,2]")), "", "more"},
		{"a string", in(tensor("x_context", "FP64", "[1,1,1]", `["0"]`)), "", "number"},
		{"an object", in(tensor("x_context", "FP64", "[1,1,1]", `[{}]`)), "", "number"},
		{"beyond float64", in(tensor("x_context", "FP64", "[1,1,1]", `[1e999]`)), "", "not a number"},
		{"beyond float32", in(tensor("y_context", "FP32", "[1,1,1]", `[1e99]`)), "", "not a number"},
		{"null", in(tensor("x_context", "FP64", "[1,1,1]", `[null]`), yc, tensor("x_target", "FP64", "[1,1,1]", "[0]")), "", "NaN"},
		{"no data", in(`{"name":"x_context","datatype":"FP64","shape":[1,1,1]}`), "", "no data"},
		{"a rank", in(xc, yc, tensor("x_target", "FP64", "[1,1]", "[0]")), "", "shape"},
		{"a mask of 2", in(xc, yc, tensor("x_target", "FP64", "[1,1,1]", "[0]"), tensor("target_mask", "UINT8", "[1,1]", "[2]")),
			"", "0 and 1"},
		{"an output", `{"inputs":[` + xc + `],"outputs":[{"name":"median"}]}`, "", "median"},
		{"a timeout", `{"inputs":[` + xc + `],"parameters":{"timeout":-1}}`, "", "timeout"},
		{"a timeout of letters", `{"inputs":[` + xc + `],"parameters":{"timeout":"soon"}}`, "", "timeout"},
		{"a priority", `{"inputs":[` + xc + `],"parameters":{"priority":1.5}}`, "", "priority"},
		{"a flag", `{"inputs":[` + xc + `],"parameters":{"binary_data_output":1}}`, "", "binary_data_output"},
		{"a parameter", `{"inputs":[` + xc + `],"parameters":{"x":[1]}}`, "", "x"},
		{"a header length", in(xc), "-1", headerLength},
		{"a header length of letters", in(xc), "ten", headerLength},
		{"a header beyond the body", in(xc), "100000", headerLength},
		{"bytes that nobody asked for", in(xc) + "abc", fmt.Sprint(len(in(xc))), "3 bytes follow"},
		{"a size beyond the body", in(`{"name":"x_context","datatype":"FP64","shape":[1,1,1],"parameters":{"binary_data_size":8}}`),
			"", "binary_data_size"},
		{"a size that overflows", in(`{"name":"x_context","datatype":"FP64","shape":[1,1,1],"parameters":{"binary_data_size":1e18}}`),
			"", "binary_data_size"},
		{"a negative size", in(`{"name":"x_context","datatype":"FP64","shape":[1,1,1],"parameters":{"binary_data_size":-8}}`), "",
			"binary_data_size"},
		{"a size of another shape", in(`{"name":"x_context","datatype":"FP64","shape":[1,1,1],"parameters":{"binary_data_size":4}}`) +
			"abcd", "97", "needs 8 bytes"},
	} {
		h := map[string]string{}
		if c.header != "" {
			h[headerLength] = c.header
		}
		w := do(s, "POST", "/v2/models/rbf/infer", h, []byte(c.body))
		if c.name == "a size of another shape" { // the header's length is that of the JSON
			h[headerLength] = fmt.Sprint(len(c.body) - 4)
			w = do(s, "POST", "/v2/models/rbf/infer", h, []byte(c.body))
		}
		require.Equal(t, http.StatusBadRequest, w.Code, "%s: %s", c.name, w.Body)
		v := object(t, w.Body.Bytes())
		require.Len(t, v, 1, c.name)
		require.Contains(t, v["error"], c.says, c.name)
	}
	w := do(s, "POST", "/v2/models/rbf/infer", nil, make([]byte, 2<<20))
	require.Equal(t, http.StatusRequestEntityTooLarge, w.Code)
	w = do(s, "POST", "/v2/models/rbf/infer", map[string]string{"Content-Encoding": "br"}, []byte("x"))
	require.Equal(t, http.StatusUnsupportedMediaType, w.Code)
	require.Zero(t, s.bytes.used, "all reserved bytes were given back")
}

// TestOutside: a target out of reach leaves the others their prediction, with a note; JSON cannot say NaN.
func TestOutside(t *testing.T) {
	s := newServer(t, nil)
	b := curves(rngOf(5), 2, 3, 3)
	want := wantCurves(t, b)
	b.XTarget[4] = 1e12
	h, body := curvesBinary(t, nil, b)
	w := do(s, "POST", "/v2/models/rbf/infer", h, body)
	require.Equal(t, 200, w.Code, "%s", w.Body)
	got := answerBinary(t, w.Header(), w.Body.Bytes())["mean"]
	require.True(t, math.IsNaN(float64(got[4])))
	got[4] = want.Mean[4]
	sameBits(t, want.Mean, got, "mean")
	require.Contains(t, w.Body.String(), "x_target[1, 1] = 1e+12")
	w = do(s, "POST", "/v2/models/rbf/infer", nil, curvesJSON(t, b))
	require.Equal(t, 400, w.Code)
	require.Contains(t, w.Body.String(), "x_target[1, 1] = 1e+12")
}

// TestOverflow: an answer that JSON cannot hold names the output. What the request has made too large is no fault of the server.
func TestOverflow(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Models = sourcesOf([]string{"universal-1"}) })
	b := &cnp.Batch[float32]{B: 1, Nc: 2, Nt: 1, XContext: []float64{0, 1}, YContext: []float32{3e38, -3e38}, XTarget: []float64{0.5}}
	w := do(s, "POST", "/v2/models/universal-1/infer", nil, curvesJSON(t, b))
	require.Equal(t, 400, w.Code)
	require.Contains(t, w.Body.String(), `output \"std\": value 0 is +Inf, which JSON does not have`)
}

// TestTokenNobodyCanBring: what a header cannot hold is refused at the start, instead of refusing everybody, and at a reload leaves the
// token that there was.
func TestTokenNobodyCanBring(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	for name, text := range map[string]string{"two lines": "one\ntwo\n", "byte order mark": "\ufeffone\n", "UTF-16": "o\x00n\x00e\x00",
		"bytes": "\xff\xfe", "zero": "one\x00"} {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		_, err := New(Options{Models: testSources[1:], TokenFile: file})
		require.ErrorContains(t, err, file+": no header can bring it", name)
		require.NotContains(t, err.Error(), "one\n", "it is a secret")
		_, err = New(Options{Models: testSources[1:], Token: text})
		require.ErrorContains(t, err, "Token: no header can bring it", name)
	}
	require.NoError(t, os.WriteFile(file, []byte(strings.Repeat("one", 1<<20)), 0o600))
	_, err := New(Options{Models: testSources[1:], TokenFile: file})
	require.ErrorContains(t, err, file+": 3145728 bytes, this reader takes up to 1048576")
	require.NoError(t, os.WriteFile(file, []byte("\r\n one two é \r\n"), 0o600))
	s := newServer(t, func(o *Options) { o.TokenFile = file })
	get := func() int {
		return do(s, "GET", "/v2", map[string]string{"Authorization": "Bearer one two é"}, nil).Code
	}
	require.Equal(t, 200, get())
	require.NoError(t, os.WriteFile(file, []byte("one\ntwo"), 0o600))
	require.ErrorContains(t, s.Reload(), "no header can bring it")
	require.Equal(t, 200, get())
}

// TestToken: without the token nothing is answered but health and the page's files, which are the same for everybody; the page asks
// for the token itself.
func TestToken(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Token = "secret" })
	for path, open := range map[string]bool{"/v2/health/live": true, "/v2/health/ready": true, "/": true, "/v2": false,
		"/metrics": false, "/v2/models/rbf": false} {
		want := map[bool]int{true: 200, false: 401}[open]
		require.Equal(t, want, do(s, "GET", path, nil, nil).Code, path)
		require.Equal(t, want, do(s, "GET", path, map[string]string{"Authorization": "Bearer wrong"}, nil).Code, path)
		require.Equal(t, 200, do(s, "GET", path, map[string]string{"Authorization": "Bearer secret"}, nil).Code, path)
	}
}
