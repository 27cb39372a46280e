package fuzz

import (
	"math"
	"sync/atomic"
	"testing"

	"github.com/equivcnp/equivcnp/internal/spectral"
	"github.com/equivcnp/equivcnp/simd"
)

// FuzzSpectral compares convolutions by transforms with float64 sums, on grids of any shape with steps that come and go as the bytes say, in two
// bands. Rows that are not marked as broken are finite and within the documented error.
func FuzzSpectral(f *testing.F) {
	for i, b := range seedBytes() {
		f.Add(b, []byte{0, 255, 3, 1, 0, 7}, uint8(3*i), uint8(29*i), uint8(i), uint8(5*i))
	}
	f.Fuzz(func(t *testing.T, bytes, holes []byte, high, wide, reach, cut uint8) {
		h, w, r, c := 1+int(high)%8, 2+int(wide)%100, int(reach)%10, 1+int(cut)%3*8
		x := floats32(bytes)
		offsets := []int{0}
		var index, pose []int32
		for i := range h * w {
			for q := range (2*r + 1) * (2*r + 1) {
				y, at := i/w+q/(2*r+1)-r, i%w+q%(2*r+1)-r
				if hole := len(holes) > 0 && holes[q%len(holes)]%5 == 1; !hole && y >= 0 && y < h && at >= 0 && at < w {
					index, pose = append(index, int32(y*w+at)), append(pose, int32(q))
				}
			}
			offsets = append(offsets, len(index))
		}
		g := spectral.Find(offsets, index, pose)
		if (g == nil) != (len(index) == 0) {
			t.Fatalf("%d pairs of a grid: found %v", len(index), g != nil)
		}
		if g == nil {
			return
		}
		a, b := wrap(x, h*w*c), wrap(x, (2*r+1)*(2*r+1)*c)
		scale := make([]float32, h*w)
		for i := range scale {
			scale[i] = 1
		}
		out, norms := make([]float32, h*w*c), newSpectralNorms(g, a, b, c)
		tiling := g.Tiling() // of so small a reach there is one
		middle := int(cut) % (g.H + 1)
		atLevels(t, func(level simd.Level) {
			plan, broken := spectral.New(tiling, b, c), make([]atomic.Bool, g.H*tiling.Tiles())
			var ws spectral.Workspace
			for slab := range spectral.Slabs(c) {
				for tile := range tiling.Tiles() {
					plan.Band(&ws, plan.Among(out, c, slab), plan.Among(a, c, slab), scale, broken, slab, tile, 0, middle)
					plan.Band(&ws, plan.Among(out, c, slab), plan.Among(a, c, slab), scale, broken, slab, tile, middle, g.H)
				}
			}
			for i := range h * w {
				if tile, _, _ := tiling.Segment(i); broken[i/g.W*tiling.Tiles()+tile].Load() {
					continue
				}
				for j := 0; j < c; j += 1 + i%3 {
					sum := 0.0
					for k := offsets[i]; k < offsets[i+1]; k++ {
						sum += float64(a[int(index[k])*c+j]) * float64(b[int(pose[k])*c+j])
					}
					if bound := norms.bound(i/g.W, j); !(math.Abs(float64(out[i*c+j])-sum) <= bound) {
						t.Fatalf("level=%v: %dx%d reach %d c=%d: out[%d, %d] = %g, want %g within %g", level, h, w, r, c, i, j, out[i*c+j], sum, bound)
					}
				}
			}
		})
	})
}

// spectralNorms are the sums of squares of features [h, c] and of weights, by the steps' rows from -h to h, [2h+1, c].
type spectralNorms struct {
	h, c     int
	features []float64
	weights  []float64
}

func newSpectralNorms(g *spectral.Grid, f, w []float32, c int) *spectralNorms {
	n := &spectralNorms{g.H, c, make([]float64, g.H*c), make([]float64, (2*g.H+1)*c)}
	for i, v := range f {
		n.features[i/(g.W*c)*c+i%c] += float64(v) * float64(v)
	}
	for _, s := range g.Steps {
		for j := range c {
			v := float64(w[int(s.Pose)*c+j])
			n.weights[(s.DY+g.H)*c+j] += v * v
		}
	}
	return n
}

// bound is the documented error in a row, with a factor of 8, and what underflow may add.
func (n *spectralNorms) bound(y, j int) float64 {
	sum := 0.0
	for dy := -n.h; dy <= n.h; dy++ {
		w := math.Sqrt(n.weights[(dy+n.h)*n.c+j])
		if v := y + dy; v >= 0 && v < n.h && w > 0 {
			f := math.Sqrt(n.features[v*n.c+j])
			sum += 8*0x1p-23*w*f + 0x1p-140*(w+f)
		}
	}
	return sum + 0x1p-140
}
