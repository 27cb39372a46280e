package safetensors_test

import (
	"testing"

	. "github.com/equivcnp/equivcnp/internal/safetensors"
	"github.com/equivcnp/equivcnp/internal/testkit"
)

// TestHostile calls what is exported with what nobody should pass.
func TestHostile(t *testing.T) {
	named := func(name string, f any, good ...any) {
		t.Helper()
		testkit.Hostile(t, "safetensors", name, f, good...)
	}
	named("Encode", func(f *File) { _, _ = Encode(f) }, &File{Metadata: map[string]string{"a": "b"},
		Tensors: []Tensor{FromFloat32s("x", []int{2, 1}, []float32{1, 2}), FromInt64s("n", []int{1}, []int64{3})}})
	named("FromFloat32s", FromFloat32s, "x", []int{2}, []float32{1, 2})
	for _, x := range []Tensor{FromFloat32s("x", []int{2, 1}, []float32{1, 2}), FromFloat64s("y", []int{2}, []float64{1, 2}),
		{Name: "none", DType: F32, Shape: []int{0}}, {Name: "empty", DType: F32, Shape: []int{1}}} {
		named("Tensor "+x.Name, func(x Tensor) {
			x.Len()
			_, _ = x.Float32s()
			_, _ = x.Float64s()
			_, _ = x.SharedFloat32s()
		}, x)
	}
	b, _ := Encode(&File{Tensors: []Tensor{FromFloat32s("x", []int{2}, []float32{1, 2})}})
	named("Decode", func(b []byte) { _, _ = Decode(b) }, b)
	named("Read", func(path string) { _, _ = Read(path) }, t.TempDir())
}
