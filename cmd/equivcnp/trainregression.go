package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/recipe"
	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/cli"
)

func (a *app) trainRegressionCommand() (*cobra.Command, *trainFlags) {
	c := recipe.DefaultCurves()
	f := &trainFlags{recipe: &c, less: "--batch, --targets, --window, --fill, --points-per-unit or interval"}
	cmd := &cobra.Command{
		Use: "regression (--kernel rbf|matern|periodic|... | --benchmark eq|... | --sphere eq|... | --field rbf|... " +
			"| --plane isotropic|... | --csv FILE | --in FILE) " +
			"[--model equivcnp|convcnp|cnp] --out model.safetensors",
		DisableFlagsInUseLine: true,
		Short:                 "Train on curves, your own or drawn from a random process",
		Long:                  helpText("train-regression"),
		Example:               helpExamples("train-regression"),
		Args:                  noArguments,
	}
	curveFlags(a, cmd, &c.Data, true)
	cmd.MarkFlagsMutuallyExclusive(curveKinds.Flags()...)
	curveModelFlags(cmd, &c)
	f.register(a, cmd, "16", 0.1)
	cli.Completions(cmd, map[string][]string{"group": group.Names(), "readout": {"queries", "targets", "rbf"},
		"lift-samples": {"even", "random"},
		"likelihood":   strings.Fields(strings.Join(cnp.Likelihoods(), " "))})
	return cmd, f
}

// curveModelFlags adds the flags of a model of curves.
func curveModelFlags(cmd *cobra.Command, c *recipe.Curves) {
	fl := cmd.Flags()
	fl.StringVar(&c.Outputs, "outputs", "", "types of the outputs, in order, for example scalar,vector; a vector has "+
		"as many columns as there are inputs (default: scalars, for --field a vector)")
	fl.StringVar(&c.Inputs, "inputs", "", "--levels: types of the outputs that are observed, in order; the others are "+
		"predicted from them, for example a vector from scalars (default: all)")
	fl.StringVar(&c.Group, "group", "",
		"equivcnp: the group, which acts on as many coordinates as the data have (default: their translations, with --sphere SO(3))")
	fl.TextVar(&c.Lifts, "lifts", c.Lifts, "equivcnp: `number` of samples of the group's stabiliser for every point")
	fl.StringVar(&c.LiftSamples, "lift-samples", c.LiftSamples,
		"--levels under SE(3): even lifts, or random ones, resampled for every batch")
	fl.BoolVar(&c.CoordinateFeature, "coordinate-feature", false,
		"feed the coordinate itself to the model, as the authors do; the model is then not equivariant")
	cli.OptionalVar(fl, &c.Approximate, "approximate",
		"equivcnp: let the model depart from its symmetry by learned, bounded inputs of the place, which training\ndrops "+
			"from a task with this `probability`")
	cli.OptionalVar(fl, &c.PointsPerUnit, "points-per-unit",
		"lattice points per unit (default: 64, for convcnp 32, on the sphere 10 per radian)")
	fl.Float64Var(&c.Fill, "fill", 0, "equivcnp: mean neighbourhood as a fraction of all points (default: the paper's for the kernel)")
	fl.Float64Var(&c.SamplingFraction, "sampling-fraction", 0,
		"equivcnp: share of the points at which convolutions\nhave queries; not for --levels (default 1)")
	fl.IntSliceVar(&c.Channels, "channels", nil,
		"widths of the network: the pointwise layer's, then the convolutions' (default: the paper's, 8,16,32,16,8)")
	fl.IntVar(&c.Hidden, "hidden", 0, "equivcnp: width of the WeightNets, which compute convolution weights (default 32)")
	fl.IntVar(&c.Mid, "mid", 0, "equivcnp: outputs of a WeightNet (default 16)")
	cli.OptionalVar(fl, &c.Levels, "levels", "equivcnp: number of lattices, each with twice the step of the one before, "+
		"with convolutions from one to the next and back; "+
		"--channels are then their widths (default 64 each), or one width for all; under --group SE2 with 2 or 4 --lifts, of each lift")
	fl.IntVar(&c.KernelWidth, "kernel-width", 0,
		"--levels: width of a convolution in lattice points (default 9, in the plane 5)")
	cli.OptionalVar(fl, &c.Blocks, "blocks", "--levels: residual blocks on every level, down and up (default 1)")
	cli.OptionalVar(fl, &c.EncoderLength, "encoder-length",
		"equivcnp: initial length scale of the encoder (default: 4 lattice steps, with --levels 2; 0.69 for --readout targets)")
	fl.Float64Var(&c.DensityCap, "density-cap", 0,
		"equivcnp: upper limit of the density of the context, so that training covers every density that the model will meet; "+
			"n points per unit of a line have density 2.5·n·--encoder-length; 0: none")
	fl.StringVar(&c.Readout, "readout", c.Readout,
		"equivcnp: how predictions reach the targets: queries of the last layer; targets, which all layers hold beside "+
			"the lattice, as the authors do; or rbf")
	fl.BoolVar(&c.Expected, "expected", false,
		"train on the exact posterior of a Gaussian process instead of on sampled values: gradients are much less "+
			"noisy, at a cost of the cube of the number of context points")
	fl.Float64Var(&c.Data.Holdout, "holdout", c.Data.Holdout,
		"share of your own tasks to hold out, for scores and --patience; 0: none")
}
