package main

import (
	"context"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/cnp/pretrained"
	"github.com/equivcnp/equivcnp/cnp/weights"
	"github.com/equivcnp/equivcnp/internal/cli"
)

// convertFlags are the flags of equivcnp convert.
type convertFlags struct {
	model modelFlags
	out   string
}

func (a *app) convertCommand() *cobra.Command {
	var f convertFlags
	cmd := &cobra.Command{
		Use:                   "convert --model M.pth --group G --out M.safetensors",
		DisableFlagsInUseLine: true,
		Short:                 "Convert a checkpoint to a model file with its configuration",
		Long:                  helpText("convert"),
		Example: `  equivcnp convert --model SO2.pth --group "SO(2)" --alpha 0.3 --out SO2.safetensors
  equivcnp convert --model rbf_convcnp.pth --out rbf_convcnp.safetensors`,
		Args: noArguments,
		RunE: a.action(func(cmd *cobra.Command, _ []string) error { return a.convert(cmd.Context(), &f) }),
	}
	f.model.register(a, cmd)
	f.model.registerLattice(cmd)
	a.jsonFlag(cmd)
	registerModelOut(cmd, &f.out)
	return cmd
}

// convertResult is what convert --json prints.
type convertResult struct {
	Model        string  `json:"model"`
	Architecture string  `json:"architecture"`
	Group        string  `json:"group,omitempty"`
	Alpha        float64 `json:"alpha,omitempty"`
	Parameters   int     `json:"parameters"`
	Out          string  `json:"out"`
}

func (a *app) convert(ctx context.Context, f *convertFlags) error {
	outs, err := a.outputs([]string{f.model.path}, cli.OutWhole("out", f.out, tensorFiles))
	if err != nil {
		return err
	}
	defer outs.Discard()
	state, err := f.model.readOne(ctx)
	if err != nil {
		return err
	}
	model, err := f.model.build(f.model.path, state)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	about := pretrained.Provenance(state.Metadata, f.model.alpha == 0 && f.model.pointsPerUnit == 0)
	about["source"] = filepath.Base(f.model.path)
	err = outs.WriteFile("out", func(path string) error { return weights.Save(path, model, about) })
	if err != nil {
		return err
	}
	if err := outs.Commit(); err != nil {
		return err
	}

	cfg, parameters := model.Config(), 0
	for _, p := range model.State() {
		if !p.Buffer {
			parameters += len(p.Data)
		}
	}
	r := &result{}
	r.Line("model", "%s", f.model.describe(cfg))
	if cfg.Alpha != 0 {
		r.Line("alpha", "%g", cfg.Alpha)
	}
	r.Line("parameters", "%d", parameters)
	r.Line("written", "%s", f.out)
	if cfg.Group != "" && f.model.group != "" {
		r.Note("%s is on record now: no command needs --group for %s", cfg.Group, filepath.Base(f.out))
	}
	return a.print(r, convertResult{
		Model: f.model.path, Architecture: string(cfg.Architecture), Group: cfg.Group, Alpha: cfg.Alpha, Parameters: parameters, Out: f.out,
	})
}
