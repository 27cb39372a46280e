package main

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/serve"
	"github.com/equivcnp/equivcnp/internal/tabular"
	"github.com/equivcnp/equivcnp/internal/toy"
)

// TestToyModel: the program regresses with a model whose architecture it does not know.
func TestToyModel(t *testing.T) {
	b := newBench(t)
	m := b.save("m.safetensors", cnp.Default(toy.Architecture, "", 1))
	b.write("data.csv", "x,y\n-1,0.5\n0.25,-1\n1,2\n")
	b.ok("regress", "--model", "@m.safetensors", "--csv", "@data.csv", "--from", "-2", "--to", "2", "--points", "3", "--out", "@pred.csv")
	x := []float64{-2, 0, 2}
	want, err := m.(cnp.Regressor[float32]).Predict(context.Background(), &cnp.Batch[float32]{
		B: 1, Nc: 3, Nt: 3, XContext: []float64{-1, 0.25, 1}, YContext: []float32{0.5, -1, 2}, XTarget: x})
	require.NoError(t, err)
	pred, err := tabular.ReadFile(b.path("pred.csv"))
	require.NoError(t, err)
	for i := range x {
		require.Equal(t, want.Mean[i], float32(pred.Values[3*i+1]))
		require.Equal(t, want.Std[i], float32(pred.Values[3*i+2]))
	}
	b.ok("inspect", "@m.safetensors")
}

// TestToyServed: the server serves a model whose architecture it does not know.
func TestToyServed(t *testing.T) {
	b := newBench(t)
	m := b.save("m.safetensors", cnp.Default(toy.Architecture, "", 1))
	s, err := serve.New(serve.Options{Models: []serve.Source{{Name: "toy", Path: b.path("m.safetensors")}}, Memory: 1 << 30})
	require.NoError(t, err)
	defer s.Close()
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("POST", "/v2/models/toy/infer", strings.NewReader(`{"inputs":[
		{"name":"x_context","shape":[1,2,1],"datatype":"FP64","data":[-1,1]},
		{"name":"y_context","shape":[1,2,1],"datatype":"FP32","data":[0.5,2]},
		{"name":"x_target","shape":[1,2,1],"datatype":"FP64","data":[0,3]}]}`)))
	require.Equal(t, 200, w.Code, "%s", w.Body)
	var got struct {
		Outputs []struct {
			Name string
			Data []float32
		}
	}
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &got))
	want, err := m.(cnp.Regressor[float32]).Predict(context.Background(), &cnp.Batch[float32]{
		B: 1, Nc: 2, Nt: 2, XContext: []float64{-1, 1}, YContext: []float32{0.5, 2}, XTarget: []float64{0, 3}})
	require.NoError(t, err)
	require.Equal(t, want.Mean, got.Outputs[0].Data, got.Outputs[0].Name)
	require.Equal(t, want.Std, got.Outputs[1].Data, got.Outputs[1].Name)
}
