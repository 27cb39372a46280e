package tables

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/tabular"
)

// gzipped is a text compressed by gzip.
func gzipped(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := io.WriteString(w, text)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

// zstandard is a text compressed by zstd.
func zstandard(t *testing.T, text string) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	defer w.Close()
	return w.EncodeAll([]byte(text), nil)
}

// TestPacked: a compressed file is that of what it holds, from a file and from bytes, whatever it is called.
func TestPacked(t *testing.T) {
	text := "x,y\n1,2\n3,4\n"
	bz2, err := os.ReadFile(filepath.Join("testdata", "table.csv.bz2"))
	require.NoError(t, err)
	dir := t.TempDir()
	for name, b := range map[string][]byte{"a.csv.gz": gzipped(t, text), "b.csv": gzipped(t, text),
		"c.tsv.gz": gzipped(t, strings.ReplaceAll(text, ",", "\t")), "d.json.gz": gzipped(t, `[{"x":1,"y":2},{"x":3,"y":4}]`),
		"e.csv.bz2": bz2, "f.csv.zst": zstandard(t, text),
		"two members.csv.gz": append(gzipped(t, text[:6]), gzipped(t, text[6:])...)} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, b, 0o600))
		for range 2 {
			got, err := ReadFile(path, nil)
			require.NoError(t, err)
			require.Equal(t, path, got.Name)
			require.Equal(t, "x|y\n1|2\n3|4", cellsOf(got), name)
			_, err = got.Find(tabular.Want{X: []string{"z"}})
			require.ErrorContains(t, err, name)
		}
		got, err := Decode(b, name, nil)
		require.NoError(t, err)
		require.Equal(t, "x|y\n1|2\n3|4", cellsOf(got), name)
	}
	_, err = Decode(gzipped(t, "x,y\n1,2\n3,4,5\n"), "a.csv.gz", nil)
	require.ErrorContains(t, err, "a.csv.gz:3:5: not a table of numbers: this row has 3 cells") // lines of what it holds
	got, err := Decode([]byte("BZh,y\n1,2\n"), "a.csv", nil)
	require.NoError(t, err)
	require.Equal(t, "BZh|y\n1|2", cellsOf(got))
	require.Equal(t, ".csv", Ending("A.CSV.gz"))
	require.Equal(t, ".csv", Ending("a.gz.csv"))
	require.Equal(t, "", Ending("a.bz2"))
}

// TestPackedErrors: what a compressed file must not be is an error that names the file and what is inside.
func TestPackedErrors(t *testing.T) {
	var rows strings.Builder
	for i := range 20000 {
		rows.WriteString(strings.Repeat(string(rune('0'+i%7)), 1+i%5) + "," + string(rune('0'+i*i%10)) + "\n")
	}
	whole := gzipped(t, rows.String())
	damaged := bytes.Clone(whole)
	damaged[len(damaged)/2] ^= 0x55
	sum := bytes.Clone(whole)
	binary.LittleEndian.PutUint32(sum[len(sum)-8:], 1)
	cut := zstandard(t, rows.String())
	tar := make([]byte, 1024)
	copy(tar, "a.csv")
	copy(tar[257:], "ustar\x0000")
	for _, c := range []struct {
		b    []byte
		want string
	}{
		{whole[:len(whole)/2], "compressed by gzip and ends too early"}, {whole[:5], "compressed by gzip and ends too early"},
		{whole[:len(whole)-3], "compressed by gzip and ends too early"},
		{damaged, "compressed by gzip and "}, {sum, "compressed by gzip and damaged"},
		{cut[:len(cut)/2], "compressed by zstd and ends too early"},
		{gzipped(t, "X\n\x00\x00\x00\x03\x00\x04"), "it is data of R: write.csv"}, {gzipped(t, "RDX3\nX\n"), "it is data of R: write.csv"},
		{gzipped(t, string(gzipped(t, "x,y\n1,2\n"))), "compressed twice, by gzip and gzip"},
		{gzipped(t, string(tar)), "holds an archive of tar"},
		{gzipped(t, "x,y\n"+strings.Repeat("0,0\n", 1<<22)), "too many for its size"},
		{zstandard(t, "x,y\n"+strings.Repeat("0,0\n", 1<<22)), "too many for its size"},
		{gzipped(t, `[`+strings.Repeat(`{"x":1},`, 1<<20)), "too many for its size"},
	} {
		path := filepath.Join(t.TempDir(), "a.csv.gz")
		require.NoError(t, os.WriteFile(path, c.b, 0o600))
		_, err := ReadFile(path, nil)
		require.ErrorContains(t, err, path+": ")
		require.ErrorContains(t, err, c.want)
		_, err = Decode(c.b, "b.csv.gz", nil)
		require.ErrorContains(t, err, "b.csv.gz: ")
		require.ErrorContains(t, err, c.want)
	}
	_, err := Decode(gzipped(t, "x,y\n1,2\n"), "a.parquet.gz", nil)
	require.ErrorIs(t, err, ErrFormat)
}
