package picture

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/plot"
)

// ErrDrawing is wrapped by the errors of drawings that cannot be made of numbers that are right.
var ErrDrawing = errors.New("picture: it cannot be drawn")

// drawn turns a panic of who draws into an error: a drawing is never worth the work that it shows.
func drawn(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("%w: %v", ErrDrawing, r)
	}
}

// steadyTicks are the usual ticks of an axis, and its ends where there are none, as about one huge number.
type steadyTicks struct{}

// Ticks returns the ticks of an axis. An axis that no drawing has panics, which drawn makes an error.
func (steadyTicks) Ticks(lo, hi float64) []plot.Tick {
	width, size := hi-lo, math.Max(math.Abs(lo), math.Abs(hi))
	switch {
	case math.IsNaN(width-width) || width <= 0:
		panic(fmt.Sprintf("an axis from %g to %g", lo, hi))
	case width < 1e-9*size || width < 1e-250 || size > 1e250: // the usual ones would not end, or would be one
		return []plot.Tick{{Value: lo, Label: fmt.Sprintf("%.4g", lo)}, {Value: hi, Label: fmt.Sprintf("%.4g", hi)}}
	}
	return plot.DefaultTicks{}.Ticks(lo, hi)
}
