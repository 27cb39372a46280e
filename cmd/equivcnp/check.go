package main

import (
	"context"
	"slices"

	"github.com/spf13/pflag"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/predict"
	"github.com/equivcnp/equivcnp/cnp/settings"
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
	return r.judged(ctx, func(ctx context.Context) (*predict.Checked, error) { return predict.Check(ctx, m, batches...) })
}

// judged says first of all what a check finds against the model. It is nil where nothing was held out.
func (r *result) judged(ctx context.Context, check func(ctx context.Context) (*predict.Checked, error)) (*predict.Checked, error) {
	var n predict.Notes
	c, err := n.Judge(ctx, check)
	r.Cautions = slices.Insert(r.Cautions, 0, texts(n.Cautions)...)
	return c, err
}

// texts are notes whose fields are flags.
func texts(notes []settings.Text) (out []string) {
	for _, text := range notes {
		out = append(out, text.Named(flagOf))
	}
	return out
}
