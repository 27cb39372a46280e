package picture

import (
	"fmt"
	"image"
)

// Sampled is the drawing of a completion with so many samples below.
type Sampled struct {
	Completion
	Samples int
}

// samplesPerRow is how many samples stand side by side.
const samplesPerRow = 4

// sheet is the samples' part, without their pixels.
func (c *Sampled) sheet() *Sheet {
	s := &Sheet{Scale: c.Side()}
	for i := range c.Samples {
		if i%samplesPerRow == 0 {
			s.Rows = append(s.Rows, nil)
		}
		last := &s.Rows[len(s.Rows)-1]
		*last = append(*last, Panel{Label: fmt.Sprintf("sample %d", i+1), C: c.Truth.C, H: c.Truth.H, W: c.Truth.W})
	}
	return s
}

// Size is the size of the whole drawing.
func (c *Sampled) Size() (w, h int) {
	w, h = c.Completion.Size()
	if c.Samples == 0 {
		return w, h
	}
	sw, sh := c.sheet().Size()
	return max(w, sw), h + sh
}

// DrawWith draws it, samples [S, C, H, W] below the rest.
func (c *Sampled) DrawWith(samples []float32) image.Image {
	if c.Samples == 0 {
		return c.Draw()
	}
	s, n := c.sheet(), len(samples)/c.Samples
	for i := range c.Samples {
		s.Rows[i/samplesPerRow][i%samplesPerRow].Pix = samples[i*n : (i+1)*n]
	}
	return Stack(c.Draw(), s.Draw())
}
