package client

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
)

// answers is a server that says the same to everybody.
type answers struct {
	head, status int
	length       string // of the head, if not that number
	body         []byte
}

func (a answers) RoundTrip(*http.Request) (*http.Response, error) {
	if a.length == "" {
		a.length = strconv.Itoa(a.head)
	}
	return &http.Response{StatusCode: a.status, Header: http.Header{headerLength: {a.length}, "Retry-After": {a.length}},
		Body: io.NopCloser(bytes.NewReader(a.body))}, nil
}

func of(a answers) *Client { return New("http://host", Options{HTTP: &http.Client{Transport: a}}) }

// two holds two numbers for mean and std each.
const two = `{"model_name":"m","outputs":[{"name":"mean","datatype":"FP32","shape":[1,2,1],"parameters":{"binary_data_size":8}},` +
	`{"name":"std","datatype":"FP32","shape":[1,2,1],"parameters":{"binary_data_size":8}}]}`

func curves(targets int) *cnp.Batch[float32] {
	return &cnp.Batch[float32]{B: 1, Nc: 1, Nt: targets, XContext: []float64{1}, YContext: []float32{2}, XTarget: make([]float64, targets)}
}

// TestWrongCount: an answer of another number of values than was asked for is an error.
func TestWrongCount(t *testing.T) {
	c := of(answers{len(two), 200, "", append([]byte(two), make([]byte, 16)...)})
	p, err := c.Predict(context.Background(), "m", curves(2), 1, 1)
	require.NoError(t, err)
	require.Len(t, p.Mean, 2)
	require.Len(t, p.Std, 2)
	_, err = c.Predict(context.Background(), "m", curves(3), 1, 1)
	require.ErrorContains(t, err, "need 3")
	_, err = c.Complete(context.Background(), "m", &cnp.Images[float32]{B: 1, C: 1, H: 1, W: 1, Pixels: []float32{0}, Mask: []bool{true}})
	require.ErrorContains(t, err, "the answer has 2 numbers of ")
}

// FuzzRead reads what a server, or whatever stands between, might answer.
func FuzzRead(f *testing.F) {
	f.Add(200, len(two), "", append([]byte(two), make([]byte, 16)...))
	f.Add(200, len(two), "", []byte(two))
	f.Add(200, 2, "", []byte(`{}`))
	f.Add(200, -1, "", []byte(`{}`))
	f.Add(200, 1<<30, "", []byte(`{"outputs":[{"name":"mean","datatype":"FP32","shape":[-1],"parameters":{"binary_data_size":1e9}}]}`))
	f.Add(503, 9, "7", []byte(`{"error":"busy"}`))
	f.Add(429, 9, "99999999999999999999", []byte("\xff\x00"))
	f.Fuzz(func(t *testing.T, status, head int, length string, body []byte) {
		p, err := of(answers{head, 100 + (status%500+500)%500, length, body}).Predict(context.Background(), "m", curves(2), 1, 1)
		if err == nil {
			require.Len(t, p.Mean, 2)
			require.Len(t, p.Std, 2)
		}
	})
}
