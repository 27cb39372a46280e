package main

import (
	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/internal/cli"
)

// planFlags say how an image model runs many images.
type planFlags struct {
	batch  int
	memory string
}

// register adds the flags.
func (p *planFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntVar(&p.batch, "batch", 0, "number of images at a time; 0: as many as fit into 256 MB of features")
	f.StringVar(&p.memory, "memory", "", "memory for the plan of an image model and a batch of 16, for example 800M "+
		"or 2G; convolution weights that do not fit are computed again for every batch (default 160M)")
}

// options checks the flags, and --precision.
func (p *planFlags) options(precision string) (cnp.PlanOptions, error) {
	opt := cnp.PlanOptions{Memory: 160 << 20, Soft: true, Precision: cnp.Precision(precision)}
	if p.batch < 0 {
		return opt, cli.Usagef("--batch %d: need 0 or more", p.batch)
	}
	if err := checkPrecision(precision); err != nil {
		return opt, err
	}
	if p.memory != "" {
		n, ok := cli.ParseBytes(p.memory)
		if !ok {
			return opt, cli.Usagef("--memory %q: need a number of bytes, with K, M, G or T for powers of 1024", p.memory)
		}
		if opt.Memory, opt.Soft = n, n == 0; n == 0 {
			opt.Memory = -1 // 0 would be the default
		}
	}
	return opt, nil
}
