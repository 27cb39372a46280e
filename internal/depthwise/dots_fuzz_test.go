package depthwise

import (
	encoding "encoding/binary"
	"math"
	"testing"

	"github.com/equivcnp/equivcnp/internal/testkit"
	"github.com/equivcnp/equivcnp/simd"
)

// FuzzDots wants what portable Go has from the kernels that multiply pairs of bfloat16 numbers, on groups of any sizes
// and any bit patterns, between pages that cannot be read. It stands here, as the portable twins
// are otherwise reached at other levels alone.
func FuzzDots(f *testing.F) {
	f.Add([]byte{128, 63, 0, 192}, []byte{6, 1, 5}, uint8(13), false)
	f.Add([]byte{128, 127, 1, 0, 255, 255, 0, 128}, []byte{2}, uint8(1), true)
	f.Fuzz(func(t *testing.T, bits, sizes []byte, apart uint8, mean bool) {
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
		same := func(what string, got, want []float32) {
			for i, v := range want {
				if math.Float32bits(v) != math.Float32bits(got[i]) && (v == v || got[i] == got[i]) {
					t.Fatalf("%s: result %d is %g, portable Go has %g", what, i, got[i], v)
				}
			}
		}
		fours := []int{1}
		for _, s := range sizes[:min(len(sizes), 8)] {
			fours = append(fours, 1+int(s)%6)
		}
		h := newOrbitHood(fours, 0)
		d := orbitsOf(h, mean).Dots()
		const n = OrbitChannels
		stride := n + int(apart)%3
		x, w := numbers(h.Points*n, 0), numbers(h.Poses*n, 7)
		out := testkit.AtEnd[float32](t, (len(h.same)-1)*stride+n)
		want := make([]float32, len(out))
		DotsF32(out, stride, x, w, d)
		dotsGeneric(want, stride, x, w, d)
		same("DotsF32", out, want)
	})
}
