package npy

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/safetensors"
	"github.com/equivcnp/equivcnp/internal/testkit"
)

// TestHostile calls what is exported with what nobody should pass.
func TestHostile(t *testing.T) {
	named := func(name string, f any, good ...any) {
		t.Helper()
		testkit.Hostile(t, "npy", name, f, good...)
	}
	x := safetensors.FromFloat32s("x", []int{2, 2}, []float32{1, 2, 3, 4})
	named("EncodeArray", func(t *safetensors.Tensor) { _ = EncodeArray(io.Discard, t) }, &x)
	named("Encode", func(t []safetensors.Tensor) { _ = Encode(io.Discard, t) }, []safetensors.Tensor{x})
	named("Header", func(shape []int) { _, _ = Header(shape) }, []int{2, 3})
	var b bytes.Buffer
	require.NoError(t, EncodeArray(&b, &x))
	named("Decode", func(b []byte) { _, _ = Decode(b) }, b.Bytes())
	named("OpenArray", func(r io.ReaderAt, n int64) { _, _ = OpenArray(r, n) }, bytes.NewReader(b.Bytes()), int64(b.Len()))
	a, err := OpenArray(bytes.NewReader(b.Bytes()), int64(b.Len()))
	require.NoError(t, err)
	named("Float32s", func(dst []float32, at int) { _ = a.Float32s(dst, at) }, []float32{0, 0}, 2)
	v := []float32{0, 0}
	require.NoError(t, a.Float32s(v, 2))
	require.Equal(t, []float32{3, 4}, v)
	require.ErrorIs(t, a.Float32s(v, 3), ErrFormat)
	require.ErrorIs(t, a.Float32s(v, -1), ErrFormat)
}
