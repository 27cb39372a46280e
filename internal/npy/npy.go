// Package npy reads and writes numpy's files: .npy, one array, and .npz, a zip archive of them.
//
// The reader does not trust its input: shapes are compared with the bytes that are there before anything is allocated, and unpacking stops
// at a limit. Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html.
package npy

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/equivcnp/equivcnp/internal/safetensors"
)

// ErrFormat is wrapped by every error about the content of a file.
var ErrFormat = errors.New("not a numpy file that can be read")

// MaxBytes bounds what the arrays of one file take in memory.
const MaxBytes = 1<<31 - 1

const magic = "\x93NUMPY"

// Is reports whether bytes begin as an .npy file.
func Is(b []byte) bool { return bytes.HasPrefix(b, []byte(magic)) }

// IsZip reports whether bytes begin as a zip archive, which an .npz file is.
func IsZip(b []byte) bool {
	return bytes.HasPrefix(b, []byte("PK\x03\x04")) || bytes.HasPrefix(b, []byte("PK\x05\x06"))
}

// dtypes are the element types, without the sign of the order of bytes.
var dtypes = map[string]safetensors.DType{
	"f8": safetensors.F64, "f4": safetensors.F32, "f2": safetensors.F16, "i8": safetensors.I64, "i4": safetensors.I32,
	"i2": safetensors.I16,
	"i1": safetensors.I8, "u8": safetensors.U64, "u4": safetensors.U32, "u2": safetensors.U16, "u1": safetensors.U8, "b1": safetensors.Bool,
}

// A header is the text of a Python dictionary of these three, in any order.
var (
	header      = regexp.MustCompile(`^\{\s*((?:['"]\w+['"]\s*:\s*(?:'[^']*'|"[^"]*"|True|False|\([0-9, L]*\))\s*,?\s*)*)\}\s*$`)
	entry       = regexp.MustCompile(`['"](\w+)['"]\s*:\s*('[^']*'|"[^"]*"|True|False|\([0-9, L]*\))`)
	descr       = regexp.MustCompile(`^['"]([<>|=]?)([a-zA-Z]\d*)(\[[0-9A-Za-z]*\])?['"]$`)
	headerNames = []string{"descr", "fortran_order", "shape"}
)

// parseHeader reads the entries of a header.
func parseHeader(text []byte) (map[string]string, bool) {
	whole := header.FindSubmatch(text)
	if whole == nil {
		return nil, false
	}
	out := map[string]string{}
	for _, m := range entry.FindAllSubmatch(whole[1], -1) {
		if _, twice := out[string(m[1])]; twice {
			return nil, false
		}
		out[string(m[1])] = string(m[2])
	}
	for _, name := range headerNames {
		if _, ok := out[name]; !ok {
			return nil, false
		}
	}
	return out, len(out) == len(headerNames)
}

// array is a header's content.
type array struct {
	dtype        safetensors.DType
	each, unit   int // bytes of an element, and of what its bytes are turned around in
	big, fortran bool
	shape        []int
	size         int // bytes of the data
}

// readHeader reads the beginning of an array of at most so many bytes, up to its data, and says how many bytes that was.
func readHeader(r io.Reader, most int) (a array, n int, err error) {
	bad := func(format string, args ...any) (array, int, error) {
		return a, 0, fmt.Errorf("%w: %s", ErrFormat, fmt.Sprintf(format, args...))
	}
	head := make([]byte, 12)
	if _, err := io.ReadFull(r, head[:10]); err != nil {
		return bad("the header: %v", err)
	}
	if !Is(head) {
		return bad("the array has no header")
	}
	length := int(binary.LittleEndian.Uint16(head[8:]))
	n = 10
	if version := head[6]; version == 2 || version == 3 {
		if _, err := io.ReadFull(r, head[10:]); err != nil {
			return bad("the header: %v", err)
		}
		if v := binary.LittleEndian.Uint32(head[8:]); v > math.MaxUint16 {
			return bad("a header of %d bytes", v)
		}
		length, n = int(binary.LittleEndian.Uint32(head[8:])), 12
	} else if version != 1 {
		return bad("version %d of the format", version)
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(r, text); err != nil {
		return bad("the header: %v", err)
	}
	n += length
	part, ok := parseHeader(text)
	if !ok {
		return bad("header %.80q: need an array of numbers, texts or times", text)
	}
	if err := a.typed(part["descr"]); err != nil {
		return a, 0, err
	}
	a.fortran = part["fortran_order"] == "True"
	a.size = a.each
	for s := range strings.SplitSeq(strings.Trim(part["shape"], "()"), ",") {
		if s = strings.TrimSuffix(strings.TrimSpace(s), "L"); s == "" {
			continue
		}
		v, err := strconv.Atoi(s)
		if err != nil || v > 0 && a.size > most/v || len(a.shape) == 32 {
			return bad("shape %.80s", part["shape"])
		}
		a.shape, a.size = append(a.shape, v), a.size*v
	}
	if a.shape == nil {
		a.shape = []int{}
	}
	return a, n, nil
}

// tensor makes a tensor of an array's data, little-endian and row-major.
func (a *array) tensor(name string, data []byte) safetensors.Tensor {
	size := a.each
	if a.big && a.unit > 1 {
		data = slices.Clone(data)
		for i := 0; i < len(data); i += a.unit {
			slices.Reverse(data[i : i+a.unit])
		}
	}
	if a.fortran && len(a.shape) > 1 {
		data = rowMajor(data, a.shape, size)
	}
	return safetensors.Tensor{Name: name, DType: a.dtype, Shape: a.shape, Data: data}
}

// rowMajor brings elements whose first index is fastest into the order in which the last is.
func rowMajor(data []byte, shape []int, size int) []byte {
	out := make([]byte, len(data))
	strides, step := make([]int, len(shape)), size
	for k, n := range shape {
		strides[k] = step
		step *= n
	}
	at, from := make([]int, len(shape)), 0
	for to := 0; to < len(out); to += size {
		copy(out[to:to+size], data[from:from+size])
		for k := len(shape) - 1; k >= 0; k-- {
			at[k]++
			from += strides[k]
			if at[k] < shape[k] {
				break
			}
			from -= at[k] * strides[k]
			at[k] = 0
		}
	}
	return out
}

// Decode reads the arrays of an .npz file, or the one of an .npy file, whose name is then empty. The data may alias b.
func Decode(b []byte) ([]safetensors.Tensor, error) {
	if Is(b) {
		r := bytes.NewReader(b)
		a, n, err := readHeader(r, MaxBytes)
		if err != nil {
			return nil, err
		}
		if len(b)-n != a.size {
			return nil, fmt.Errorf("%w: an array of shape %v needs %d bytes, the file has %d", ErrFormat, a.shape, a.size, len(b)-n)
		}
		return []safetensors.Tensor{a.tensor("", b[n:])}, nil
	}
	archive, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	var out []safetensors.Tensor
	left := MaxBytes
	seen := map[string]bool{}
	for _, f := range archive.File {
		name, ok := strings.CutSuffix(f.Name, ".npy")
		if !ok {
			continue
		}
		if seen[name] {
			return nil, fmt.Errorf("%w: %q appears twice", ErrFormat, name)
		}
		seen[name] = true
		t, err := member(f, name, left)
		if err != nil {
			return nil, fmt.Errorf("array %q: %w", name, err)
		}
		left -= len(t.Data)
		out = append(out, t)
	}
	return out, nil
}

// member reads an array of an archive, of at most so many bytes.
func member(f *zip.File, name string, limit int) (safetensors.Tensor, error) {
	var none safetensors.Tensor
	r, err := f.Open()
	if err != nil {
		return none, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	defer r.Close()
	a, n, err := readHeader(r, MaxBytes)
	if err != nil {
		return none, err
	}
	if a.size > limit || uint64(a.size)+uint64(n) != f.UncompressedSize64 {
		return none, fmt.Errorf("%w: shape %v needs %d bytes, it has %d; all arrays may take %d", ErrFormat, a.shape, a.size,
			f.UncompressedSize64-uint64(n), MaxBytes)
	}
	var data bytes.Buffer // grows with what is there, whatever the header claims
	if _, err := io.CopyN(&data, r, int64(a.size)); err != nil {
		return none, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	if _, err := io.Copy(io.Discard, r); err != nil { // the sum at the end
		return none, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return a.tensor(name, data.Bytes()), nil
}

// Encode writes an .npz file, not compressed, as numpy.savez does.
func Encode(w io.Writer, tensors []safetensors.Tensor) error {
	z := zip.NewWriter(w)
	for i := range tensors {
		f, err := z.CreateHeader(&zip.FileHeader{Name: tensors[i].Name + ".npy", Method: zip.Store})
		if err != nil {
			return err
		}
		if err := EncodeArray(f, &tensors[i]); err != nil {
			return err
		}
	}
	return z.Close()
}

// EncodeArray writes an .npy file.
func EncodeArray(w io.Writer, t *safetensors.Tensor) error {
	if t == nil || t.Len() < 0 {
		return fmt.Errorf("%w: no tensor, or one that is larger than memory", ErrFormat)
	}
	if _, text := Texts(t); !text && len(t.Data) != t.DType.Size()*t.Len() {
		return fmt.Errorf("%w: tensor %q of type %s%v with %d bytes", ErrFormat, t.Name, t.DType, t.Shape, len(t.Data))
	}
	head, err := headerOf(t)
	if err == nil {
		_, err = w.Write(head)
	}
	if err == nil {
		_, err = w.Write(t.Data)
	}
	return err
}

// headerOf is what stands before a tensor's data.
func headerOf(t *safetensors.Tensor) ([]byte, error) {
	code, _ := strings.CutPrefix(string(t.DType), textType)
	if code == string(t.DType) {
		code = ""
	}
	for c, d := range dtypes {
		if d == t.DType {
			code = c
		}
	}
	if code == "" {
		return nil, fmt.Errorf("%w: tensor %q of type %s", ErrFormat, t.Name, t.DType)
	}
	order, shape := "<", ""
	if t.DType.Size() == 1 {
		order = "|"
	}
	for i, n := range t.Shape {
		if i > 0 {
			shape += ", "
		}
		shape += strconv.Itoa(n)
	}
	if len(t.Shape) == 1 {
		shape += ","
	}
	text := fmt.Sprintf("{'descr': '%s%s', 'fortran_order': False, 'shape': (%s), }", order, code, shape)
	text += strings.Repeat(" ", 63-(len(magic)+4+len(text))%64) + "\n" // data begin at a multiple of 64 bytes
	if len(text) > math.MaxUint16 {
		return nil, fmt.Errorf("%w: tensor %q has %d axes", ErrFormat, t.Name, len(t.Shape))
	}
	head := append([]byte(magic), 1, 0, byte(len(text)), byte(len(text)>>8))
	return append(head, text...), nil
}
