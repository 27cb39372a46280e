package main

import (
	"fmt"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/filetask"
	"github.com/equivcnp/equivcnp/cnp/interpolate"
	"github.com/equivcnp/equivcnp/cnp/krige"
	"github.com/equivcnp/equivcnp/cnp/table"
	"github.com/equivcnp/equivcnp/cnp/tabletask"
	"github.com/equivcnp/equivcnp/cnp/taskfile"
)

// Where --model is left out, data are interpolated: the number of their inputs says by which of the universal models.

// named is that interpolation, by whose name the flags go from now on.
func (m *modelFlags) named(r *krige.Regressor, err error) (cnp.Regressor[float32], error) {
	if err != nil {
		return nil, flagged(err)
	}
	m.path = r.Name()
	return r, nil
}

// universalOfTable is the interpolation of a table.
func (m *modelFlags) universalOfTable(f *tabletask.Columns, t *table.Table, opt interpolate.Options) (cnp.Regressor[float32], error) {
	return m.named(interpolate.RegressorOf(f, t, opt))
}

// universalOfFile is the interpolation of the tasks of a file of tensors.
func (m *modelFlags) universalOfFile(in *taskfile.File, name string, opt interpolate.Options) (cnp.Regressor[float32], error) {
	dx, da, dy := filetask.Widths(in)
	if dx == 0 || dy == 0 {
		return nil, fmt.Errorf("%s: --model was left out, and without x_context [B, Nc, dx] and y_context [B, Nc, dy] there is nothing to "+
			"interpolate: name a model with --model", name)
	}
	return m.named(interpolate.RegressorFor(dx, da, dy, opt))
}
