package fuzz

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"

	"github.com/equivcnp/equivcnp/cnp/taskfile"
	"github.com/equivcnp/equivcnp/cnp/weights"
	"github.com/equivcnp/equivcnp/internal/netcdf"
	"github.com/equivcnp/equivcnp/internal/npy"
	"github.com/equivcnp/equivcnp/internal/safetensors"
	"github.com/equivcnp/equivcnp/internal/tables"
	"github.com/equivcnp/equivcnp/internal/tabular"
)

// allowed is the memory that reading n hostile bytes may take in all: a fixed part, and a multiple of the input that
// covers what a pickle's cheapest opcodes make of a byte.
func allowed(n int) uint64 { return 2<<20 + 1000*uint64(n) }

// bounded runs read, which must not panic, and fails if it allocated more than it may for n bytes.
func bounded(t *testing.T, n int, read func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	read()
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > allowed(n) {
		t.Errorf("%d bytes allocated for a file of %d", got, n)
	}
}

// seed adds every small fixture of the weights package, and its prefixes at a few lengths.
func seed(f *testing.F, patterns ...string) {
	for _, pattern := range patterns {
		paths, err := filepath.Glob(filepath.Join("..", "cnp", "weights", "testdata", pattern))
		if err != nil || len(paths) == 0 {
			f.Fatalf("no fixture %s: %v", pattern, err)
		}
		for _, path := range paths {
			b, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(b)
			f.Add(b[:len(b)/2])
			f.Add(b[:len(b)-1])
		}
	}
}

// FuzzSafetensors: any bytes are an error or a file whose tensors convert, but for those of types that are kept as bytes alone, and that
// writes and reads back the same.
func FuzzSafetensors(f *testing.F) {
	seed(f, "*.safetensors")
	f.Add([]byte("\x02\x00\x00\x00\x00\x00\x00\x00{}"))
	f.Add([]byte("\x38\x00\x00\x00\x00\x00\x00\x00" + `{"b":{"dtype":"C64","shape":[1],"data_offsets":[0,8]}}  ` + "12345678"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var file *safetensors.File
		bounded(t, len(b), func() { file, _ = safetensors.Decode(b) })
		if file == nil {
			return
		}
		for _, x := range file.Tensors {
			if _, err := x.Float64s(); (err != nil) != (x.DType.Size() == 0) {
				t.Errorf("tensor %q of type %s was read, and converted with %v", x.Name, x.DType, err)
			}
		}
		out, err := safetensors.Encode(file)
		if err != nil {
			t.Fatalf("a file that was read cannot be written: %v", err)
		}
		again, err := safetensors.Decode(out)
		if err != nil {
			t.Fatalf("a file that was written cannot be read: %v", err)
		}
		if len(again.Tensors) != len(file.Tensors) || len(again.Metadata) != len(file.Metadata) {
			t.Fatalf("%d tensors and %d entries became %d and %d", len(file.Tensors), len(file.Metadata), len(again.Tensors),
				len(again.Metadata))
		}
	})
}

// FuzzModelFile: any bytes are an error or a state whose tensors are whole, and looking for an architecture in it stays
// within memory as well.
func FuzzModelFile(f *testing.F) {
	seed(f, "*.pth", "small.safetensors")
	f.Fuzz(func(t *testing.T, b []byte) {
		var s *weights.State
		bounded(t, len(b), func() { s, _ = weights.DecodeState(b) })
		if s == nil {
			return
		}
		for _, x := range s.Tensors {
			if len(x.Data) != x.Len()*x.DType.Size() {
				t.Errorf("tensor %q of %s%v has %d bytes", x.Name, x.DType, x.Shape, len(x.Data))
			}
			if _, err := x.Float64s(); err != nil {
				t.Errorf("tensor %q: %v", x.Name, err)
			}
		}
		bounded(t, len(b), func() { _, _, _ = weights.Recognize(s) })
	})
}

// tablesIn reads any bytes as tensors and as a table, which are errors or whole, within memory. A file of HDF5 may be compressed, and have
// dimensions that take nothing.
func tablesIn(t *testing.T, b []byte) {
	n := len(b)
	if netcdf.IsHDF5(b) {
		n = 1<<20 + 40*n
	}
	bounded(t, n, func() { _, _ = taskfile.Decode(b, "f") })
	var table *tabular.Table
	bounded(t, n, func() { table, _ = tables.Decode(b, "f", nil) })
	if table == nil {
		return
	}
	if table.Rows()*table.Cols != len(table.Values) {
		t.Fatalf("%d rows of %d columns hold %d values", table.Rows(), table.Cols, len(table.Values))
	}
	for row := range min(100, table.Rows()) {
		for c := range table.Cols {
			table.Cell(row, c)
		}
	}
}

// FuzzNPZ and FuzzNetCDF: any bytes are an error, or tensors and tables that are whole.
func FuzzNPZ(f *testing.F) {
	for _, name := range []string{"a.npz", "b.npz"} {
		var b bytes.Buffer
		x := safetensors.FromFloat32s("x", []int{3}, []float32{1, 2, 3})
		if name == "b.npz" {
			x = safetensors.FromFloat32s("x_context", []int{1, 3, 1}, []float32{1, 2, 3})
		}
		if err := npy.Encode(&b, []safetensors.Tensor{x}); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
		b.Reset()
		if err := npy.EncodeArray(&b, &x); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Fuzz(tablesIn)
}

// FuzzJSON is the same for records of JSON in all their forms.
func FuzzJSON(f *testing.F) {
	for _, text := range []string{`[{"x":1,"y":null,"s":"a","at":{"lat":1.5,"t":["b"]}},{"x":9007199254740993,"z":true}]`,
		"{\"x\":1,\"y\":\"2\"}\n{\"x\":2,\"y\":\"3\"}\n", `{"x":{"0":1,"1":2},"y":{"0":"a","1":null}}`,
		`{"h":{"time":["2024-01-01","2024-01-02"],"t":[1,2]}}`,
		`{"ok":1,"data":[{"x":1},{"y":2}]}`, `{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"lon":1,"v":2},` +
			`"geometry":{"type":"Point","coordinates":[1,2,3]}},{"type":"Feature","properties":null,"geometry":null}]}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(tablesIn)
}

// FuzzPacked is the same for files that are compressed, which may hold more than they are long, and whose decoders take some memory.
func FuzzPacked(f *testing.F) {
	text := []byte("x,y\n1,2\n3,4\n")
	for _, inner := range [][]byte{text, []byte(`[{"x":1}]`), []byte("X\n\x00\x00\x00\x03"), bytes.Repeat([]byte("0,0\n"), 1000)} {
		var gz, zst bytes.Buffer
		g := gzip.NewWriter(&gz)
		z, err := zstd.NewWriter(&zst)
		if err != nil {
			f.Fatal(err)
		}
		for _, w := range []io.WriteCloser{g, z} {
			if _, err := w.Write(inner); err != nil {
				f.Fatal(err)
			}
			if err := w.Close(); err != nil {
				f.Fatal(err)
			}
		}
		var archive bytes.Buffer
		files := zip.NewWriter(&archive)
		w, err := files.Create("a.csv")
		if err == nil {
			_, err = w.Write(inner)
		}
		if err = errors.Join(err, files.Close()); err != nil {
			f.Fatal(err)
		}
		for _, b := range [][]byte{gz.Bytes(), zst.Bytes(), archive.Bytes()} {
			f.Add(b)
			f.Add(b[:len(b)/2])
		}
	}
	b, err := os.ReadFile(filepath.Join("..", "internal", "tables", "testdata", "table.csv.bz2"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		bounded(t, 1<<20+256*len(b), func() { _, _ = tables.Decode(b, "f", nil) })
	})
}

// FuzzParquet is the same for a table's columns in pages, which the library's own writer makes besides ours.
func FuzzParquet(f *testing.F) {
	table := tabular.Of([]tabular.Column{{Name: "x", Unit: "days since 1970-01-01", Values: []float64{1.5, 2, 3}},
		{Name: "y", Values: []float64{1, math.NaN(), 3}}, {Name: "m", Values: []float64{1, 2, 3}, Single: true}})
	table.Texts[1] = []string{"", "two", ""}
	var b bytes.Buffer
	if err := tables.Write(&b, "t.parquet", table, nil); err != nil {
		f.Fatal(err)
	}
	f.Add(bytes.Clone(b.Bytes()))
	f.Add(bytes.Clone(b.Bytes()[:b.Len()/2]))
	type row struct {
		Station string   `parquet:"station,dict"`
		Name    string   `parquet:"name,delta"`
		N       int64    `parquet:"n,delta"`
		V       *float64 `parquet:"v,optional"`
		W       float32  `parquet:"w,split"`
	}
	for version := 1; version <= 2; version++ {
		for _, codec := range []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Gzip, &parquet.Zstd} {
			b.Reset()
			w := parquet.NewGenericWriter[row](&b, parquet.Compression(codec), parquet.DataPageVersion(version))
			v := 0.5
			if _, err := w.Write([]row{{"a", "n1", 1, &v, 1}, {"a", "n2", 5, nil, 2}, {"b", "n3", -9, &v, 3}}); err != nil {
				f.Fatal(err)
			}
			if err := w.Close(); err != nil {
				f.Fatal(err)
			}
			f.Add(bytes.Clone(b.Bytes()))
		}
	}
	f.Fuzz(tablesIn)
}

func FuzzNetCDF(f *testing.F) {
	for _, name := range []string{"netcdf/testdata/cdf1.nc", "netcdf/testdata/cdf2.nc", "netcdf/testdata/cdf5.nc", "netcdf/testdata/nc4.nc",
		"netcdf/testdata/groups.nc", "hdf5/testdata/old.h5", "hdf5/testdata/new.h5"} {
		b, err := os.ReadFile(filepath.Join("..", "internal", filepath.FromSlash(name)))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
		f.Add(b[:len(b)/2])
	}
	f.Fuzz(tablesIn)
}
