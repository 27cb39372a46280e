package picture

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"path/filepath"
	"sort"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Curve is one predicted output over one input coordinate, with the points it was predicted from.
type Curve struct {
	XLabel, YLabel string
	// X, Mean and Std have one entry per target, in any order; ContextX and ContextY one per context point.
	X, Mean, Std       []float64
	ContextX, ContextY []float64
	// Samples are curves with one value per target; NaN leaves a target out.
	Samples [][]float64
	// Lower and Upper, if there are any, are the edges of the band at each target, instead of two deviations from the mean.
	Lower, Upper []float64
	// Truth, if there is one, has the true value at each target and is drawn as a line of dots.
	Truth []float64
	// Title stands above this curve's panel; WriteCurves gives the first its own.
	Title string
	// Days, if x is a time, returns it as days since the beginning of 1970, so that the axis shows dates.
	Days func(x float64) float64
	// If MarkFrom and MarkTo differ, vertical lines mark them.
	MarkFrom, MarkTo float64
}

// CurveFormat returns the format, "png" or "svg", that a file's extension names.
func CurveFormat(path string) (string, error) {
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".png", ".svg":
		return ext[1:], nil
	default:
		return "", fmt.Errorf("%s: a plot is a .png or .svg file, not %q", path, ext)
	}
}

// The size of one curve's panel, and the resolution of a PNG.
const (
	curveWidth  = 8 * vg.Inch
	curveHeight = 4.5 * vg.Inch
	curveDPI    = 120
)

// The colours of a curve: blue line and band, dark context points, samples in several.
var (
	lineColour = color.NRGBA{31, 98, 173, 255}
	bandColour = color.NRGBA{31, 98, 173, 56}
	dotColour  = color.NRGBA{32, 34, 38, 255}
	// sampleColours take turns.
	sampleColours = []color.NRGBA{{200, 80, 30, 170}, {60, 140, 60, 170}, {140, 70, 160, 170}, {190, 150, 20, 170}, {20, 140, 150, 170}}
)

// WriteCurves draws the curves below each other: mean, band of two standard deviations and context points. Values that
// are not finite are errors.
func WriteCurves(w io.Writer, format, title string, curves []Curve) (err error) {
	defer drawn(&err)
	width, height := curveWidth, curveHeight*vg.Length(max(1, len(curves)))
	canvas, err := newCanvas(format, width, height)
	if err != nil {
		return err
	}
	for i := range curves {
		if err := curves[i].check(); err != nil {
			return fmt.Errorf("picture: curve %d: %w", i, err)
		}
	}
	plots := make([][]*plot.Plot, len(curves))
	for i := range curves {
		p, err := curves[i].plot()
		if err != nil {
			return err
		}
		if i == 0 && title != "" {
			p.Title.Text = title
		}
		plots[i] = []*plot.Plot{p}
	}
	tiles := draw.Tiles{
		Rows: len(curves), Cols: 1, PadY: vg.Points(12),
		PadTop: vg.Points(10), PadBottom: vg.Points(8), PadLeft: vg.Points(8), PadRight: vg.Points(14),
	}
	if len(curves) > 0 {
		for i, row := range plot.Align(plots, tiles, draw.New(canvas)) { // aligned at their left edges
			plots[i][0].Draw(row[0])
		}
	}
	_, err = canvas.WriteTo(w)
	return err
}

// canvas is what a plot is drawn on and then written as a file.
type canvas interface {
	vg.CanvasSizer
	io.WriterTo
}

func newCanvas(format string, width, height vg.Length) (canvas, error) {
	switch format {
	case "png":
		return vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(curveDPI))}, nil
	case "svg":
		return vgsvg.New(width, height), nil
	}
	return nil, noFormat(format)
}

func noFormat(format string) error { return fmt.Errorf("picture: no plot format %q", format) }

// style sets fonts, legend and grid.
func style(p *plot.Plot) {
	for _, style := range []*draw.TextStyle{
		&p.Title.TextStyle, &p.X.Label.TextStyle, &p.Y.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label,
		&p.Legend.TextStyle,
	} {
		style.Font.Variant, style.Font.Size = "Sans", vg.Points(10)
	}
	p.Title.TextStyle.Font.Size = vg.Points(12)
	p.Title.Padding = vg.Points(6)
	p.Legend.Padding, p.Legend.XOffs = vg.Points(2), vg.Points(-6)
	p.X.Tick.Marker, p.Y.Tick.Marker = steadyTicks{}, steadyTicks{}
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = faint, faint
	grid.Horizontal.Width, grid.Vertical.Width = vg.Points(0.4), vg.Points(0.4)
	p.Add(grid)
}

// check is an error where slices do not fit each other, or a number of the context or of the truth is not finite.
func (c *Curve) check() error {
	n := len(c.X)
	for _, v := range []struct {
		name string
		n    int
	}{{"means", len(c.Mean)}, {"deviations", len(c.Std)}} {
		if v.n != n {
			return fmt.Errorf("%d x, %d %s", n, v.n, v.name)
		}
	}
	if len(c.ContextY) != len(c.ContextX) {
		return fmt.Errorf("%d x of the context, %d y", len(c.ContextX), len(c.ContextY))
	}
	if c.Truth != nil && len(c.Truth) != n {
		return fmt.Errorf("%d x, %d true values", n, len(c.Truth))
	}
	if (c.Upper != nil || c.Lower != nil) && (len(c.Upper) != n || len(c.Lower) != n) {
		return fmt.Errorf("%d x, %d upper and %d lower edges", n, len(c.Upper), len(c.Lower))
	}
	for i, sample := range c.Samples {
		if len(sample) != n {
			return fmt.Errorf("%d x, %d values of sample %d", n, len(sample), i)
		}
	}
	return nil
}

// plot builds the drawing of one curve.
func (c *Curve) plot() (*plot.Plot, error) {
	p := plot.New()
	style(p)
	p.X.Label.Text, p.Y.Label.Text, p.Title.Text = c.XLabel, c.YLabel, c.Title
	p.Legend.Top = true

	mean, upper, lower := c.sorted()
	for i := range mean {
		if v := mean[i].X + upper[i].Y + lower[i].Y; math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("picture: the prediction at x = %g is not finite", mean[i].X)
		}
	}
	if len(mean) > 0 {
		if err := c.plotBand(p, mean, upper, lower); err != nil {
			return nil, err
		}
	}
	if err := c.plotSamples(p); err != nil {
		return nil, err
	}
	if len(c.Truth) > 0 {
		truth := make(plotter.XYs, len(c.Truth))
		for i := range truth {
			truth[i] = plotter.XY{X: c.X[i], Y: c.Truth[i]}
		}
		sort.SliceStable(truth, func(a, b int) bool { return truth[a].X < truth[b].X })
		line, err := plotter.NewLine(truth)
		if err != nil {
			return nil, err
		}
		line.Color, line.Width, line.Dashes = dotColour, vg.Points(1), []vg.Length{vg.Points(1), vg.Points(2)}
		p.Add(line)
		p.Legend.Add("truth", line)
	}
	if len(c.ContextX) > 0 {
		points := make(plotter.XYs, len(c.ContextX))
		for i := range points {
			points[i] = plotter.XY{X: c.ContextX[i], Y: c.ContextY[i]}
		}
		dots, err := plotter.NewScatter(points)
		if err != nil {
			return nil, err
		}
		dots.GlyphStyle = draw.GlyphStyle{Color: dotColour, Radius: vg.Points(2.8), Shape: draw.CircleGlyph{}}
		p.Add(dots)
		p.Legend.Add("context", dots)
	}
	if c.MarkFrom != c.MarkTo {
		for _, x := range []float64{c.MarkFrom, c.MarkTo} {
			line, err := plotter.NewLine(plotter.XYs{{X: x, Y: p.Y.Min}, {X: x, Y: p.Y.Max}})
			if err != nil {
				return nil, err
			}
			line.Color, line.Width = dotColour, vg.Points(0.6)
			p.Add(line)
		}
	}
	if p.Y.Max > p.Y.Min {
		p.Y.Max += 0.18 * (p.Y.Max - p.Y.Min) // room for the legend
	}
	if c.Days != nil {
		ticks := dateTicks{c.Days}
		p.X.Tick.Marker, p.X.Label.Text = ticks, ticks.named(c.XLabel, p.X.Min, p.X.Max)
	}
	return p, nil
}

// plotBand draws the mean, and the band around it.
func (c *Curve) plotBand(p *plot.Plot, mean, upper, lower plotter.XYs) error {
	outline := append(plotter.XYs{}, upper...)
	for i := len(lower) - 1; i >= 0; i-- {
		outline = append(outline, lower[i])
	}
	band, err := plotter.NewPolygon(outline)
	if err != nil {
		return err
	}
	band.Color = bandColour
	band.LineStyle.Width = 0
	line, err := plotter.NewLine(mean)
	if err != nil {
		return err
	}
	line.Color, line.Width = lineColour, vg.Points(1.5)
	p.Add(band, line)
	p.Legend.Add("mean", line)
	if c.Upper != nil {
		p.Legend.Add("95 % interval", band)
	} else {
		p.Legend.Add("mean ± 2 std", band)
	}
	if len(mean) > 1 {
		return nil
	}
	// A line through one point shows nothing: draw its ends and middle.
	dots, err := plotter.NewScatter(plotter.XYs{lower[0], mean[0], upper[0]})
	if err != nil {
		return err
	}
	dots.GlyphStyle = draw.GlyphStyle{Color: lineColour, Radius: vg.Points(4), Shape: draw.PlusGlyph{}}
	p.Add(dots)
	return nil
}

// plotSamples draws the samples as thin lines, each through the targets from left to right.
func (c *Curve) plotSamples(p *plot.Plot) error {
	for i, sample := range c.Samples {
		var points plotter.XYs
		for k, y := range sample {
			if math.IsInf(y, 0) {
				return fmt.Errorf("picture: sample %d at x = %g is not finite", i, c.X[k])
			}
			if y == y {
				points = append(points, plotter.XY{X: c.X[k], Y: y})
			}
		}
		if len(points) == 0 {
			continue
		}
		sort.SliceStable(points, func(a, b int) bool { return points[a].X < points[b].X })
		line, err := plotter.NewLine(points)
		if err != nil {
			return err
		}
		line.Color, line.Width = sampleColours[i%len(sampleColours)], vg.Points(0.8)
		p.Add(line)
		if i == 0 {
			p.Legend.Add("samples", line)
		}
	}
	return nil
}

// sorted returns the mean and the band's edges by ascending x.
func (c *Curve) sorted() (mean, upper, lower plotter.XYs) {
	order := make([]int, len(c.X))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool { return c.X[order[a]] < c.X[order[b]] })
	for _, i := range order {
		mean = append(mean, plotter.XY{X: c.X[i], Y: c.Mean[i]})
		hi, lo := c.Mean[i]+2*c.Std[i], c.Mean[i]-2*c.Std[i]
		if c.Upper != nil {
			hi, lo = c.Upper[i], c.Lower[i]
		}
		upper, lower = append(upper, plotter.XY{X: c.X[i], Y: hi}), append(lower, plotter.XY{X: c.X[i], Y: lo})
	}
	return mean, upper, lower
}
