package plot

import (
	"errors"
	"fmt"
	"image/png"
	"io"
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/cnp/tabletask"
	"github.com/equivcnp/equivcnp/internal/picture"
	"github.com/equivcnp/equivcnp/internal/tables"
)

// TableMaps draws the predicted rows of a table that are of its first task, at the places of a grid of two inputs, as a PNG
// file: for each output its mean and its standard deviation. Other targets are an error.
func TableMaps(w io.Writer, p *tabletask.TasksPrediction) error {
	t, x, targets, from, dy := p.Table, p.X, p.Rows, p.First, p.Dy
	first := *t
	first.Values, first.Texts = nil, nil
	if len(targets) > 0 {
		for _, row := range targets[0] {
			first.Values = append(first.Values, t.Values[row*t.Cols:(row+1)*t.Cols]...)
		}
	}
	t = &first
	rows := t.Rows()
	axes, lengths := tables.Grid(t, x)
	var wide []int // axes of more than one place
	for i, n := range lengths {
		if n > 1 {
			wide = append(wide, i)
		}
	}
	if len(wide) != 2 {
		return errors.New("the targets of the first task are no grid of two inputs")
	}
	// The first of x that is an axis goes to the right, the other up.
	right, up := wide[0], wide[1]
	if slices.Index(x, axes[up]) < slices.Index(x, axes[right]) {
		right, up = up, right
	}
	width, height := lengths[right], lengths[up]
	step := func(axis int) int {
		n := 1
		for _, l := range lengths[axis+1:] {
			n *= l
		}
		return n
	}
	sheet := picture.Sheet{Title: fmt.Sprintf("%s to the right, %s up", t.Header[axes[right]], t.Header[axes[up]]),
		Scale: max(1, 320/max(width, height))}
	for d := range dy {
		var panels []picture.Panel
		for kind := range 2 {
			c := from + kind*dy + d
			p := picture.Panel{C: 1, H: height, W: width, Pix: make([]float32, width*height), Mask: make([]bool, width*height),
				Spread: true}
			lo, hi := math.Inf(1), math.Inf(-1)
			for i := range rows {
				v := t.Values[i*t.Cols+c]
				at := (height-1-i/step(up)%height)*width + i/step(right)%width
				p.Pix[at] = float32(v)
				if p.Mask[at] = v == v; v == v {
					lo, hi = min(lo, v), max(hi, v)
				}
			}
			for i := range p.Pix {
				p.Pix[i] -= float32(lo)
			}
			p.MaxSpread = hi - lo
			p.Label = fmt.Sprintf("%s\n%.3g to %.3g", t.Header[c], lo, hi)
			panels = append(panels, p)
		}
		sheet.Rows = append(sheet.Rows, panels)
	}
	return png.Encode(w, sheet.Draw())
}
