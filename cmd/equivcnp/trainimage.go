package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/recipe"
	"github.com/equivcnp/equivcnp/internal/cli"
)

func (a *app) trainImageCommand() (*cobra.Command, *trainFlags) {
	c := recipe.DefaultImages()
	f := &trainFlags{recipe: &c, less: "--batch, --size, --width, --blocks or --lifts"}
	cmd := &cobra.Command{
		Use: "image (--digits | --images DIR | --mnist FILE | --in FILE) " +
			"[--group T2|SO2|RxSO2|SE2|Sim2 [--lifts K]] --out model.safetensors",
		DisableFlagsInUseLine: true,
		Short:                 "Train on images",
		Long:                  helpText("train-image"),
		Example:               helpExamples("train-image"),
		Args:                  noArguments,
	}
	pictureFlags(a, cmd, &c.Data, true)
	cmd.MarkFlagsMutuallyExclusive(imageKinds.Flags()...)
	fl := cmd.Flags()
	fl.StringVar(&c.Group, "group", "", "equivcnp: the group: "+strings.Join(recipe.PlaneGroups(), ", ")+
		" (default T(2), which costs least; with --views Sim2)")
	fl.Float64Var(&c.Alpha, "alpha", 0, "equivcnp: weight of the distance's first part; 0: the group's default")
	fl.Var(&cli.Parsed[*cnp.Views]{To: &c.Views, Parse: recipe.ParseViews, Kind: "views", Show: recipe.ShowViews}, "views",
		"Sim2: every lift is a view of the image, turned and scaled, for a network under translations; sizes are 0.3 "+
			"to 1 times those in training, or for example 0.2:2")
	fl.Lookup("views").NoOptDefVal = "0.3:1"
	fl.TextVar(&c.Lifts, "lifts", c.Lifts, "equivcnp: `number` of group elements per pixel; for Sim2 angles and scales, as in 4x3")
	fl.BoolVar(&c.KeepObserved, "keep-observed", false,
		"equivcnp and convcnp: predict the observed value at an observed pixel, with --last-noise as its noise; training is the same")
	fl.IntVar(&c.Width, "width", 0, "channels (default 128, with --views 32)")
	fl.IntVar(&c.Blocks, "blocks", c.Blocks, "residual blocks")
	fl.IntVar(&c.BlockNeighbors, "block-neighbors", 0, "equivcnp: --neighbors of the residual blocks (the paper: 81; default: --neighbors)")
	fl.Float64Var(&c.Data.Holdout, "holdout", c.Data.Holdout,
		"share of your own images to hold out, for scores and --patience; 0: none")
	f.register(a, cmd, "4, with --views 8", 0.3)
	cli.Completions(cmd, map[string][]string{"group": recipe.PlaneGroups()})
	return cmd, f
}
