package picture

import (
	"fmt"
	"image/color"
	"io"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Series is one line of a chart: Y over X, with a standard error on either side where Err is not nil.
type Series struct {
	Name      string
	X, Y, Err []float64
}

// Chart is a drawing of several series.
type Chart struct {
	Title, XLabel, YLabel string
	Series                []Series
	// Names, if there are any, stand at x = 0, 1, ..; the series are then points next to each other, not joined by lines.
	Names []string
}

// hues are the colours of a chart's series, told apart by people with any colour vision. Source: M. Okabe, K. Ito, Color
// Universal Design, 2008.
var hues = []color.NRGBA{
	{0, 114, 178, 255}, {213, 94, 0, 255}, {0, 158, 115, 255}, {204, 121, 167, 255}, {230, 159, 0, 255}, {86, 180, 233, 255},
	{32, 34, 38, 255},
}

// glyphs tell series apart beyond the colours.
var glyphs = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.TriangleGlyph{}, draw.PyramidGlyph{}, draw.RingGlyph{},
	draw.SquareGlyph{}}

// WriteCharts draws charts as "png" or "svg", one below the other. Points that are not finite are left out.
func WriteCharts(w io.Writer, format string, charts ...*Chart) (err error) {
	defer drawn(&err)
	canvas, err := newCanvas(format, curveWidth, curveHeight*vg.Length(max(1, len(charts))))
	if err != nil {
		return err
	}
	for i, c := range charts {
		if c == nil {
			return fmt.Errorf("picture: chart %d is nil", i)
		}
		p, err := c.plot()
		if err != nil {
			return err
		}
		above, below := curveHeight*vg.Length(i), curveHeight*vg.Length(len(charts)-1-i)
		p.Draw(draw.Crop(draw.New(canvas), vg.Points(8), vg.Points(-14), below+vg.Points(8), -above-vg.Points(10)))
	}
	_, err = canvas.WriteTo(w)
	return err
}

// plot builds the drawing of one chart.
func (c *Chart) plot() (*plot.Plot, error) {
	p := plot.New()
	style(p)
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = c.Title, c.XLabel, c.YLabel
	p.Legend.Top = true
	for i, s := range c.Series {
		if len(s.X) != len(s.Y) || (s.Err != nil && len(s.Err) != len(s.Y)) {
			return nil, fmt.Errorf("picture: series %q has %d x, %d y, %d errors", s.Name, len(s.X), len(s.Y), len(s.Err))
		}
		if err := c.add(p, i, s); err != nil {
			return nil, err
		}
	}
	if c.Names != nil {
		p.NominalX(c.Names...)
		p.X.Min, p.X.Max = -0.5, float64(len(c.Names))-0.5
	}
	if p.Y.Max > p.Y.Min {
		p.Y.Max += 0.06 * float64(1+len(c.Series)) * (p.Y.Max - p.Y.Min) // room for the legend
	}
	return p, nil
}

// points are a series' points with their errors, as plotter wants them.
type points struct {
	plotter.XYs
	plotter.YErrors
}

func (c *Chart) add(p *plot.Plot, i int, s Series) error {
	var data points
	for k := range s.X {
		x, e := s.X[k], 0.0
		if s.Err != nil {
			e = s.Err[k]
		}
		if c.Names != nil { // side by side
			x += 0.6 * ((float64(i)+0.5)/float64(len(c.Series)) - 0.5)
		}
		if v := x + s.Y[k] + e; math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		data.XYs = append(data.XYs, plotter.XY{X: x, Y: s.Y[k]})
		data.YErrors = append(data.YErrors, struct{ Low, High float64 }{e, e})
	}
	if len(data.XYs) == 0 {
		return nil
	}
	hue := hues[i%len(hues)]
	dots, err := plotter.NewScatter(data.XYs)
	if err != nil {
		return err
	}
	dots.GlyphStyle = draw.GlyphStyle{Color: hue, Radius: vg.Points(3), Shape: glyphs[i%len(glyphs)]}
	legend := []plot.Thumbnailer{dots}
	if c.Names == nil {
		line, err := plotter.NewLine(data.XYs)
		if err != nil {
			return err
		}
		line.Color, line.Width = hue, vg.Points(1.2)
		p.Add(line)
		legend = append(legend, line)
	}
	if s.Err != nil {
		bars, err := plotter.NewYErrorBars(data)
		if err != nil {
			return err
		}
		bars.Color = hue
		p.Add(bars)
	}
	p.Add(dots)
	p.Legend.Add(s.Name, legend...)
	return nil
}
