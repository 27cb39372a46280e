package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/tabletask"
	"github.com/equivcnp/equivcnp/internal/cli"
)

// chainFlags say what is drawn by the chain rule.
type chainFlags struct {
	samples  int
	seed     uint64
	order    string
	block    int
	growth   float64
	function bool
	knots    int
}

// register adds the flags that say what is drawn, with a seed of its own unless the command has one.
func (f *chainFlags) register(cmd *cobra.Command, samples int, function, seed bool) {
	fl := cmd.Flags()
	fl.IntVarP(&f.samples, "samples", "s", samples,
		"number of samples to draw of each task")
	fl.BoolVar(&f.function, "function", function,
		"draw functions without noise: the mean given new observations at --knots targets; =false draws new observations at all targets")
	fl.IntVar(&f.knots, "knots", 0, "--function: number of targets to draw, from which the others follow (default: as "+
		"many as the model saw in training, less the context)")
	f.registerOrder(cmd)
	if seed {
		fl.Uint64Var(&f.seed, "seed", 0, "seed of the samples and of their order")
	}
}

// registerOrder adds the flags that say how the chain goes through targets.
func (f *chainFlags) registerOrder(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.order, "order", cnp.Orders[0], "order of the targets: "+strings.Join(cnp.Orders, ", "))
	fl.IntVar(&f.block, "block", 1, "number of targets to draw at a time, independently of each other: faster, but less exact")
	fl.Float64Var(&f.growth, "growth", 0, "let blocks grow: this times as many targets at a time as there are context "+
		"points and targets before them, at least --block; with 0.15, a few dozen predictions cover hundreds of targets")
	cli.Completions(cmd, map[string][]string{"order": cnp.Orders})
}

// maxSamples bounds --samples, maxChainGrowth --growth.
const (
	maxSamples     = 1 << 20
	maxChainGrowth = 1000
)

// check refuses flags that say nothing sensible.
func (f *chainFlags) check() error {
	switch {
	case f.samples < 0 || f.samples > maxSamples:
		return cli.Usagef("--samples %d: need 0 to %d", f.samples, maxSamples)
	case !slices.Contains(cnp.Orders, f.order):
		return cli.Usagef("--order %q: need one of %s", f.order, strings.Join(cnp.Orders, ", "))
	case f.block < 1:
		return cli.Usagef("--block %d: need at least 1", f.block)
	case !(f.growth >= 0 && f.growth <= maxChainGrowth):
		return cli.Usagef("--growth %v: need 0 to %d", f.growth, maxChainGrowth)
	case f.knots < 0:
		return cli.Usagef("--knots %d: need 0 or more", f.knots)
	}
	return nil
}

// chain is that of so many tasks, each with a seed of its own.
func (f *chainFlags) chain(tasks int) cnp.Chain {
	c := cnp.Chain{Order: cnp.Order(f.order), Block: f.block, Growth: f.growth, Seed: f.seed}
	for t := range tasks {
		c.Seeds = append(c.Seeds, f.seed+uint64(t))
	}
	return c
}

// options are those of so many tasks, of which the largest has that many context points.
func (f *chainFlags) options(cfg *cnp.Config, tasks, context int) cnp.SampleOptions {
	o := cnp.SampleOptions{Chain: f.chain(tasks), Samples: f.samples, Function: f.function}
	if o.Function {
		if o.Knots = f.knots; o.Knots == 0 {
			o.Knots = tabletask.Knots(cfg, context)
		}
	}
	return o
}
