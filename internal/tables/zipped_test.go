package tables

import (
	"archive/zip"
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/tabular"
)

// zipped is an archive of files with these names and texts, in turn.
func zipped(t *testing.T, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		f, err := w.Create(files[i])
		require.NoError(t, err)
		_, err = f.Write([]byte(files[i+1]))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

// TestZipped: the only file of an archive is the table, whatever it is; others say what is the matter.
func TestZipped(t *testing.T) {
	const csv = "x,y\n1,2\n3,4\n"
	for name, b := range map[string][]byte{
		"csv":         zipped(t, "data.csv", csv),
		"in a folder": zipped(t, "data/", "", "data/a.csv", csv),
		"of macOS":    zipped(t, "a.csv", csv, "__MACOSX/._a.csv", "\x00\x05\x16\x07", ".DS_Store", "x"),
		"JSON":        zipped(t, "a.json", `[{"x":1,"y":2},{"x":3,"y":4}]`),
	} {
		got, err := Decode(b, "data.zip", nil)
		require.NoError(t, err, name)
		require.Equal(t, []string{"x", "y"}, got.Header, name)
		require.Equal(t, []float64{1, 2, 3, 4}, got.Values, name)
		require.Equal(t, "data.zip", got.Name)
	}
	several := zipped(t, "a.csv", csv, "readme.txt", "see a.csv")
	inner := zipped(t, "b.zip", string(zipped(t, "a.csv", csv)))
	broken := zipped(t, "a.csv", csv)
	at := bytes.Index(broken, []byte("a.csv")) + len("a.csv")
	broken[at+2] ^= 0x55
	locked := zipped(t, "a.csv", csv)
	for _, begin := range []string{"PK\x03\x04", "PK\x01\x02"} { // where the flags stand
		k := bytes.Index(locked, []byte(begin))
		locked[k+map[string]int{"PK\x03\x04": 6, "PK\x01\x02": 8}[begin]] |= 1
	}
	for want, b := range map[string][]byte{
		`z.zip: not a compressed file that can be read: it holds 2 files, such as "a.csv": unpack the one that is the table`: several,
		"z.zip: not a compressed file that can be read: it holds an archive of zip: unpack it first":                         inner,
		`z.zip: not a compressed file that can be read: its file "a.csv" is encrypted: unpack it first`:                      locked,
		"it is compressed by zip and damaged":     broken,
		"a zip file without any array or sheet":   zipped(t),
		"it is compressed twice, by zip and gzip": zipped(t, "a.csv.gz", "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03"),
		"holds more than ":                        zipped(t, "a.csv", "x,y\n"+string(bytes.Repeat([]byte("0,0\n"), 1<<21))),
	} {
		_, err := Decode(b, "z.zip", nil)
		require.ErrorContains(t, err, want)
	}
	_, err := decode(zipped(t, "a.csv", csv), "z.zip", "Sheet 1", nil, tabular.Options{})
	require.ErrorIs(t, err, ErrSheet)
}
