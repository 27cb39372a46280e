package stations

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/shards"
)

// FuzzResume opens outputs beside journals that were damaged: what is kept of the output is what one of the journal's steps recorded.
// The steps are taken from the input, and the journal's digests made anew, so that the steps themselves are read.
func FuzzResume(f *testing.F) {
	path := filepath.Join(f.TempDir(), "out.csv")
	part := []byte("1,2\n3,4\n")
	sums := func() (out []string) {
		o, err := openOutput(path, "work")
		require.NoError(f, err)
		for i := range 2 {
			require.NoError(f, o.add(part, int64(10*(i+1)), 2))
			out = append(out, o.at.Sum)
		}
		require.NoError(f, o.close())
		return out
	}()
	whole, err := os.ReadFile(path + ".partial")
	require.NoError(f, err)
	require.Len(f, whole, 2*len(part))
	steps := `{"in":10,"out":8,"rows":2,"sum":"` + sums[0] + `"}`
	f.Add(whole, []byte(steps), []byte(`{"in":20,"out":16,"rows":4,"sum":"`+sums[1]+`"}`))
	f.Add(whole[:12], []byte(steps), []byte(`{"in":20,"out":16,"rows":4,"sum":"`+sums[1]+`"}`))
	f.Add(whole, []byte(`{"in":-1,"out":-8}`), []byte(`{"in":9223372036854775807,"out":9223372036854775807,"rows":1}`))
	f.Add([]byte{}, []byte(`null`), []byte(`[]`))
	f.Fuzz(func(t *testing.T, partial, one, two []byte) {
		if !json.Valid(one) || !json.Valid(two) { // which no journal with digests holds
			return
		}
		require.NoError(t, os.RemoveAll(path+".progress"))
		p, err := shards.OpenProgress(path+".progress", "work", nil)
		require.NoError(t, err)
		for _, s := range [][]byte{one, two} {
			require.NoError(t, p.Step(json.RawMessage(s)))
		}
		require.NoError(t, p.Close())
		require.NoError(t, os.WriteFile(path+".partial", partial, 0o666))
		o, err := openOutput(path, "work")
		require.NoError(t, err)
		at := o.at
		require.GreaterOrEqual(t, at.In, int64(0))
		require.GreaterOrEqual(t, at.Rows, 0)
		require.LessOrEqual(t, at.Out, int64(len(partial)))
		size, err := o.Stat()
		require.NoError(t, err)
		require.Equal(t, at.Out, size.Size())
		require.NoError(t, o.close())
	})
}
