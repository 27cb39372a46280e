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
		Use:                   "image --group T2|SO2|RxSO2|SE2|Sim2 [--lifts K] (--digits | --images DIR | --mnist FILE | --in FILE) --out model.safetensors",
		DisableFlagsInUseLine: true,
		Short:                 "Train on images some of whose pixels are hidden",
		Long: `Train on images some of whose pixels are hidden: the digits of a digital clock, drawn here; a folder
of PNG, JPEG and TIFF images of one size; or a file of MNIST or its variations (IDX or .amat, plain or
gzipped; nothing is downloaded). --in takes a stack, such as a raster over time: an array [N, H, W] or
[N, C, H, W] of a NetCDF, npz, npy or safetensors file. Its values are not rescaled, and the defaults
suit values from 0 to 1. --max-angle, --min-scale, --max-scale and --max-shift move the images: turned
digits are --mnist train-images-idx3-ubyte.gz --max-angle 180.

Each image shows a part of its pixels, uniform between --min-rate and --max-rate. The true values
are taken to have a noise of --noise, which falls to --last-noise over two thirds of the steps:
without it the means stay poor and the deviations too small.

With --group Sim2 --lifts 12x4 --views a small network under translations is trained on views of the
images, in a hundredth of the time that Sim2's own convolutions take. It sees an image from every
angle and at every scale, predicts one half of the observed pixels of each view from the other, and
weighs the views by how well it does.`,
		Example: `  equivcnp train image --group T2 --digits --out t2.safetensors

  # SE(2) acts only with several lifts per point.
  equivcnp train image --group SE2 --lifts 4 --digits --out se2.safetensors

  # Sim(2) recognises things anywhere, at any angle and of any size: by four angles and three scales, or by
  # views, which are trained in minutes.
  equivcnp train image --group Sim2 --lifts 4x3 --digits --out sim2.safetensors
  equivcnp train image --group Sim2 --lifts 12x4 --views --digits --steps 4000 --out sim2-views.safetensors

  # Your own images, in colour.
  equivcnp train image --group T2 --images photos --size 32 --colour --out photos.safetensors`,
		Args: cobra.NoArgs,
	}
	pictureFlags(a, cmd, &c.Data, true)
	cmd.MarkFlagsMutuallyExclusive("digits", "images", "mnist", "in")
	fl := cmd.Flags()
	fl.StringVar(&c.Group, "group", "", "equivcnp: the group: "+strings.Join(recipe.PlaneGroups(), ", "))
	fl.Float64Var(&c.Alpha, "alpha", 0, "equivcnp: weight of the distance's first part; 0: the group's default")
	fl.Var(&cli.Parsed[*cnp.Views]{To: &c.Views, Parse: recipe.ParseViews, Kind: "views", Show: recipe.ShowViews}, "views",
		"Sim2: every lift is a view of the image, turned and scaled, for a network under translations; of things\nfrom 0.3 to 1 times their size in training, or 0.2:2 for example")
	fl.Lookup("views").NoOptDefVal = "0.3:1"
	fl.TextVar(&c.Lifts, "lifts", c.Lifts, "equivcnp: `number` of group elements per pixel; for Sim2 angles and scales, as in 4x3")
	fl.BoolVar(&c.KeepObserved, "keep-observed", false,
		"equivcnp and convcnp: a pixel that was observed keeps its value, with --last-noise as its noise; training is the same")
	fl.IntVar(&c.Width, "width", 0, "channels (default 128, with --views 32)")
	fl.IntVar(&c.Blocks, "blocks", c.Blocks, "residual blocks")
	fl.Float64Var(&c.Data.Holdout, "holdout", c.Data.Holdout,
		"share of your own images that is not trained on: scores and --patience go by it; 0: none")
	f.register(a, cmd, "4, with --views 8", 0.3)
	completions(cmd, map[string][]string{"group": recipe.PlaneGroups()})
	return cmd, f
}
