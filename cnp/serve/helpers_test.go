package serve

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/pretrained"
)

// testSources are a model of images and one of curves.
var testSources = []Source{{Name: "digits", Path: "digits-T2-small"}, {Name: "rbf", Path: "rbf-equivcnp"}}

// newServer returns a server of the test models.
func newServer(t testing.TB, change func(*Options)) *Server {
	t.Helper()
	opt := Options{Models: testSources, Memory: 1 << 30}
	if change != nil {
		change(&opt)
	}
	s, err := New(opt)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

// listen serves on a port of this machine until the test ends, as the program does.
func listen(t testing.TB, s *Server, limits Limits) (url string, stop func() error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l, limits) }()
	var err2 error
	stopped := false
	stop = func() error {
		if !stopped {
			stopped = true
			cancel()
			err2 = <-ended
		}
		return err2
	}
	t.Cleanup(func() { stop() })
	return "http://" + l.Addr().String(), stop
}

// do answers a request without a network.
func do(s http.Handler, method, path string, header map[string]string, body []byte) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, bytes.NewReader(body))
	for k, v := range header {
		r.Header.Set(k, v)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// object decodes a JSON object.
func object(t testing.TB, b []byte) map[string]any {
	t.Helper()
	var v map[string]any
	require.NoError(t, json.Unmarshal(b, &v), "%s", b)
	return v
}

// curves draws tasks; ragged ones have masks.
func curves(rng *rand.Rand, tasks, context, targets int) *cnp.Batch[float32] {
	b := &cnp.Batch[float32]{B: tasks, Nc: context, Nt: targets}
	for range tasks * context {
		b.XContext, b.YContext = append(b.XContext, 4*rng.Float64()-2), append(b.YContext, float32(rng.NormFloat64()))
	}
	for range tasks * targets {
		b.XTarget = append(b.XTarget, 4*rng.Float64()-2)
	}
	return b
}

// images draws images of which a part is observed.
func images(rng *rand.Rand, n, h, w int) *cnp.Images[float32] {
	im := &cnp.Images[float32]{B: n, C: 1, H: h, W: w}
	for range n * h * w {
		im.Pixels, im.Mask = append(im.Pixels, rng.Float32()), append(im.Mask, rng.Float64() < 0.3)
	}
	return im
}

// tensorJSON is an input of a request.
func tensorJSON(name, datatype string, shape []int, data any) map[string]any {
	return map[string]any{"name": name, "datatype": datatype, "shape": shape, "data": data}
}

func curvesJSON(t testing.TB, b *cnp.Batch[float32]) []byte {
	t.Helper()
	v, err := json.Marshal(map[string]any{"inputs": []any{
		tensorJSON("x_context", "FP64", []int{b.B, b.Nc, 1}, b.XContext), tensorJSON("y_context", "FP32", []int{b.B, b.Nc, 1}, b.YContext),
		tensorJSON("x_target", "FP64", []int{b.B, b.Nt, 1}, b.XTarget)}})
	require.NoError(t, err)
	return v
}

// binaryBody is a request with binary inputs and outputs.
func binaryBody(t testing.TB, params map[string]any, inputs []map[string]any, data ...any) (map[string]string, []byte) {
	t.Helper()
	var raw bytes.Buffer
	for i, d := range data {
		before := raw.Len()
		require.NoError(t, binary.Write(&raw, binary.LittleEndian, d))
		inputs[i]["parameters"] = map[string]any{"binary_data_size": raw.Len() - before}
		delete(inputs[i], "data")
	}
	p := map[string]any{"binary_data_output": true}
	for k, v := range params {
		p[k] = v
	}
	head, err := json.Marshal(map[string]any{"inputs": inputs, "parameters": p})
	require.NoError(t, err)
	return map[string]string{headerLength: strconv.Itoa(len(head))}, append(head, raw.Bytes()...)
}

func imagesBinary(t testing.TB, params map[string]any, im *cnp.Images[float32]) (map[string]string, []byte) {
	return binaryBody(t, params, []map[string]any{tensorJSON("image", "FP32", []int{im.B, im.C, im.H, im.W}, nil),
		tensorJSON("mask", "BOOL", []int{im.B, 1, im.H, im.W}, nil)}, im.Pixels, im.Mask)
}

func curvesBinary(t testing.TB, params map[string]any, b *cnp.Batch[float32]) (map[string]string, []byte) {
	return binaryBody(t, params, []map[string]any{tensorJSON("x_context", "FP64", []int{b.B, b.Nc, 1}, nil),
		tensorJSON("y_context", "FP32", []int{b.B, b.Nc, 1}, nil), tensorJSON("x_target", "FP64", []int{b.B, b.Nt, 1}, nil)},
		b.XContext, b.YContext, b.XTarget)
}

// answerJSON is the data of an answer's outputs by name.
func answerJSON(t testing.TB, body []byte) map[string][]float32 {
	t.Helper()
	var v struct {
		Outputs []struct {
			Name, Datatype string
			Shape          []int
			Data           []float32
		}
	}
	require.NoError(t, json.Unmarshal(body, &v), "%s", body)
	out := map[string][]float32{}
	for _, o := range v.Outputs {
		require.Equal(t, "FP32", o.Datatype)
		n := 1
		for _, d := range o.Shape {
			n *= d
		}
		require.Len(t, o.Data, n)
		out[o.Name] = o.Data
	}
	return out
}

// answerBinary is the same of binary data.
func answerBinary(t testing.TB, h http.Header, body []byte) map[string][]float32 {
	t.Helper()
	size, err := strconv.Atoi(h.Get(headerLength))
	require.NoError(t, err, "%s", body)
	var v struct {
		Outputs []struct {
			Name       string
			Parameters struct {
				Size int `json:"binary_data_size"`
			}
		}
	}
	require.NoError(t, json.Unmarshal(body[:size], &v))
	body = body[size:]
	out := map[string][]float32{}
	for _, o := range v.Outputs {
		x := make([]float32, o.Parameters.Size/4)
		require.NoError(t, binary.Read(bytes.NewReader(body), binary.LittleEndian, x))
		body, out[o.Name] = body[o.Parameters.Size:], x
	}
	require.Empty(t, body)
	return out
}

// shipped loads a model as a user of the library does.
func shipped(t testing.TB, name string) cnp.Model[float32] {
	t.Helper()
	m, err := pretrained.Load(name)
	require.NoError(t, err)
	return m
}

// wantCurves is what equivcnp predict answers.
func wantCurves(t testing.TB, b *cnp.Batch[float32]) *cnp.Prediction[float32] {
	t.Helper()
	m := shipped(t, "rbf-equivcnp")
	cfg := m.Config()
	scaled, undo, err := cnp.Standardise(&cfg, b)
	require.NoError(t, err)
	p, err := m.(cnp.Regressor[float32]).Predict(context.Background(), scaled)
	require.NoError(t, err)
	undo(p)
	return p
}

func wantImages(t testing.TB, im *cnp.Images[float32]) *cnp.Prediction[float32] {
	t.Helper()
	p, err := shipped(t, "digits-T2-small").(cnp.Completer[float32]).Complete(context.Background(), im)
	require.NoError(t, err)
	return p
}

// sameBits fails unless two slices are equal bit for bit.
func sameBits(t testing.TB, want, got []float32, what string) {
	t.Helper()
	require.Len(t, got, len(want), what)
	for i := range want {
		require.Equal(t, math.Float32bits(want[i]), math.Float32bits(got[i]), "%s[%d]: %v, want %v", what, i, got[i], want[i])
	}
}

// post sends a request over the network.
func post(t testing.TB, url string, header map[string]string, body []byte) (int, http.Header, []byte) {
	t.Helper()
	r, err := http.NewRequest("POST", url, bytes.NewReader(body))
	require.NoError(t, err)
	for k, v := range header {
		r.Header.Set(k, v)
	}
	c := http.Client{Timeout: 60 * time.Second}
	resp, err := c.Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, resp.Header, b
}

func rngOf(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }
