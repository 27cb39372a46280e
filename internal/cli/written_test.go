package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWritten: all files that were written are named, and no drawing that failed.
func TestWritten(t *testing.T) {
	dir := t.TempDir()
	a, b, c := filepath.Join(dir, "a.csv"), filepath.Join(dir, "b.png"), filepath.Join(dir, "c.png")
	o, err := NewOutputs(nil, Out("out", a, ""), Out("plot", b, ""), Out("other", c, ""))
	require.NoError(t, err)
	text := func(w io.Writer) error { _, err := io.WriteString(w, "x"); return err }
	require.NoError(t, o.Write("out", text))
	require.Error(t, o.Draw("plot", func(io.Writer) error { return errors.New("no drawing") }))
	require.NoError(t, o.WriteFile("other", func(path string) error { return os.WriteFile(path, []byte("x"), 0o600) }))
	require.NoError(t, o.Commit())
	require.Equal(t, []string{a, c}, o.Written())
	var r Result
	r.Written(o)
	require.Equal(t, [][2]string{{"written", a}, {"", c}}, r.Lines)
}

// TestWriteFileNames: the error of a writer names the file of the flag, where the writer knows the temporary one alone.
func TestWriteFileNames(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.safetensors")
	o, err := NewOutputs(nil, Out("out", path, ""))
	require.NoError(t, err)
	defer o.Discard()
	err = o.WriteFile("out", func(name string) error {
		return fmt.Errorf("weights: %w", &fs.PathError{Op: "write", Path: name, Err: fs.ErrPermission})
	})
	require.ErrorIs(t, err, fs.ErrPermission)
	require.EqualError(t, err, "--out: weights: write "+path+": permission denied")
}
