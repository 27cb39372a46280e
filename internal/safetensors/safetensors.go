// Package safetensors reads and writes the safetensors container: an 8-byte little-endian header length, a JSON header
// that names each tensor with its type, shape and byte range, and the data, little-endian and row-major.
//
// The reader does not trust its input: lengths are checked before anything is allocated, and the memory used is bounded by the
// file's size. Format: https://github.com/huggingface/safetensors (format section of its README).
package safetensors

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"unicode/utf8"

	"github.com/equivcnp/equivcnp/internal/atomicfile"
)

// ErrFormat is wrapped by every error about the content of a file.
var ErrFormat = errors.New("not a valid safetensors file")

// maxHeader bounds the JSON header, as the reference implementation does.
const maxHeader = 100 << 20

// DType is the element type of a tensor, spelled as in the file.
type DType string

// The element types that this package can convert. Tensors of others are kept as bytes: converting one is an error, which names it.
const (
	F64  DType = "F64"
	F32  DType = "F32"
	F16  DType = "F16"
	BF16 DType = "BF16"
	I64  DType = "I64"
	I32  DType = "I32"
	I16  DType = "I16"
	I8   DType = "I8"
	U64  DType = "U64"
	U32  DType = "U32"
	U16  DType = "U16"
	U8   DType = "U8"
	Bool DType = "BOOL"
)

var sizes = map[DType]int{
	F64: 8, F32: 4, F16: 2, BF16: 2, I64: 8, I32: 4, I16: 2, I8: 1, U64: 8, U32: 4, U16: 2, U8: 1, Bool: 1,
}

// kept holds the bits of an element of those types of the format that are not converted.
var kept = map[DType]int{"F8_E4M3": 8, "F8_E5M2": 8, "F8_E8M0": 8, "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8,
	"F6_E2M3": 6, "F6_E3M2": 6, "F4": 4, "C64": 64}

// Size is the number of bytes of one element, 0 for a type that is not converted.
func (d DType) Size() int { return sizes[d] }

// bits is the number of bits of one element, 0 for an unknown type.
func (d DType) bits() int { return cmp.Or(8*sizes[d], kept[d]) }

// Tensor is one named array.
type Tensor struct {
	Name  string
	DType DType
	Shape []int
	Data  []byte // little-endian, row-major, Size()·product(Shape) bytes
}

// Len is the number of elements, and -1 of a shape that no array in memory has.
func (t *Tensor) Len() int {
	n, empty := 1, false
	for _, s := range t.Shape {
		switch {
		case s < 0:
			return -1
		case s == 0:
			empty = true
		case n > math.MaxInt/8/s:
			n = math.MaxInt
		default:
			n *= s
		}
	}
	switch {
	case empty:
		return 0
	case n > math.MaxInt/8:
		return -1
	}
	return n
}

// File is the content of a safetensors file. Tensors are ordered as their data lie in the file.
type File struct {
	Metadata map[string]string
	Tensors  []Tensor
}

// Get returns the tensor of that name, or nil.
func (f *File) Get(name string) *Tensor {
	for i := range f.Tensors {
		if f.Tensors[i].Name == name {
			return &f.Tensors[i]
		}
	}
	return nil
}

// maxFile is the largest file that Read accepts. Everything is held in memory, and the number of bytes must fit an int on 32-bit machines.
const maxFile = 1<<31 - 1

// ReadFile returns the bytes of a file. It refuses more than 2 GiB, so that an endless device file cannot fill the memory.
func ReadFile(path string) ([]byte, error) { return ReadUpTo(path, maxFile) }

// ReadUpTo is ReadFile for files of fewer bytes than most, which other formats have.
func ReadUpTo(path string, most int64) ([]byte, error) {
	return read(path, most, func([]byte) error { return nil })
}

// headBytes is how many bytes ReadOf looks at first.
const headBytes = 16

// ReadOf is ReadFile for files whose first 16 bytes, or all of a shorter file, pass a check. What fails it is read no further: a large file
// of another kind costs nothing. The check's error is returned after the file's name.
func ReadOf(path string, check func(head []byte) error) ([]byte, error) {
	return read(path, maxFile, check)
}

func read(path string, most int64, check func(head []byte) error) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	regular := st.Mode().IsRegular()
	if regular && st.Size() > most {
		return nil, fmt.Errorf("%s: %d bytes, this reader takes up to %d", path, st.Size(), most)
	}
	head := make([]byte, headBytes)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	if err := check(head[:n]); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if regular {
		return os.ReadFile(path)
	}
	b, err := io.ReadAll(io.LimitReader(io.MultiReader(bytes.NewReader(head[:n]), f), most))
	if err != nil {
		return nil, err
	}
	if int64(len(b)) == most {
		return nil, fmt.Errorf("%s: this reader takes up to %d bytes", path, most)
	}
	return b, nil
}

// Read reads a whole file. The error names the file.
func Read(path string) (*File, error) {
	b, err := ReadFile(path)
	if err != nil {
		return nil, err
	}
	f, err := Decode(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// Decode parses a file's bytes. The tensors' Data alias b.
func Decode(b []byte) (*File, error) {
	if len(b) < 8 {
		return nil, fmt.Errorf("%w: %d bytes are too few for a header", ErrFormat, len(b))
	}
	n := binary.LittleEndian.Uint64(b)
	if n > maxHeader || n > uint64(len(b)-8) {
		return nil, fmt.Errorf("%w: the header claims %d bytes, the file has %d", ErrFormat, n, len(b)-8)
	}
	f, ranges, err := decodeHeader(b[8 : 8+n])
	if err != nil {
		return nil, err
	}
	data := b[8+n:]
	for i, r := range ranges {
		if err := check(&f.Tensors[i], r, uint64(len(data))); err != nil {
			return nil, err
		}
	}

	// The format asks for data without holes or overlaps, which also keeps one byte from counting twice.
	order := make([]int, len(ranges))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(ranges[i].begin, ranges[j].begin), cmp.Compare(ranges[i].end, ranges[j].end))
	})
	at, ordered := uint64(0), make([]Tensor, 0, len(order))
	for _, i := range order {
		t, r := f.Tensors[i], ranges[i]
		if r.begin != at {
			return nil, fmt.Errorf("%w: tensor %q starts at byte %d, expected %d", ErrFormat, t.Name, r.begin, at)
		}
		t.Data = data[r.begin:r.end:r.end]
		at = r.end
		ordered = append(ordered, t)
	}
	if at != uint64(len(data)) {
		return nil, fmt.Errorf("%w: the tensors end at byte %d, the data at %d", ErrFormat, at, len(data))
	}
	f.Tensors = ordered
	return f, nil
}

// check compares a tensor's type and shape with its byte range and the number of data bytes.
func check(t *Tensor, r byteRange, data uint64) error {
	bits := t.DType.bits()
	if bits == 0 {
		return fmt.Errorf("%w: tensor %q has the unknown type %q", ErrFormat, t.Name, t.DType)
	}
	if r.begin > r.end || r.end > data {
		return fmt.Errorf("%w: tensor %q has the byte range [%d, %d], the data have %d bytes", ErrFormat, t.Name, r.begin, r.end, data)
	}
	want := uint64(bits)
	for _, s := range t.Shape {
		if s > 0 && want > math.MaxInt64/uint64(s) {
			return fmt.Errorf("%w: tensor %q has the impossible shape %v", ErrFormat, t.Name, t.Shape)
		}
		want *= uint64(s)
	}
	if want%8 != 0 {
		return fmt.Errorf("%w: tensor %q of type %s and shape %v ends within a byte", ErrFormat, t.Name, t.DType, t.Shape)
	}
	if want /= 8; want != r.end-r.begin {
		return fmt.Errorf("%w: tensor %q of shape %v needs %d bytes, its range has %d", ErrFormat, t.Name, t.Shape, want, r.end-r.begin)
	}
	return nil
}

// Encode returns the file's bytes: tensors sorted by descending alignment, then name, as the reference writer does, and
// the header padded with spaces to a multiple of 8.
func Encode(f *File) ([]byte, error) {
	if f == nil {
		return nil, fmt.Errorf("%w: no file", ErrFormat)
	}
	ts := slices.Clone(f.Tensors)
	slices.SortStableFunc(ts, func(a, b Tensor) int {
		return cmp.Or(cmp.Compare(b.DType.bits(), a.DType.bits()), cmp.Compare(a.Name, b.Name))
	})
	var head bytes.Buffer
	head.WriteByte('{')
	if len(f.Metadata) > 0 {
		for k, v := range f.Metadata {
			if !utf8.ValidString(k) || !utf8.ValidString(v) {
				return nil, fmt.Errorf("%w: metadata %q = %q is not UTF-8", ErrFormat, k, v)
			}
		}
		m, err := json.Marshal(f.Metadata) // map keys are sorted
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&head, "%q:%s", metadataKey, m)
	}
	at, seen := uint64(0), make(map[string]bool, len(ts))
	for _, t := range ts {
		if err := encodable(&t); err != nil {
			return nil, err
		}
		if seen[t.Name] {
			return nil, fmt.Errorf("%w: %q appears twice", ErrFormat, t.Name)
		}
		seen[t.Name] = true
		name, err := json.Marshal(t.Name)
		if err != nil {
			return nil, err
		}
		if head.Len() > 1 {
			head.WriteByte(',')
		}
		fmt.Fprintf(&head, `%s:{"dtype":%q,"shape":[`, name, t.DType)
		for i, s := range t.Shape {
			if i > 0 {
				head.WriteByte(',')
			}
			fmt.Fprintf(&head, "%d", s)
		}
		fmt.Fprintf(&head, `],"data_offsets":[%d,%d]}`, at, at+uint64(len(t.Data)))
		at += uint64(len(t.Data))
	}
	head.WriteByte('}')
	for head.Len()%8 != 0 {
		head.WriteByte(' ')
	}
	if head.Len() > maxHeader {
		return nil, fmt.Errorf("%w: a header of %d bytes, the format allows %d", ErrFormat, head.Len(), maxHeader)
	}
	out := make([]byte, 0, 8+uint64(head.Len())+at)
	out = binary.LittleEndian.AppendUint64(out, uint64(head.Len()))
	out = append(out, head.Bytes()...)
	for _, t := range ts {
		out = append(out, t.Data...)
	}
	return out, nil
}

// encodable returns an error for a tensor that Decode would refuse.
func encodable(t *Tensor) error {
	if t.Name == metadataKey || !utf8.ValidString(t.Name) {
		return fmt.Errorf("%w: no tensor can be called %q", ErrFormat, t.Name)
	}
	for _, s := range t.Shape {
		if s < 0 {
			return fmt.Errorf("%w: tensor %q has the impossible shape %v", ErrFormat, t.Name, t.Shape)
		}
	}
	return check(t, byteRange{0, uint64(len(t.Data))}, uint64(len(t.Data)))
}

// Write writes the file so that a reader sees the old file or the new one, never a part.
func Write(path string, f *File) error {
	b, err := Encode(f)
	if err != nil {
		return err
	}
	return atomicfile.Write(path, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
}
