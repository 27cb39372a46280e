package npy

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/safetensors"
	"github.com/equivcnp/equivcnp/internal/testkit"
)

// file makes the bytes of an .npy file.
func file(descr, order, shape string, data ...byte) []byte {
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n", descr, order, shape)
	head := binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(text)))
	return append(append(head, text...), data...)
}

func TestDecode(t *testing.T) {
	for _, c := range []struct {
		name  string
		file  []byte
		shape []int
		want  []float64
	}{
		{"bytes", file("|u1", "False", "(2, 3)", 1, 2, 3, 4, 5, 6), []int{2, 3}, []float64{1, 2, 3, 4, 5, 6}},
		{"the first index fastest", file("|i1", "True", "(2, 3)", 1, 2, 3, 4, 5, 255), []int{2, 3}, []float64{1, 3, 5, 2, 4, -1}},
		{"three axes", file("|u1", "True", "(1, 2, 2)", 1, 2, 3, 4), []int{1, 2, 2}, []float64{1, 3, 2, 4}},
		{"big-endian", file(">i2", "False", "(2,)", 1, 0, 0, 2), []int{2}, []float64{256, 2}},
		{"little-endian", file("<i2", "False", "(2,)", 1, 0, 0, 2), []int{2}, []float64{1, 512}},
		{"booleans", file("|b1", "False", "(2,)", 1, 0), []int{2}, []float64{1, 0}},
		{"one number", file("<f4", "False", "()", 0, 0, 0x80, 0x3f), []int{}, []float64{1}},
		{"nothing", file("<f8", "False", "(0, 3)"), []int{0, 3}, []float64{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Decode(c.file)
			require.NoError(t, err)
			require.Equal(t, c.shape, got[0].Shape)
			v, err := got[0].Float64s()
			require.NoError(t, err)
			require.Equal(t, c.want, v)
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, c := range []struct {
		file []byte
		want string
	}{
		{file("|u1", "False", "(2, 3)", 1), "needs 6 bytes, the file has 1"},
		{file("<f8", "False", "(99999999999, 99999999999)"), "shape"},
		{file("|O", "False", "(1,)", 1, 2, 3, 4), "need numbers, texts or times"},
		{file("<c8", "False", "(1,)", 1, 2, 3, 4, 5, 6, 7, 8), "elements of type"},
		{[]byte("\x93NUMPY\x09\x00\x00\x00"), "version 9"},
		{[]byte("PK\x05\x06"), "zip"},
		{[]byte("text"), "zip"},
	} {
		_, err := Decode(c.file)
		require.ErrorIs(t, err, ErrFormat)
		require.ErrorContains(t, err, c.want)
	}
	var b bytes.Buffer // a member that claims less than it holds
	z := zip.NewWriter(&b)
	w, err := z.Create("a.npy")
	require.NoError(t, err)
	_, err = w.Write(append(file("|u1", "False", "(1,)"), make([]byte, 1<<20)...))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	_, err = Decode(b.Bytes())
	require.ErrorContains(t, err, `array "a": not a numpy file that can be read: shape [1] needs 1 bytes, it has 1048576`)
}

func tensors() []safetensors.Tensor {
	return []safetensors.Tensor{safetensors.FromFloat32s("mean", []int{2, 3}, []float32{1, 2, 3, 4, 5, 6}),
		safetensors.FromFloat64s("x", []int{2}, []float64{0.5, -1}), safetensors.FromInt64s("one", []int{}, []int64{7})}
}

func TestRoundTrip(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, Encode(&b, tensors()))
	got, err := Decode(b.Bytes())
	require.NoError(t, err)
	require.Equal(t, tensors(), got)
	for n := range b.Len() {
		_, err := Decode(b.Bytes()[:n])
		require.Error(t, err)
	}
}

// What is written opens in numpy, and what numpy writes opens here, where it is installed.
func TestNumpy(t *testing.T) {
	python := testkit.Python(t, "numpy")
	dir := t.TempDir()
	var b bytes.Buffer
	require.NoError(t, Encode(&b, tensors()))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.npz"), b.Bytes(), 0o600))
	out, err := exec.Command(python, "-c", fmt.Sprintf(`
import numpy as np
f = np.load(%q + "/go.npz")
assert f["mean"].dtype == np.float32 and f["mean"].tolist() == [[1, 2, 3], [4, 5, 6]]
assert f["x"].tolist() == [0.5, -1] and f["one"] == 7
np.savez_compressed(%[1]q + "/np.npz", a=np.asfortranarray(f["mean"]), b=f["x"].astype(">f8"), c=np.array([True, False]),
    d=np.arange(5, dtype=np.float16))
`, dir)).CombinedOutput()
	require.NoError(t, err, "%s", out)
	text, err := os.ReadFile(filepath.Join(dir, "np.npz"))
	require.NoError(t, err)
	got, err := Decode(text)
	require.NoError(t, err)
	want := map[string][]float64{"a": {1, 2, 3, 4, 5, 6}, "b": {0.5, -1}, "c": {1, 0}, "d": {0, 1, 2, 3, 4}}
	require.Len(t, got, len(want))
	for i := range got {
		v, err := got[i].Float64s()
		require.NoError(t, err)
		require.Equal(t, want[got[i].Name], v)
	}
}

// Texts and times beside numbers, and headers whose entries are in another order, as numpy and other writers make them.
func TestTextsAndTimes(t *testing.T) {
	for _, head := range []string{
		"{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }", "{'shape': (1,), 'fortran_order': False, 'descr': '<f8'}",
		"{'descr': 'f8', 'fortran_order': False, 'shape': (1,)}", `{"descr": "<f8", "fortran_order": False, "shape": (1,)}`,
		"{'fortran_order':False,'descr':'<f8','shape':(1,)}", "{ 'shape' : (1, ) , 'descr' : '<f8' , 'fortran_order' : False , }",
	} {
		b := append([]byte("\x93NUMPY\x01\x00"), byte(len(head)), 0)
		b = append(append(b, head...), 0, 0, 0, 0, 0, 0, 0xf8, 0x3f)
		got, err := Decode(b)
		require.NoError(t, err, head)
		v, err := got[0].Float64s()
		require.NoError(t, err)
		require.Equal(t, []float64{1.5}, v)
	}
	for _, head := range []string{"{'descr': '<f8', 'shape': (1,)}",
		"{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (1,)}",
		"{'descr': '<f8', 'fortran_order': False, 'shape': (1,), 'more': True}"} {
		b := append([]byte("\x93NUMPY\x01\x00"), byte(len(head)), 0)
		_, err := Decode(append(append(b, head...), 0, 0, 0, 0, 0, 0, 0xf8, 0x3f))
		require.ErrorIs(t, err, ErrFormat, head)
	}

	one := func(descr string, data ...byte) []byte { return file(descr, "False", "(2,)", data...) }
	decode := func(b []byte) *safetensors.Tensor {
		got, err := Decode(b)
		require.NoError(t, err)
		_, err = got[0].Float64s()
		require.Error(t, err) // they are no numbers
		return &got[0]
	}
	texts, ok := Texts(decode(one("|S3", 'a', 'b', 0, 'c', 'd', 'e')))
	require.True(t, ok)
	require.Equal(t, []string{"ab", "cde"}, texts)
	texts, _ = Texts(decode(one("<U2", 'a', 0, 0, 0, 0, 0, 0, 0, 0xfc, 0, 0, 0, 'b', 0, 0, 0)))
	require.Equal(t, []string{"a", "üb"}, texts)
	texts, _ = Texts(decode(one(">U1", 0, 0, 0, 'a', 0, 0, 0, 'b')))
	require.Equal(t, []string{"a", "b"}, texts)
	days, ok := Days(decode(one("<M8[h]", 36, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80)))
	require.True(t, ok)
	require.Equal(t, 1.5, days[0])
	require.True(t, math.IsNaN(days[1]))
	for _, c := range []struct {
		unit string
		want []float64
	}{{"M", []float64{31 + 28, -31}}, {"Y", []float64{365, -365}}} { // 1970-03 and 1969-12, 1971 and 1969
		at := map[string]byte{"M": 2, "Y": 1}[c.unit]
		b := append([]byte{at, 0, 0, 0, 0, 0, 0, 0}, bytes.Repeat([]byte{0xff}, 8)...)
		days, ok = Days(decode(one("<M8["+c.unit+"]", b...)))
		require.True(t, ok)
		require.Equal(t, c.want, days)
	}
	days, _ = Days(decode(one("<M8[M]", 0, 0, 0, 0, 0, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0x7f)))
	require.True(t, math.IsNaN(days[0]) && math.IsNaN(days[1]))
	_, err := Decode(one("<M8[25s]", make([]byte, 16)...))
	require.ErrorContains(t, err, "need numbers, texts or times")

	var b bytes.Buffer
	require.NoError(t, Encode(&b, []safetensors.Tensor{FromTexts("id", []string{"a", "üb", ""})}))
	got, err := Decode(b.Bytes())
	require.NoError(t, err)
	texts, _ = Texts(&got[0])
	require.Equal(t, []string{"a", "üb", ""}, texts)
}
