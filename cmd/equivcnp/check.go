package main

import (
	"context"
	"slices"

	"github.com/spf13/pflag"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/predict"
)

// noCheckFlag adds the flag that leaves out the self-check.
func noCheckFlag(fl *pflag.FlagSet, to *bool) {
	fl.BoolVar(to, "no-check", false, "do not predict parts of the context from the rest, which tells whether the model suits the data")
}

// check predicts parts of the contexts from the rest, unless that is not wanted, and says first of all if the model
// does not suit the data. It is nil where nothing was held out.
func (r *result) check(ctx context.Context, off bool, m cnp.Regressor[float32], batches ...*cnp.Batch[float32]) (*predict.Checked, error) {
	if off {
		return nil, nil
	}
	c, err := predict.Check(cnp.WithProgress(ctx, func(int, int) {}), m, batches...)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil: // what is wrong with the data, the prediction says
		return nil, nil
	case c.Values == 0:
		return nil, nil
	case c.Warning != "":
		r.cautions = slices.Insert(r.cautions, 0, c.Warning)
	}
	return c, nil
}
