package hdf5

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// number is a value of a type.
func number(t *Type, b []byte) float64 {
	b = append([]byte(nil), b...)
	t.BigEndian(b)
	t = t.Numeric()
	be := binary.BigEndian
	switch {
	case t.Class == Float && t.Size == 8:
		return math.Float64frombits(be.Uint64(b))
	case t.Class == Float && t.Size == 4:
		return float64(math.Float32frombits(be.Uint32(b)))
	case t.Class == Float: // no golden value is subnormal
		h := be.Uint16(b)
		return math.Ldexp(float64(h&1023|1024)*(1-float64(h>>15)*2), int(h>>10&31)-25) * min(1, float64(h&0x7fff))
	}
	var v uint64
	for _, x := range b {
		v = v<<8 | uint64(x)
	}
	if shift := 64 - 8*t.Size; t.Signed {
		return float64(int64(v<<shift) >> shift)
	}
	return float64(v)
}

func numbers(t *testing.T, d *Dataset) (out []float64) {
	t.Helper()
	b, err := d.Read()
	require.NoError(t, err, d.Name)
	for at := 0; at < len(b); at += d.Type.Size {
		out = append(out, number(d.Type, b[at:at+d.Type.Size]))
	}
	return out
}

func open(t *testing.T, path string) (all map[string]*Dataset, names []string, root []Attr) {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	f, err := Open(b)
	require.NoError(t, err)
	list, root, err := f.Datasets()
	require.NoError(t, err)
	all = map[string]*Dataset{}
	for _, d := range list {
		all[d.Name] = d
		names = append(names, d.Name)
	}
	return all, names, root
}

// TestGolden reads what h5py wrote, in the oldest and in the newest form.
func TestGolden(t *testing.T) {
	for _, name := range []string{"old", "new"} {
		all, names, root := open(t, filepath.Join("testdata", name+".h5"))
		for dataset, shape := range map[string][]int{"whole": {3, 4}, "type <f4": {11}, "type >f4": {11}, "type <f2": {11}, "type i1": {11},
			"type <u2": {11}, "type >i4": {11}, "type <i8": {11}, "type >u8": {11}, "filtered": {7, 11}, "lzf": {300}, "plain": {7, 11},
			"single": {6, 7}, "single plain": {6, 7}, "rows": {90, 3}, "columns": {3, 70}, "both": {12, 13}, "both filtered": {12, 13},
			"group/inner/values": {5}} {
			d := all[dataset]
			if name == "old" && dataset == "whole" { // the first name of an object, where they stand in the order of the alphabet
				d = all["another name"]
			}
			require.NotNil(t, d, "%s: %s of %q", name, dataset, names)
			require.Equal(t, shape, d.Shape, "%s: %s", name, dataset)
			for i, v := range numbers(t, d) {
				want := float64(i * 7 % 101)
				if dataset == "lzf" {
					want = float64(i * 7 % 101 / 50)
				}
				require.Equal(t, want, v, "%s: %s: value %d", name, dataset, i)
			}
		}
		require.Equal(t, []float64{3.5}, numbers(t, all["one"]))
		require.Empty(t, all["one"].Shape)
		require.Equal(t, []float64{1, 0, 1}, numbers(t, all["flags"]))
		for dataset, want := range map[string][]string{"fixed": {"abc", "de", ""}, "texts": {"alpha", "", "β"}} {
			got, err := all[dataset].Texts()
			require.NoError(t, err)
			require.Equal(t, want, got)
		}
		for i, v := range numbers(t, all["sparse"]) {
			want := -7.
			if row, column := i/20, i%20; row >= 8 && row < 10 && column >= 3 && column < 5 {
				want = 1
			}
			require.Equal(t, want, v, i)
		}
		require.Equal(t, []float64{4, 4, 4, 4, 4}, numbers(t, all["never"]))
		for i, v := range numbers(t, all["grown"]) { // columns from 9 on were added, rows from 5 on taken away
			want := 0.
			if row, column := i/11, i%11; column < 9 {
				want = float64((row*9 + column) * 7 % 101)
			}
			require.Equal(t, want, v, i)
		}
		require.ErrorContains(t, all["compound"].Type.Check(), "compounds")
		fields := all["compound"].Fields()
		require.Len(t, fields, 2)
		require.Equal(t, []string{"a", "b"}, []string{fields[0].Name, fields[1].Name})
		require.Equal(t, []Class{Float, Integer}, []Class{fields[0].Type.Class, fields[1].Type.Class})
		d := all["compound"]
		records := d.f.b[d.at : d.at+24] // which hold zeros
		for i := range 3 {
			binary.LittleEndian.PutUint32(records[8*i:], math.Float32bits(float32(i)+0.5))
			binary.LittleEndian.PutUint32(records[8*i+4:], uint32(-7*i))
		}
		require.Equal(t, []float64{0.5, 1.5, 2.5}, numbers(t, fields[0]))
		require.Equal(t, []float64{0, -7, -14}, numbers(t, fields[1]))
		require.Nil(t, all["plain"].Fields())
		require.True(t, all["empty"].Null)
		require.Equal(t, []string{"title"}, []string{root[0].Name})
		whole := all["whole"]
		if whole == nil {
			whole = all["another name"]
		}
		require.Len(t, whole.Attrs, 43)
		require.Equal(t, 10.5, number(whole.Attr("attribute 7").Type, whole.Attr("attribute 7").Data))
		for attr, n := range map[string]int{"text": 9, "long": 3000} {
			got, err := whole.Attr(attr).Texts()
			require.NoError(t, err)
			require.Len(t, got, 1)
			require.Len(t, got[0], n)
		}
		require.Equal(t, []int{5}, whole.Attr("list").Shape)
		require.Nil(t, whole.Attr("none"))
		if name == "new" { // this one was asked to keep the order of creation
			require.Equal(t, []string{"whole", "type <f4", "type >f4"}, names[:3])
		}
	}
}

// Every filter that is not read, and every kind of place that values may be in, is an error with its name.
func TestUnread(t *testing.T) {
	all, _, _ := open(t, filepath.Join("testdata", "old.h5"))
	d := all["filtered"]
	for id, name := range map[int]string{4: "szip", 32001: "Blosc", 12345: "unknown"} {
		d.filters = []filter{{id: id}}
		_, err := d.Read()
		require.ErrorIs(t, err, ErrFormat)
		require.ErrorContains(t, err, fmt.Sprintf("\"filtered\": not an HDF5 file that can be read: byte %d: a chunk: filter %d (%s)",
			firstChunk(t, d), id, name))
	}
}

// TestUnreadFirst: what a filter that is not read left is not taken for damaged by those that come before it.
func TestUnreadFirst(t *testing.T) {
	all, _, _ := open(t, filepath.Join("testdata", "old.h5"))
	d := all["filtered"]
	d.filters = []filter{{id: 6}, {id: filterDeflate}}
	d.chunkBytes /= 2
	_, err := d.Read()
	require.ErrorContains(t, err, "filter 6 (scale-offset) is not read")
}

func firstChunk(t *testing.T, d *Dataset) (at uint64) {
	t.Helper()
	at = math.MaxUint64
	require.NoError(t, d.f.tree1(d.at, 1, 8+8*3, func(_ *reader, child uint64) error {
		if at == math.MaxUint64 {
			at = child
		}
		return nil
	}))
	return at
}

// A checksum that is wrong is an error, and so is a byte that changed.
func TestFletcher(t *testing.T) {
	b := []byte{1, 2, 3, 4, 5}
	sum := fletcher(b)
	both := le.AppendUint32(append([]byte(nil), b...), sum)
	got, err := checked(both)
	require.NoError(t, err)
	require.Equal(t, b, got)
	both[2]++
	_, err = checked(both)
	require.ErrorContains(t, err, "checksum")
	file, err := os.ReadFile(filepath.Join("testdata", "new.h5"))
	require.NoError(t, err)
	f, err := Open(file)
	require.NoError(t, err)
	list, _, err := f.Datasets()
	require.NoError(t, err)
	d := list[slices.IndexFunc(list, func(d *Dataset) bool { return d.Name == "filtered" })]
	require.NoError(t, d.fixed(func(i uint64, c stored) error {
		if i == 2 {
			file[c.address+5]++
		}
		return nil
	}))
	_, err = d.Read()
	require.ErrorContains(t, err, "its checksum is")
}

// TestPython reads files that h5py writes: random shapes, chunks, types, filters and versions, and so many chunks that their indexes have
// pages.
func TestPython(t *testing.T) {
	python := testkit.Python(t, "h5py", "numpy")
	dir := t.TempDir()
	script := `
import h5py, json, sys, numpy as np
rng = np.random.default_rng(7)
out = {}
for k, libver in enumerate(("earliest", "v108", "v110", "latest")):
    with h5py.File(f"{sys.argv[1]}/{k}.h5", "w", libver=libver, track_order=bool(k % 2)) as f:
        for i in range(60):
            rank = int(rng.integers(0, 4))
            shape = tuple(int(n) for n in rng.integers(1, 12, size=rank))
            dtype = rng.choice(["<f8", ">f8", "<f4", ">f4", "i1", "u1", "<i2", ">u2", "<i4", ">u4", "<i8"])
            a = rng.integers(0, 100, size=shape).astype(dtype)
            args = {}
            if rank and rng.random() < 0.8:
                args["chunks"] = tuple(int(rng.integers(1, n + 1)) for n in shape)
                if rng.random() < 0.5:
                    args["maxshape"] = tuple(None if rng.random() < 0.4 else n + int(rng.integers(0, 9)) for n in shape)
                for name in ("shuffle", "fletcher32"):
                    args[name] = bool(rng.random() < 0.3)
                args["compression"] = rng.choice([None, "gzip", "lzf"])
            f.create_dataset(f"d{i}", data=a, **args)
            out[f"{k} d{i}"] = np.asarray(a, "f8").ravel().tolist()
        if k % 2:
            big = rng.integers(0, 100, size=150000).astype("i1")
            f.create_dataset("paged", data=big[:3000], chunks=(1,))
            out[f"{k} paged"] = big[:3000].tolist()
            if k == 3:
                f.create_dataset("long", data=big, chunks=(1,), maxshape=(None,))
                out[f"{k} long"] = big.tolist()
            d = f.create_dataset("holes", shape=(9000,), chunks=(2,), dtype="i2", fillvalue=3)
            d[5000:5004] = 8
            out[f"{k} holes"] = d[:].tolist()
        for i in range(2000):
            f[f"group/{i}"] = i
            out[f"{k} group/{i}"] = [i]
        f["named type"] = h5py.enum_dtype({f"name {i}": i for i in range(250)}, basetype="u1")
        for i in range(400):
            f.create_dataset(f"named/{i}", data=[i % 250], dtype=f["named type"])
            out[f"{k} named/{i}"] = [i % 250]
json.dump(out, open(sys.argv[1] + "/want.json", "w"))
`
	message, err := exec.Command(python, "-c", script, dir).CombinedOutput()
	require.NoError(t, err, "%s", message)
	b, err := os.ReadFile(filepath.Join(dir, "want.json"))
	require.NoError(t, err)
	want := map[string][]float64{}
	require.NoError(t, json.Unmarshal(b, &want))
	seen := 0
	for k := range 4 {
		all, _, _ := open(t, filepath.Join(dir, fmt.Sprintf("%d.h5", k)))
		for name, d := range all {
			require.Equal(t, want[fmt.Sprintf("%d %s", k, name)], numbers(t, d), "%d %s", k, name)
			seen++
		}
	}
	require.Len(t, want, seen)
}

// TestCompressors expands what the compressors of plugins made, and nothing that is longer than a chunk.
func TestCompressors(t *testing.T) {
	want := bytes.Repeat([]byte("0123456789"), 40)
	Zstd = func(window uint64) (Decoder, error) { // as internal/zstd does, which a test of this package cannot import
		return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(window))
	}
	defer func() { Zstd = nil }()
	z, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	bzip, err := base64.StdEncoding.DecodeString( // Python's bz2.compress(b"0123456789" * 40)
		"QlpoOTFBWSZTWR5BKvIAABOIAH/gIABQgBgFKoYTOCeCeifCYEyJoTYn4nBOi7kinChIDyCVeQA=")
	require.NoError(t, err)
	for id, b := range map[int][]byte{filterZstd: z.EncodeAll(want, nil), filterBzip2: bzip} {
		d := &Dataset{Type: &Type{Class: Integer, Size: 1}, filters: []filter{{id: id}}}
		d.chunkBytes = len(want)
		got, err := d.unfilter(b, 0)
		require.NoError(t, err, id)
		require.Equal(t, want, got, id)
		got, err = d.unfilter(b, 1) // the chunk says that it was left out
		require.NoError(t, err, id)
		require.Equal(t, b, got, id)
		d.chunkBytes = 100
		_, err = d.unfilter(b, 0)
		require.ErrorContains(t, err, "more than 100 bytes", id)
		_, err = d.unfilter(b[:len(b)/2], 0)
		require.Error(t, err, id)
	}
	Zstd = nil
	d := &Dataset{Type: &Type{Class: Integer, Size: 1}, filters: []filter{{id: filterZstd}}}
	_, err = d.unfilter([]byte{0}, 0)
	require.ErrorContains(t, err, "Zstandard")
}

// TestSizes reads files whose addresses and lengths are not of 8 bytes, as they are and after a block of their user's. A dataset that is
// too long is left, and the others are read.
func TestSizes(t *testing.T) {
	for name, deep := range map[string]string{"addresses4": "g0/deep",
		"lengths4": "g0/g1/g2/g3/g4/g5/g6/g7/g8/g9/g10/g11/g12/g13/g14/g15/g16/g17/g18/g19/deep"} {
		b, err := os.ReadFile(filepath.Join("testdata", name+".h5"))
		require.NoError(t, err)
		for _, before := range []int{0, 512, 1024, 4096} {
			path := filepath.Join(t.TempDir(), "a.h5")
			whole := append(make([]byte, before), b...)
			require.True(t, Is(whole))
			require.True(t, Is(whole[:Head]))
			require.NoError(t, os.WriteFile(path, whole, 0o600))
			all, _, _ := open(t, path)
			texts, err := all["texts"].Texts()
			require.NoError(t, err)
			require.Equal(t, []string{"alpha", "", "beta"}, texts)
			require.Equal(t, []float64{0, 1, 2, 3, 4, 5}, numbers(t, all["chunks"]))
			require.Equal(t, []float64{0, 1, 2}, numbers(t, all[deep]))
			require.ErrorContains(t, all["long"].Type.Check(), "values are too many: its shape is [")
		}
		require.False(t, Is(append(make([]byte, 511), b...)))
	}
}
