package picture

import (
	"bytes"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// Numbers that the library of drawings has no ticks for are drawn, or are an error, and never a panic.
func TestHugeNumbers(t *testing.T) {
	for _, v := range []float64{0, 1e17, math.MaxFloat64, math.SmallestNonzeroFloat64, 3e38, 1e-300} {
		for _, other := range []float64{v, math.Nextafter(v, 0), -v} {
			var b bytes.Buffer
			err := WriteCharts(&b, "png", &Chart{Series: []Series{{Name: "s", X: []float64{0, 1}, Y: []float64{v, other}}}})
			if err != nil {
				require.ErrorIs(t, err, ErrDrawing, "%g and %g", v, other)
			}
			_ = WriteCharts(&b, "svg", &Chart{Series: []Series{{Name: "s", X: []float64{v, other}, Y: []float64{0, 1}}}})
			_ = WriteCurves(&b, "png", "", []Curve{{X: []float64{0, 1}, Mean: []float64{v, other}, Std: []float64{1, 1},
				ContextX: []float64{v}, ContextY: []float64{1}}})
			_ = WriteArrows(&b, "png", &Arrows{X: []float64{v, other}, V: []float64{v, other}})
		}
	}
}
