package taskfile

import (
	"slices"

	"github.com/equivcnp/equivcnp/internal/safetensors"
)

// Pixels returns the values of a tensor of images. Integers that are levels, as those of image files are, become numbers
// from 0 to 1: levels is then the highest one, else 0, and the numbers are what they are. Bytes are levels of 255 unless all
// of them are 0 or 1. Wider integers are levels of 255 if they stay within 0 to 255 and one is above the middle; those of 16
// bits without sign are levels of 65535 if one is above the middle of that: measurements rarely are.
func Pixels(x *Tensor) (values []float32, levels int, err error) {
	if values, err = x.Float32s(); err == nil {
		levels = levelsOf(x, values)
		divide(x, values, levels)
	}
	return values, levels, err
}

// levelsOf is the highest level of a tensor with these values, which may be nil; 0 where they are no levels.
func levelsOf(x *Tensor, values []float32) int {
	if x == nil || len(values) == 0 || !integers(x) {
		return 0
	}
	least, most := slices.Min(values), slices.Max(values)
	switch {
	case least < 0 || most <= 1:
		return 0
	case x.DType == safetensors.U8, most > 127 && most <= 255:
		return 255
	case x.DType == safetensors.U16 && most > 32767:
		return 65535
	}
	return 0
}

// divide brings the values of a tensor of so many levels to 0 to 1; with levels 0, or if they are no integers, it does
// nothing. A quotient is the number that an image file of such levels gives.
func divide(x *Tensor, values []float32, levels int) {
	if x == nil || levels == 0 || !integers(x) {
		return
	}
	for i, v := range values {
		values[i] = float32(float64(v) / float64(levels))
	}
}

// integers reports whether a tensor has integers.
func integers(x *Tensor) bool {
	switch x.DType {
	case safetensors.U8, safetensors.U16, safetensors.U32, safetensors.U64, safetensors.I8, safetensors.I16, safetensors.I32,
		safetensors.I64:
		return true
	}
	return false
}
