package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/cnp/train"
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

// data reads the curves of --csv or --in, and those that --holdout-by takes out of them, nil without.
func (f *regressionFlags) data(ctx context.Context, a *app) (set, apart *task.CurveSet, err error) {
	files := taskFlags{app: a, csv: f.csv, in: f.in, columns: f.columns, apart: holdoutFlags{f.holdoutBy, f.holdout, f.seed}}
	if f.holdoutBy != "" {
		set, apart, err = files.split(ctx, &cnp.Config{})
	} else {
		set, err = files.curves(ctx, &cnp.Config{})
	}
	if err != nil {
		return nil, nil, hintColumns(err)
	}
	for k := range set.Dy {
		if !slices.ContainsFunc(set.Curves, func(c task.Curve) bool {
			for i := k; i < len(c.Y); i += set.Dy {
				if !math.IsNaN(c.Y[i]) {
					return true
				}
			}
			return false
		}) {
			return nil, nil, fmt.Errorf("%s: output %d of %d has no value at all", set.Name, k+1, set.Dy)
		}
	}
	ds := len(set.Static)
	for k, name := range set.Static {
		if !slices.ContainsFunc(set.Curves, func(c task.Curve) bool {
			for i := k; c.Field != nil && i < len(c.Field.Y); i += ds {
				if !math.IsNaN(c.Field.Y[i]) {
					return true
				}
			}
			return false
		}) {
			return nil, nil, fmt.Errorf("%s: the static field %s has no value at all", set.Name, name)
		}
	}
	da := len(set.Auxiliary)
	for k, name := range set.Auxiliary {
		if !slices.ContainsFunc(set.Curves, func(c task.Curve) bool {
			for i := k; i < len(c.Aux); i += da {
				if !math.IsNaN(c.Aux[i]) {
					return true
				}
			}
			return false
		}) {
			return nil, nil, fmt.Errorf("%s: the auxiliary input %s has no value at all", set.Name, name)
		}
	}
	return set, apart, nil
}

// noteMissing says how many points can be no targets.
func noteMissing(set *task.CurveSet, notes *[]string) {
	da, n := len(set.Auxiliary), 0
	for _, c := range set.Curves {
		for i := 0; i < len(c.Aux); i += da {
			if slices.ContainsFunc(c.Aux[i:i+da], math.IsNaN) {
				n++
			}
		}
	}
	if n > 0 {
		*notes = append(*notes, fmt.Sprintf("%s without %s: context only, nothing is learned from their values as targets", plural(n, "point"), strings.Join(set.Auxiliary, " or ")))
	}
}

// usualSpan is the length of the interval that the defaults of a curve model are made for; its values have mean 0 and deviation 1.
const usualSpan = 4

// seen is what a model of a configuration is told of curves before it is trained on them: their ranges, and the units in which the defaults
// suit them. The contexts are those that src draws, of windows if there are any.
func seen(set *task.CurveSet, src task.Source[float32], window []float64, c cnp.Config, seed uint64) (*cnp.Trained, error) {
	t, err := train.Witnessed(src, c, seed)
	if err != nil {
		return nil, err
	}
	var w cnp.Witness // of all points
	for i, c := range set.Curves {
		b := &cnp.Batch[float64]{B: 1, Nc: len(c.X) / set.Dx, XContext: c.X, YContext: c.Y, AuxContext: c.Aux}
		if c.Field != nil && (i == 0 || c.Field != set.Curves[i-1].Field) {
			b.Ns, b.XStatic, b.YStatic = len(c.Field.Y)/len(set.Static), c.Field.X, c.Field.Y
		}
		cnp.AddCurves(&w, b, nil, set.Dx, set.Dy)
	}
	all := w.Trained()
	t.X, t.Y, t.Aux, t.Static = all.X, all.Y, all.Aux, all.Static
	if longest := slices.Max(append([]float64{0}, window...)); longest > 0 {
		all.Span = longest
	}
	if all.Span == 0 {
		all.Span = usualSpan
	}
	t.Units = &cnp.Scaler{}
	for _, r := range t.X {
		if c.OnSphere() { // degrees, or unit vectors, are what they are
			t.Units.X = append(t.Units.X, cnp.Affine{Factor: 1})
			continue
		}
		t.Units.X = append(t.Units.X, cnp.Affine{Offset: r.Min + (r.Max-r.Min)/2, Factor: usualSpan / all.Span})
	}
	likelihood, err := cnp.ParseLikelihood(&c)
	if err != nil {
		return nil, err
	}
	_, rescaled := likelihood.(cnp.Rescaler)
	for _, f := range c.Fields() {
		a := cnp.Affine{Factor: 1}
		switch {
		case !rescaled:
		case f.Type == cnp.Vector: // its components have one factor and no offset
			if l := cnp.Length(t.Y[f.First : f.First+f.Width]); l > 0 {
				a.Factor = 1 / l
			}
		default:
			r := t.Y[f.First]
			a.Offset = r.Mean
			if r.Std > 0 {
				a.Factor = 1 / r.Std
			}
		}
		for range f.Width {
			t.Units.Y = append(t.Units.Y, a)
		}
	}
	standard := func(ranges []cnp.Range) (out []cnp.Affine) {
		for _, r := range ranges {
			a := cnp.Affine{Offset: r.Mean, Factor: 1}
			if r.Std > 0 {
				a.Factor = 1 / r.Std
			}
			out = append(out, a)
		}
		return out
	}
	t.Units.Aux, t.Units.Static = standard(t.Aux), standard(t.Static)
	return t, nil
}

// noteUnits says what training takes for units.
func noteUnits(c *cnp.Config) string {
	t := c.Trained
	var spreads []float64
	for _, r := range t.Y {
		spreads = append(spreads, r.Std)
	}
	if c.OnSphere() {
		return fmt.Sprintf("the model works in units of its own, which its file holds: y's deviations of %.4g are 1", spreads)
	}
	return fmt.Sprintf("the model works in units of its own, which its file holds: a curve's %.4g units of x are %d, y's deviations of %.4g are 1",
		usualSpan/t.Units.X[0].Factor, usualSpan, spreads)
}
