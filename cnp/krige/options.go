package krige

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// ErrInput is wrapped by every error about a table or its targets.
var ErrInput = errors.New("krige: input")

// CalendarDays returns the periods of Options.Calendar of a coordinate that counts days, as of dates: a year, a week and a day.
func CalendarDays() []float64 { return []float64{365.2425, 7, 1} }

// MaxDim is the largest number of coordinates, MaxDrift that of columns of a drift.
const (
	MaxDim   = 8
	MaxDrift = 64
)

// Options say how a table is read and fitted. The zero value, with Dim set, is the default.
type Options struct {
	Dim            int       // number of inputs: 1 to MaxDim coordinates, and behind them the columns of the drift
	Drift          int       // the last inputs, up to MaxDrift, are columns that values depend on linearly, as on elevation
	Sphere         bool      // coordinates are latitude and longitude in degrees, of which there are 2
	DifferentUnits bool      // axes have units of their own, as degrees beside metres
	Periods        []float64 // one coordinate: periods of seasons, in its unit, to be tried besides those that are found
	Calendar       []float64 // like Periods, where a series has two cycles or more, of two values or more
	NoCheck        bool      // leave standard deviations as the model has them, see Report
	Values         Values    // what kind of numbers the values are
	// Robust leaves out values that are outliers: that lie more than six standard deviations from what the others say, up to a tenth of
	// them. Predictions, and the check, are then of values that are none. Report.Outliers says which ones they are.
	Robust bool

	// MaximumLikelihood predicts by the likeliest covariance alone, as a Gaussian process does whose parameters maximize
	// the likelihood: without priors, averages and corrections. It is there to be compared with.
	MaximumLikelihood bool

	slopes *slopes // of a drift, as other tables have them; nil: nothing is known
}

// Values says what kind of numbers the values are.
type Values int

func (o *Options) check(x, y []float64) error {
	d := o.Dim
	at := d - o.Drift
	switch {
	case o.Drift < 0 || o.Drift > MaxDrift || o.Drift > 0 && at < 1:
		return fmt.Errorf("%w: Drift = %d of %d inputs: need at most %d, and at least one coordinate", ErrInput, o.Drift, d, MaxDrift)
	case at < 1 || at > MaxDim:
		return fmt.Errorf("%w: %d coordinates: need 1 to %d", ErrInput, at, MaxDim)
	case o.Drift > 0 && o.MaximumLikelihood:
		return fmt.Errorf("%w: MaximumLikelihood has no drift", ErrInput)
	case o.Robust && o.MaximumLikelihood:
		return fmt.Errorf("%w: MaximumLikelihood is not robust", ErrInput)
	case o.Sphere && at != 2:
		return fmt.Errorf("%w: %d coordinates: points of the sphere have 2, latitude and longitude", ErrInput, at)
	case o.Values < Plain || o.Values > Positive:
		return fmt.Errorf("%w: Values = %d: need Plain, Logarithmic or Positive", ErrInput, o.Values)
	case len(x) != len(y)*d:
		return fmt.Errorf("%w: %d coordinates for %d values of %d each", ErrInput, len(x), len(y), d)
	case len(y) == 0:
		return fmt.Errorf("%w: no values: without any nothing is known, not even their scale", ErrInput)
	}
	if err := errors.Join(checkFinite("x", x, d), checkFinite("y", y, 1), o.checkSphere("x", x)); err != nil {
		return fmt.Errorf("%w: %w", ErrInput, err)
	}
	for _, p := range slices.Concat(o.Periods, o.Calendar) {
		if at != 1 || !(p > 0) || math.IsInf(p, 0) {
			return fmt.Errorf("%w: period %g: need a positive number, and one coordinate", ErrInput, p)
		}
	}
	return nil
}

func (o *Options) checkSphere(name string, x []float64) error {
	for i := 0; o.Sphere && i+1 < len(x); i += o.Dim {
		if !(math.Abs(x[i]) <= 90) {
			return fmt.Errorf("%s: row %d: latitude %g: need -90 to 90 degrees", name, i/o.Dim, x[i])
		}
	}
	return nil
}

// checkFinite refuses a number that is not finite, by name and row.
func checkFinite(name string, v []float64, d int) error {
	for i, a := range v {
		if math.IsNaN(a) || math.IsInf(a, 0) {
			return fmt.Errorf("%s: row %d, column %d is %v: need finite numbers", name, i/d, i%d, a)
		}
	}
	return nil
}

// split separates rows of Dim numbers into coordinates and drift.
func (o *Options) split(x []float64) (at, z []float64) {
	if o.Drift == 0 {
		return x, nil
	}
	d := o.Dim - o.Drift
	for i := 0; i < len(x); i += o.Dim {
		at, z = append(at, x[i:i+d]...), append(z, x[i+d:i+o.Dim]...)
	}
	return at, z
}

// slopes are what the coefficients of a drift are expected to be in a table, in its units, as others of its kind have them: normal, of this
// mean and deviation. Of a column that nothing is known of they are 0 and infinite.
type slopes struct{ mean, std []float64 }

// known reports whether something is known of a column.
func (s *slopes) known(k int) bool { return s != nil && !math.IsInf(s.std[k], 0) }
