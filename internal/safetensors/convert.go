package safetensors

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"unsafe"
)

// Float64s converts any numeric tensor to float64, exactly except for 64-bit integers beyond 2^53.
func (t *Tensor) Float64s() ([]float64, error) {
	n := t.Len()
	if t.DType.Size() == 0 {
		return nil, fmt.Errorf("%w: tensor %q is of type %.20s, which is not read", ErrFormat, t.Name, t.DType)
	}
	if size := t.DType.Size(); len(t.Data) != n*size {
		return nil, fmt.Errorf("%w: tensor %q: %s%v does not take %d bytes", ErrFormat, t.Name, t.DType, t.Shape, len(t.Data))
	}
	out, b, le := make([]float64, n), t.Data, binary.LittleEndian
	for i := range out {
		switch t.DType {
		case F64:
			out[i] = math.Float64frombits(le.Uint64(b[8*i:]))
		case F32:
			out[i] = float64(math.Float32frombits(le.Uint32(b[4*i:])))
		case BF16:
			out[i] = float64(math.Float32frombits(uint32(le.Uint16(b[2*i:])) << 16))
		case F16:
			out[i] = float64(half(le.Uint16(b[2*i:])))
		case I64:
			out[i] = float64(int64(le.Uint64(b[8*i:])))
		case I32:
			out[i] = float64(int32(le.Uint32(b[4*i:])))
		case I16:
			out[i] = float64(int16(le.Uint16(b[2*i:])))
		case I8:
			out[i] = float64(int8(b[i]))
		case U64:
			out[i] = float64(le.Uint64(b[8*i:]))
		case U32:
			out[i] = float64(le.Uint32(b[4*i:]))
		case U16:
			out[i] = float64(le.Uint16(b[2*i:]))
		default: // U8, Bool
			out[i] = float64(b[i])
		}
	}
	return out, nil
}

// Wholes are the values of a tensor of 64-bit integers as text, of which float64 does not hold all; nil of others.
func (t *Tensor) Wholes() []string {
	if t.DType != I64 && t.DType != U64 || len(t.Data) != 8*t.Len() {
		return nil
	}
	out := make([]string, t.Len())
	for i := range out {
		v := binary.LittleEndian.Uint64(t.Data[8*i:])
		if out[i] = strconv.FormatUint(v, 10); t.DType == I64 {
			out[i] = strconv.FormatInt(int64(v), 10)
		}
	}
	return out
}

// littleEndian says that this machine stores numbers as files do.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// SharedFloat32s is Float32s, but the result aliases Data where that holds float32 as this machine stores them.
func (t *Tensor) SharedFloat32s() ([]float32, error) {
	n := t.Len()
	if t.DType != F32 || len(t.Data) != 4*n {
		return t.Float32s()
	}
	if p := unsafe.SliceData(t.Data); littleEndian && uintptr(unsafe.Pointer(p))%4 == 0 {
		return unsafe.Slice((*float32)(unsafe.Pointer(p)), n), nil
	}
	out := make([]float32, n)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(t.Data[4*i:]))
	}
	return out, nil
}

// Float32Bytes is v, little-endian; it aliases v where this machine stores numbers so.
func Float32Bytes(v []float32) []byte {
	if littleEndian {
		return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), 4*len(v))
	}
	return FromFloat32s("", nil, v).Data
}

// Float64Bytes is Float32Bytes for float64.
func Float64Bytes(v []float64) []byte {
	if littleEndian {
		return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), 8*len(v))
	}
	return FromFloat64s("", nil, v).Data
}

// Float32s converts any numeric tensor to float32, rounding to nearest where float32 is the narrower type.
func (t *Tensor) Float32s() ([]float32, error) {
	w, err := t.Float64s()
	if err != nil {
		return nil, err
	}
	out := make([]float32, len(w))
	for i, v := range w {
		out[i] = float32(v)
	}
	return out, nil
}

// half widens an IEEE binary16.
func half(h uint16) float32 {
	sign, exp, frac := uint32(h>>15)<<31, uint32(h>>10)&31, uint32(h)&1023
	switch exp {
	case 0: // zero and subnormals: frac·2^-24
		v := float32(frac) * 0x1p-24
		return math.Float32frombits(sign | math.Float32bits(v))
	case 31:
		return math.Float32frombits(sign | 0x7f800000 | frac<<13)
	}
	return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
}

// FromFloat32s makes an F32 tensor.
func FromFloat32s(name string, shape []int, v []float32) Tensor {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return Tensor{Name: name, DType: F32, Shape: shape, Data: b}
}

// FromFloat64s makes an F64 tensor.
func FromFloat64s(name string, shape []int, v []float64) Tensor {
	b := make([]byte, 0, 8*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	}
	return Tensor{Name: name, DType: F64, Shape: shape, Data: b}
}

// FromInt64s makes an I64 tensor.
func FromInt64s(name string, shape []int, v []int64) Tensor {
	b := make([]byte, 0, 8*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint64(b, uint64(x))
	}
	return Tensor{Name: name, DType: I64, Shape: shape, Data: b}
}
