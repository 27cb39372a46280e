package shards

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzJournals reads manifests, records and journals that were damaged, by a disk or by hand. What is read of a journal stays in it.
func FuzzJournals(f *testing.F) {
	dir := f.TempDir()
	path := filepath.Join(dir, "progress")
	p, err := OpenProgress(path, "work", map[string]int{"a": 1})
	require.NoError(f, err)
	for i := range 3 {
		require.NoError(f, p.Step(i))
	}
	require.NoError(f, p.Close())
	whole, err := os.ReadFile(path)
	require.NoError(f, err)
	f.Add(whole)
	f.Add(whole[:len(whole)-3])
	f.Add(bytes.Replace(whole, []byte("1"), []byte("2"), 1))
	f.Add([]byte(`{"records":[{"name":"a","result":{"b":[1, 2]}}],"sum":"x"}`))
	f.Add([]byte("\xef\xbb\xbf# names\n\na.csv\n*.csv\n[\n\x00\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		require.NoError(t, os.WriteFile(path, b, 0o666))
		_, _ = readFinished(path)
		_, _, _ = readJournal(path)
		if lines, err := Lines(bytes.NewReader(b), "names"); err == nil {
			require.NotEmpty(t, lines)
			_, _ = Files(lines[:min(len(lines), 8)], dir, "names")
		}
		first := progressOf(t, path)
		again := progressOf(t, path) // of what the first has left of the file
		require.Equal(t, first.First, again.First)
		require.Equal(t, first.Steps, again.Steps)
		require.Equal(t, first.sum, again.sum)
	})
}

// progressOf reads a journal as OpenProgress does, without writing to it, which waits for the disk.
func progressOf(t *testing.T, path string) *Progress {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	defer file.Close()
	p := &Progress{file: file}
	require.NoError(t, p.read("work"))
	return p
}
