package hdf5

import (
	"bytes"
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
		for _, field := range d.Fields() {
			if field.Type.Check() == nil {
				_, _ = field.Read()
				_, _ = field.Texts()
				_ = field.Fill()
			}
		}
	}
}

// TestDamaged: a file of which bytes were changed or that was cut off is read, or is an error, and nothing else.
func TestDamaged(t *testing.T) {
	unchecked = true
	defer func() { unchecked = false }()
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

// TestBeyond: nothing at all is no part of a file either where its address is beyond the end.
func TestBeyond(t *testing.T) {
	f := &File{b: make([]byte, 100)}
	f.refill()
	for _, address := range []uint64{101, 1 << 40, undefined} {
		_, err := f.bytes("nothing", address, 0)
		require.ErrorIs(t, err, ErrFormat, address)
	}
	_, err := f.bytes("nothing", 100, 0)
	require.NoError(t, err)
}

// TestCollections: heap collections that are parts of each other are not all kept, in however many tasks they are read.
func TestCollections(t *testing.T) {
	b := make([]byte, 1<<14)
	for at := 0; at < len(b); at += 32 { // each to the end of the file, with an object that has the beginning of the next
		copy(b[at:], "GCOL\x01")
		le.PutUint64(b[at+8:], uint64(len(b)-at))
		b[at+16], b[at+24] = 1, 16
	}
	f := &File{b: b, offsets: 8, length: 8, heaps: len(b)}
	read := 0
	for at := uint64(0); at < uint64(len(b)); at += 32 {
		f.refill()
		if _, err := f.global(at, 1); err == nil {
			read++
		}
	}
	require.Less(t, read, 8)
}

// TestManyTexts: texts of which each takes far more memory than of the file are an error before they are read.
func TestManyTexts(t *testing.T) {
	f := &File{b: make([]byte, 1000)}
	two := &Type{Class: String, Size: 2}
	require.NoError(t, f.textsOf(two, Most(f.b)/18))
	require.ErrorContains(t, f.textsOf(two, Most(f.b)/18+1), "texts of 2 bytes are too many for a file of 1000 bytes")
}

// TestChecksums: a bit that flipped in a structure that has a checksum is an error.
func TestChecksums(t *testing.T) {
	require.Equal(t, uint32(0x17770551), lookup3([]byte("Four score and seven years ago"))) // from Jenkins' lookup3.c
	require.Equal(t, uint32(0xdeadbeef), lookup3(nil))
	b, err := os.ReadFile(filepath.Join("testdata", "new.h5"))
	require.NoError(t, err)
	read := func(b []byte) error {
		f, err := Open(b)
		if err != nil {
			return err
		}
		all, _, err := f.Datasets()
		if err != nil {
			return err
		}
		for _, d := range all {
			if d.Type.Check() == nil {
				if _, err := d.Read(); err != nil {
					return err
				}
			}
		}
		return nil
	}
	require.NoError(t, read(b))
	for _, signature := range []string{"\x89HDF", "OHDR", "BTHD", "BTLF", "FRHP", "FHDB", "FAHD", "FADB", "EAHD", "EAIB", "EADB"} {
		at := bytes.Index(b, []byte(signature))
		require.Positive(t, at+1, signature)
		c := bytes.Clone(b)
		c[at+18] ^= 4 // in what the checksum covers, of each of them
		require.ErrorIs(t, read(c), ErrFormat, signature)
	}
}

// FuzzRead reads whatever a file may hold, without checksums, which would keep changes from where they matter.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"old", "new", "addresses4", "lengths4", "expands", "arrays_old", "arrays_new"} {
		b, err := os.ReadFile(filepath.Join("testdata", name+".h5"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	unchecked = true
	f.Cleanup(func() { unchecked = false })
	f.Fuzz(func(_ *testing.T, b []byte) { everything(b) })
}
