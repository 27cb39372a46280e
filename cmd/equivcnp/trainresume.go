package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/equivcnp/equivcnp/cnp/train"
)

// fieldFlags are the flags behind the fields of configurations.
var fieldFlags = map[string]string{
	"steps": "steps", "batch": "batch", "passes": "passes", "seed": "seed", "beta": "beta", "log_every": "log-every",
	"checkpoint_every": "checkpoint-every", "eval_every": "eval-every", "eval_tasks": "eval-tasks", "patience": "patience",
	"rate": "rate", "weight_decay": "weight-decay", "clip_norm": "clip", "warmup": "warmup", "kind": "schedule", "factor": "factor",
	"from": "noise", "to": "last-noise",
	"adam.rate": "rate", "adam.weight_decay": "weight-decay", "adam.clip_norm": "clip",
	"adam.schedule.kind": "schedule", "adam.schedule.warmup": "warmup", "adam.schedule.steps": "stair", "adam.schedule.factor": "factor",
	"noise.from": "noise", "noise.to": "last-noise", "noise.steps": "steps",
	"model.architecture": "model", "model.group": "group", "model.alpha": "alpha", "model.lifts": "lifts",
	"model.lift_samples": "lift-samples", "model.channels": "channels", "model.hidden": "hidden", "model.mid": "mid",
	"model.blocks": "blocks", "model.fill": "fill", "model.points_per_unit": "points-per-unit", "model.encoder_length": "encoder-length",
	"model.multiplicity": "multiplicity", "model.max_neighbors": "neighbors", "model.readout": "readout",
	"model.likelihood": "likelihood", "model.outputs": "outputs",
	"model.kernel": "kernel-width", "model.density_cap": "density-cap", "model.levels": "levels",
	"model.block_neighbors": "block-neighbors", "model.sampling_fraction": "sampling-fraction",
	"model.coordinate_feature": "coordinate-feature", "model.departure": "approximate", "model.departure.drop": "approximate",
	"model.image_size": "size", "model.dim_x": "x", "model.dim_y": "y",
	"alpha": "alpha", "lifts": "lifts", "lift_samples": "lift-samples", "outputs": "outputs", "channels": "channels",
	"blocks": "blocks", "fill": "fill", "points_per_unit": "points-per-unit",
	"encoder_length": "encoder-length", "hidden": "hidden", "mid": "mid", "readout": "readout", "targets": "targets",
	"context rates": "min-rate and --max-rate", "context points": "min-context and --max-context",
}

// fieldValue finds a field at the beginning of a message, with the names of the packages that it came through.
var fieldValue = regexp.MustCompile(`^(?:[a-z ]+: )*(context rates|context points|[a-z_]+) =? ?(.*)$`)

// givenFirst turns to what was given on the command line, where a checkpoint differs in several fields: other fields
// follow from it. If none was given, what the tasks are drawn from may be the cause.
func givenFirst(err error, given func(flag string) bool) error {
	var m *train.Mismatch
	if !errors.As(err, &m) || given(fieldFlags[m.Field]) || m.Field == "model.channels" && given("width") {
		return err
	}
	for _, also := range m.Also {
		if m.Field == "adam.decoupled" && also.Field == "adam.weight_decay" { // one flag sets both
			return &also
		}
		if flag := fieldFlags[also.Field]; flag != "" && given(flag) {
			return &also
		} else if also.Field == "source" {
			return fmt.Errorf("%w: it was trained on %v, this run on %v", train.ErrCheckpoint, also.Have, also.Want)
		}
	}
	return err
}

// flagError names flags where an error names a field of a configuration.
func flagError(err error) error {
	var m *train.Mismatch
	if errors.As(err, &m) {
		if flag := fieldFlags[m.Field]; flag != "" {
			show := func(v any) any {
				if v == nil {
					return "nothing"
				}
				return v
			}
			return fmt.Errorf("%w: its run had %v for %s, this one has %v: give the same, or start again with --overwrite",
				train.ErrCheckpoint, show(m.Have), dashed(flag), show(m.Want))
		}
		return err
	}
	if parts := fieldValue.FindStringSubmatch(err.Error()); parts != nil {
		if flag := fieldFlags[parts[1]]; flag != "" {
			return fmt.Errorf("%s %s", dashed(flag), strings.Replace(parts[2], ", need", ": need", 1))
		}
	}
	return err
}

// dashed is a flag as it is given.
func dashed(flag string) string {
	if flag == "channels" {
		return "--channels (of images --width)"
	}
	return "--" + flag
}
