package tiled

import (
	"fmt"
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/cnp"
)

// fit compares the predicted mean with the observed pixels of the tiles that are computed. A model that was trained on other values
// than a raster's predicts without any error, but misses even what it was given.
type fit struct {
	parts    []seenPart // that were read, of tiles that may come
	channels []channelFit
}

// seenPart is a copy of what was read of the raster, from line y and column x on.
type seenPart struct {
	y, x, h, w int
	pixels     []float32 // [C, h, w]
	mask       []bool
}

// channelFit sums over the observed pixels of a channel. Values are taken from the first one, so that equal ones have no deviation.
type channelFit struct{ n, first, sum, sum2, off2 float64 }

// see keeps a part until its tile is predicted.
func (f *fit) see(part *cnp.Images[float32], y, x int) {
	if last := len(f.parts) - 1; last >= 0 && (f.parts[last].x != x || f.parts[last].y+f.parts[last].h != y) {
		f.parts = f.parts[:0] // another band
	}
	f.parts = append(f.parts, seenPart{y, x, part.H, part.W, slices.Clone(part.Pixels), slices.Clone(part.Mask)})
}

// add compares the mean of a tile [C, H, W], and drops the parts that no later tile needs.
func (f *fit) add(t cnp.RasterTile, mean []float32) {
	n := t.H * t.W
	if f.channels == nil {
		f.channels = make([]channelFit, len(mean)/n)
	}
	for _, p := range f.parts {
		for y := max(p.y, t.Y); y < min(p.y+p.h, t.Y+t.H); y++ {
			for x := max(p.x, t.X); x < min(p.x+p.w, t.X+t.W); x++ {
				at := (y-p.y)*p.w + x - p.x
				if !p.mask[at] {
					continue
				}
				for c := range f.channels {
					f.channels[c].add(float64(p.pixels[c*p.h*p.w+at]), float64(mean[c*n+(y-t.Y)*t.W+x-t.X]))
				}
			}
		}
	}
	f.parts = slices.DeleteFunc(f.parts, func(p seenPart) bool { return p.y+p.h <= t.Y+t.H })
}

func (c *channelFit) add(v, mean float64) {
	if c.n == 0 {
		c.first = v
	}
	off, d := mean-v, v-c.first
	c.n, c.sum, c.sum2, c.off2 = c.n+1, c.sum+d, c.sum2+d*d, c.off2+off*off
}

// note says that the model does not suit the raster, of the channel where it is worst; "" where means are nearer to the observed
// pixels than half of their standard deviation, and where these are all equal.
func (f *fit) note() string {
	worst, text := 0.5, ""
	for i, c := range f.channels {
		sd, off := math.Sqrt(c.sum2/c.n-(c.sum/c.n)*(c.sum/c.n)), math.Sqrt(c.off2/c.n)
		if !(sd > 0 && off/sd > worst) { // or NaN, without any pixel
			continue
		}
		worst = off / sd
		text = fmt.Sprintf("the mean misses the observed pixels by %.3g (root mean square), and their standard deviation is %.3g", off, sd)
		if len(f.channels) > 1 {
			text = fmt.Sprintf("channel %d: %s", i, text)
		}
	}
	if text == "" {
		return ""
	}
	return text + ": the model does not suit these values; train one on such rasters, or interpolate without a model (docs/images.md)"
}
