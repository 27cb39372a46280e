// Package picture draws the results of the command-line program: panels of a completed image, regression curves with their
// uncertainty, sheets of images and charts.
package picture

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot/palette"
	"gonum.org/v1/plot/palette/moreland"

	"github.com/equivcnp/equivcnp/internal/raster"
)

// Completion holds what is drawn of one completed image. All values are [C, H, W], the mask [H, W].
type Completion struct {
	Truth     *raster.Image
	Mask      []bool
	Mean, Std []float32
	Title     string // one line above the panels; may be empty
	// Scale is the side of one pixel in the drawing; 0 chooses the largest that keeps a panel within 256 pixels.
	Scale int
}

// Measures of the drawing, in pixels. The font is 7 pixels wide and 13 high.
const (
	panelSide  = 256 // what Scale = 0 aims at
	margin     = 18
	gap        = 14
	lineHeight = 13
	labelGap   = 6   // between a label and its panel
	titleGap   = 14  // between the title and the labels
	barGap     = 8   // between the panel and its colour bar
	barHeight  = 10  // of the colour bar
	cellWidth  = 112 // the least width of a panel with its label
)

// The colours of the drawing. A pixel that was not observed is blue, as in the paper's figures; one whose predicted
// value is not a number is magenta.
var (
	paper      = color.NRGBA{250, 250, 248, 255}
	ink        = color.NRGBA{32, 34, 38, 255}
	faint      = color.NRGBA{200, 200, 196, 255}
	unobserved = color.NRGBA{44, 82, 152, 255}
	notNumber  = color.NRGBA{255, 0, 255, 255}
)

// shades maps [0, 1] to the colours of the standard deviation: the black-body scale, whose lightness grows evenly, so
// it also reads in grey. Source: K. Moreland, Why We Use Bad Color Maps and What You Can Do About It, 2016.
var shades = sync.OnceValue(func() [256]color.NRGBA { return coloursOf(moreland.ExtendedBlackBody()) })

// coloursOf is a table of a colour map's colours from 0 to 1.
func coloursOf(m palette.ColorMap) (t [256]color.NRGBA) {
	m.SetMin(0)
	m.SetMax(1)
	for i := range t {
		c, err := m.At(float64(i) / 255)
		if err != nil {
			panic(err) // 0 and 1 are its range
		}
		t[i] = color.NRGBAModel.Convert(c).(color.NRGBA)
	}
	return t
}

// scale is the chosen side of a pixel. It panics without an image.
func (c *Completion) scale() int {
	if c == nil || c.Truth == nil || !isImage(len(c.Truth.Pix), c.Truth.C, c.Truth.H, c.Truth.W) || c.Truth.C != 1 && c.Truth.C != 3 {
		panic("picture: Completion: Truth is not an image [1 or 3, h, w]")
	}
	if c.Scale > 0 {
		return c.Scale
	}
	return max(1, panelSide/max(c.Truth.W, c.Truth.H))
}

// Side is the side of one pixel in the drawing.
func (c *Completion) Side() int { return c.scale() }

// Size returns the width and height of the drawing without drawing it.
func (c *Completion) Size() (width, height int) {
	s := c.scale()
	cell := max(cellWidth, sides(s, c.Truth.W))
	width = max(2*margin+4*cell+3*gap, 2*margin+7*len(c.Title))
	height = 2*margin + lineHeight + labelGap + sides(s, c.Truth.H) + barGap + barHeight + lineHeight + 2
	if c.Title != "" {
		height += lineHeight + titleGap
	}
	return width, height
}

// Draw draws four panels side by side: the observed pixels, the predicted mean, the predicted standard deviation
// (averaged over channels) on a colour scale of its own, and the truth.
func (c *Completion) Draw() *image.NRGBA {
	width, height := c.Size()
	if n := len(c.Truth.Pix); len(c.Mask) != n/c.Truth.C || len(c.Mean) != n || len(c.Std) != n {
		panic(fmt.Sprintf("picture: Completion: %d pixels in %d channels, with %d of Mask, %d of Mean and %d of Std", n,
			c.Truth.C, len(c.Mask), len(c.Mean), len(c.Std)))
	}
	im := newDrawing("Completion", width, height)

	y := margin
	if c.Title != "" {
		write(im, c.Title, margin, y)
		y += lineHeight + titleGap
	}
	std := c.meanStd()
	lo, hi := extent(std)
	h, w, s := c.Truth.H, c.Truth.W, c.scale()
	cell := max(cellWidth, s*w)
	for i, panel := range []struct {
		label string
		pixel func(i int) color.NRGBA
	}{
		{"context", func(i int) color.NRGBA {
			if !c.Mask[i] {
				return unobserved
			}
			return tone(c.Truth.Pix, i, h*w)
		}},
		{"predicted mean", func(i int) color.NRGBA { return tone(c.Mean, i, h*w) }},
		{"predicted std", func(i int) color.NRGBA { return shade(std[i], lo, hi) }},
		{"truth", func(i int) color.NRGBA { return tone(c.Truth.Pix, i, h*w) }},
	} {
		x := margin + i*(cell+gap)
		write(im, panel.label, x, y)
		top := y + lineHeight + labelGap
		fill(im, image.Rect(x-1, top-1, x+s*w+1, top+s*h+1), faint) // the frame
		for p := range h * w {
			fill(im, image.Rect(0, 0, s, s).Add(image.Pt(x+p%w*s, top+p/w*s)), panel.pixel(p))
		}
		if i == 2 {
			drawBar(im, x, top+s*h+barGap, max(cell, s*w), lo, hi)
		}
	}
	return im
}

// meanStd averages the standard deviation over channels [H, W].
func (c *Completion) meanStd() []float64 {
	n := c.Truth.H * c.Truth.W
	out := make([]float64, n)
	for i := range out {
		for ch := range c.Truth.C {
			out[i] += float64(c.Std[ch*n+i]) / float64(c.Truth.C)
		}
	}
	return out
}

// extent returns the least and the largest finite value; 0, 0 if there is none.
func extent(v []float64) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, x := range v {
		if !math.IsNaN(x) && !math.IsInf(x, 0) {
			lo, hi = min(lo, x), max(hi, x)
		}
	}
	if lo > hi {
		return 0, 0
	}
	return lo, hi
}

// tone is the colour of pixel i of pix [1 or 3, n], clipped to [0, 1].
func tone(pix []float32, i, n int) color.NRGBA {
	var v [3]uint8
	for ch := range v {
		x := float64(pix[ch%(len(pix)/n)*n+i])
		if math.IsNaN(x) {
			return notNumber
		}
		v[ch] = uint8(math.Round(255 * clip(x)))
	}
	return color.NRGBA{v[0], v[1], v[2], 255}
}

// shade is the colour of a standard deviation on a scale from lo to hi. A scale without extent is drawn in one colour.
func shade(v, lo, hi float64) color.NRGBA {
	if math.IsNaN(v) {
		return notNumber
	}
	at := 0.5
	if hi > lo {
		at = clip((v - lo) / (hi - lo))
	}
	return shades()[int(math.Round(255*at))]
}

// drawBar draws the colour scale with its ends' values below.
func drawBar(im *image.NRGBA, x, y, width int, lo, hi float64) {
	for i := range width {
		fill(im, image.Rect(x+i, y, x+i+1, y+barHeight), shade(float64(i), 0, float64(max(1, width-1))))
	}
	left, right := fmt.Sprintf("%.3g", lo), fmt.Sprintf("%.3g", hi)
	write(im, left, x, y+barHeight+2)
	write(im, right, x+width-7*len(right), y+barHeight+2)
}

func fill(im *image.NRGBA, r image.Rectangle, c color.NRGBA) {
	r = r.Intersect(im.Bounds())
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			im.SetNRGBA(x, y, c)
		}
	}
}

// write draws a line of ASCII text whose top left corner is (x, y).
func write(im *image.NRGBA, text string, x, y int) {
	face := basicfont.Face7x13
	d := font.Drawer{Dst: im, Src: image.NewUniform(ink), Face: face, Dot: fixed.P(x, y+face.Ascent)}
	d.DrawString(text)
}
