package npy

import (
	"fmt"
	"io"
	"math"

	"github.com/equivcnp/equivcnp/internal/safetensors"
)

// Array is an array in an .npy file, of any size, of which parts are read.
type Array struct {
	Shape []int
	a     array
	r     io.ReaderAt
	data  int64
	room  []byte
}

// OpenArray reads the header of an .npy file of length bytes. The array must be row-major, as numpy writes it unless asked otherwise.
func OpenArray(r io.ReaderAt, length int64) (*Array, error) {
	if r == nil || length < 0 {
		return nil, fmt.Errorf("%w: %d bytes", ErrFormat, length)
	}
	a, n, err := readHeader(io.NewSectionReader(r, 0, length), math.MaxInt)
	if err != nil {
		return nil, err
	}
	switch {
	case a.dtype.Size() == 0:
		return nil, fmt.Errorf("%w: elements of type %s: need numbers", ErrFormat, a.dtype)
	case a.fortran && len(a.shape) > 1:
		return nil, fmt.Errorf("%w: an array in Fortran's order is not read in parts: numpy.ascontiguousarray changes it", ErrFormat)
	case int64(a.size) > length-int64(n):
		return nil, fmt.Errorf("%w: %d bytes of data, shape %v needs %d", ErrFormat, length-int64(n), a.shape, a.size)
	}
	return &Array{Shape: a.shape, a: a, r: r, data: int64(n)}, nil
}

// Float32s sets dst to elements from the at-th on.
func (f *Array) Float32s(dst []float32, at int) error {
	size := f.a.dtype.Size()
	if all := f.a.size / size; at < 0 || len(dst) > all || at > all-len(dst) {
		return fmt.Errorf("%w: elements %d to %d of %d", ErrFormat, at, at+len(dst), all)
	}
	if n := len(dst) * size; cap(f.room) < n {
		f.room = make([]byte, n)
	}
	b := f.room[:len(dst)*size]
	if _, err := f.r.ReadAt(b, f.data+int64(at)*int64(size)); err != nil {
		return err
	}
	part := f.a
	part.shape, part.fortran = []int{len(dst)}, false
	t := part.tensor("", b)
	v, err := t.Float32s()
	copy(dst, v)
	return err
}

// Header is the beginning of an .npy file of float32, little-endian and row-major, up to its data.
func Header(shape []int) ([]byte, error) {
	return headerOf(&safetensors.Tensor{DType: safetensors.F32, Shape: shape})
}
