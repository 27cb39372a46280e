package picture

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette"
	"gonum.org/v1/plot/palette/moreland"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Map is a prediction for a rectangle of the plane, with the points it was made from.
type Map struct {
	Title, XLabel, YLabel string
	Label                 string     // of the values
	Lo, Hi                [2]float64 // corners of the rectangle
	Columns, Rows         int        // cells
	// Mean and Std have a value for the middle of each cell, row by row from Lo; NaN is no value.
	Mean, Std []float64
	// ContextX [m, 2] are the places that were seen, Values what was seen there.
	ContextX, Values []float64
}

// The size of a panel of a map, and the width of its colour bar.
const (
	mapSide = 5.2 * vg.Inch
	barSide = 0.9 * vg.Inch
)

// MapPlaces are the middles [rows * columns, 2] of the cells of a map, in the order of its values.
func MapPlaces(lo, hi [2]float64, columns, rows int) []float64 {
	out := make([]float64, 0, 2*columns*rows)
	for r := range rows {
		for c := range columns {
			fx, fy := (float64(c)+0.5)/float64(columns), (float64(r)+0.5)/float64(rows)
			out = append(out, lo[0]+(hi[0]-lo[0])*fx, lo[1]+(hi[1]-lo[1])*fy)
		}
	}
	return out
}

// cells are one panel's values, as the plotter of heat maps reads them.
type cells struct {
	m      *Map
	values []float64
	lo, hi float64
}

func (c cells) Dims() (columns, rows int) { return c.m.Columns, c.m.Rows }
func (c cells) X(column int) float64      { return c.m.middle(0, column, c.m.Columns) }
func (c cells) Y(row int) float64         { return c.m.middle(1, row, c.m.Rows) }
func (m *Map) middle(axis, i, n int) float64 {
	return m.Lo[axis] + (m.Hi[axis]-m.Lo[axis])*(float64(i)+0.5)/float64(n)
}

// Z is a cell's value within the range of the colours.
func (c cells) Z(column, row int) float64 {
	v := c.values[row*c.m.Columns+column]
	if math.IsNaN(v) {
		return v
	}
	return max(c.lo, min(c.hi, v))
}

// check refuses what cannot be drawn.
func (m *Map) check() error {
	switch n := m.Columns * m.Rows; {
	case m.Columns < 2 || m.Rows < 2 || len(m.Mean) != n || len(m.Std) != n:
		return fmt.Errorf("picture: a map of %d x %d cells with %d means and %d deviations", m.Columns, m.Rows, len(m.Mean), len(m.Std))
	case len(m.ContextX) != 2*len(m.Values):
		return fmt.Errorf("picture: a map with %d coordinates of %d values", len(m.ContextX), len(m.Values))
	}
	for i := range m.Lo {
		if !(m.Lo[i] < m.Hi[i]) || math.IsInf(m.Hi[i]-m.Lo[i], 0) {
			return fmt.Errorf("picture: a map from %g to %g", m.Lo[i], m.Hi[i])
		}
	}
	for i, v := range m.ContextX {
		if math.IsNaN(v - v) {
			return fmt.Errorf("picture: number %d of a map's places is %v", i, v)
		}
	}
	return nil
}

// WriteMap draws mean and standard deviation beside each other, each with its colour bar. Points are what was seen, in
// the colours of the mean.
func WriteMap(w io.Writer, format string, m *Map) (err error) {
	defer drawn(&err)
	if m == nil {
		return errors.New("picture: the map is nil")
	}
	if err := m.check(); err != nil {
		return err
	}
	width, height := 2*(mapSide+barSide), mapSide
	canvas, err := newCanvas(format, width, height)
	if err != nil {
		return err
	}
	// Colours are for where data are: what is predicted far from them may be far from them, too, and has the last colour.
	lo, hi := finiteExtent(m.Values)
	if len(m.Values) < 2 {
		lo, hi = finiteExtent(m.Mean)
	}
	slo, shi := finiteExtent(smaller(m.Std))
	all := draw.New(canvas)
	for i, panel := range []struct {
		title  string
		values []float64
		lo, hi float64
		seen   bool
	}{{m.Title, m.Mean, lo, hi, true}, {"standard deviation", m.Std, min(0, slo), shi, false}} {
		left := vg.Length(i) * (mapSide + barSide)
		part := draw.Crop(all, left, left+mapSide+barSide-width, 0, 0)
		if err := m.draw(part, panel.title, panel.values, panel.lo, panel.hi, panel.seen); err != nil {
			return err
		}
	}
	_, err = canvas.WriteTo(w)
	return err
}

// smaller is the smaller nine tenths of the numbers.
func smaller(v []float64) []float64 {
	out := slices.DeleteFunc(slices.Clone(v), math.IsNaN)
	slices.Sort(out)
	return out[:(len(out)*9+9)/10]
}

// finiteExtent is the range of the finite numbers, widened where it is a point.
func finiteExtent(v []float64) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, a := range v {
		if !math.IsNaN(a - a) {
			lo, hi = min(lo, a), max(hi, a)
		}
	}
	if !(lo <= hi) {
		lo, hi = 0, 1
	}
	if !(hi > lo) {
		pad := max(1e-9, 1e-6*math.Abs(lo))
		lo, hi = lo-pad, hi+pad
	}
	return lo, hi
}

// draw draws one panel and its colour bar.
func (m *Map) draw(c draw.Canvas, title string, values []float64, lo, hi float64, seen bool) error {
	var colours palette.ColorMap = moreland.SmoothBlueRed()
	if !seen {
		colours = moreland.ExtendedBlackBody()
	}
	colours.SetMin(lo)
	colours.SetMax(hi)
	p := plot.New()
	style(p)
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, m.XLabel, m.YLabel
	heat := plotter.NewHeatMap(cells{m, values, lo, hi}, colours.Palette(255))
	heat.Min, heat.Max = lo, hi
	heat.NaN, heat.Rasterized = paper, true
	p.Add(heat)
	if len(m.Values) > 0 {
		points := make(plotter.XYs, len(m.Values))
		for i := range points {
			points[i] = plotter.XY{X: m.ContextX[2*i], Y: m.ContextX[2*i+1]}
		}
		scatter, err := plotter.NewScatter(points)
		if err != nil {
			return err
		}
		radius := vg.Points(max(1.2, min(3, 60/math.Sqrt(float64(len(points))))))
		scatter.GlyphStyleFunc = func(i int) draw.GlyphStyle {
			g := draw.GlyphStyle{Color: ink, Radius: radius * 0.6, Shape: draw.CircleGlyph{}}
			if seen {
				if at, err := colours.At(max(lo, min(hi, m.Values[i]))); err == nil {
					g.Color, g.Radius = at, radius
				}
			}
			return g
		}
		p.Add(scatter)
		if seen { // a ring around each, so that it is seen on its own colour
			ring, err := plotter.NewScatter(points)
			if err != nil {
				return err
			}
			ring.GlyphStyle = draw.GlyphStyle{Color: ink, Radius: radius, Shape: draw.RingGlyph{}}
			p.Add(ring)
		}
	}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = m.Lo[0], m.Hi[0], m.Lo[1], m.Hi[1]
	p.Draw(draw.Crop(c, vg.Points(6), -barSide, vg.Points(6), -vg.Points(8)))

	bar := plot.New()
	style(bar)
	bar.HideX()
	bar.X.Padding, bar.Y.Padding = 0, 0
	bar.Title.Text = m.Label
	bar.Title.TextStyle.Font.Size = vg.Points(10)
	bar.Add(&plotter.ColorBar{ColorMap: colours, Vertical: true})
	bar.Draw(draw.Crop(c, mapSide, -vg.Points(10), vg.Points(32), -vg.Points(8)))
	return nil
}
