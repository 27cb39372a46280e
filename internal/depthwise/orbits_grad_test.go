package depthwise

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// TestOrbitsGrad compares with float64 sums, for rows in groups and in none.
func TestOrbitsGrad(t *testing.T) {
	const n = OrbitChannels
	rng := testkit.Rand(93)
	for _, fours := range [][]int{nil, {1}, {6}, {2, 3, 4, 5, 6, 1}} {
		for _, alone := range []int{0, 2} {
			h := newOrbitHood(fours, alone)
			p := NewOrbits(h.code, h.Offsets, h.Index, h.Pose, h.same, h.Points, h.Poses, alone == 0)
			rows := len(h.same)
			for _, images := range []int{0, 1, 4, 11} {
				dstride, fstride := rows*n+16, h.Points*n+32
				d := testkit.Normal[float32](rng, max(0, images-1)*dstride+rows*n)
				f := testkit.Normal[float32](rng, max(0, images-1)*fstride+h.Points*n)
				sum, size, terms := make([]float64, h.Poses*n), make([]float64, h.Poses*n), make([]int, h.Poses)
				for i := range rows {
					for k := h.Offsets[i] - 3; k < h.Offsets[i+1]-3; k++ {
						q, x := int(h.Pose[k]), int(h.Index[k])
						terms[q] += images
						for b := range images {
							for j := range n {
								v := float64(d[b*dstride+i*n+j]) * float64(f[b*fstride+x*n+j])
								sum[q*n+j] += v
								size[q*n+j] += math.Abs(v)
							}
						}
					}
				}
				testkit.EachLevel(t, func(t *testing.T) {
					dw := testkit.CopyAtEnd(t, testkit.Awkward[float32](rng, h.Poses*n))
					OrbitsGradF32(dw, testkit.CopyAtEnd(t, d), testkit.CopyAtEnd(t, f), p, dstride, fstride, images)
					for k, v := range dw {
						if e := math.Abs(float64(v) - sum[k]); !(e <= float64(terms[k/n]+8)*0x1p-23*size[k]) {
							t.Fatalf("%s images=%d: dw[%d, %d] = %g, want %g", h.Name, images, k/n, k%n, v, sum[k])
						}
					}
				})
			}
		}
	}
	p := NewOrbits(nil, []int{0}, nil, nil, nil, 1, 1, false)
	x := make([]float32, 32)
	for want, f := range map[string]func(){
		"depthwise: OrbitsGradF32: len(dw) = 32, need 16":        func() { OrbitsGradF32(x, nil, x, p, 0, 16, 1) },
		"depthwise: OrbitsGradF32: images = -1, need at least 0": func() { OrbitsGradF32(x, nil, x, p, 0, 16, -1) },
	} {
		require.PanicsWithValue(t, want, f)
	}
}
