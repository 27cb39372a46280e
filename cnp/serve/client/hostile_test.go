package client

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/internal/testkit"
)

// TestHostile calls what is exported with what nobody should pass, and reads answers that nobody should send.
func TestHostile(t *testing.T) {
	answer := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set(headerLength, "9999")
		_, _ = w.Write([]byte(answer))
	}))
	defer server.Close()
	named := func(name string, f any, good ...any) {
		t.Helper()
		testkit.Hostile(t, "client", name, f, good...)
	}
	c := New(server.URL, Options{})
	named("New", func(base string, o Options) {
		_, _ = New(base, o).Infer(t.Context(), "m", &Request{})
	}, server.URL, Options{Retries: 1, Token: "t"})
	named("Infer", func(model string, r *Request) { _, _ = c.Infer(t.Context(), model, r) }, "m", &Request{ID: "1",
		Inputs: []Tensor{Float32s("x", []int{1}, []float32{2})}, Outputs: []string{"mean"}, Parameters: map[string]any{"a": 1}})
	named("Complete", func(im *cnp.Images[float32]) { _, _ = c.Complete(t.Context(), "m", im) },
		&cnp.Images[float32]{B: 1, C: 1, H: 1, W: 2, Pixels: []float32{1, 2}, Mask: []bool{true, false}})
	named("Predict", func(b *cnp.Batch[float32], dx, dy int) { _, _ = c.Predict(t.Context(), "m", b, dx, dy) },
		&cnp.Batch[float32]{B: 1, Nc: 1, Nt: 1, XContext: []float64{1}, YContext: []float32{1}, XTarget: []float64{2},
			AuxTarget: []float32{1}}, 1, 1)
	named("Float32s", func(x Tensor) { _, _ = x.Float32s() }, Float32s("x", []int{2}, []float32{1, 2}))
	named("Ready", func(model string) { _, _ = c.Ready(t.Context(), model) }, "m")

	for _, shape := range []string{"[4611686018427387904]", "[-1]", "[4294967296,4294967296]", "[1]"} {
		answer = `{"outputs":[{"name":"mean","datatype":"FP32","shape":` + shape + `,"parameters":{"binary_data_size":0}},` +
			`{"name":"std","datatype":"FP32","shape":` + shape + `,"parameters":{"binary_data_size":0}}]}`
		_, err := c.Complete(t.Context(), "m", &cnp.Images[float32]{})
		require.Error(t, err, shape)
	}
}
