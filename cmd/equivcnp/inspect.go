package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/describe"
	"github.com/equivcnp/equivcnp/cnp/weights"
	"github.com/equivcnp/equivcnp/internal/cli"
)

func (a *app) inspectCommand() *cobra.Command {
	var size string
	cmd := &cobra.Command{
		Use:                   "inspect M",
		DisableFlagsInUseLine: true,
		Short:                 "Describe a model",
		Long:                  helpText("inspect"),
		Example: `  equivcnp inspect T2.pth
  equivcnp inspect digits-T2
  equivcnp inspect digits-SO2 --size 256x256
  equivcnp inspect model.safetensors --json`,
		Args: cobra.ExactArgs(1),
		RunE: a.action(func(cmd *cobra.Command, args []string) error { return a.inspect(cmd.Context(), args[0], size) }),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"safetensors", "pth"}, cobra.ShellCompDirectiveFilterFileExt
		},
	}
	cmd.Flags().StringVar(&size, "size", "", "image models: also print the memory that images of this size need, for example 256x256")
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) inspect(ctx context.Context, path, size string) error {
	s, err := a.readState(ctx, path)
	if err != nil {
		return err
	}
	d, err := weights.DescribeState(path, s)
	if err != nil {
		return err
	}
	r := &result{}
	r.Lines, r.Notes = describe.File(d)
	shown := inspection{Description: d}
	if size != "" {
		if shown.Memory, err = sizeMemory(s, size); err != nil {
			return err
		}
		r.Line("memory", "%v to complete %s pixels", shown.Memory.Complete, size)
		r.Line("", "%v to train on one", shown.Memory.Train)
	}
	if err := a.print(r, shown); err != nil || a.json {
		return err
	}
	return describe.Tensors(a.stdout, d)
}

// inspection is what inspect --json prints.
type inspection struct {
	*weights.Description
	Memory *memoryOfSize `json:"memory,omitempty"`
}

// memoryOfSize is what one image needs.
type memoryOfSize struct {
	Complete cnp.Need `json:"complete"`
	Train    cnp.Need `json:"train"`
}

// sizeMemory estimates what an image of a size like 256x128 needs.
func sizeMemory(s *weights.State, size string) (*memoryOfSize, error) {
	w, h, err := cli.ParseSize(size)
	if err != nil {
		return nil, cli.Usagef("--size %q: %v", size, err)
	}
	m, err := weights.Build[float32](s, weights.Options{})
	if err != nil {
		return nil, fmt.Errorf("--size: %w", err)
	}
	c := m.Config()
	if !c.Architecture.Image() {
		return nil, cli.Usagef("--size: this %s model regresses curves", c.Architecture)
	}
	out := &memoryOfSize{}
	if out.Complete, err = cnp.EstimateModel(m, cnp.Work{Batch: 1, H: h, W: w, Weights: implicitWeights}); err == nil {
		out.Train, err = c.Estimate(cnp.Work{Batch: 1, H: h, W: w, Train: true})
	}
	return out, err
}
