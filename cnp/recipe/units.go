package recipe

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/cnp/train"
	"github.com/equivcnp/equivcnp/internal/words"
)

// usualSpan is the length of the interval that the defaults of a curve model are made for; its values have mean 0 and deviation 1.
const usualSpan = 4

// witnessed returns what a model of a configuration is told of curves before it is trained on them: their ranges, and
// the units in which the defaults suit them. The contexts are those that src draws, of windows if there are any.
func witnessed(src task.CurveSetSource[float32], c cnp.Config, seed uint64) (*cnp.Trained, error) {
	t, err := train.Witnessed[float32](src, c, seed)
	if err != nil {
		return nil, err
	}
	all := rangesOf(src.Set)
	t.X, t.Y, t.Aux, t.Static = all.X, all.Y, all.Aux, all.Static
	span := all.Span
	if longest := slices.Max(append([]float64{0}, src.Window...)); longest > 0 {
		span = longest
	}
	if span == 0 {
		span = usualSpan
	}
	t.Window = slices.Clone(src.Window)
	t.Units = &cnp.Scaler{}
	for _, r := range t.X {
		if c.OnSphere() { // degrees, or unit vectors, are what they are
			t.Units.X = append(t.Units.X, cnp.Affine{Factor: 1})
			continue
		}
		t.Units.X = append(t.Units.X, cnp.Affine{Offset: r.Min + (r.Max-r.Min)/2, Factor: usualSpan / span})
	}
	if t.Units.Y, err = outputUnits(&c, t.Y); err != nil {
		return nil, err
	}
	t.Units.Aux, t.Units.Static = standard(t.Aux), standard(t.Static)
	return t, nil
}

// witnessedTasks is witnessed for tasks that are drawn and have units of their own.
func witnessedTasks(src task.Source[float32], c cnp.Config, seed uint64) (*cnp.Trained, error) {
	t, err := train.Witnessed(src, c, seed)
	if err != nil {
		return nil, err
	}
	t.Units = &cnp.Scaler{}
	for _, r := range t.X {
		t.Units.X = append(t.Units.X, cnp.Affine{Offset: r.Min + (r.Max-r.Min)/2, Factor: usualSpan / (r.Max - r.Min)})
	}
	t.Units.Y, err = outputUnits(&c, t.Y)
	return t, err
}

// rangesOf returns the ranges of all points of a set.
func rangesOf(set *task.CurveSet) *cnp.Trained {
	var w cnp.Witness
	for i, c := range set.Curves {
		b := &cnp.Batch[float64]{B: 1, Nc: len(c.X) / set.Dx, XContext: c.X, YContext: c.Y, AuxContext: c.Aux}
		if c.Field != nil && (i == 0 || c.Field != set.Curves[i-1].Field) {
			b.Ns, b.XStatic, b.YStatic = len(c.Field.Y)/len(set.Static), c.Field.X, c.Field.Y
		}
		cnp.AddCurves(&w, b, nil, set.Dx, set.Dy)
	}
	return w.Trained()
}

// outputUnits are those in which scalars have mean 0 and deviation 1, and vectors, whose components have one factor and
// no offset, length 1. Values that are positive have no offset either, those of a likelihood that knows no other units stay
// as they are.
func outputUnits(c *cnp.Config, ranges []cnp.Range) (units []cnp.Affine, err error) {
	likelihood, err := cnp.ParseLikelihood(c)
	if err != nil {
		return nil, err
	}
	_, rescaled := likelihood.(cnp.Rescaler)
	lo, _ := likelihood.Support()
	positive := lo >= 0
	for _, f := range c.Fields() {
		a := cnp.Affine{Factor: 1}
		switch {
		case !rescaled:
		case positive: // which an offset would take from it
			if s := ranges[f.First].Std; s > 0 {
				a.Factor = 1 / s
			}
		case f.Type == cnp.Vector:
			if l := cnp.Length(ranges[f.First : f.First+f.Width]); l > 0 {
				a.Factor = 1 / l
			}
		default:
			a = standard(ranges[f.First : f.First+1])[0]
		}
		for range f.Width {
			units = append(units, a)
		}
	}
	return units, nil
}

// standard returns the units in which values have mean 0 and deviation 1.
func standard(ranges []cnp.Range) (out []cnp.Affine) {
	for _, r := range ranges {
		a := cnp.Affine{Offset: r.Mean, Factor: 1}
		if r.Std > 0 {
			a.Factor = 1 / r.Std
		}
		out = append(out, a)
	}
	return out
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
	return fmt.Sprintf("the model works in units of its own, which its file holds: a curve's %.4g units of x are %d, "+
		"y's deviations of %.4g are 1",
		usualSpan/t.Units.X[0].Factor, usualSpan, spreads)
}

// noteMissing says how the tasks' table was read, and how many points can be no targets.
func noteMissing(set *task.CurveSet, notes *[]string) {
	*notes = append(*notes, set.Notes...)
	da, n := len(set.Auxiliary), 0
	for _, c := range set.Curves {
		for i := 0; i < len(c.Aux); i += da {
			if slices.ContainsFunc(c.Aux[i:i+da], math.IsNaN) {
				n++
			}
		}
	}
	if n > 0 {
		*notes = append(*notes, fmt.Sprintf("%s without %s: context only, nothing is learned from their values as targets",
			words.Plural(n, "point"), strings.Join(set.Auxiliary, " or ")))
	}
}
