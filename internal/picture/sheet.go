package picture

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"strings"
)

// Panel is one small image of a sheet.
type Panel struct {
	// Label stands above the panel, in lines of ASCII text; it may be empty. A panel without pixels is a heading: its label may run
	// over the columns beside it.
	Label   string
	C, H, W int
	Pix     []float32 // [C, H, W]
	// Mask [H, W], if there is one, says which pixels are observed; the others are drawn in one colour.
	Mask []bool
	// Spread draws the values, averaged over channels, on the colour scale of standard deviations from 0 to MaxSpread.
	Spread    bool
	MaxSpread float64
}

// Sheet is panels in rows. All panels of a column are as wide as its widest, all of a row as high as its highest.
type Sheet struct {
	Title string // lines of ASCII text above everything; may be empty
	Rows  [][]Panel
	Scale int // the side of one pixel in the drawing, at least 1
}

// textSize returns the size of lines of text, in pixels.
func textSize(text string) (w, h int) {
	if text == "" {
		return 0, 0
	}
	for line := range strings.SplitSeq(text, "\n") {
		w, h = max(w, 7*len(line)), h+lineHeight
	}
	return w, h
}

// Size returns the width and height of the drawing.
func (s *Sheet) Size() (width, height int) {
	if s == nil {
		panic("picture: Sheet: s = nil")
	}
	columns, rows := s.layout()
	tw, th := textSize(s.Title)
	width, height = 2*margin-gap, 2*margin-gap
	for _, w := range columns {
		width += w + gap
	}
	for _, r := range rows {
		height += r.label + r.panel + gap
	}
	if th > 0 {
		height += th + titleGap
	}
	return max(width, 2*margin+tw), height
}

type sheetRow struct{ label, panel int } // heights

func (s *Sheet) layout() (columns []int, rows []sheetRow) {
	for _, row := range s.Rows {
		var r sheetRow
		for i, p := range row {
			if i == len(columns) {
				columns = append(columns, 0)
			}
			w, h := textSize(p.Label)
			if len(p.Pix) == 0 {
				w = 0
			}
			columns[i] = max(columns[i], w, sides(s.Scale, p.W))
			if h > 0 {
				r.label = max(r.label, h+labelGap)
			}
			r.panel = max(r.panel, sides(s.Scale, p.H))
		}
		rows = append(rows, r)
	}
	return columns, rows
}

// Draw draws the sheet.
func (s *Sheet) Draw() *image.NRGBA {
	width, height := s.Size()
	im := newDrawing("Sheet", width, height)
	y := margin
	if s.Title != "" {
		writeLines(im, s.Title, margin, y)
		_, h := textSize(s.Title)
		y += h + titleGap
	}
	columns, rows := s.layout()
	for k, row := range s.Rows {
		x := margin
		for i := range row {
			p := &row[i]
			writeLines(im, p.Label, x, y)
			if len(p.Pix) > 0 {
				p.draw(im, x, y+rows[k].label, s.Scale)
			}
			x += columns[i] + gap
		}
		y += rows[k].label + rows[k].panel + gap
	}
	return im
}

func writeLines(im *image.NRGBA, text string, x, y int) {
	for line := range strings.SplitSeq(text, "\n") {
		write(im, line, x, y)
		y += lineHeight
	}
}

func (p *Panel) draw(im *image.NRGBA, x, y, scale int) {
	fill(im, image.Rect(x-1, y-1, x+scale*p.W+1, y+scale*p.H+1), faint) // the frame
	if !isImage(len(p.Pix), p.C, p.H, p.W) || !p.Spread && p.C != 1 && p.C != 3 || p.Mask != nil && len(p.Mask) != p.H*p.W {
		panic(fmt.Sprintf("picture: Sheet: a panel of %d values in %d channels, with %d of Mask, is not [%[2]d, %d, %d]",
			len(p.Pix), p.C, len(p.Mask), p.H, p.W))
	}
	n := p.H * p.W
	for i := range n {
		var c color.NRGBA
		switch {
		case p.Mask != nil && !p.Mask[i]:
			c = unobserved
		case p.Spread:
			v := 0.0
			for ch := range p.C {
				v += float64(p.Pix[ch*n+i]) / float64(p.C)
			}
			c = shade(v, 0, p.MaxSpread)
		default:
			c = tone(p.Pix, i, n)
		}
		fill(im, image.Rect(0, 0, scale, scale).Add(image.Pt(x+i%p.W*scale, y+i/p.W*scale)), c)
	}
}

// Stack draws pictures below each other.
func Stack(parts ...image.Image) *image.NRGBA {
	w, h := 0, 0
	for i, p := range parts {
		if p == nil {
			panic(fmt.Sprintf("picture: Stack: parts[%d] = nil", i))
		}
		w, h = max(w, p.Bounds().Dx()), h+p.Bounds().Dy()
	}
	im := newDrawing("Stack", w, h)
	y := 0
	for _, p := range parts {
		draw.Draw(im, image.Rect(0, y, p.Bounds().Dx(), y+p.Bounds().Dy()), p, p.Bounds().Min, draw.Src)
		y += p.Bounds().Dy()
	}
	return im
}
