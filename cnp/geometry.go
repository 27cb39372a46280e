package cnp

import (
	"fmt"
	"math"
)

// Geometry says where the pixels of a model's images lie, and where it predicts.
type Geometry struct {
	// Points [n, 2] carry the features, in the order of Images.Pixels, or of the blocks of Pool.
	Points []float64
	// Targets [m, 2] may be any points; nil: the Points. A target reads what the network computes at its place from the
	// features of the points, and no point sees a target: one that lies on a point gets that point's prediction.
	Targets []float64
	// Interleaved, unless zero, takes an image apart into coarser ones that share the Points; there are no Targets then.
	Interleaved Interleaved
}

// Interleaved takes images of H x W pixels apart into Stride² coarser ones, each of which has every Stride-th pixel of every Stride-th row,
// from one of the first on. Each is completed alone, under the same geometry, and all together are the prediction. Where Stride does not
// divide H or W, coarse images that would be smaller have unobserved pixels at their ends. That the coarse images lie up to
// (Stride-1)/2 pixels apart is left out of account.
type Interleaved struct{ H, W, Stride int }

// check reports what takes no image apart, given the number of points.
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

// coarse is the size of the coarse images.
func (v Interleaved) coarse() (h, w int) { return (v.H-1)/v.Stride + 1, (v.W-1)/v.Stride + 1 }

// parts is how many coarse images there are of one.
func (v Interleaved) parts() int { return max(1, v.Stride*v.Stride) }

// pixel is where in the image a point of a coarse image lies, or -1 if it is beyond.
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

// Grid is the geometry of h x w images that are predicted at their pixels, which lie about one unit apart: h/(h-1) and w/(w-1), as
// the authors lay them. [ImageEquivCNP.Geometry] lays the pixels of other images than a model was trained on. Of a size that no image has, or of more
// than 2²⁸ pixels, it is a geometry without points, which Plan refuses.
func Grid(h, w int) Geometry {
	if h < 1 || w < 1 || h > maxPixels/w {
		return Geometry{}
	}
	return Geometry{Points: pixelGrid(h, w)}
}

// Upsampled is the geometry of h x w images that are predicted at scale·h x scale·w places, row by row: the centres of the
// equal squares into which scale divides each pixel's side. Sizes and scales that are too small or too large make no points, as of Grid.
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
	axis, out := make([]float64, n), make([]float64, 0, n*scale)
	linspace(axis, -float64(n)/2, float64(n)/2)
	step := pixelStep(n)
	for _, x := range axis {
		for k := range scale {
			out = append(out, x+step*(float64(2*k+1-scale)/float64(2*scale)))
		}
	}
	return out
}

// pixelStep is how far n pixels of a grid lie apart along an axis.
func pixelStep(n int) float64 {
	if n > 1 {
		return float64(n) / float64(n-1)
	}
	return 1 // a single pixel has no neighbour to be apart from
}

// Geometry is how the model sees h x w images that are predicted at scale times as many places along each side: at the pixels with
// scale 1, else as [Upsampled] says.
//
// A model knows the lengths that it was trained on (Config.ImageSize): how far pixels lie from the centre, and from their neighbours.
// Images of another size are laid so that their diagonal has the trained length: 128 x 128 pixels are 64 x 64 drawn finer. A ball
// then holds more pixels the finer they are. Where it would hold more than four times as many as in training, the image is completed as
// several coarser ones (Interleaved), so that time and memory grow with the number of pixels and not with its square; with scale > 1 it is
// not. Without an ImageSize pixels lie as in [Grid], whatever their number.
func (m *ImageEquivCNP[T]) Geometry(h, w, scale int) (Geometry, error) {
	if h < 1 || w < 1 || h > maxPixels/w || scale < 1 || scale > maxPixels/(h*w)/scale {
		return Geometry{}, fmt.Errorf("%w: %d x %d pixels, each in %d x %d parts: need at least 1 of each and at most %d in all", ErrShape,
			h, w, scale, scale, maxPixels)
	}
	var g Geometry
	v, pitch := m.cfg.layout(h, w, scale)
	if scale > 1 {
		g = Upsampled(h, w, scale)
	} else if v.Stride > 0 {
		g = Grid(v.coarse())
		g.Interleaved = v
	} else {
		g = Grid(h, w)
	}
	if pitch != 1 {
		for _, x := range [][]float64{g.Points, g.Targets} {
			for i := range x {
				x[i] *= pitch
			}
		}
	}
	return g, nil
}

// layout is how an image is taken apart, if it is, and the factor on the coordinates of the grid that is left.
func (c *Config) layout(h, w, scale int) (Interleaved, float64) {
	pitch := c.pitch(h, w)
	stride := int(math.Ceil(mostFiner/pitch - 1e-9))
	if stride <= 1 || scale > 1 {
		return Interleaved{}, pitch
	}
	v := Interleaved{H: h, W: w, Stride: stride}
	return v, c.pitch(v.coarse())
}

// mostFiner is how far apart pixels lie at least, of the distance in training, before an image is taken apart. Under SO(2) a digit of
// 256 x 256 pixels taken apart by 2 loses 0.1 of log-likelihood per pixel, by 4 it loses 0.4.
const mostFiner = 0.5

// pitch is the factor on the coordinates of an h x w pixel grid that gives its diagonal the length of the images that the model was
// trained on; 1 where nobody knows.
func (c *Config) pitch(h, w int) float64 {
	if c.ImageSize == [2]int{} {
		return 1
	}
	return math.Hypot(float64(c.ImageSize[0]), float64(c.ImageSize[1])) / math.Hypot(float64(h), float64(w))
}
