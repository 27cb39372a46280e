package main

import (
	"github.com/equivcnp/equivcnp/internal/cli"
)

// flagGroups are the headings under which --help lists the flags of every command, and the flags under each, which mean
// the same in all commands. A flag after the bar is rarely used: only --help-all shows it. Flags that stand nowhere
// here come first.
var flagGroups = []cli.FlagGroup{
	{Title: "Data", Names: `in csv x y task targets next from to points grid sphere kernel benchmark field plane digits images mnist image
		mask manifest size colour array holdout aux missing
		| decimal dates static static-fields place length region dx chain learn slow window window-points min-context
		max-context min-targets min-rate max-rate max-angle min-scale max-scale max-shift holdout-by holdout-seed holdout-last
		score-context rate angle digit knots outputs inputs expected tasks`},
	{Title: "Model", Names: `model group lifts likelihood precision groups models
		| alpha points-per-unit lift-samples levels channels blocks width hidden mid fill kernel-width encoder-length density-cap
		readout multiplicity neighbors block-neighbors sampling-fraction coordinate-feature approximate views waves
		keep-observed function`},
	{Title: "Prediction", Names: `samples quantiles standardise
		| order block growth joint joint-tasks compare equivariance-tasks scale zoom normals mixtures covariance`},
	{Title: "Training", Names: `steps batch patience resume budget
		| config start overwrite passes schedule rate warmup stair factor clip weight-decay noise last-noise beta
		eval-every eval-tasks checkpoint-every log-every starts errors`},
	{Title: "Output", Names: `out plot out-dir json mean-out std-out report picture
		| shard shards skip-bad`},
	{Title: "Computation", Names: `seed memory
		| plans tile-width tile-height rows`},
}
