package task

import (
	"fmt"
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/cnp"
)

// ViewSource is the Source of what the network of a model with views (cnp.Views) sees in that one of the model's views
// which is for an image. The image is shrunk to one of the sizes that the views are for, turned by at most half of the
// angle between two of them, shifted by up to a quarter of its side, some of its pixels are hidden, and what is left is
// seen by the view that is for images of about this size. The answer is the view of the whole. Beyond its edge an image
// is black.
type ViewSource[T cnp.Float] struct {
	ImageSource[T]
	Views          cnp.Views
	Angles, Scales int
	Side           int // of the canvas, in cells
}

// Canvas is the side of a canvas on which images of h x w pixels are trained.
func (s ViewSource[T]) canvas(h, w int) int { return min(s.Side, h, w) &^ 1 }

// Work implements Sized.
func (s ViewSource[T]) Work(batch int) cnp.Work {
	_, h, w := s.Pictures.Size()
	return cnp.Work{Batch: batch, H: s.canvas(h, w), W: s.canvas(h, w)}
}

// Batch implements Source.
func (s ViewSource[T]) Batch(n int, seed uint64, step int) (*Tasks[T], error) {
	drawn, err := ImageSource[T]{s.Pictures, Rates{1, 1}, s.InOrder}.Batch(n, seed, step)
	if err != nil {
		return nil, err
	}
	rng, all := StepRand(^seed, step), drawn.Images
	c, h, w := all.C, all.H, all.W
	side := s.canvas(h, w)
	im := &cnp.Images[T]{B: n, C: c, H: side, W: side, Pixels: make([]T, n*c*side*side), Mask: make([]bool, n*side*side)}
	y := make([]T, len(im.Pixels))
	still, moved, whole, mask := make([]float32, c*h*w), make([]float32, c*h*w), make([]float32, c*h*w), make([]bool, h*w)
	pixels := make([]T, c*h*w)
	var known []bool
	uniform := func(r float64) float64 { return r * (2*rng.Float64() - 1) }
	for i := range n {
		for k, v := range all.Pixels[i*c*h*w : (i+1)*c*h*w] {
			still[k] = float32(v)
		}
		place := rng.Float64() * float64(s.Scales)
		v := cnp.View{Scale: s.Views.Scale(int(place), s.Scales), Cell: s.Views.Cell, Side: side}
		m := Motion{Scale: s.Views.Max * math.Pow(s.Views.Min/s.Views.Max, place/float64(s.Scales)),
			Angle:  uniform(math.Pi / float64(s.Angles)),
			ShiftY: uniform(float64(h) / 4), ShiftX: uniform(float64(w) / 4)}
		f := 1 / (v.Scale * v.Cell)
		const slack = 4 // cells by which what was in the middle is off the canvas's
		v.Dy, v.Dx = math.Round(f*m.ShiftY+uniform(slack)), math.Round(f*m.ShiftX+uniform(slack))
		Move(moved, still, c, h, w, m)
		s.Rates.Mask(mask, rng)
		for k, p := range moved {
			if pixels[k] = T(p); p != p { // what moves onto it is missing, in part at least
				mask[k%(h*w)] = false
			}
		}
		at := i * c * side * side
		cnp.Paint(&v, im.Pixels[at:at+c*side*side], im.Mask[i*side*side:(i+1)*side*side], pixels, mask, c, h, w)
		m.Scale, m.ShiftY, m.ShiftX = m.Scale*f, m.ShiftY*f-v.Dy, m.ShiftX*f-v.Dx
		Move(whole, still, c, h, w, m)
		for k := range c * side * side {
			row, column := k/side%side+(h-side)/2, k%side+(w-side)/2
			v := whole[k/(side*side)*h*w+row*w+column]
			if y[at+k] = T(v); v == v {
				continue
			}
			if known == nil {
				known = slices.Repeat([]bool{true}, len(y))
			}
			known[at+k] = false
		}
	}
	return &Tasks[T]{Images: im, Y: y, Known: known}, nil
}

// String implements Source.
func (s ViewSource[T]) String() string {
	return fmt.Sprintf("%v, as %d x %d cells of %g pixels in views of %d angles and %d scales from %g to %g", s.ImageSource,
		s.Side, s.Side, s.Views.Cell, s.Angles, s.Scales, s.Views.Min, s.Views.Max)
}
