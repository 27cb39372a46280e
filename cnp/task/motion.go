package task

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Motion is a similarity of the plane about an image's centre: first the scale, then the rotation, then the shift.
type Motion struct {
	Angle          float64 // radians, anticlockwise as one looks at the image
	Scale          float64 // factor on lengths, positive
	ShiftY, ShiftX float64 // pixels, down and right
}

// Still moves nothing.
var Still = Motion{Scale: 1}

// forward maps (y, x), relative to the centre with y downwards, to where the motion takes it.
func (m Motion) forward(y, x float64) (float64, float64) {
	sin, cos := math.Sincos(m.Angle)
	return m.Scale*(cos*y-sin*x) + m.ShiftY, m.Scale*(sin*y+cos*x) + m.ShiftX
}

// backward is the inverse of forward.
func (m Motion) backward(y, x float64) (float64, float64) {
	sin, cos := math.Sincos(m.Angle)
	y, x = (y-m.ShiftY)/m.Scale, (x-m.ShiftX)/m.Scale
	return cos*y + sin*x, cos*x - sin*y
}

// Motions is a range of motions, each part uniform: the angle in [-MaxAngle, MaxAngle], the scale in [MinScale, MaxScale], both
// shifts in [-MaxShift, MaxShift].
type Motions struct {
	MaxAngle           float64
	MinScale, MaxScale float64
	MaxShift           float64
}

// Upright holds Still alone.
var Upright = Motions{MinScale: 1, MaxScale: 1}

// PaperMotions is that of the paper's test images: turned by up to a quarter turn in either direction and scaled by 0.6 to
// 0.9 of an image drawn at half the training size, so by 0.3 to 0.45 of the digits seen in training.
var PaperMotions = Motions{MaxAngle: math.Pi / 2, MinScale: 0.3, MaxScale: 0.45}

// Validate reports what is no range of motions.
func (m Motions) Validate() error {
	switch {
	case !(m.MinScale >= 1e-3 && m.MinScale <= m.MaxScale && m.MaxScale <= 1e3):
		return fmt.Errorf("task: scales %g to %g, need 0.001 <= min <= max <= 1000", m.MinScale, m.MaxScale)
	case !(m.MaxAngle >= 0 && m.MaxAngle <= math.Pi):
		return fmt.Errorf("task: angles up to %g, need 0 to π", m.MaxAngle)
	case !(m.MaxShift >= 0 && m.MaxShift <= 1e6):
		return fmt.Errorf("task: shifts up to %g pixels, need 0 to 1e6", m.MaxShift)
	}
	return nil
}

// Draw draws one motion.
func (m Motions) Draw(rng *rand.Rand) Motion {
	in := func(lo, hi float64) float64 { return lo + (hi-lo)*rng.Float64() }
	return Motion{
		Angle: in(-m.MaxAngle, m.MaxAngle), Scale: in(m.MinScale, m.MaxScale),
		ShiftY: in(-m.MaxShift, m.MaxShift), ShiftX: in(-m.MaxShift, m.MaxShift),
	}
}

// String says what the motions are, "upright" where there are none.
func (m Motions) String() string {
	if m == Upright {
		return "upright"
	}
	return fmt.Sprintf("turned by up to %.4g degrees, scaled by %g to %g, shifted by up to %g pixels",
		m.MaxAngle*180/math.Pi, m.MinScale, m.MaxScale, m.MaxShift)
}

// maxSamples bounds the samples per side of a pixel in Move.
const maxSamples = 8

// Move writes src [c, h, w], moved, to dst of the same shape; they must not overlap. A pixel is the mean of samples spread
// evenly over it, one per side, or as many as one pixel of dst spans of src where the motion shrinks; each sample
// interpolates bilinearly between the centres of src's pixels, beyond which everything is black.
func Move(dst, src []float32, c, h, w int, m Motion) {
	if len(dst) != c*h*w || len(src) != c*h*w {
		panic(fmt.Sprintf("task: Move: len(dst) = %d, len(src) = %d, need %d·%d·%d", len(dst), len(src), c, h, w))
	}
	per := min(max(1, int(math.Ceil(1/m.Scale))), maxSamples)
	cy, cx, n := float64(h)/2, float64(w)/2, h*w
	for p := range n {
		for ch := range c {
			dst[ch*n+p] = 0
		}
		for s := range per * per {
			y := float64(p/w) + (float64(s/per)+0.5)/float64(per) - cy
			x := float64(p%w) + (float64(s%per)+0.5)/float64(per) - cx
			y, x = m.backward(y, x)
			y, x = y+cy-0.5, x+cx-0.5 // in units of pixels between centres
			if !(y > -1 && y < float64(h) && x > -1 && x < float64(w)) {
				continue
			}
			y0, x0 := math.Floor(y), math.Floor(x)
			fy, fx := y-y0, x-x0
			for k, weight := range [4]float64{(1 - fy) * (1 - fx), (1 - fy) * fx, fy * (1 - fx), fy * fx} {
				iy, ix := int(y0)+k/2, int(x0)+k%2
				if iy < 0 || iy >= h || ix < 0 || ix >= w {
					continue
				}
				for ch := range c {
					dst[ch*n+p] += float32(weight/float64(per*per)) * src[ch*n+iy*w+ix]
				}
			}
		}
	}
}
