package task

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// idx returns an IDX file with that header and those pixels.
func idx(n, h, w uint32, pixels ...byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, idxImages)
	for _, v := range []uint32{n, h, w} {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	return append(b, pixels...)
}

func gzipped(b []byte) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, _ = z.Write(b)
	_ = z.Close()
	return out.Bytes()
}

func save(t testing.TB, name string, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, b, 0o600))
	return path
}

func TestReadIDX(t *testing.T) {
	plain := idx(2, 1, 3, 0, 51, 255, 1, 2, 3)
	for _, b := range [][]byte{plain, gzipped(plain)} {
		s, err := ReadIDX(save(t, "images", b))
		require.NoError(t, err)
		require.Equal(t, []int{2, 1, 1, 3}, []int{s.N, s.C, s.H, s.W})
		require.Equal(t, []float32{0, 0.2, 1}, s.Image(0))
		require.Equal(t, []float32{1.0 / 255, 2.0 / 255, 3.0 / 255}, s.Image(1))
	}
	zip := gzipped(plain)
	zip[len(zip)-5] ^= 1 // the checksum
	for name, c := range map[string]struct {
		b    []byte
		want string
	}{
		"empty":     {nil, "ends before the header"},
		"labels":    {[]byte("\x00\x00\x08\x01aaaaaaaaaaaaaaaa"), "begins with 0x00000801"},
		"short":     {plain[:len(plain)-1], "ends before 2 images of 3 x 1 pixels"},
		"long":      {append(plain[:len(plain):len(plain)], 0), "bytes follow"},
		"nothing":   {idx(0, 28, 28), "0 images of 28 x 28"},
		"huge":      {idx(1<<31, 1<<31, 1<<31), "at most"},
		"many":      {idx(60000, 280, 280), "at most"},
		"overflow":  {idx(1<<16, 1<<16, 1<<16), "at most"},
		"gzip half": {zip[:len(zip)/2], "ends before"},
		"gzip bad":  {zip, "gzip: invalid checksum"},
		"gzip head": {[]byte("\x1f\x8b"), "EOF"},
	} {
		path := save(t, "images", c.b)
		_, err := ReadIDX(path)
		require.ErrorIs(t, err, ErrData, name)
		require.ErrorContains(t, err, c.want, name)
		require.ErrorContains(t, err, path, name)
	}
	_, err := ReadIDX(filepath.Join(t.TempDir(), "missing"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

// TestIDXMemory: a file that claims 2^28 pixels and holds none takes no memory for them.
func TestIDXMemory(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := DecodeIDX(bytes.NewReader(idx(1<<14, 1<<7, 1<<7)))
	runtime.ReadMemStats(&after)
	require.ErrorIs(t, err, ErrData)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))
}

func TestReadAmat(t *testing.T) {
	for text, want := range map[string][]float32{
		"0 0.25 0.5 1 7\n 1 1 1 1\t3 \r\n": {0, 0.25, 0.5, 1, 1, 1, 1, 1}, // labels
		"\n0 .5 1e-1 1.0":                  {0, 0.5, 0.1, 1},              // none
		"0.5 3\n0 1\n":                     {0.5, 0},                      // images of one pixel
	} {
		for _, b := range [][]byte{[]byte(text), gzipped([]byte(text))} {
			s, err := ReadAmat(save(t, "x.amat", b))
			require.NoError(t, err)
			require.Equal(t, want, s.Pix)
			require.Equal(t, len(want), s.N*s.H*s.W)
			require.Equal(t, s.H, s.W)
		}
	}
	for text, want := range map[string]string{
		"":                         "no image",
		" \n\n":                    "no image",
		"1 2 3":                    "line 1 has 3 numbers",
		"0 0 0 0 5\n0 0 0 0":       "line 2 has 4 numbers, the first 5",
		"0 x 0 0":                  `line 1: "x" is not a number`,
		"0 NaN 0 0":                "pixel 2 = NaN",
		"0 0 0 0 1\n0 0 1.5 0 1":   "line 2: pixel 3 = 1.5",
		"1e99 0 0 0":               "is not a number",
		strings.Repeat(" ", 1<<25): "longer than",
	} {
		_, err := ReadAmat(save(t, "x.amat", []byte(text)))
		require.ErrorIs(t, err, ErrData)
		require.ErrorContains(t, err, want)
	}
}

func TestMoved(t *testing.T) {
	s, err := DecodeIDX(bytes.NewReader(idx(2, 2, 2, 0, 0, 255, 0, 255, 255, 255, 255)))
	require.NoError(t, err)
	s.Name = "two"
	require.Equal(t, "2 images of 2 x 2 pixels, upright, from two", Moved{s, Upright}.String())
	seen := map[[4]float32]int{}
	rng := rand.New(rand.NewPCG(1, 1))
	var dst [4]float32
	for range 200 {
		Moved{s, Upright}.Draw(dst[:], rng)
		seen[dst]++
	}
	require.Len(t, seen, 2)
	require.InDelta(t, 100, seen[[4]float32{0, 0, 1, 0}], 35)
	Moved{s, Motions{MaxAngle: 3, MinScale: 1, MaxScale: 1}}.Draw(dst[:], rng)
	require.Zero(t, seen[dst])
}

// idxSeeds and amatSeeds are where fuzzing starts: good files, and ones that end or lie at every kind of place.
func idxSeeds(f *testing.F) {
	good := idx(2, 2, 3, make([]byte, 12)...)
	for _, b := range [][]byte{nil, good, good[:15], good[:20], append(good, 1), gzipped(good), gzipped(good)[:20],
		idx(1<<31, 1, 1), idx(1<<20, 1<<20, 1<<20)} {
		f.Add(b)
	}
}

// checkSet holds a set that was read to what it promises.
func checkSet(t *testing.T, s *ImageSet, n int) {
	if s.N < 1 || s.C != 1 || s.H < 1 || s.W < 1 || len(s.Pix) != s.N*s.H*s.W {
		t.Fatalf("%d images of %d x %d pixels, %d values", s.N, s.W, s.H, len(s.Pix))
	}
	for _, v := range s.Pix {
		if !(v >= 0 && v <= 1) {
			t.Fatalf("a pixel of %g", v)
		}
	}
	if len(s.Pix) > 1100*n { // gzip's best is below 1032 bytes for one
		t.Fatalf("%d pixels from %d bytes", len(s.Pix), n)
	}
}

// FuzzIDX: any bytes, gzipped or not, are an error or images, in memory that the bytes justify.
func FuzzIDX(f *testing.F) {
	idxSeeds(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, err := inflated(bytes.NewReader(b), DecodeIDX); err == nil {
			checkSet(t, s, len(b))
		}
	})
}

// FuzzAmat: the same for texts.
func FuzzAmat(f *testing.F) {
	for _, s := range []string{"", "0 1 .5 1e-3 7\n0 0 0 0 1", "0\n1", "1 2 3", "-0 0x1p-3 1_0 +1", "\x1f\x8b", "nan inf 0 0"} {
		f.Add([]byte(s))
		f.Add(gzipped([]byte(s)))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, err := inflated(bytes.NewReader(b), DecodeAmat); err == nil {
			checkSet(t, s, len(b))
		}
	})
}
