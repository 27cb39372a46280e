package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/equivcnp/equivcnp/cnp/tabletask"
	"github.com/equivcnp/equivcnp/cnp/taskfile"
	"github.com/equivcnp/equivcnp/internal/cli"
	"github.com/equivcnp/equivcnp/internal/picture"
	"github.com/equivcnp/equivcnp/internal/tables"
)

// endings are the formats of pictures, plots, tables, tasks and models.
const (
	pictureFiles = ".png"
	plotFiles    = ".png .svg"
	tableFiles   = tables.Endings
	mapFiles     = tables.MapEndings
	taskFiles    = taskfile.Endings
	tensorFiles  = ".safetensors"
)

// plotFormat returns the format, png or svg, that the name of a plot says, "" without one; standard output takes a png.
func plotFormat(flag, path string) (format string, err error) {
	if path == "" || path == cli.Stdio {
		return map[string]string{cli.Stdio: "png"}[path], nil
	}
	if format, err = picture.CurveFormat(path); err != nil {
		return "", cli.Usage(fmt.Errorf("--%s: %w", flag, err))
	}
	return format, nil
}

// drawn is what a command makes of the error of draw: a drawing that cannot be made of numbers that are right is a
// caution, and any other error is one.
func (r *result) drawn(err error) error {
	if errors.Is(err, picture.ErrDrawing) {
		r.Cautions = append(r.Cautions, err.Error())
		return nil
	}
	return err
}

// outputs checks the files that the flags name. If one of them is standard output, what the command prints goes to standard error.
func (a *app) outputs(inputs []string, files ...cli.OutFile) (*cli.Outputs, error) {
	o, taken, err := cli.StdOutputs(a.stdout, inputs, files...)
	if taken {
		a.stdout = a.stderr
	}
	return o, err
}

// fromInput reads a file, or under the name "-" the bytes of standard input, unless ctx ends first.
func fromInput[V any](ctx context.Context, a *app, path string, file func(path string) (V, error),
	decode func(b []byte, name string) (V, error)) (V, error) {
	return cli.Interruptible(ctx, func() (V, error) { return tabletask.Open(path, a.stdin, file, decode) })
}
