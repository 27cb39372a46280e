package hdf5

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// everything reads all that a file has, as far as it goes.
func everything(b []byte) {
	f, err := Open(b)
	if err != nil {
		return
	}
	all, root, err := f.Datasets()
	if err != nil {
		return
	}
	for _, d := range all {
		for _, a := range append(d.Attrs, root...) {
			_, _ = a.Texts()
			_, _ = a.References()
		}
		if d.Type.Check() == nil {
			_, _ = d.Read()
			_, _ = d.Texts()
			_ = d.Fill()
		}
	}
}

// TestDamaged: a file of which bytes were changed or that was cut off is read, or is an error, and nothing else.
func TestDamaged(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, name := range []string{"old", "new"} {
		b, err := os.ReadFile(filepath.Join("testdata", name+".h5"))
		require.NoError(t, err)
		for range 100 {
			c := append([]byte(nil), b...)
			for range 1 + rng.IntN(8) {
				at := rng.IntN(len(c))
				if rng.IntN(2) == 0 {
					at = rng.IntN(4096)
				}
				c[at] = byte(rng.Uint32())
			}
			everything(c)
			everything(c[:rng.IntN(len(c))])
		}
	}
}

// TestCircle: a group that holds itself, under another address, ends.
func TestCircle(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("testdata", "new.h5"))
	require.NoError(t, err)
	f, err := Open(b)
	require.NoError(t, err)
	f.refill()
	n := 0
	for ; err == nil; n++ {
		_, err = f.header(f.root, 0)
	}
	require.ErrorContains(t, err, "again and again")
	require.Less(t, n, 1_000_000)
}
