package cnp

import "fmt"

// Geometry places h x w images for the model, which predicts them at scale times as many places along each side: at the pixels if
// scale is 1, otherwise as [Upsampled] says.
//
// A model knows the lengths that it was trained on (Config.ImageSize): the distances of pixels from the centre and from
// each other. Images of another size are placed so that their diagonal (under SO(2) their longer side) has the trained
// length: 128 x 128 pixels are treated as 64 x 64 pixels drawn finer. The finer they are, the more pixels a ball holds.
// Where it would hold more than four times as many as in training, the image is completed as several coarser ones
// (Interleaved), so that time and memory grow with the number of pixels and not with its square; with scale > 1 it is
// not. Without an ImageSize, pixels are placed as in [Grid], whatever their number.
func (m *ImageEquivCNP[T]) Geometry(h, w, scale int) (Geometry, error) {
	if h < 1 || w < 1 || h > maxPixels/w || scale < 1 || scale > maxPixels/(h*w)/scale {
		return Geometry{}, fmt.Errorf("%w: %d x %d pixels, each in %d x %d parts: need at least 1 of each and at most %d in all", ErrShape,
			h, w, scale, scale, maxPixels)
	}
	var g Geometry
	v, pitch := m.cfg.layout(h, w, scale, m.parts)
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

// divided returns the model with images of this size divided once more; nil if that makes them coarser than those of the training, or
// divides nothing.
func (m *ImageEquivCNP[T]) divided(h, w, scale int) *ImageEquivCNP[T] {
	if h < 1 || w < 1 || h > maxPixels/w || scale > 1 || m.cfg.ImageSize == [2]int{} {
		return nil
	}
	v, _ := m.cfg.layout(h, w, scale, m.parts)
	v = Interleaved{H: h, W: w, Stride: max(v.Stride, 1) + 1}
	if !(m.cfg.pitch(v.coarse()) <= 1+1e-9) {
		return nil
	}
	view := m.view()
	view.parts = v.Stride
	return view
}
