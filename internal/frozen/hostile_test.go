package frozen

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// TestHostile calls what is exported with what nobody should pass: bytes that are no file, pointers that are nil.
func TestHostile(t *testing.T) {
	named := func(name string, f any, good ...any) {
		t.Helper()
		testkit.Hostile(t, "frozen", name, f, good...)
	}
	t.Chdir(t.TempDir()) // where files of hostile names go
	const path = "a"
	numbers, set, n, b := []float32{1, 2, 3}, []bool{true, false}, 5, true
	all := func(f *File, numbers *[]float32, set *[]bool, n *int, b *bool) {
		Array(f, numbers)
		f.Bools(set)
		f.Int(n)
		f.Bool(b)
	}
	write := func(f *File) { all(f, &numbers, &set, &n, &b) }
	require.NoError(t, Create(path, 1, Key{}, write))
	bytes, err := os.ReadFile(path)
	require.NoError(t, err)
	named("Create", func(path string, version uint32, write func(*File)) { _ = Create(path, version, Key{}, write) }, path,
		uint32(1), write)
	named("Create of nil", func(numbers *[]float32, set *[]bool, n *int, b *bool) {
		_ = Create(path, 1, Key{}, func(f *File) { all(f, numbers, set, n, b) })
	}, &numbers, &set, &n, &b)
	named("Open", func(path string, version uint32) {
		if f, err := Open(path, version, Key{}); err == nil {
			_ = f.Wait()
		}
	}, path, uint32(1))
	named("Decode", func(b []byte, version uint32) { _, _ = Decode(b, version, Key{}) }, bytes, uint32(1))
	named("Decode and read", func(numbers *[]float32, set *[]bool, n *int, b *bool) {
		f, err := Decode(bytes, 1, Key{})
		require.NoError(t, err)
		all(f, numbers, set, n, b)
		all(f, numbers, set, n, b) // there is nothing left
		require.ErrorIs(t, f.Err(), ErrFile)
	}, &numbers, &set, &n, &b)
	named("Seal", Seal, bytes)
}
