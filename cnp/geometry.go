package cnp

import (
	"fmt"
	"math"

	"github.com/equivcnp/equivcnp/cnp/internal/axis"
)

// Geometry says where the pixels of a model's images lie, and at which places it predicts.
type Geometry struct {
	// Points [n, 2] carry the features, in the order of Images.Pixels, or of the blocks of Pool.
	Points []float64
	// Targets [m, 2] may be any points; nil means the Points. A target reads, at its place, what the network computes from the
	// features of the points, and no point is influenced by a target. A target that lies on a point gets that point's prediction.
	Targets []float64
	// Interleaved, unless zero, divides an image into coarser ones that share the Points. It excludes Targets.
	Interleaved Interleaved
	// H and W say that the Points are the pixels of a grid of H rows of W, row by row, evenly spaced. A plan then takes
	// images of that size alone (of Interleaved's, where they are divided), and finds neighbours faster. Where both are
	// 0 the Points are scattered, and images may have any size with as many pixels.
	H, W int
}

// image returns the shape of the images that are predicted.
func (g *Geometry) image() Shape {
	switch {
	case g.Interleaved.Stride > 0:
		return Pixels(g.Interleaved.H, g.Interleaved.W)
	case g.H > 0:
		return Pixels(g.H, g.W)
	}
	return Scattered()
}

// across is how many points a row of the grid has. A single column is laid as a row, which numbers its pixels in the same order.
func (g *Geometry) across() int {
	if g.W == 1 {
		return g.H
	}
	return g.W
}

// Interleaved divides images of H x W pixels into Stride² coarser ones, each of which has every Stride-th pixel of every
// Stride-th row and starts at another pixel. Each coarse image is completed alone, under the same geometry, and all of them
// together are the prediction. Where Stride does not divide H or W, smaller coarse images get unobserved pixels at their ends.
// That the coarse images are displaced by up to (Stride-1)/2 pixels is ignored.
type Interleaved struct{ H, W, Stride int }

// check refuses numbers by which no image can be divided, given the numbers of points and targets.
func (v Interleaved) check(points, targets int) error {
	if v == (Interleaved{}) {
		return nil
	}
	if v.H < 1 || v.W < 1 || v.H > maxPixels/v.W || v.Stride < 1 || v.Stride > max(v.H, v.W) {
		return fmt.Errorf("%w: %d x %d pixels interleaved by %d: need at least 1 of each, at most %d pixels and a stride within the image",
			ErrShape, v.H, v.W, v.Stride, maxPixels)
	}
	if h, w := v.coarse(); h*w != points || targets > 0 {
		return fmt.Errorf("%w: %d x %d pixels interleaved by %d are images of %d x %d, the geometry has %d points and %d targets", ErrShape,
			v.H, v.W, v.Stride, h, w, points, targets)
	}
	return nil
}

// coarse returns the size of the coarse images.
func (v Interleaved) coarse() (h, w int) { return (v.H-1)/v.Stride + 1, (v.W-1)/v.Stride + 1 }

// parts returns the number of coarse images of one image.
func (v Interleaved) parts() int { return max(1, v.Stride*v.Stride) }

// pixel returns where in the image a point of a coarse image lies, or -1 if it lies beyond.
func (v Interleaved) pixel(part, point int) int {
	if v.Stride == 0 {
		return point
	}
	_, across := v.coarse()
	y, x := point/across*v.Stride+part/v.Stride, point%across*v.Stride+part%v.Stride
	if y >= v.H || x >= v.W {
		return -1
	}
	return y*v.W + x
}

// Grid returns the geometry of h x w images that are predicted at their pixels. These lie about one unit apart, h/(h-1) and w/(w-1),
// as the authors place them. [ImageEquivCNP.Geometry] places the pixels of images of other sizes than a model was trained on. If
// a size is not positive, or there are more than 2²⁸ pixels, the geometry has no points, and Plan refuses it.
func Grid(h, w int) Geometry {
	if h < 1 || w < 1 || h > maxPixels/w {
		return Geometry{}
	}
	return Geometry{Points: axis.Grid(h, w), H: h, W: w}
}

// Upsampled returns the geometry of h x w images that are predicted at scale·h x scale·w places, row by row: at the centres of the
// scale² equal squares that each pixel is divided into. Sizes and scales that are too small or too large make a geometry without
// points, as with Grid.
func Upsampled(h, w, scale int) Geometry {
	g := Grid(h, w)
	if len(g.Points) == 0 || scale < 1 || scale > maxPixels/(h*w)/scale {
		return Geometry{}
	}
	g.Targets = between(h, w, scale)
	return g
}

// between returns the targets of Upsampled.
func between(h, w, scale int) []float64 {
	ys, xs := subpixels(h, scale), subpixels(w, scale)
	out := make([]float64, 0, 2*len(ys)*len(xs))
	for _, y := range ys {
		for _, x := range xs {
			out = append(out, y, x)
		}
	}
	return out
}

// subpixels returns the coordinates of the parts of n pixels along one axis.
func subpixels(n, scale int) []float64 {
	axis, out := axis.Pixels(n), make([]float64, 0, n*scale)
	step := pixelStep(n)
	for _, x := range axis {
		for k := range scale {
			out = append(out, x+step*(float64(2*k+1-scale)/float64(2*scale)))
		}
	}
	return out
}

// pixelStep returns the distance of neighbouring pixels along an axis of n pixels.
func pixelStep(n int) float64 {
	if n > 1 {
		return float64(n) / float64(n-1)
	}
	return 1 // a single pixel has no neighbour; any step will do
}

// layout returns how an image is divided, if it is, along each side at least into that many parts, and the factor for
// the coordinates of the grid that remains.
func (c *Config) layout(h, w, scale, least int) (Interleaved, float64) {
	pitch := c.pitch(h, w)
	stride := max(least, int(math.Ceil(mostFiner/pitch-1e-9)))
	if stride <= 1 || scale > 1 {
		return Interleaved{}, pitch
	}
	v := Interleaved{H: h, W: w, Stride: min(stride, max(h, w))}
	return v, c.pitch(v.coarse())
}

// mostFiner is the smallest distance of pixels, relative to that in training, at which an image is not divided. Under SO(2) a
// digit of 256 x 256 pixels divided by 2 loses 0.1 of log-likelihood per pixel, divided by 4 it loses 0.4.
const mostFiner = 0.5

// pitch returns the factor for the coordinates of an h x w pixel grid that gives its diagonal, or under SO(2) its longer
// side, the length of the images that the model was trained on; 1 if their size is unknown. A model under SO(2) knows
// each distance from the centre by what training showed there: far out, where a square has nothing but its corners, it
// knows least. 48 x 80 pixels by their diagonal lose 0.63 per pixel, by their longer side 0.32 to 0.36. Unobserved
// pixels around the image, up to a square, lose 3 and more.
func (c *Config) pitch(h, w int) float64 {
	if c.ImageSize == [2]int{} {
		return 1
	}
	if c.Group == "SO(2)" {
		return float64(max(c.ImageSize[0], c.ImageSize[1])) / float64(max(h, w))
	}
	return math.Hypot(float64(c.ImageSize[0]), float64(c.ImageSize[1])) / math.Hypot(float64(h), float64(w))
}
