package simd

import "math"

// bf16FromF32Generic adds slightly less than half a unit of the bits that are kept, plus the last of these bits, so that ties go
// to even. A carry moves into the exponent, as it should. A NaN is treated apart, because a carry could turn it into another
// number: its quiet bit is set.
func bf16FromF32Generic(dst []BF16, x []float32) {
	dst = dst[:len(x)]
	for i, v := range x {
		u := math.Float32bits(v)
		if v != v {
			dst[i] = BF16(u>>16 | 0x40)
			continue
		}
		dst[i] = BF16((u + 0x7fff + u>>16&1) >> 16)
	}
}

func f32FromBF16Generic(dst []float32, x []BF16) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = v.Float32()
	}
}
