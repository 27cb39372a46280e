package depthwise

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
	"github.com/equivcnp/equivcnp/simd"
)

// TestDots compares with float64 sums of what was rounded, with points and weights that end at unreadable
// memory; and the kernel with portable Go, bit for bit.
func TestDots(t *testing.T) {
	const n = OrbitChannels
	require.Nil(t, orbitsOf(newOrbitHood([]int{1}, 2), true).Dots(), "rows in no four")
	require.Nil(t, orbitsOf(newOrbitHood(nil, 0), true).Dots())
	testkit.EachLevel(t, func(t *testing.T) {
		rng := testkit.Rand(93)
		for _, fours := range [][]int{{1}, {6}, {2, 3, 4, 5, 6, 1, 6, 6}} {
			for _, mean := range []bool{false, true} {
				h := newOrbitHood(fours, 0)
				h.Poses -= 7 // which no row uses
				p := orbitsOf(h, mean)
				d := p.Dots()
				require.Same(t, d, p.Dots())
				f, w := testkit.CopyAtEnd(t, make([]simd.BF16, h.Points*n)), testkit.Normal[float32](rng, h.Poses*n)
				simd.BF16FromF32(f, testkit.Normal[float32](rng, len(f)))
				packed := testkit.CopyAtEnd(t, make([]simd.BF16, len(w)))
				d.Pack(packed, w)
				stride := n + rng.IntN(2)*5
				out := testkit.CopyAtEnd(t, testkit.Awkward[float32](rng, (len(h.same)-1)*stride+n))
				portable := slices.Clone(out)
				DotsF32(out, stride, f, packed, d)
				dotsGeneric(portable, stride, f, packed, d)
				require.True(t, testkit.SameBits(portable, out), "%v", fours)
				rf, rw := make([]float32, len(f)), make([]float32, len(w))
				simd.F32FromBF16(rf, f)
				packed = make([]simd.BF16, len(w))
				simd.BF16FromF32(packed, w)
				simd.F32FromBF16(rw, packed)
				for i := range h.same {
					lo, hi := h.Offsets[i]-3, h.Offsets[i+1]-3
					for j := range n {
						sum, size := testkit.GatherSum(rf, rw, h.Index, h.Pose, lo, hi, n, j)
						if k := float64(max(1, hi-lo)); mean {
							sum, size = sum/k, size/k
						}
						if d := math.Abs(float64(out[i*stride+j]) - sum); !(d <= float64(hi-lo+8)*0x1p-23*size) {
							t.Fatalf("%s mean=%v: out[%d,%d] = %g, want %g", h.Name, mean, i, j, out[i*stride+j], sum)
						}
					}
				}
			}
		}
	})
}

// TestDotsAwkward: what is not finite stays so, and subnormals are 0, with the bits of portable Go.
func TestDotsAwkward(t *testing.T) {
	const n = OrbitChannels
	rng := testkit.Rand(94)
	h := newOrbitHood([]int{6, 2}, 0)
	d := orbitsOf(h, true).Dots()
	for range 40 {
		f, w := testkit.Awkward[float32](rng, h.Points*n), testkit.Awkward[float32](rng, h.Poses*n)
		half, packed, out, want := make([]simd.BF16, len(f)), make([]simd.BF16, len(w)), make([]float32, len(h.same)*n),
			make([]float32, len(h.same)*n)
		simd.BF16FromF32(half, f)
		d.Pack(packed, w)
		DotsF32(out, n, half, packed, d)
		dotsGeneric(want, n, half, packed, d)
		for i, v := range want {
			if math.IsNaN(float64(v)) {
				require.True(t, math.IsNaN(float64(out[i])), i)
				continue
			}
			require.Equal(t, math.Float32bits(v), math.Float32bits(out[i]), "%d: %g, %g", i, v, out[i])
		}
	}
}

// TestDotsPanics: lengths are checked.
func TestDotsPanics(t *testing.T) {
	p := NewOrbits([]int32{1, 1, 0, 1, 2, 3, 1, 0, 1, 2, 3}, []int{0, 1, 2, 3, 4}, []int32{0, 1, 2, 3}, make([]int32, 4),
		make([]bool, 4), 4, 1, true)
	d, x, w := p.Dots(), make([]float32, 4*OrbitChannels), make([]simd.BF16, OrbitChannels)
	h := make([]simd.BF16, len(x))
	require.PanicsWithValue(t, "depthwise: DotsF32: stride = 15, need 16 or more", func() { DotsF32(x, 15, h, w, d) })
	require.PanicsWithValue(t, "depthwise: DotsF32: len(out) = 64, need 67", func() { DotsF32(x, 17, h, w, d) })
	require.PanicsWithValue(t, "depthwise: DotsF32: len(f) = 63, need 64", func() { DotsF32(x, 16, h[:63], w, d) })
	require.PanicsWithValue(t, "depthwise: DotsF32: len(w) = 15, need 16", func() { DotsF32(x, 16, h, w[:15], d) })
	require.PanicsWithValue(t, "depthwise: Dots.Pack: len(dst) = 15, need 16", func() { d.Pack(w[:15], x[:OrbitChannels]) })
	require.PanicsWithValue(t, "depthwise: Dots.Pack: len(w) = 64, need 16", func() { d.Pack(w, x) })
}

func orbitsOf(h *orbitHood, mean bool) *Orbits {
	return NewOrbits(h.code, h.Offsets, h.Index, h.Pose, h.same, h.Points, h.Poses, mean)
}
