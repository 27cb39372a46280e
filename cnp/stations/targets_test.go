package stations

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp/tabletask"
	"github.com/equivcnp/equivcnp/internal/tables"
)

// TestPackedTargets: pieces of a compressed file are those of the plain one, from any place on, and damage is named with the file.
func TestPackedTargets(t *testing.T) {
	text := "# places\nx\n" + strings.Repeat("1.25\n-0.5\n3\n", 1000)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := z.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	dir := t.TempDir()
	open := func(name string, b []byte) (*targets, error) {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, b, 0o666))
		return openTargets(&Options{Options: optionsOf(path)})
	}
	for _, at := range []int64{0, 11, 16, 12000, int64(len(text))} {
		plain, err := open("t.csv", []byte(text))
		require.NoError(t, err)
		same, err := open("t.csv.gz", packed.Bytes())
		require.NoError(t, err)
		require.NoError(t, plain.begin(at))
		require.NoError(t, same.begin(at))
		for ended := false; !ended; {
			var want, got []byte
			want, ended, err = plain.next(700)
			require.NoError(t, err)
			var last bool
			got, last, err = same.next(700)
			require.NoError(t, err)
			require.Equal(t, ended, last)
			require.Equal(t, string(want), string(got))
			require.Equal(t, plain.at, same.at)
		}
		require.NoError(t, plain.Close())
		require.NoError(t, same.Close())
	}
	cut, err := open("cut.csv.gz", packed.Bytes()[:packed.Len()-5])
	if err == nil {
		_, _, err = cut.next(5000)
		require.NoError(t, cut.Close())
	}
	require.ErrorIs(t, err, tables.ErrPacked)
	require.ErrorContains(t, err, "cut.csv.gz: not a compressed file that can be read: it is compressed by gzip and ends too early")
}

// optionsOf are those of a run with targets of a file.
func optionsOf(path string) (o tabletask.Options) {
	o.Targets = path
	return o
}
