package netcdf

import (
	"io"
	"testing"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// TestHostile calls what is exported with what nobody should pass.
func TestHostile(t *testing.T) {
	named := func(name string, f any, good ...any) {
		t.Helper()
		testkit.Hostile(t, "netcdf", name, f, good...)
	}
	dims := []Dim{{Name: "lat", Len: 2}, {Name: "lon", Len: 3}}
	named("Add", func(dims []Dim, name string, kind Type, over []int, values []float64, attrs []Attr) {
		f := File{Dims: dims}
		if f.Add(name, kind, over, values, attrs...) == nil {
			_ = f.Values(f.Var(name))
			_ = Encode(io.Discard, &f, 1)
			_ = Encode(io.Discard, &f, 5)
		}
	}, dims, "t", Short, []int{0, 1}, []float64{1, 2, 3, 4, 5, 6}, []Attr{Number("_FillValue", -1), Text("units", "K")})
	named("AddText", func(dims []Dim, name string, over []int, texts []string) {
		f := File{Dims: dims}
		if f.AddText(name, over, texts) == nil {
			_ = f.Strings(f.Var(name))
			_ = Encode(io.Discard, &f, 2)
		}
	}, dims, "names", []int{0}, []string{"a", "bc"})
	named("Decode", func(b []byte) { _, _ = Decode(b) }, []byte("CDF\x01\x00\x00\x00\x00"))
}
