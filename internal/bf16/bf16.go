// Package bf16 multiplies matrices in bfloat16, for plans whose features or weights are: by tiles (AMX) and by products of
// pairs (AVX512_BF16). Everything has a portable twin, and only layers needs it.
package bf16

import (
	"math"
	"unsafe"

	"github.com/equivcnp/equivcnp/internal/dims"
	"github.com/equivcnp/equivcnp/simd"
)

const check = dims.Of("bf16")

// checkProduct panics unless c [m, n], a [m, k] and the bias, which may be nil, have the lengths of a product.
func checkProduct(fn string, lenC, ldc, lenA, lda, k, n int, bias []float32, m int) {
	check.Size(fn, "m", m)
	check.Matrix(fn, "c", lenC, m, n, ldc)
	check.Matrix(fn, "a", lenA, m, k, lda)
	if bias != nil {
		check.Len(fn, "bias", len(bias), n)
	}
}

// lineF32 is the number of float32 numbers in a line of the caches.
const lineF32 = 16

// onLine returns the part of x that starts at its first element on a cache line, and is shorter than x by the elements of a line.
func onLine(x []float32) []float32 {
	n, skip := len(x)-lineF32, -uintptr(unsafe.Pointer(&x[0]))%(4*lineF32)/4
	return x[skip:][:n:n]
}

// MulAdd is sum + a·b as VDPBF16PS computes it: rounded once, where numbers below 2^-126 count as 0, before and after.
// The float64 sum is either exact, or too far from the middle of two float32 numbers to be rounded another way.
func MulAdd(sum float32, a, b simd.BF16) float32 {
	v := float64(normalOnly(sum)) + float64(normalOnly(a.Float32()))*float64(normalOnly(b.Float32()))
	if math.Abs(v) < 0x1p-126-0x1p-151 { // which 24 bits round to a number below 2^-126
		return float32(v * 0)
	}
	return float32(v)
}

// normalOnly is x, or 0 with its sign where x is subnormal.
func normalOnly(x float32) float32 {
	if x > -0x1p-126 && x < 0x1p-126 {
		return x * 0
	}
	return x
}
