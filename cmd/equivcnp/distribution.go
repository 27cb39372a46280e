package main

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/internal/picture"
	"github.com/equivcnp/equivcnp/internal/tabular"
)

// outputsFlag adds the flag that names what is written of a prediction.
func outputsFlag(fl *pflag.FlagSet, names *[]string) {
	fl.StringSliceVar(names, "outputs", nil, "what to write, as in mean,std,cov_target (default: all but the covariance of a whole task; a table has what is one number a value)")
}

// bandShare is how much of the distribution the band of a drawing holds where it is no normal one: as much as two standard deviations do.
const bandShare = 0.9545

// addValue adds value i of a prediction to a curve that is drawn.
func addValue(c *picture.Curve, x float64, p *cnp.Prediction[float32], i int) {
	c.X, c.Mean, c.Std = append(c.X, x), append(c.Mean, float64(p.Mean[i])), append(c.Std, float64(p.Std[i]))
	if _, normal := p.Distribution().(cnp.Rescaler); !normal {
		c.Lower, c.Upper = append(c.Lower, p.QuantileAt(i, (1-bandShare)/2)), append(c.Upper, p.QuantileAt(i, (1+bandShare)/2))
	}
}

// checkTable refuses values y [n, dy] of columns that the model's likelihood cannot give, by line and column. NaN is a missing value.
func checkTable(c *cnp.Config, t *tabular.Table, y []float64, columns []int) error {
	l, err := cnp.ParseLikelihood(c)
	if err != nil {
		return err
	}
	lo, hi := l.Support()
	for i, v := range y {
		if v < lo || v > hi {
			n := len(columns)
			return t.Errorf(i/n, columns[i%n], "%w: %g, and likelihood %s is for values from %g to %g", cnp.ErrRange, v, l.Name(), lo, hi)
		}
	}
	return nil
}

// checkContext refuses observed values that a model's likelihood cannot give.
func checkContext(c *cnp.Config, name string, y []float32, observed []bool, dy int) error {
	l, err := cnp.ParseLikelihood(c)
	if err != nil {
		return err
	}
	return cnp.CheckSupport(l, name, y, observed, dy)
}

// describeLikelihood says what a likelihood other than the normal one gives.
func describeLikelihood(r *result, c *cnp.Config) {
	if c.Likelihood == "" {
		return
	}
	l, err := cnp.ParseLikelihood(c)
	if err != nil {
		return
	}
	s := fmt.Sprintf("%s, %d numbers a value", l.Name(), l.Outputs())
	if k, ok := l.(cnp.JointLikelihood); ok {
		s += fmt.Sprintf(", a joint covariance of rank %d", k.Rank())
	}
	if _, ok := l.(cnp.Noisy); ok {
		s += ", function told from noise"
	}
	r.line("likelihood", "%s", s)
	if w := c.Waves; w != nil {
		r.line("waves", "%d frequencies along a coordinate, up to %g radians per unit: features are their amplitudes, and values go together even without a context", w.Count, w.Fastest)
	}
}
