package cnp

import (
	"fmt"
	"math"
)

// Shape says what the points of tasks, or of a plan, are: pixels of an image, an interval of the line, scattered
// places, or places on the sphere. Shapes are equal if they compare as equal. Pixels, Interval, Scattered and Sphere
// make them.
type Shape struct {
	kind        shapeKind
	h, w, scale int
	lo, hi      float64
}

type shapeKind uint8

const (
	noShape shapeKind = iota
	pixelShape
	intervalShape
	scatteredShape
	sphereShape
)

// Pixels returns the shape of images of h x w pixels that are predicted at their pixels.
func Pixels(h, w int) Shape { return Shape{kind: pixelShape, h: h, w: w, scale: 1} }

// Upsampled returns the shape with predictions at scale times as many places along each side of the images, as the
// function Upsampled places them.
func (s Shape) Upsampled(scale int) Shape {
	s.scale = scale
	return s
}

// Interval returns the shape of tasks on a line whose points lie from lo to hi.
func Interval(lo, hi float64) Shape { return Shape{kind: intervalShape, lo: lo, hi: hi} }

// Scattered returns the shape of tasks whose points may lie anywhere.
func Scattered() Shape { return Shape{kind: scatteredShape} }

// Sphere returns the shape of tasks whose points lie anywhere on the sphere.
func Sphere() Shape { return Shape{kind: sphereShape} }

// Size returns the height and width of images, in pixels; ok is false for other shapes.
func (s Shape) Size() (h, w int, ok bool) { return s.h, s.w, s.kind == pixelShape }

// String describes the shape.
func (s Shape) String() string {
	switch s.kind {
	case pixelShape:
		if s.scale != 1 {
			return fmt.Sprintf("%d x %d pixels, each in %d x %d parts", s.h, s.w, s.scale, s.scale)
		}
		return fmt.Sprintf("%d x %d pixels", s.h, s.w)
	case intervalShape:
		return fmt.Sprintf("the interval from %g to %g", s.lo, s.hi)
	case scatteredShape:
		return "scattered places"
	case sphereShape:
		return "the sphere"
	}
	return "no shape"
}

// checkPixels refuses what is no shape of images, or of too many pixels, or is predicted elsewhere than at the pixels
// by a model that knows these alone.
func (s Shape) checkPixels(c *Config, scaled bool) error {
	switch {
	case s.kind != pixelShape:
		return fmt.Errorf("%w: %w for %v by an %s model, which completes images", ErrShape, ErrNoPlan, s, c.Architecture)
	case s.h < 1 || s.w < 1 || s.h > maxPixels/s.w || s.scale < 1 || s.scale > maxPixels/(s.h*s.w)/s.scale:
		return fmt.Errorf("%w: %v: need at least 1 of each and at most %d in all", ErrShape, s, maxPixels)
	case s.scale > 1 && !scaled:
		return fmt.Errorf("%w for %v: this %s model predicts at the pixels only", ErrNoPlan, s, c.Architecture)
	}
	return nil
}

// checkCurves refuses what is no shape of curves.
func (s Shape) checkCurves(c *Config) error {
	if s.kind == noShape || s.kind == pixelShape {
		return fmt.Errorf("%w: %w for %v by an %s model, which predicts curves", ErrShape, ErrNoPlan, s, c.Architecture)
	}
	return nil
}

// refuse returns the error of a plan for shape s that is given tasks of another.
func (s Shape) refuse(got Shape) error {
	return fmt.Errorf("%w: the plan is for %v, the tasks are of %v", ErrShape, s, got)
}

// product multiplies sizes, none negative; ok is false if the result is too large for an int.
func product(sizes ...int) (p int, ok bool) {
	p = 1
	for _, v := range sizes {
		if v != 0 && p > math.MaxInt/v {
			return 0, false
		}
		p *= v
	}
	return p, true
}

// maxPixels bounds an image, so that int32 indices suffice for several lifts of each pixel.
const maxPixels = 1 << 28
