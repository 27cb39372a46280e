package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/filetask"
	"github.com/equivcnp/equivcnp/cnp/interpolate"
	"github.com/equivcnp/equivcnp/cnp/predict"
	"github.com/equivcnp/equivcnp/cnp/table"
	"github.com/equivcnp/equivcnp/cnp/tabletask"
	"github.com/equivcnp/equivcnp/cnp/taskfile"
	"github.com/equivcnp/equivcnp/internal/cli"
)

// Where --model is left out, data are interpolated: the number of their inputs says by which of the universal models.

// sphereFlag adds --sphere for commands that interpolate tables where --model is left out.
func sphereFlag(cmd *cobra.Command, to *bool) {
	cmd.Flags().BoolVar(to, "sphere", false, "without --model: inputs are latitude and longitude in degrees")
}

// checkSphere refuses --sphere beside a model, which knows what its inputs are.
func (m *modelFlags) checkSphere(sphere bool) error {
	if sphere && m.path != "" {
		return cli.Usagef("--sphere is for interpolation without a model: leave --model out")
	}
	return nil
}

// universal is the interpolation of data with so many inputs and outputs. From now on the flags name it.
func (m *modelFlags) universal(inputs, outputs int, sphere bool) (cnp.Regressor[float32], error) {
	model, err := predict.Universal(inputs, outputs, sphere)
	if err != nil {
		return nil, err
	}
	m.path = model.Paths[0]
	return model.Regressor()
}

// universalOfTable is the interpolation of a table.
func (m *modelFlags) universalOfTable(f *tabletask.Columns, t *table.Table, sphere bool) (cnp.Regressor[float32], error) {
	switch {
	case len(f.Aux) > 0:
		return nil, cli.Usagef("--aux: interpolation without a model has coordinates alone: name a model, or take the column as an input (--x)")
	case f.Static != "":
		return nil, cli.Usagef("--static: interpolation without a model has coordinates alone: name a model")
	}
	dx, dy, err := interpolate.Widths(f, t, sphere)
	if err != nil {
		return nil, flagged(err)
	}
	return m.universal(dx, dy, sphere)
}

// universalOfFile is the interpolation of the tasks of a file of tensors.
func (m *modelFlags) universalOfFile(in *taskfile.File, name string, sphere bool) (cnp.Regressor[float32], error) {
	dx, dy := filetask.Widths(in)
	if dx == 0 || dy == 0 {
		return nil, fmt.Errorf("%s: --model was left out, and without x_context [B, Nc, dx] and y_context [B, Nc, dy] there is nothing to "+
			"interpolate: name a model with --model", name)
	}
	return m.universal(dx, dy, sphere)
}
