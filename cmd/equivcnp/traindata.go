package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/task"
)

// holdOut takes the share --holdout of a user's n tasks out of the training set, for the scores; there is no test set if that is none.
func holdOut[S interface {
	Holdout(share float64, seed uint64) (S, S, error)
}](f *trainFlags, set S, n int, changed func(string) bool, notes *[]string) (train, test S, held bool, err error) {
	switch {
	case !(f.holdout >= 0 && f.holdout < 1):
		return set, test, false, usagef("--holdout %g: need 0 to less than 1", f.holdout)
	case f.holdout == 0:
		*notes = append(*notes, "nothing is held out: scores, and --patience, are of what is trained on")
		return set, test, false, nil
	case n < 2 && !changed("holdout"):
		*notes = append(*notes, "there is one task, and none to hold out: scores, and --patience, are of what is trained on")
		return set, test, false, nil
	}
	train, test, err = set.Holdout(f.holdout, f.seed)
	if err != nil {
		err = fmt.Errorf("--holdout %g: %w", f.holdout, err)
	}
	return train, test, true, err
}

// curveData are a user's own curves, and their units.
type curveData struct {
	set            *task.CurveSet
	span           float64   // of a typical task, along the coordinate where it is widest
	means, spreads []float64 // of the outputs that are not constant: mean and deviation
	spread         float64   // the least of the deviations, which the noise goes by
}

// data reads the curves of --csv or --in.
func (f *regressionFlags) data(ctx context.Context, a *app) (*curveData, error) {
	files := taskFlags{app: a, csv: f.csv, in: f.in, columns: f.columns}
	set, err := files.curves(ctx, 0, 0)
	if err != nil {
		return nil, hintColumns(err)
	}
	d := &curveData{set: set}
	var spans []float64
	for _, c := range set.Curves {
		widest := 0.0
		for k := range set.Dx {
			lo, hi := math.Inf(1), math.Inf(-1)
			for i := k; i < len(c.X); i += set.Dx {
				lo, hi = min(lo, c.X[i]), max(hi, c.X[i])
			}
			widest = max(widest, hi-lo)
		}
		spans = append(spans, widest)
	}
	slices.Sort(spans)
	if d.span = spans[len(spans)/2]; d.span == 0 {
		d.span = usualSpan
	}
	for k := range set.Dy {
		n, sum, squares := 0.0, 0.0, 0.0
		each := func(f func(y float64)) {
			for _, c := range set.Curves {
				for i := k; i < len(c.Y); i += set.Dy {
					if !math.IsNaN(c.Y[i]) {
						f(c.Y[i])
					}
				}
			}
		}
		each(func(y float64) { n, sum = n+1, sum+y })
		if n == 0 {
			return nil, fmt.Errorf("%s: output %d of %d has no value at all", set.Name, k+1, set.Dy)
		}
		mean := sum / n
		each(func(y float64) { squares += (y - mean) * (y - mean) })
		if spread := math.Sqrt(squares / n); spread > 0 {
			d.means, d.spreads = append(d.means, mean), append(d.spreads, spread)
		}
	}
	d.spread = 1
	if len(d.spreads) > 0 {
		d.spread = slices.Min(d.spreads)
	}
	return d, nil
}

// usualSpan is the length of the interval that the defaults of a curve model are made for.
const usualSpan = 4

// fit gives a configuration, and the noise of training, the units of the data: what the defaults are to curves over 4 units with a deviation
// of 1, these are to the data.
func (d *curveData) fit(f *regressionFlags, c *cnp.Config, changed func(string) bool, notes *[]string) error {
	unit := d.span / usualSpan
	round := func(v float64) float64 { // three digits
		scale := math.Pow(10, 2-math.Floor(math.Log10(v)))
		return math.Round(v*scale) / scale
	}
	if c.Architecture == cnp.ConvCNPCurve && (unit < 0.25 || unit > 4) {
		return fmt.Errorf("%s: its curves are %g units long: a convcnp is for 1 to 16, bring x there or take --model equivcnp", d.set.Name, d.span)
	}
	if c.DimX > 1 && c.Levels == 0 {
		c.PointsPerUnit = 0 // the context points carry the features: a fine lattice in several dimensions has too many points
	} else if c.PointsPerUnit > 0 {
		c.PointsPerUnit, c.Margin = round(c.PointsPerUnit/unit), c.Margin*unit
		if c.Margin > 0 {
			c.Margin = round(c.Margin)
		}
	}
	if f.noise *= d.spread; changed("noise") {
		f.noise /= d.spread
	}
	if f.lastNoise *= d.spread; changed("last-noise") {
		f.lastNoise /= d.spread
	}
	said := fmt.Sprintf("a curve spans %.4g units of x: ", d.span)
	if c.PointsPerUnit > 0 {
		said += fmt.Sprintf("--points-per-unit %g; ", c.PointsPerUnit)
	}
	*notes = append(*notes, said+fmt.Sprintf("y has deviations of %.4g: --noise %.3g, --last-noise %.3g", d.spreads, f.noise, f.lastNoise))
	far := false
	for k, mean := range d.means {
		far = far || math.Abs(mean) > 3*d.spreads[k] || d.spreads[k] > 100 || d.spreads[k] < 0.01
	}
	if far {
		*notes = append(*notes, "models learn y best near mean 0 and deviation 1: bring it there, and predictions back")
	}
	return nil
}

// scaleRadii brings the radii of a new curve model, which are made for coordinates over 4 units, to the data's.
func (d *curveData) scaleRadii(m cnp.Model[float32]) {
	c := m.Config()
	for _, p := range m.State() {
		if !p.Buffer || !strings.HasSuffix(p.Name, ".r") {
			continue
		}
		if c.PointsPerUnit > 0 { // in the middle between two points of the lattice
			steps := math.Floor(c.Fill*(c.PointsPerUnit*(d.span+2*c.Margin)+1)/2) + 0.5
			p.Data[0] = float32(steps / c.PointsPerUnit)
		} else {
			p.Data[0] *= float32(d.span / usualSpan)
		}
	}
}
