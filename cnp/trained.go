package cnp

import (
	"fmt"
	"math"
	"slices"
)

// Trained says what a model has seen in training. A model file stores it in its configuration. So users of the model learn when
// their data are of another kind (Config.Notes), and curves of another scale can be brought into the model's own (Config.Scaler).
type Trained struct {
	// X are the ranges of the coordinates of context and targets, Y those of the values.
	X []Range `json:"x,omitempty"`
	Y []Range `json:"y"`
	// Aux are the ranges of the auxiliary inputs.
	Aux []Range `json:"aux,omitempty"`
	// Static are those of the static fields.
	Static []Range `json:"static,omitempty"`
	// Span is the mean length of a task's context: of the longest side of the box around it. Spacing is the mean over tasks of
	// (volume of that box / number of context points)^(1/dx).
	Span    float64 `json:"span,omitempty"`
	Spacing float64 `json:"spacing,omitempty"`
	// Context is the least and the greatest number of context points of a task, or of observed pixels.
	Context [2]int `json:"context"`
	// Noise is the standard deviation of the noise that the values were assumed to have at the end of training, in the
	// model's units; 0 means none.
	Noise float64 `json:"noise,omitempty"`
	// Units brings data, whose ranges X and Y are, into the units that the model itself works in: training on a user's curves gives
	// them about 4 units of x and values with mean 0 and deviation 1. Standardise goes through it; the methods of a model do not. Nil
	// means that both are the same.
	Units *Scaler `json:"units,omitempty"`
	// Window holds the sides of the windows of tables that training drew its tasks from, one for each coordinate, in the data's units; 0
	// is a side without end. Longer tasks are predicted by windows, too (Standardised). Nil means that tasks were whole.
	Window []float64 `json:"window,omitempty"`
	// Marks, in ascending order, tell tasks of the user's own that were trained on: hashes of their numbers, of many tasks the
	// smallest ones (package recipe).
	Marks []uint32 `json:"marks,omitempty"`
}

// Range describes numbers that a model has seen.
type Range struct {
	Min  float64 `json:"min"`
	Max  float64 `json:"max"`
	Mean float64 `json:"mean"`
	Std  float64 `json:"std"`
}

// check reports what no training has shown; coordinates, values, auxiliary inputs and static fields are the model's numbers of them.
func (t *Trained) check(coordinates, values, aux, static int) error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: trained: %s", ErrConfig, fmt.Sprintf(format, args...))
	}
	if t == nil {
		return nil
	}
	if len(t.X) != coordinates || len(t.Y) != values {
		return bad("ranges of %d coordinates and %d values, the model has %d and %d", len(t.X), len(t.Y), coordinates, values)
	}
	if len(t.Aux) != aux {
		return bad("ranges of %d auxiliary inputs, the model has %d", len(t.Aux), aux)
	}
	if len(t.Static) != static {
		return bad("ranges of %d static fields, the model has %d", len(t.Static), static)
	}
	for i, r := range slices.Concat(t.X, t.Y, t.Aux, t.Static) {
		if !(r.Min <= r.Max && r.Std >= 0 && !math.IsInf(r.Max-r.Min, 0) && !math.IsInf(r.Std, 0) && !math.IsNaN(r.Mean-r.Mean)) {
			return bad("range %d is from %g to %g with mean %g and standard deviation %g", i, r.Min, r.Max, r.Mean, r.Std)
		}
	}
	if err := checkWindowSides(t.Window, coordinates); err != nil {
		return bad("%v", err)
	}
	if u := t.Units; u != nil {
		if len(u.X) != coordinates || len(u.Y) != values {
			return bad("units of %d coordinates and %d values, the model has %d and %d", len(u.X), len(u.Y), coordinates, values)
		}
		if len(u.Aux) != aux {
			return bad("units of %d auxiliary inputs, the model has %d", len(u.Aux), aux)
		}
		if len(u.Static) != static {
			return bad("units of %d static fields, the model has %d", len(u.Static), static)
		}
		for _, a := range slices.Concat(u.X, u.Y, u.Aux, u.Static) {
			if !a.Usable() {
				return bad("units: offset %g, factor %g", a.Offset, a.Factor)
			}
		}
	}
	if !(t.Span >= 0 && t.Spacing >= 0 && t.Noise >= 0) || math.IsInf(t.Span+t.Spacing+t.Noise, 0) || t.Context[0] < 0 ||
		t.Context[1] < t.Context[0] {
		return bad("span %g, spacing %g, noise %g, %d to %d context points", t.Span, t.Spacing, t.Noise, t.Context[0], t.Context[1])
	}
	return nil
}

// Scaler brings the coordinates and values of one task into the range that a model was trained on, and predictions back. All coordinates
// have the same factor, and so have the components of a vector, whose offset is their mean: angles stay what they are.
type Scaler struct {
	X []Affine `json:"x"`
	Y []Affine `json:"y"`
	// Aux are those of the auxiliary inputs, Static those of the static fields, which have one scale for all tasks: the trained one.
	Aux    []Affine `json:"aux,omitempty"`
	Static []Affine `json:"static,omitempty"`
}

// Identity reports whether the scaler changes nothing.
func (s Scaler) Identity() bool {
	return !slices.ContainsFunc(slices.Concat(s.X, s.Y, s.Aux, s.Static), func(a Affine) bool { return a != identity })
}

// checkWindowSides reports sides that no window has.
func checkWindowSides(sides []float64, coordinates int) error {
	if sides == nil {
		return nil
	}
	if len(sides) != coordinates {
		return fmt.Errorf("a window of %d sides, the model has %d coordinates", len(sides), coordinates)
	}
	for d, length := range sides {
		if !(length >= 0) || math.IsInf(length, 0) {
			return fmt.Errorf("side %d of the window is %g", d, length)
		}
	}
	return nil
}
