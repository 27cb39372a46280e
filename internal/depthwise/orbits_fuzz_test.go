package depthwise

import (
	encoding "encoding/binary"
	"math"
	"testing"

	"github.com/equivcnp/equivcnp/internal/testkit"
	"github.com/equivcnp/equivcnp/simd"
)

// FuzzOrbits wants from groups of fours of any sizes, in batches, at every level, float64 sums within the documented
// error, of the gradient to the weights as well, and of each image what it gets alone, on any bit patterns and between
// pages that cannot be read. A sum of which a product is not finite is not either.
func FuzzOrbits(f *testing.F) {
	f.Add([]byte{0, 0, 128, 63}, []byte{6, 1, 5}, uint8(3), uint8(0), true)
	f.Add([]byte{0, 0, 128, 127, 1, 2, 3, 4, 0, 0, 192, 255}, []byte{5, 4}, uint8(8), uint8(1), false)
	f.Add([]byte{}, []byte{}, uint8(0), uint8(2), true)
	before := simd.CurrentLevel()
	f.Cleanup(func() {
		if err := simd.SetLevel(before); err != nil {
			f.Fatal(err)
		}
	})
	f.Fuzz(func(t *testing.T, bits, sizes []byte, batch, apart uint8, mean bool) {
		fours := []int{1}
		for _, s := range sizes[:min(len(sizes), 8)] {
			fours = append(fours, 1+int(s)%6)
		}
		h := newOrbitHood(fours, int(apart)%2)
		const n = OrbitChannels
		images, stride := 1+int(batch)%10, h.Points*n+int(apart)%3
		fill := func(n, from int) []float32 {
			x := testkit.AtEnd[float32](t, n)
			for i := range x {
				x[i] = float32((i+from)%13)/13 - 0.5
				if k := (i + from) % 97 * 4; k+4 <= len(bits) {
					x[i] = math.Float32frombits(encoding.LittleEndian.Uint32(bits[k:]))
				}
			}
			return x
		}
		p := orbitsOf(h, mean)
		x, w := fill((images-1)*stride+h.Points*n, 0), fill(h.Poses*n, 7)
		rows := len(h.same)
		d, dw := fill(images*rows*n, 31), testkit.AtEnd[float32](t, h.Poses*n)
		sums, bounds, terms := make([]float64, len(dw)), make([]float64, len(dw)), make([]int, h.Poses)
		out, alone := testkit.AtEnd[float32](t, images*rows*n), testkit.AtEnd[float32](t, rows*n)
		for _, l := range simd.Levels() {
			if err := simd.SetLevel(l); err != nil {
				t.Fatal(err)
			}
			OrbitsBatchF32(out, x, w, p, stride, images)
			for b := range images {
				of, got := x[b*stride:][:h.Points*n], out[b*rows*n:][:rows*n]
				OrbitsF32(alone, of, w, p)
				if !testkit.SameBits(got, alone) {
					t.Fatalf("level=%v: image %d of %d differs from itself alone", l, b, images)
				}
				for i := range rows {
					lo, hi := h.Offsets[i]-3, h.Offsets[i+1]-3
					for j := range n {
						sum, size := testkit.GatherSum(of, w, h.Index, h.Pose, lo, hi, n, j)
						if k := float64(max(1, hi-lo)); mean {
							sum /= k
						}
						v := float64(got[i*n+j])
						if finite := size-size == 0; !finite && v-v == 0 || finite && size < math.MaxFloat32/2 &&
							!(math.Abs(v-sum) <= float64(hi-lo+8)*(0x1p-23*size+0x1p-149)) {
							t.Fatalf("level=%v mean=%v: image %d: out[%d, %d] = %g, want %g", l, mean, b, i, j, v, sum)
						}
					}
				}
			}
			OrbitsGradF32(dw, d, x, p, rows*n, stride, images)
			h.gradient(sums, bounds, terms, d, x, stride, images)
			for k, v := range dw {
				v, size := float64(v), bounds[k]
				if finite := size-size == 0; !finite && v-v == 0 || finite && size < math.MaxFloat32/2 &&
					!(math.Abs(v-sums[k]) <= float64(terms[k/n]+8)*(0x1p-23*size+0x1p-149)) {
					t.Fatalf("level=%v: %d images: dw[%d, %d] = %g, want %g", l, images, k/n, k%n, v, sums[k])
				}
			}
		}
	})
}

// gradient sets sums to the gradient to the weights of so many images, bounds to the sums of the terms' magnitudes, and
// terms to the number of terms of each pose.
func (h *orbitHood) gradient(sums, bounds []float64, terms []int, d, x []float32, stride, images int) {
	const n = OrbitChannels
	rows := len(h.same)
	clear(sums)
	clear(bounds)
	clear(terms)
	for i := range rows {
		for k := h.Offsets[i] - 3; k < h.Offsets[i+1]-3; k++ {
			q := int(h.Pose[k])
			terms[q] += images
			for b := range images {
				for j := range n {
					v := float64(x[b*stride+int(h.Index[k])*n+j]) * float64(d[(b*rows+i)*n+j])
					sums[q*n+j], bounds[q*n+j] = sums[q*n+j]+v, bounds[q*n+j]+math.Abs(v)
				}
			}
		}
	}
}
