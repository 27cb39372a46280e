package main

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/equivcnp/equivcnp/cnp"
)

// outputsFlag adds the flag that names what is written of a prediction.
func outputsFlag(fl *pflag.FlagSet, names *[]string) {
	fl.StringSliceVar(names, "outputs", nil, "what to write, as in mean,std,cov_target (default: all but the covariance of a whole task; a table has what is one number a value)")
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
	r.Line("likelihood", "%s", s)
	if w := c.Waves; w != nil {
		r.Line("waves", "%d frequencies along a coordinate, up to %g radians per unit: features are their amplitudes, and values go together even without a context", w.Count, w.Fastest)
	}
}
