package fuzz

import (
	"bytes"
	"math"
	"sync/atomic"
	"testing"

	"github.com/equivcnp/equivcnp/internal/spectral"
	"github.com/equivcnp/equivcnp/simd"
)

// FuzzSpectral compares convolutions by transforms with float64 sums, on grids of any shape with steps that come and go
// as the bytes say, in two bands. Rows that are not marked as broken are finite and within the documented error.
func FuzzSpectral(f *testing.F) {
	for i, b := range seedBytes() {
		f.Add(b, []byte{0, 255, 3, 1, 0, 7}, uint8(3*i), uint8(29*i), uint8(i), uint8(5*i))
	}
	// A row of two tiles, and a NaN that one of them sees.
	row := bytes.Repeat([]byte{0x3f}, 4*89)
	copy(row[4*60:], []byte{0xff, 0xff, 0xff, 0xff})
	f.Add(row, []byte{}, uint8(0), uint8(87), uint8(1), uint8(0))
	f.Fuzz(func(t *testing.T, bits, holes []byte, high, wide, reach, cut uint8) {
		h, w, r, c := 1+int(high)%8, 2+int(wide)%100, int(reach)%10, 1+int(cut)%3*8
		x := floats32(bits)
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
		g := spectral.Find(offsets, index, pose, w)
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
		tiling := g.Tiling() // of so small a reach there is one
		out, norms := make([]float32, h*w*c), newSpectralNorms(tiling, a, b, c)
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
				tile, _, _ := tiling.Segment(i)
				if broken[i/g.W*tiling.Tiles()+tile].Load() {
					continue
				}
				for j := 0; j < c; j += 1 + i%3 {
					sum := 0.0
					for k := offsets[i]; k < offsets[i+1]; k++ {
						sum += float64(a[int(index[k])*c+j]) * float64(b[int(pose[k])*c+j])
					}
					if bound := norms.bound(tile, i/g.W, j); !(math.Abs(float64(out[i*c+j])-sum) <= bound) {
						t.Fatalf("level=%v: %dx%d reach %d c=%d: out[%d, %d] = %g, want %g within %g", level, h, w, r, c, i, j,
							out[i*c+j], sum, bound)
					}
				}
			}
		})
	})
}

// spectralNorms are the sums of squares of the features that each tile sees, [tiles, h, c], and of weights, by the
// steps' rows from -h to h, [2h+1, c].
type spectralNorms struct {
	t        *spectral.Tiling
	c        int
	features []float64
	weights  []float64
}

func newSpectralNorms(t *spectral.Tiling, f, w []float32, c int) *spectralNorms {
	n := &spectralNorms{t, c, make([]float64, t.Tiles()*t.H*c), make([]float64, (2*t.H+1)*c)}
	left, right := 0, 0
	for _, s := range t.Steps {
		left, right = max(left, -s.DX), max(right, s.DX)
		for j := range c {
			v := float64(w[int(s.Pose)*c+j])
			n.weights[(s.DY+t.H)*c+j] += v * v
		}
	}
	for y := range t.H {
		for at := y * t.W; at < (y+1)*t.W; {
			tile, lo, hi := t.Segment(at)
			for i := max(y*t.W, lo-left); i < min((y+1)*t.W, hi+right); i++ {
				for j := range c {
					v := float64(f[i*c+j])
					n.features[(tile*t.H+y)*c+j] += v * v
				}
			}
			at = hi
		}
	}
	return n
}

// bound is the documented error in a tile's row, with a factor of 8, and what underflow may add.
func (n *spectralNorms) bound(tile, y, j int) float64 {
	sum, h := 0.0, n.t.H
	for dy := -h; dy <= h; dy++ {
		w := math.Sqrt(n.weights[(dy+h)*n.c+j])
		if v := y + dy; v >= 0 && v < h && w > 0 {
			f := math.Sqrt(n.features[(tile*h+v)*n.c+j])
			sum += 8*0x1p-23*w*f + 0x1p-140*(w+f)
		}
	}
	return sum + 0x1p-140
}
