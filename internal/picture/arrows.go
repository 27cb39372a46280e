package picture

import (
	"errors"
	"fmt"
	"io"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Arrows is a predicted vector field in the plane, with the vectors that it was predicted from.
type Arrows struct {
	Title, XLabel, YLabel string
	// X [n, 2] are the targets, V [n, 2] the mean vectors there, and Covariance [n, 2, 2] theirs; nil: none are drawn.
	X, V, Covariance []float64
	// ContextX and ContextV [m, 2] are those of the context.
	ContextX, ContextV []float64
}

// arrowsSide is that of the square drawing.
const arrowsSide = 7 * vg.Inch

// WriteArrows draws an arrow for every vector, around whose end lies the ellipse of one standard deviation, and darker
// ones for the context. Arrows are drawn to one scale: the longest is about as long as one and a half times the
// distance between places.
func WriteArrows(w io.Writer, format string, a *Arrows) (err error) {
	defer drawn(&err)
	if a == nil {
		return errors.New("picture: the vector field is nil")
	}
	for _, v := range [][]float64{a.X, a.V, a.Covariance, a.ContextX, a.ContextV} {
		for i, x := range v {
			if math.IsNaN(x - x) {
				return fmt.Errorf("picture: number %d of a vector field is %v", i, x)
			}
		}
	}
	if len(a.X)%2 != 0 || len(a.ContextX)%2 != 0 || len(a.V) != len(a.X) || len(a.ContextV) != len(a.ContextX) ||
		a.Covariance != nil && len(a.Covariance) != 2*len(a.X) {
		return fmt.Errorf("picture: %d coordinates with %d components, of the context %d with %d", len(a.X), len(a.V),
			len(a.ContextX), len(a.ContextV))
	}
	canvas, err := newCanvas(format, arrowsSide, arrowsSide)
	if err != nil {
		return err
	}
	p := plot.New()
	style(p)
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = a.Title, a.XLabel, a.YLabel
	p.Add(a)
	lo, hi := a.box()
	half := max(hi[0]-lo[0], hi[1]-lo[1])*0.54 + a.reach()*0.5
	p.X.Min, p.X.Max = (lo[0]+hi[0])/2-half, (lo[0]+hi[0])/2+half
	p.Y.Min, p.Y.Max = (lo[1]+hi[1])/2-half, (lo[1]+hi[1])/2+half
	p.Draw(draw.Crop(draw.New(canvas), vg.Points(6), -vg.Points(14), vg.Points(6), -vg.Points(8)))
	_, err = canvas.WriteTo(w)
	return err
}

// box is the least one that all places lie in.
func (a *Arrows) box() (lo, hi [2]float64) {
	first := true
	for _, x := range [][]float64{a.X, a.ContextX} {
		for i := 0; i < len(x); i += 2 {
			p := [2]float64{x[i], x[i+1]}
			if first {
				lo, hi, first = p, p, false
			}
			for d := range p {
				lo[d], hi[d] = min(lo[d], p[d]), max(hi[d], p[d])
			}
		}
	}
	return lo, hi
}

// reach is how long the longest arrow is, in units of the coordinates.
func (a *Arrows) reach() float64 {
	lo, hi := a.box()
	if side := max(hi[0]-lo[0], hi[1]-lo[1]); side > 0 {
		return 1.5 * side / math.Sqrt(float64(max(1, len(a.X)/2)))
	}
	return 1
}

// Plot implements plot.Plotter.
func (a *Arrows) Plot(c draw.Canvas, p *plot.Plot) {
	longest := 1e-300
	for _, v := range [][]float64{a.V, a.ContextV} {
		for i := 0; i < len(v); i += 2 {
			longest = max(longest, math.Hypot(v[i], v[i+1]))
		}
	}
	scale := a.reach() / longest
	tx, ty := p.Transforms(&c)
	at := func(x, y float64) vg.Point { return vg.Point{X: tx(x), Y: ty(y)} }
	band, arrow, seen := bandColour, draw.LineStyle{Color: lineColour, Width: vg.Points(0.9)},
		draw.LineStyle{Color: dotColour, Width: vg.Points(1.6)}
	for i := 0; a.Covariance != nil && i < len(a.X); i += 2 {
		// B·B' of the covariance: its Cholesky factor takes a circle to the ellipse.
		s := a.Covariance[2*i : 2*i+4]
		l := math.Sqrt(max(s[0], 0))
		m := 0.0
		if l > 0 {
			m = s[2] / l
		}
		q := math.Sqrt(max(s[3]-m*m, 0))
		var ring []vg.Point
		for k := range 24 {
			sin, cos := math.Sincos(2 * math.Pi * float64(k) / 24)
			ring = append(ring, at(a.X[i]+scale*(a.V[i]+l*cos), a.X[i+1]+scale*(a.V[i+1]+m*cos+q*sin)))
		}
		c.FillPolygon(band, c.ClipPolygonXY(ring))
	}
	one := func(x, v []float64, line draw.LineStyle) {
		from, to := at(x[0], x[1]), at(x[0]+scale*v[0], x[1]+scale*v[1])
		d := to.Sub(from)
		length := math.Hypot(float64(d.X), float64(d.Y))
		lines := [][]vg.Point{{from, to}}
		if head := min(float64(vg.Points(5)), 0.4*length); head > 0 {
			for _, side := range [2]float64{1, -1} {
				sin, cos := math.Sincos(math.Pi - side*0.45)
				ux, uy := float64(d.X)/length*head, float64(d.Y)/length*head
				lines = append(lines, []vg.Point{to, {X: to.X + vg.Length(cos*ux-sin*uy), Y: to.Y + vg.Length(sin*ux+cos*uy)}})
			}
		}
		c.StrokeLines(line, c.ClipLinesXY(lines...)...)
	}
	for i := 0; i < len(a.X); i += 2 {
		one(a.X[i:i+2], a.V[i:i+2], arrow)
	}
	for i := 0; i < len(a.ContextX); i += 2 {
		one(a.ContextX[i:i+2], a.ContextV[i:i+2], seen)
		c.DrawGlyph(draw.GlyphStyle{Color: dotColour, Radius: vg.Points(2.2), Shape: draw.CircleGlyph{}},
			at(a.ContextX[i], a.ContextX[i+1]))
	}
}
