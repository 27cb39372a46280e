package task

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Digits draws the digits of a digital clock: seven segments with mitred ends, white on black. Every pixel is the share of its area
// that the digit covers, at any angle and scale.
type Digits struct {
	H, W    int     // size of the image, in pixels
	Height  float64 // of a digit that is not scaled, in pixels; its width and stroke are 4/7 and 1/7 of it
	Motions Motions
}

// TrainDigits are the paper's training images: upright, 56 pixels high in 64 x 64.
func TrainDigits() Digits { return Digits{H: 64, W: 64, Height: 56, Motions: Upright} }

// TestDigits are the paper's test images: PaperMotions of those it trains on.
func TestDigits() Digits { return Digits{H: 64, W: 64, Height: 56, Motions: PaperMotions} }

// AnywhereDigits are those that TrainDigits become anywhere in the image: at any angle, of 0.3 to 1 of their size, and
// shifted by up to 16 pixels.
func AnywhereDigits() Digits {
	return Digits{H: 64, W: 64, Height: 56, Motions: Motions{MaxAngle: math.Pi, MinScale: 0.3, MaxScale: 1, MaxShift: 16}}
}

// Resized is the same digits on images of another size: finer or coarser, as the images' diagonals are.
func (d Digits) Resized(h, w int) Digits {
	d.Height *= math.Hypot(float64(h), float64(w)) / math.Hypot(float64(d.H), float64(d.W))
	d.H, d.W = h, w
	return d
}

// maxSide bounds images that are drawn.
const maxSide = 1 << 12

// Validate reports what no digit can be drawn with.
func (d Digits) Validate() error {
	if d.H < 1 || d.H > maxSide || d.W < 1 || d.W > maxSide {
		return fmt.Errorf("task: digits on %d x %d pixels, need 1 to %d", d.H, d.W, maxSide)
	}
	if !(d.Height > 0 && d.Height <= 1e6) {
		return fmt.Errorf("task: digits %g pixels high, need more than 0", d.Height)
	}
	return d.Motions.Validate()
}

// Size implements Pictures.
func (d Digits) Size() (c, h, w int) { return 1, d.H, d.W }

// Draw implements Pictures: each of the ten digits is equally likely.
func (d Digits) Draw(dst []float32, rng *rand.Rand) {
	digit := rng.IntN(10)
	DrawDigit(dst, d.H, d.W, d.Height, digit, d.Motions.Draw(rng))
}

// String implements Pictures.
func (d Digits) String() string {
	return fmt.Sprintf("clock digits %g pixels high on %d x %d, %v", d.Height, d.H, d.W, d.Motions)
}

// The proportions of a digit, in units of its height.
const (
	digitWidth  = 4.0 / 7
	digitStroke = 1.0 / 7
	digitGap    = 1.0 / 56 // between two segments, across
)

// lit has a letter for every segment of a digit that is on: a top, b and c right, d bottom, e and f left, g middle.
var lit = [10]string{"abcdef", "bc", "abged", "abgcd", "fgbc", "afgcd", "afgedc", "abc", "abcdefg", "abcdfg"}

type point struct{ y, x float64 }

// segments are the convex outlines of a to g, about the digit's centre with y downwards.
var segments = func() (s [7][]point) {
	const h, w, t = 0.5, digitWidth / 2, digitStroke
	const e = digitGap / math.Sqrt2 // a gap across a mitre at 45 degrees, along either axis
	top := []point{{-h, -w + e}, {-h, w - e}, {-h + t, w - t - e}, {-h + t, -w + t + e}}
	right := []point{{-h + e, w}, {-e, w}, {-e, w - t/2}, {-t/2 - e, w - t}, {-h + t + e, w - t}}
	middle := []point{{0, -w + t/2 + e}, {-t / 2, -w + t + e}, {-t / 2, w - t - e}, {0, w - t/2 - e}, {t / 2, w - t - e},
		{t / 2, -w + t + e}}
	flip := func(p []point, y, x float64) []point {
		out := make([]point, len(p))
		for i, v := range p {
			out[i] = point{y * v.y, x * v.x}
		}
		return out
	}
	return [7][]point{top, right, flip(right, -1, 1), flip(top, -1, 1), flip(right, -1, -1), flip(right, 1, -1), middle}
}()

// DrawDigit draws a digit 0 to 9 of that height, moved, about the centre of an image dst [h, w]: white on black.
// It panics for other digits and lengths.
func DrawDigit(dst []float32, h, w int, height float64, digit int, m Motion) {
	if len(dst) != h*w {
		panic(fmt.Sprintf("task: DrawDigit: len(dst) = %d, need %d·%d", len(dst), h, w))
	}
	clear(dst)
	cy, cx := float64(h)/2, float64(w)/2
	for _, letter := range lit[digit] {
		var outline []point
		for _, v := range segments[letter-'a'] {
			y, x := m.forward(height*v.y, height*v.x)
			outline = append(outline, point{y + cy, x + cx})
		}
		fillPolygon(dst, h, w, outline)
	}
	for i, v := range dst {
		dst[i] = min(v, 1) // rounding
	}
}

// fillPolygon adds to every pixel [h, w] the area of it that a convex polygon covers.
func fillPolygon(dst []float32, h, w int, outline []point) {
	top, bottom, left, right := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, p := range outline {
		top, bottom = min(top, p.y), max(bottom, p.y)
		left, right = min(left, p.x), max(right, p.x)
	}
	inside := func(v float64, n int) int { return int(min(max(v, 0), float64(n))) }
	var row, cell, spare []point
	for y := inside(math.Floor(top), h); y < inside(math.Ceil(bottom), h); y++ {
		spare = cut(spare[:0], outline, func(p point) float64 { return p.y - float64(y) })
		row = cut(row[:0], spare, func(p point) float64 { return float64(y+1) - p.y })
		for x := inside(math.Floor(left), w); x < inside(math.Ceil(right), w); x++ {
			spare = cut(spare[:0], row, func(p point) float64 { return p.x - float64(x) })
			cell = cut(cell[:0], spare, func(p point) float64 { return float64(x+1) - p.x })
			dst[y*w+x] += float32(area(cell))
		}
	}
}

// cut appends to dst the part of a convex polygon where the linear function side is not negative (Sutherland and Hodgman,
// Reentrant Polygon Clipping, 1974).
func cut(dst, polygon []point, side func(point) float64) []point {
	for i, p := range polygon {
		q := polygon[(i+1)%len(polygon)]
		sp, sq := side(p), side(q)
		if sp >= 0 {
			dst = append(dst, p)
		}
		if sp < 0 != (sq < 0) {
			t := sp / (sp - sq)
			dst = append(dst, point{p.y + t*(q.y-p.y), p.x + t*(q.x-p.x)})
		}
	}
	return dst
}

// area is that of a polygon, by the shoelace formula.
func area(polygon []point) float64 {
	sum := 0.0
	for i, p := range polygon {
		q := polygon[(i+1)%len(polygon)]
		sum += p.y*q.x - p.x*q.y
	}
	return math.Abs(sum) / 2
}
