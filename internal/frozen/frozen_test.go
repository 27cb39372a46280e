package frozen_test

import (
	"bytes"
	"encoding/binary"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/frozen"
)

// contents is one array of each kind.
type contents struct {
	n      int
	yes    bool
	flags  []bool
	ints   []int
	index  []int32
	single []float32
	double []float64
	half   []uint16
	none   []float32
	large  []float64 // more than one part
}

func (c *contents) visit(f *frozen.File) {
	f.Int(&c.n)
	f.Bool(&c.yes)
	f.Bools(&c.flags)
	f.Array(&c.ints)
	f.Array(&c.index)
	f.Array(&c.single)
	f.Array(&c.double)
	f.Array(&c.half)
	frozen.Array(f, &c.none)
	frozen.Array(f, &c.large)
}

func sample(large int) contents {
	c := contents{n: -3, yes: true, flags: []bool{true, false, true}, ints: []int{1, -1 << 30}, index: []int32{7},
		single: []float32{1, 2, 3},
		double: []float64{0.1}, half: []uint16{65535, 3}, large: make([]float64, large)}
	for i := range c.large {
		c.large[i] = float64(i)
	}
	return c
}

var key = frozen.Key{1, 2, 3, 31: 9}

// write returns the path of a file.
func write(t *testing.T, c contents) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.plan")
	require.NoError(t, frozen.Create(path, 5, key, c.visit))
	return path
}

func TestRoundTrip(t *testing.T) {
	for _, large := range []int{0, 1, 131072 - 128, 131072, 400_000} {
		want := sample(large)
		path := write(t, want)
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		for name, open := range map[string]func() (*frozen.File, error){
			"file":  func() (*frozen.File, error) { return frozen.Open(path, 5, key) },
			"bytes": func() (*frozen.File, error) { return frozen.Decode(b, 5, key) },
		} {
			f, err := open()
			require.NoError(t, err, name)
			require.True(t, f.Reading())
			var got contents
			got.visit(f)
			require.NoError(t, f.Err())
			require.Zero(t, f.Left())
			require.NoError(t, f.Wait())
			if large == 0 {
				require.Nil(t, got.large)
				got.large = want.large
			}
			require.Equal(t, want, got, name)
			require.Zero(t, uintptr(unsafe.Pointer(&got.double[0]))%64)
			got.visit(f) // beyond the end
			require.ErrorIs(t, f.Err(), frozen.ErrFile)
			runtime.KeepAlive(f)
		}
		left, err := os.ReadDir(filepath.Dir(path))
		require.NoError(t, err)
		require.Len(t, left, 1, "a file on the way was left behind")
	}
}

// TestModes: a new file has what the user's mask leaves, as every file that the program writes, and one that is replaced keeps its mode.
func TestModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("skipped: modes of files are those of Unix")
	}
	c := sample(0)
	path := write(t, c)
	mode := func(path string) fs.FileMode {
		info, err := os.Stat(path)
		require.NoError(t, err)
		return info.Mode().Perm()
	}
	plain, err := os.OpenFile(filepath.Join(t.TempDir(), "plain"), os.O_CREATE|os.O_WRONLY, 0o666)
	require.NoError(t, err)
	require.NoError(t, plain.Close())
	require.Equal(t, mode(plain.Name()), mode(path))
	for _, m := range []fs.FileMode{0o600, 0o640} {
		require.NoError(t, os.Chmod(path, m))
		require.NoError(t, frozen.Create(path, 5, key, c.visit))
		require.Equal(t, m, mode(path))
	}
}

func TestSeal(t *testing.T) {
	want := sample(300_000)
	b, err := os.ReadFile(write(t, want))
	require.NoError(t, err)
	whole := bytes.Clone(b)
	frozen.Seal(b)
	require.Equal(t, whole, b)
	b[len(b)/2]++
	_, err = frozen.Decode(b, 5, key)
	require.ErrorContains(t, err, "damaged between")
	frozen.Seal(b)
	_, err = frozen.Decode(b, 5, key)
	require.NoError(t, err)
}

// TestUnmapped: memory stays for as long as its file, and goes with it.
func TestUnmapped(t *testing.T) {
	path := write(t, sample(400_000))
	for range 50 {
		f, err := frozen.Open(path, 5, key)
		require.NoError(t, err)
		var c contents
		c.visit(f)
		runtime.GC()
		require.Equal(t, 399_999.0, c.large[399_999])
		runtime.KeepAlive(f)
	}
}

func TestRefuses(t *testing.T) {
	path := write(t, sample(300_000))
	_, err := frozen.Open(filepath.Join(t.TempDir(), "none"), 5, key)
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = frozen.Open(t.TempDir(), 5, key)
	require.ErrorIs(t, err, frozen.ErrFile)
	_, err = frozen.Open(path, 6, key)
	require.ErrorIs(t, err, frozen.ErrFile)
	require.ErrorContains(t, err, "version 5 for")
	require.ErrorContains(t, err, path)
	_, err = frozen.Open(path, 5, frozen.Key{})
	require.ErrorIs(t, err, frozen.ErrFile)
	require.ErrorContains(t, err, "made from something else")

	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	refuse := func(b []byte, label string, at int) {
		t.Helper()
		if _, err := frozen.Decode(b, 5, key); err == nil {
			t.Fatalf("%s at %d is taken", label, at)
		}
	}
	for _, n := range []int{0, 1, 16, 64, 127, 128, 131, 132, 1 << 20, len(whole) - 4, len(whole) - 1} {
		refuse(whole[:n], "an end", n)
	}
	refuse(append(bytes.Clone(whole), 0), "a byte more", len(whole))
	for at := 0; at < len(whole); at += 1 + at/8 {
		b := bytes.Clone(whole)
		b[at] ^= 0x10
		refuse(b, "a flipped bit", at)
	}
	// A length that overflows.
	for _, n := range []uint64{0, 64, 1 << 63, ^uint64(0), ^uint64(63)} {
		b := bytes.Clone(whole)
		binary.NativeEndian.PutUint64(b[56:], n)
		refuse(b, "a length", int(n&0xffff))
	}
}

// TestWait: a file that is damaged can be opened, and says so in the end.
func TestWait(t *testing.T) {
	path := write(t, sample(400_000))
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	b[3<<20] ^= 1
	require.NoError(t, os.WriteFile(path, b, 0o644)) // no file that is open
	f, err := frozen.Open(path, 5, key)
	require.NoError(t, err)
	var c contents
	c.visit(f)
	require.ErrorIs(t, f.Wait(), frozen.ErrFile)
	require.ErrorContains(t, f.Wait(), path+": not usable: damaged between bytes 3145728 and ")
}

// TestCreateFails: no file appears where one cannot be written to the end.
func TestCreateFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x")
	require.ErrorIs(t, frozen.Create(path, 1, key, func(f *frozen.File) { f.Fail("reason %d", 7) }), frozen.ErrFile)
	require.ErrorContains(t, frozen.Create(path, 1, key, func(f *frozen.File) { f.Fail("reason %d", 7) }), path)
	require.Error(t, frozen.Create(filepath.Join(dir, "no", "x"), 1, key, func(*frozen.File) {}))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}
