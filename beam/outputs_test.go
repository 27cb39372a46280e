package main

import (
	"testing"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/predict"
	"github.com/equivcnp/equivcnp/internal/safetensors"
)

// TestOutputs: a pipeline gives what the library does, the covariances of a vector field too: names, shapes and bits.
func TestOutputs(t *testing.T) {
	m, err := use("vectors-rbf")
	if err != nil {
		t.Fatal(err)
	}
	b := &cnp.Batch[float32]{B: 1, Nc: 3, Nt: 2, XContext: []float64{0, 0, 1, 0, 0, 1},
		YContext: []float32{1, 0, 0.5, 0.5, -1, 1}, XTarget: []float64{0.5, 0.5, 0.2, 0.8}}
	p, err := cnp.Standardised(m.model.(cnp.Regressor[float32])).Predict(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	names := predict.Names(predict.Outputs(p.Distribution()))
	names = names[:len(names)-1] // without samples
	want, err := (&predict.Result{Prediction: p, Shape: []int{1, 2, 2}, Quantiles: []float64{0.1, 0.9}}).Tensors(names...)
	if err != nil {
		t.Fatal(err)
	}
	f := &predictFn{Options: Options{Outputs: names, Quantiles: []float64{0.1, 0.9}}, m: m}
	part, err := f.partOf(p, 1, []int{1, 2, 2}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := safetensors.Decode(part.Data)
	if err != nil || len(got.Tensors) != len(want) {
		t.Fatal(err, len(got.Tensors))
	}
	for _, w := range want {
		g := got.Get(w.Name)
		if g == nil || len(g.Shape) != len(w.Shape) {
			t.Fatalf("%s: %v, want %v", w.Name, g, w.Shape)
		}
		values, err := g.Float32s()
		if err != nil || len(values) != len(w.Values) {
			t.Fatal(err)
		}
		for i, v := range values {
			if v != w.Values[i] {
				t.Fatalf("%s[%d] = %v, want %v", w.Name, i, v, w.Values[i])
			}
		}
	}
}
