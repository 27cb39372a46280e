package bf16

import (
	encoding "encoding/binary"
	"math"
	"testing"

	"github.com/equivcnp/equivcnp/internal/testkit"
	"github.com/equivcnp/equivcnp/simd"
)

// FuzzDots wants what portable Go has from the kernels that multiply pairs of bfloat16 numbers, on products of any shape
// and any bit patterns, between pages that cannot be read. It stands here, as the portable twins are otherwise reached
// at other levels alone.
func FuzzDots(f *testing.F) {
	f.Add([]byte{128, 63, 0, 192}, uint8(13), uint8(3), uint8(1), false)
	f.Add([]byte{128, 127, 1, 0, 255, 255, 0, 128}, uint8(1), uint8(0), uint8(0), true)
	f.Fuzz(func(t *testing.T, bits []byte, rows, depth, columns uint8, relu bool) {
		numbers := func(n, from int) []simd.BF16 {
			x := testkit.AtEnd[simd.BF16](t, n)
			for i := range x {
				x[i] = simd.BF16(0x3f80 + i%61<<3)
				if k := (i + from) % 71 * 2; k+2 <= len(bits) {
					x[i] = simd.BF16(encoding.LittleEndian.Uint16(bits[k:]))
				}
			}
			return x
		}
		m, k, c := int(rows)%40, dotsDepth*(1+int(depth)%17), dotsColumns*(1+int(columns)%4)
		p := &Dots{k: k, n: c, b: numbers(k*c, 3), zeros: make([]float32, c)}
		act := simd.ActNone
		if relu {
			act = simd.ActReLU
		}
		bias := testkit.AtEnd[float32](t, c)
		simd.F32FromBF16(bias, numbers(c, 5))
		a := numbers(DotsRows(m)*k, 11)
		got, want := testkit.AtEnd[float32](t, m*c), make([]float32, m*c)
		GemmDots(got, c, a, p, bias, act, m)
		gemmDotsGeneric(want, c, a, p, bias, act, m)
		for i, v := range want {
			if math.Float32bits(v) != math.Float32bits(got[i]) && (v == v || got[i] == got[i]) {
				t.Fatalf("result %d is %g, portable Go has %g", i, got[i], v)
			}
		}
	})
}
