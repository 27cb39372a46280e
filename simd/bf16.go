package simd

import "math"

// BF16 is a bfloat16: the upper half of a float32, with its range and eight significant bits.
type BF16 uint16

// Float32 returns the number, exactly.
func (x BF16) Float32() float32 { return math.Float32frombits(uint32(x) << 16) }

// BF16FromF32 sets dst[i] = x[i], rounded to the nearest bfloat16, ties to even.
//
//   - Shape: len(dst) == len(x); length 0 is fine.
//   - Errors: panics if the lengths differ. Numbers above 3.3961775e38 in magnitude become infinite. NaN becomes a quiet NaN with
//     the same sign and the upper bits of its payload. Subnormals are rounded like other numbers.
func BF16FromF32(dst []BF16, x []float32) {
	checkLen("BF16FromF32", "dst", len(dst), len(x))
	if len(x) > 0 {
		bf16FromF32(dst, x)
	}
}

// F32FromBF16 sets dst[i] = x[i], exactly, payloads of NaN included. It panics if the lengths differ.
func F32FromBF16(dst []float32, x []BF16) {
	checkLen("F32FromBF16", "dst", len(dst), len(x))
	if len(x) > 0 {
		f32FromBF16(dst, x)
	}
}
