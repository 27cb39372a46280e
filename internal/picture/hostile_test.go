package picture

import (
	"image"
	"io"
	"testing"

	"github.com/equivcnp/equivcnp/internal/raster"
	"github.com/equivcnp/equivcnp/internal/testkit"
)

// TestHostile calls what is exported with what nobody should pass: sizes that do not fit, are negative or huge, numbers
// that are not finite.
func TestHostile(t *testing.T) {
	named := func(name string, f any, good ...any) {
		t.Helper()
		testkit.Hostile(t, "picture", name, f, good...)
	}
	pix := make([]float32, 6)
	named("WritePNG", func(pix []float32, c, h, w int) { _ = WritePNG(io.Discard, pix, c, h, w) }, pix, 1, 2, 3)
	named("CurveFormat", func(path string) { _, _ = CurveFormat(path) }, "a.png")
	for _, format := range []string{"svg", "png"} {
		if format == "png" && testing.Short() {
			break // the same drawings as pixels, which take their time under the race detector and an emulator
		}
		named("WriteCurves", func(format, title string, curves []Curve) { _ = WriteCurves(io.Discard, format, title, curves) },
			format, "title",
			[]Curve{{X: []float64{0, 1}, Mean: []float64{0, 1}, Std: []float64{1, 1}, ContextX: []float64{0},
				ContextY: []float64{2}, Samples: [][]float64{{1, 2}},
				Truth: []float64{1, 2}, Title: "panel", MarkFrom: 0, MarkTo: 1}})
		named("WriteCurves of intervals", func(curves []Curve) { _ = WriteCurves(io.Discard, format, "", curves) },
			[]Curve{{X: []float64{0, 1}, Mean: []float64{0, 1}, Std: []float64{1, 1}, Lower: []float64{-1, -1}, Upper: []float64{2, 2}}})
		named("WriteCharts", func(format string, c *Chart) { _ = WriteCharts(io.Discard, format, c) }, format,
			&Chart{Title: "title", Series: []Series{{Name: "a", X: []float64{0, 1}, Y: []float64{1, 2}, Err: []float64{1, 1}}}})
		named("WriteCharts of names", func(c *Chart) { _ = WriteCharts(io.Discard, format, c) },
			&Chart{Names: []string{"a", "b"}, Series: []Series{{Name: "a", X: []float64{0, 1}, Y: []float64{1, 2}}}})
		named("WriteArrows", func(format string, a *Arrows) { _ = WriteArrows(io.Discard, format, a) }, format,
			&Arrows{X: []float64{0, 1}, V: []float64{1, 1}, Covariance: []float64{1, 0, 0, 1}, ContextX: []float64{2, 2},
				ContextV: []float64{1, 0}})
		named("WriteGlobes", func(format string, g *Globe) { _ = WriteGlobes(io.Discard, format, g) }, format,
			&Globe{Title: "title", Mean: []float64{1, 2}, Std: []float64{1, 2}, Places: [][2]float64{{1, 2}, {-90, 1e300}},
				Values: []float64{3, 4}})
	}
	mask := []bool{true, false, true, false, true, false}
	named("Completion", func(c *Completion) {
		c.Side()
		c.Size()
		c.Draw()
	}, &Completion{Truth: &raster.Image{C: 1, H: 2, W: 3, Pix: pix}, Mask: mask, Mean: pix, Std: pix, Title: "title", Scale: 2})
	named("Sheet", func(s *Sheet) {
		s.Size()
		s.Draw()
	}, &Sheet{Title: "title", Scale: 2, Rows: [][]Panel{{{Label: "a", C: 1, H: 2, W: 3, Pix: pix, Mask: mask},
		{Label: "heading"}}, {{C: 1, H: 2, W: 3, Pix: pix, Spread: true, MaxSpread: 1}}}})
	named("Stack", func(parts ...image.Image) { Stack(parts...) }, []image.Image{image.NewNRGBA(image.Rect(0, 0, 2, 3)),
		image.NewNRGBA(image.Rect(5, 5, 6, 6))})
}
