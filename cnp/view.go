package cnp

import "math"

// View is one of a model's views: a canvas of Side x Side cells around the image's middle, moved by Dy cells down and
// Dx cells to the right.
type View struct {
	Angle, Scale float64 // of the things that it is for: it turns and scales them back
	Cell         float64 // Views.Cell
	Side         int
	Dy, Dx       float64
}

// At returns where on the canvas a place of the image lies, (y, x) pixels from its middle, in cells from the canvas's corner.
func (v *View) At(y, x float64) (cy, cx float64) {
	sin, cos := math.Sincos(v.Angle)
	f := 1 / (v.Scale * v.Cell)
	return f*(cos*y+sin*x) + float64(v.Side)/2 - v.Dy, f*(cos*x-sin*y) + float64(v.Side)/2 - v.Dx
}

// mostCells bounds the cells of a canvas.
const mostCells = 1 << 22

// viewCells is how many cells are predicted at a time.
const viewCells = 1 << 17
