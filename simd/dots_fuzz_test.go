package simd

import (
	encoding "encoding/binary"
	"math"
	"testing"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// FuzzDots wants what portable Go has from the kernels that multiply pairs of bfloat16 numbers, on groups of any sizes,
// products of any shape and any bit patterns, between pages that cannot be read. It stands here, as the portable twins
// are otherwise reached at other levels alone.
func FuzzDots(f *testing.F) {
	f.Add([]byte{128, 63, 0, 192}, []byte{6, 1, 5}, uint8(13), uint8(3), uint8(1), false)
	f.Add([]byte{128, 127, 1, 0, 255, 255, 0, 128}, []byte{2}, uint8(1), uint8(0), uint8(0), true)
	f.Fuzz(func(t *testing.T, bits, sizes []byte, rows, depth, columns uint8, flag bool) {
		numbers := func(n, from int) []BF16 {
			x := testkit.AtEnd[BF16](t, n)
			for i := range x {
				x[i] = BF16(0x3f80 + i%61<<3)
				if k := (i + from) % 71 * 2; k+2 <= len(bits) {
					x[i] = BF16(encoding.LittleEndian.Uint16(bits[k:]))
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
		d := newOrbits(h, flag).Dots()
		const n = OrbitChannels
		stride := n + int(rows)%3
		x, w := numbers(h.points*n, 0), numbers(h.poses*n, 7)
		out := testkit.AtEnd[float32](t, (len(h.same)-1)*stride+n)
		want := make([]float32, len(out))
		DepthwiseDotsF32(out, stride, x, w, d)
		depthwiseDotsGeneric(want, stride, x, w, d)
		same("DepthwiseDotsF32", out, want)

		m, k, c := int(rows)%40, dotsDepth*(1+int(depth)%17), dotsColumns*(1+int(columns)%4)
		p := &PackedDots{k: k, n: c, b: numbers(k*c, 3), zeros: make([]float32, c)}
		act := ActNone
		if flag {
			act = ActReLU
		}
		bias := testkit.AtEnd[float32](t, c)
		F32FromBF16(bias, numbers(c, 5))
		a := numbers(DotsRows(m)*k, 11)
		y := testkit.AtEnd[float32](t, m*c)
		wanted := make([]float32, len(y))
		GemmDotsF32(y, c, a, p, bias, act, m)
		gemmDotsGeneric(wanted, c, a, p, bias, act, m)
		same("GemmDotsF32", y, wanted)
	})
}
