package safetensors_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/safetensors"
)

// file makes a file's bytes from a header's text and data.
func file(header string, data ...byte) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(b, header...), data...)
}

func TestDecode(t *testing.T) {
	f, err := safetensors.Decode(file(
		`{"__metadata__":{"a":"1","ü":"<&>"}, "late":{"dtype":"U8","shape":[2],"data_offsets":[8,10]},`+
			`"empty":{"dtype":"F64","shape":[3,0],"data_offsets":[8,8]},`+
			`"m":{"data_offsets":[0,8],"dtype":"F32","shape":[1,2]},"s":{"dtype":"I16","shape":[],"data_offsets":[10,12]}}  `,
		0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0, 7, 9, 0xfe, 0xff))
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"a": "1", "ü": "<&>"}, f.Metadata)
	var names []string
	for _, x := range f.Tensors {
		names = append(names, x.Name)
	}
	assert.Equal(t, []string{"m", "empty", "late", "s"}, names, "in the order of their data")
	for name, want := range map[string][]float64{"m": {1, -2}, "late": {7, 9}, "s": {-2}, "empty": {}} {
		v, err := f.Get(name).Float64s()
		require.NoError(t, err)
		assert.Equal(t, want, v, name)
	}
	assert.Equal(t, []int{3, 0}, f.Get("empty").Shape)
	assert.Equal(t, []int{}, f.Get("s").Shape)
	assert.Nil(t, f.Get("none"))
}

// one is a header of one tensor with these three fields.
func one(dtype, shape, offsets string) string {
	return fmt.Sprintf(`{"x":{"dtype":%s,"shape":%s,"data_offsets":%s}}`, dtype, shape, offsets)
}

func TestDecodeRefuses(t *testing.T) {
	four := []byte{1, 2, 3, 4}
	good := one(`"F32"`, `[1]`, `[0,4]`)
	_, err := safetensors.Decode(file(good, four...))
	require.NoError(t, err, "the case that the others are variations of")

	deep := strings.Repeat("[", 1<<16)
	for _, c := range []struct {
		name string
		file []byte
		want string
	}{
		{"nothing", nil, "too few"},
		{"seven bytes", make([]byte, 7), "too few"},
		{"header beyond the file", append(binary.LittleEndian.AppendUint64(nil, 3), "{}"...), "claims 3 bytes"},
		{"header of 2^64-1", bytes.Repeat([]byte{0xff}, 16), "claims"},
		{"header of 2^63", append(binary.LittleEndian.AppendUint64(nil, 1<<63), good...), "claims"},
		{"empty header", file(""), "not a JSON object"},
		{"list", file("[]"), "not a JSON object"},
		{"leading space", file(" {}"), "not a JSON object"},
		{"not UTF-8", file("{\"\xff\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", four...), "not a JSON object"},
		{"unfinished", file(good[:len(good)-1], four...), "header"},
		{"text after the end", file(good+"x", four...), "goes on"},
		{"second object", file(good+strings.Repeat(" ", 5000)+"{}", four...), "goes on"},
		{"NUL padding", file(good+"\x00", four...), "goes on"},
		{"duplicate name", file(strings.TrimSuffix(good, "}")+","+good[1:], four...), `"x" appears twice`},
		{"duplicate by escape", file(strings.TrimSuffix(good, "}")+","+strings.Replace(good[1:], `"x"`, `"\u0078"`, 1), four...),
			`"x" appears twice`},
		{"duplicate field", file(`{"x":{"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, four...), `"dtype" appears twice`},
		{"duplicate metadata", file(`{"__metadata__":{},"__metadata__":{}}`), "appears twice"},
		{"duplicate metadata key", file(`{"__metadata__":{"a":"1","a":"2"}}`), `"a" appears twice`},
		{"metadata number", file(`{"__metadata__":{"a":1}}`), "string was expected"},
		{"metadata null", file(`{"__metadata__":null}`), "expected"},
		{"metadata nested", file(`{"__metadata__":{"a":{}}}`), "expected"},
		{"field in another case", file(strings.Replace(good, "dtype", "DType", 1), four...), `unknown field "DType"`},
		{"no dtype", file(`{"x":{"shape":[1],"data_offsets":[0,4]}}`, four...), `"dtype" is missing`},
		{"no shape", file(`{"x":{"dtype":"F32","data_offsets":[0,4]}}`, four...), `"shape" is missing`},
		{"no offsets", file(`{"x":{"dtype":"F32","shape":[1]}}`, four...), `"data_offsets" is missing`},
		{"null tensor", file(`{"x":null}`), "expected"},
		{"unknown type", file(one(`"F128"`, `[1]`, `[0,4]`), four...), `unknown type "F128"`},
		{"type no string", file(one(`1`, `[1]`, `[0,4]`), four...), "string was expected"},
		{"null shape", file(one(`"F32"`, `null`, `[0,4]`), four...), "expected"},
		{"negative size", file(one(`"F32"`, `[-1]`, `[0,4]`), four...), "-1 is not a whole number"},
		{"two negative sizes", file(one(`"F32"`, `[-1,-1]`, `[0,4]`), four...), "not a whole number"},
		{"fraction", file(one(`"F32"`, `[1.5]`, `[0,4]`), four...), "1.5 is not a whole number"},
		{"exponent", file(one(`"F32"`, `[1e0]`, `[0,4]`), four...), "not a whole number"},
		{"size of 2^64", file(one(`"F32"`, `[18446744073709551616]`, `[0,4]`), four...), "not a whole number"},
		{"product of 2^64", file(one(`"F32"`, `[1073741824,1073741824,16]`, `[0,4]`), four...), "impossible shape"},
		{"product of 2^64, then 0", file(one(`"F32"`, `[1073741824,1073741824,16,0]`, `[0,0]`)), "impossible shape"},
		{"one offset", file(one(`"F32"`, `[1]`, `[0]`), four...), "has 1 entries"},
		{"three offsets", file(one(`"F32"`, `[1]`, `[0,4,4]`), four...), "has 3 entries"},
		{"offsets turned", file(one(`"F32"`, `[1]`, `[4,0]`), four...), "byte range"},
		{"offsets beyond the data", file(one(`"F32"`, `[2]`, `[0,8]`), four...), "byte range"},
		{"offset of 2^64-1", file(one(`"F32"`, `[1]`, `[18446744073709551611,18446744073709551615]`), four...), "byte range"},
		{"too few bytes", file(one(`"F32"`, `[2]`, `[0,4]`), four...), "needs 8 bytes"},
		{"hole in front", file(one(`"U8"`, `[1]`, `[3,4]`), four...), "starts at byte 3"},
		{"bytes left", file(good, 1, 2, 3, 4, 5), "end at byte 4"},
		{"overlap", file(`{"x":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},"y":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}}`,
			four...), `"y" starts at byte 2`},
		{"deep shape", file(`{"x":{"shape":`+deep, four...), "number was expected"},
		{"deep type", file(`{"x":{"dtype":`+deep, four...), "string was expected"},
		{"deep tensor", file(`{"x":`+deep, four...), "expected"},
		{"deep objects", file(strings.Repeat(`{"a":`, 1<<16), four...), "unknown field"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := safetensors.Decode(c.file)
			require.ErrorIs(t, err, safetensors.ErrFormat)
			assert.Nil(t, f)
			assert.ErrorContains(t, err, c.want)
		})
	}
}

// TestKeptTypes: types of the format that are not converted, as F8, are refused by tensor, and not with their file, which is written as it
// was read.
func TestKeptTypes(t *testing.T) {
	for kind, bits := range map[string]int{"F8_E4M3": 8, "F8_E5M2": 8, "F8_E8M0": 8, "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8,
		"F6_E2M3": 6, "F6_E3M2": 6, "F4": 4, "C64": 64} {
		data := []byte{0, 0, 0x80, 0x3f}
		for i := range bits * 4 / 8 {
			data = append(data, byte(i+1))
		}
		head := `{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"` + kind + `","shape":[%s],"data_offsets":[4,%d]}}`
		f, err := safetensors.Decode(file(fmt.Sprintf(head, "2,2", len(data)), data...))
		require.NoError(t, err, kind)
		v, err := f.Get("a").Float32s()
		require.NoError(t, err)
		require.Equal(t, []float32{1}, v)
		_, err = f.Get("b").Float32s()
		require.ErrorIs(t, err, safetensors.ErrFormat)
		require.ErrorContains(t, err, `tensor "b" is of type `+kind+`, which is not read`)

		out, err := safetensors.Encode(f)
		require.NoError(t, err, kind)
		again, err := safetensors.Decode(out)
		require.NoError(t, err, kind)
		require.Equal(t, f.Get("b"), again.Get("b"))

		_, err = safetensors.Decode(file(fmt.Sprintf(head, "2,2,2", len(data)), data...))
		require.ErrorContains(t, err, `tensor "b" of shape [2 2 2] needs`)
		if bits < 8 {
			_, err = safetensors.Decode(file(fmt.Sprintf(head, "3", len(data)), data...))
			require.ErrorContains(t, err, "ends within a byte")
		}
	}
}

// A size that an int cannot hold must be an error on every machine, not only where an int has 64 bits.
func TestDecodeLargeSize(t *testing.T) {
	for _, size := range []string{"2147483648", "4294967297", "9223372036854775808"} {
		_, err := safetensors.Decode(file(one(`"U8"`, "["+size+"]", "[0,1]"), 1))
		assert.ErrorIs(t, err, safetensors.ErrFormat, size)
	}
}

func TestTruncatedAndFlipped(t *testing.T) {
	b := sample(t)
	for n := range len(b) {
		_, err := safetensors.Decode(b[:n])
		require.ErrorIs(t, err, safetensors.ErrFormat, "the first %d bytes", n)
	}
	headerEnd := 8 + binary.LittleEndian.Uint64(b)
	for i := range len(b) * 8 {
		c := bytes.Clone(b)
		c[i/8] ^= 1 << (i % 8)
		f, err := safetensors.Decode(c)
		if uint64(i/8) >= headerEnd {
			require.NoError(t, err, "a flipped bit of data is other data")
		} else if err == nil { // a name or a number may have become another one that fits; all must still convert
			for _, x := range f.Tensors {
				_, err := x.Float64s()
				require.NoError(t, err)
			}
		}
	}
}

// sample is a small file of several tensors with metadata.
func sample(t *testing.T) []byte {
	t.Helper()
	b, err := safetensors.Encode(&safetensors.File{
		Metadata: map[string]string{"k": "v"},
		Tensors: []safetensors.Tensor{
			safetensors.FromFloat32s("b", []int{2, 2}, []float32{1, 2, 3, 4}),
			safetensors.FromFloat64s("a", []int{1}, []float64{math.Pi}),
			safetensors.FromInt64s("c", []int{}, []int64{-5}),
		}})
	require.NoError(t, err)
	return b
}

// The layout that the reference writer gives: wide types first, then names, header padded to 8 bytes.
func TestEncodeBytes(t *testing.T) {
	want := `{"__metadata__":{"k":"v"},` +
		`"a":{"dtype":"F64","shape":[1],"data_offsets":[0,8]},` +
		`"c":{"dtype":"I64","shape":[],"data_offsets":[8,16]},` +
		`"b":{"dtype":"F32","shape":[2,2],"data_offsets":[16,32]}}`
	want += strings.Repeat(" ", (8-len(want)%8)%8)
	b := sample(t)
	assert.Equal(t, uint64(len(want)), binary.LittleEndian.Uint64(b))
	assert.Equal(t, want, string(b[8:8+len(want)]))
	// π, -5, 1, 2, 3, 4, little-endian whatever the machine.
	assert.Equal(t, []byte{0x18, 0x2d, 0x44, 0x54, 0xfb, 0x21, 0x09, 0x40, 0xfb, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		0, 0, 0x80, 0x3f, 0, 0, 0, 0x40, 0, 0, 0x40, 0x40, 0, 0, 0x80, 0x40}, b[8+len(want):])
}

func TestEncodeRefuses(t *testing.T) {
	x := safetensors.FromFloat32s("x", []int{1}, []float32{1})
	for _, c := range []struct {
		name string
		file safetensors.File
		want string
	}{
		{"duplicate", safetensors.File{Tensors: []safetensors.Tensor{x, x}}, "twice"},
		{"duplicate of another width", safetensors.File{Tensors: []safetensors.Tensor{x,
			safetensors.FromFloat64s("y", []int{1}, []float64{1}), safetensors.FromFloat64s("x", []int{1}, []float64{1})}}, "twice"},
		{"reserved name", safetensors.File{Tensors: []safetensors.Tensor{
			safetensors.FromFloat32s("__metadata__", []int{1}, []float32{1})}}, "can be called"},
		{"name not UTF-8", safetensors.File{Tensors: []safetensors.Tensor{
			safetensors.FromFloat32s("\xff", []int{1}, []float32{1})}}, "can be called"},
		{"metadata not UTF-8", safetensors.File{Metadata: map[string]string{"a": "\xff"}}, "UTF-8"},
		{"wrong size", safetensors.File{Tensors: []safetensors.Tensor{
			safetensors.FromFloat32s("x", []int{2}, []float32{1})}}, "needs 8 bytes"},
		{"negative sizes", safetensors.File{Tensors: []safetensors.Tensor{
			safetensors.FromFloat32s("x", []int{-1, -1}, []float32{1})}}, "impossible"},
		{"no type", safetensors.File{Tensors: []safetensors.Tensor{{Name: "x"}}}, "unknown type"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := safetensors.Encode(&c.file)
			require.ErrorIs(t, err, safetensors.ErrFormat)
			assert.ErrorContains(t, err, c.want)
		})
	}
}

func TestRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	dtypes := []safetensors.DType{safetensors.F64, safetensors.F32, safetensors.F16, safetensors.BF16, safetensors.I64,
		safetensors.I32, safetensors.I16, safetensors.I8, safetensors.U64, safetensors.U32, safetensors.U16, safetensors.U8,
		safetensors.Bool}
	names := []string{"plain", "with \"quotes\" and \\", "<html>&\u2028", "ünïcode \U0001f600", "", "tab\tnewline\n\x00"}
	in := &safetensors.File{Metadata: map[string]string{"": "", "a<b>": "\"\n\u2029", "config": `{"x":[1,2]}`}}
	for i, d := range dtypes {
		shape := [][]int{{}, {3}, {0, 5}, {2, 1, 3}}[i%4]
		x := safetensors.Tensor{Name: names[i%len(names)] + string(d), DType: d, Shape: shape}
		x.Data = make([]byte, x.Len()*d.Size())
		for k := range x.Data {
			x.Data[k] = byte(rng.Uint32())
		}
		in.Tensors = append(in.Tensors, x)
	}
	path := filepath.Join(t.TempDir(), "x.safetensors")
	require.NoError(t, safetensors.Write(path, in))
	out, err := safetensors.Read(path)
	require.NoError(t, err)
	assert.Equal(t, in.Metadata, out.Metadata)
	require.Len(t, out.Tensors, len(in.Tensors))
	for _, x := range in.Tensors {
		got := out.Get(x.Name)
		require.NotNil(t, got, x.Name)
		assert.Equal(t, x, *got)
	}
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	again, err := safetensors.Encode(out)
	require.NoError(t, err)
	assert.Equal(t, b, again, "equal content gives equal bytes")
}

func TestWriteIsAtomic(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.safetensors")
	good := &safetensors.File{Tensors: []safetensors.Tensor{safetensors.FromFloat32s("x", []int{1}, []float32{1})}}
	require.NoError(t, safetensors.Write(path, good))
	bad := &safetensors.File{Tensors: []safetensors.Tensor{{Name: "x", DType: "?"}}}
	require.Error(t, safetensors.Write(path, bad))
	_, err := safetensors.Read(path)
	assert.NoError(t, err, "the old file is still there")
	good.Tensors[0].Name = "y"
	require.NoError(t, safetensors.Write(path, good), "over the old one")
	f, err := safetensors.Read(path)
	require.NoError(t, err)
	assert.NotNil(t, f.Get("y"))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 1, "no temporary file stays")
	assert.Error(t, safetensors.Write(filepath.Join(dir, "none", "x"), good))
}

func TestReadNamesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "broken.safetensors")
	_, err := safetensors.Read(path)
	assert.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, os.WriteFile(path, []byte("nonsense"), 0o600))
	_, err = safetensors.Read(path)
	assert.ErrorIs(t, err, safetensors.ErrFormat)
	assert.ErrorContains(t, err, "broken.safetensors")
	_, err = safetensors.Read(t.TempDir())
	assert.Error(t, err, "a folder")
}

func TestReadFileTooLarge(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large")
	f, err := os.Create(path)
	require.NoError(t, err)
	err = f.Truncate(1 << 31) // sparse: takes no room
	f.Close()
	if err != nil {
		t.Skipf("skipped: no sparse file here: %v", err)
	}
	_, err = safetensors.ReadFile(path)
	assert.ErrorContains(t, err, "takes up to")
}

func TestReadUpTo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(path, []byte("secret"), 0o600))
	b, err := safetensors.ReadUpTo(path, 6)
	require.NoError(t, err)
	require.Equal(t, "secret", string(b))
	_, err = safetensors.ReadUpTo(path, 5)
	require.EqualError(t, err, path+": 6 bytes, this reader takes up to 5")
	const endless = "/dev/zero"
	if _, err := os.Stat(endless); err != nil {
		t.Skipf("skipped: %v", err)
	}
	_, err = safetensors.ReadUpTo(endless, 1<<16)
	require.EqualError(t, err, endless+": this reader takes up to 65536 bytes")
}

func TestConvert(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		dtype safetensors.DType
		data  []byte
		want  []float64
	}{
		{safetensors.F16, []byte{0, 0x3c, 0, 0xc0, 0xff, 0x7b, 1, 0, 0xff, 3, 0, 4, 0, 0x7c, 0, 0xfc, 0, 0x80},
			[]float64{1, -2, 65504, 0x1p-24, 1023 * 0x1p-24, 0x1p-14, inf, -inf, math.Copysign(0, -1)}},
		{safetensors.BF16, []byte{0x80, 0x3f, 0x49, 0xc0, 0x80, 0x7f, 1, 0}, []float64{1, -3.140625, inf, 0x1p-133}},
		{safetensors.U64, []byte{255, 255, 255, 255, 255, 255, 255, 255}, []float64{0x1p64}},
		{safetensors.I64, []byte{0, 0, 0, 0, 0, 0, 0, 0x80}, []float64{-0x1p63}},
		{safetensors.U32, []byte{255, 255, 255, 255}, []float64{1<<32 - 1}},
		{safetensors.I32, []byte{0, 0, 0, 0x80}, []float64{-1 << 31}},
		{safetensors.U16, []byte{255, 255}, []float64{65535}},
		{safetensors.I16, []byte{0, 0x80}, []float64{-32768}},
		{safetensors.I8, []byte{0x80, 0x7f}, []float64{-128, 127}},
		{safetensors.U8, []byte{0x80}, []float64{128}},
		{safetensors.Bool, []byte{1, 0}, []float64{1, 0}},
	} {
		x := safetensors.Tensor{DType: c.dtype, Shape: []int{len(c.want)}, Data: c.data}
		got, err := x.Float64s()
		require.NoError(t, err)
		for i := range c.want {
			assert.Equal(t, math.Float64bits(c.want[i]), math.Float64bits(got[i]), "%s %d: %g, want %g", c.dtype, i, got[i], c.want[i])
		}
	}
	nan := safetensors.Tensor{DType: safetensors.F16, Shape: []int{1}, Data: []byte{1, 0x7e}}
	v, err := nan.Float32s()
	require.NoError(t, err)
	assert.True(t, math.IsNaN(float64(v[0])))
	_, err = (&safetensors.Tensor{DType: safetensors.F32, Shape: []int{2}, Data: make([]byte, 7)}).Float64s()
	assert.ErrorIs(t, err, safetensors.ErrFormat)

	big := safetensors.FromFloat64s("x", []int{2}, []float64{1e300, 1.0 / 3})
	w, err := big.Float32s()
	require.NoError(t, err)
	assert.True(t, math.IsInf(float64(w[0]), 1))
	assert.Equal(t, float32(1.0/3), w[1])
}

// Hostile headers must cost no more memory than a small multiple of their bytes.
func TestMemoryIsBounded(t *testing.T) {
	for name, b := range map[string][]byte{
		"claims 100 MB": append(binary.LittleEndian.AppendUint64(nil, 100<<20), make([]byte, 1000)...),
		"claims a tensor of 2^60 bytes": file(one(`"U8"`, `[1152921504606846976]`, `[0,1152921504606846976]`) +
			strings.Repeat(" ", 900)),
		"many sizes":   file(one(`"U8"`, "["+strings.Repeat("1,", 450)+"1]", "[0,1]"), 1),
		"deep":         file(`{"x":{"shape":` + strings.Repeat("[", 1000)),
		"many tensors": file("{" + strings.Repeat(`"x":{},`, 140)),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _ = safetensors.Decode(b)
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
			t.Errorf("%s: %d bytes allocated for a file of %d", name, got, len(b))
		}
	}
}
