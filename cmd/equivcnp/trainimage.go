package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/cnp/taskfile"
	"github.com/equivcnp/equivcnp/group"
)

// imageFlags are the flags of equivcnp train image.
type imageFlags struct {
	trainFlags
	group, model      string
	alpha             float64
	lifts             liftsFlag
	views             string
	width, blocks     int
	digits, keep      bool
	images, mnist, in string
	array             string
	last              bool
	size              string
	colour            bool
	minRate, maxRate  float64
}

func (a *app) trainImageCommand() *cobra.Command {
	var f imageFlags
	cmd := &cobra.Command{
		Use:                   "image --group T2|SO2|RxSO2|SE2|Sim2 [--lifts K] (--digits | --images DIR | --mnist FILE | --in FILE) --out model.safetensors",
		DisableFlagsInUseLine: true,
		Short:                 "Train on images some of whose pixels are hidden",
		Long: `Train on images some of whose pixels are hidden: the digits of a digital clock, drawn here, a folder
of PNG, JPEG and TIFF images of one size, or a file of MNIST or its variations (IDX or .amat, plain or
gzipped; nothing is downloaded). --in takes a stack: an array [N, H, W] or [N, C, H, W] of a NetCDF, npz, npy or
safetensors file (--array says which, where there are several), a raster over time for example. Its values are what
they are, and the defaults suit values from 0 to 1. --holdout-last holds out its last images instead of random ones.

Each image shows a part of its pixels, uniform between --min-rate and --max-rate. The true values
are taken to have a noise of --noise, which falls to --last-noise over two thirds of the steps:
without it the means stay poor and the deviations too small.

With --group Sim2 --lifts 12x4 --views a small network under translations is trained on views of the
images, by default with 32 channels and 8 tasks per pass, which takes a hundredth of the time that
Sim2's own convolutions take. In use it sees an image from every angle and at every scale; each view
predicts one half of the observed pixels from the other, and counts the more the better it does.`,
		Example: `  equivcnp train image --group T2 --digits --out t2.safetensors

  # SE(2) acts only with several lifts per point.
  equivcnp train image --group SE2 --lifts 4 --digits --out se2.safetensors

  # Sim(2) knows things anywhere, at any angle and of any size: four angles and three scales.
  equivcnp train image --group Sim2 --lifts 4x3 --digits --out sim2.safetensors

  # The same by views, which are trained in minutes: twelve angles and four scales.
  equivcnp train image --group Sim2 --lifts 12x4 --views --digits --steps 4000 --out sim2-views.safetensors

  # Your own images, in colour.
  equivcnp train image --group T2 --images photos --size 32 --colour --out photos.safetensors`,
		Args: cobra.NoArgs,
	}
	cmd.RunE = a.action(func(cmd *cobra.Command, _ []string) error {
		undo, err := a.prepare(cmd, &f.trainFlags)
		if err != nil {
			return err
		}
		defer undo()
		return a.trainImage(cmd, &f)
	})
	fl := cmd.Flags()
	fl.StringVar(&f.model, "model", "equivcnp", "the model: equivcnp, convcnp or cnp")
	fl.StringVar(&f.group, "group", "", "equivcnp: the group: "+strings.Join(imageGroups(), ", "))
	fl.Float64Var(&f.alpha, "alpha", 0, "equivcnp: weight of the distance's first part; 0: the group's default")
	fl.StringVar(&f.views, "views", "", "Sim2: every lift is a view of the image, turned and scaled, for a network under translations; of things\nfrom 0.3 to 1 times their size in training, or 0.2:2 for example")
	fl.Lookup("views").NoOptDefVal = "0.3:1"
	f.lifts.register(fl, "equivcnp: group elements per pixel; for Sim2 angles and scales, as in 4x3")
	fl.BoolVar(&f.keep, "keep-observed", false, "equivcnp and convcnp: a pixel that was observed keeps its value, with --last-noise as its noise; training is the same")
	fl.IntVar(&f.width, "width", 128, "channels")
	fl.IntVar(&f.blocks, "blocks", 4, "residual blocks")
	fl.BoolVar(&f.digits, "digits", false, "train on a digital clock's digits")
	fl.StringVar(&f.images, "images", "", "train on a folder's PNG, JPEG and TIFF images")
	fl.StringVar(&f.mnist, "mnist", "", "train on the images of an IDX or .amat file")
	fl.StringVar(&f.in, "in", "", "train on a stack of images: .nc (NetCDF), .npz, .npy or .safetensors")
	fl.StringVar(&f.array, "array", "", "--in: the array [N, H, W] or [N, C, H, W] (default: image, or the only one)")
	fl.BoolVar(&f.last, "holdout-last", false, "hold out the last images, a stack's latest times, instead of random ones")
	fl.StringVar(&f.size, "size", "", "size of the images, 64 or 80x48 (width x height; default: 64 for digits, which are drawn finer on\nlarger images; images of a folder: that of the first)")
	fl.BoolVar(&f.colour, "colour", false, "--images: three channels")
	fl.Float64Var(&f.minRate, "min-rate", task.PaperRates.Min, "least share of pixels that are seen")
	fl.Float64Var(&f.maxRate, "max-rate", task.PaperRates.Max, "largest share of pixels that are seen")
	f.register(a, cmd, trainDefaults{steps: 1000, batch: 4, rate: 0.003, noise: 0.3, lastNoise: 0.03})
	must(cmd.MarkFlagDirname("images"))
	must(cmd.MarkFlagFilename("mnist"))
	cmd.MarkFlagsMutuallyExclusive("digits", "images", "mnist", "in")
	must(cmd.RegisterFlagCompletionFunc("group", cobra.FixedCompletions(imageGroups(), cobra.ShellCompDirectiveNoFileComp)))
	must(cmd.RegisterFlagCompletionFunc("model", cobra.FixedCompletions([]string{"equivcnp", "convcnp", "cnp"}, cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

// imageGroups are the groups that act on the plane.
func imageGroups() []string {
	var names []string
	for _, name := range group.Names() {
		if g, err := group.Parse(name, 0); err == nil && g.PointDim() == 2 {
			names = append(names, name)
		}
	}
	return names
}

// pictures reads or draws what the flags name.
func (f *imageFlags) pictures() (p task.Pictures, skipped []string, err error) {
	var h, w int
	if f.size != "" {
		if w, h, err = parseSize(f.size); err != nil {
			return nil, nil, err
		}
	}
	switch {
	case f.colour && f.images == "":
		return nil, nil, usagef("--colour is for --images")
	case f.array != "" && f.in == "":
		return nil, nil, usagef("--array is for --in")
	case f.digits:
		d := task.TrainDigits()
		if f.size != "" {
			d = d.Resized(h, w)
		}
		if err := d.Validate(); err != nil {
			return nil, nil, usageError{err}
		}
		return d, nil, nil
	case f.images != "":
		opt := task.FolderOptions{Channels: 1, H: h, W: w}
		if f.colour {
			opt.Channels = 3
		}
		set, err := task.ReadFolder(f.images, opt)
		if err != nil {
			return nil, nil, fmt.Errorf("--images: %w", err)
		}
		return task.Moved{ImageSet: set, Motions: task.Upright}, set.Skipped, nil
	case f.mnist != "":
		if f.size != "" {
			return nil, nil, usagef("--size is not for --mnist")
		}
		read := task.ReadIDX
		if strings.EqualFold(filepath.Ext(strings.TrimSuffix(f.mnist, ".gz")), ".amat") {
			read = task.ReadAmat
		}
		set, err := read(f.mnist)
		if err != nil {
			return nil, nil, fmt.Errorf("--mnist: %w", err)
		}
		return task.Moved{ImageSet: set, Motions: task.Upright}, nil, nil
	case f.in != "":
		if f.size != "" {
			return nil, nil, usagef("--size is not for --in")
		}
		file, err := taskfile.Open(f.in)
		if err != nil {
			return nil, nil, fmt.Errorf("--in: %w", err)
		}
		set, err := task.StackOf(file, f.array, 0)
		if err != nil {
			return nil, nil, fmt.Errorf("--in: %w", err)
		}
		return task.Moved{ImageSet: set, Motions: task.Upright}, set.Skipped, nil
	}
	return nil, nil, usagef("say what to train on: --digits, --images, --mnist or --in")
}

// namedSkips is the number of skipped images that are named one by one.
const namedSkips = 5

func (a *app) trainImage(cmd *cobra.Command, f *imageFlags) error {
	pictures, skipped, err := f.pictures()
	if err != nil {
		return err
	}
	channels, h, w := pictures.Size()
	changed := cmd.Flags().Changed
	var c cnp.Config
	switch f.model {
	case "equivcnp":
		if f.group == "" {
			return usagef("--group is missing, one of: %s", strings.Join(imageGroups(), ", "))
		}
		g, err := group.Parse(f.group, f.alpha)
		if err != nil {
			return usageError{fmt.Errorf("--group: %w", err)}
		}
		if g, err = f.lifts.of(g); err != nil {
			return err
		}
		c = cnp.Default(cnp.EquivCNPImage, g.Name(), channels)
		c.Alpha, c.Lifts, c.ImageSize = f.alpha, f.lifts.count, [2]int{h, w}
		if _, ok := g.(*group.Sim2); ok && c.Lifts > 0 { // a lift sees as many others as with one lift, so that the cost grows with their number and not with its square
			c.Fill, c.BlockFill = c.Fill/float64(c.Lifts), c.BlockFill/float64(c.Lifts)
		}
		if f.views != "" {
			if err := f.see(&c, g, changed); err != nil {
				return err
			}
		}
	case "convcnp":
		c = cnp.Default(cnp.ConvCNPImage, "", channels)
	case "cnp":
		c = cnp.Default(cnp.CNPImage, "", channels)
	default:
		return usagef("--model %q: need equivcnp, convcnp or cnp", f.model)
	}
	if f.model != "equivcnp" && (f.group != "" || changed("alpha") || changed("lifts") || f.views != "") {
		return usagef("--group, --alpha, --lifts and --views are for --model equivcnp")
	}
	if f.model != "cnp" {
		c.Channels, c.Blocks = []int{f.width}, f.blocks
	} else if changed("width") || changed("blocks") {
		return usagef("--width and --blocks are not for --model cnp")
	}
	c.Likelihood, c.KeepObserved = f.likelihood, f.keep
	if err := c.Validate(); err != nil {
		return usageError{flagError(err)}
	}
	src := task.ImageSource[float32]{Pictures: pictures, Rates: task.Rates{Min: f.minRate, Max: f.maxRate}}
	if err := src.Rates.Validate(); err != nil {
		return usageError{flagError(err)}
	}
	var notes []string
	for i, s := range skipped {
		if i == namedSkips {
			notes = append(notes, fmt.Sprintf("and %d more", len(skipped)-i))
			break
		}
		notes = append(notes, "skipped "+s)
	}
	if len(skipped) > 0 {
		notes = append(notes, fmt.Sprintf("%s skipped", plural(len(skipped), "image")))
	}
	var test task.Source[float32] // a nil one for tasks without end
	if set, ok := pictures.(task.Moved); ok {
		if note := missingPixels(set.ImageSet); note != "" {
			notes = append(notes, note)
		}
		kept, apart, held, err := holdOut(&f.trainFlags, set.ImageSet, set.N, changed, &notes)
		if held && err == nil && f.last {
			kept, apart, err = set.HoldoutLast(f.holdout)
		}
		if err != nil {
			return err
		}
		src.Pictures = task.Moved{ImageSet: kept, Motions: set.Motions}
		if held {
			test = task.ImageSource[float32]{Pictures: task.Moved{ImageSet: apart, Motions: set.Motions}, Rates: src.Rates, InOrder: true}
		}
	} else if changed("holdout") || f.last {
		return usagef("--holdout is for your own images, not for --digits, of which there is no end")
	}
	if v := c.Views; v != nil {
		seen := func(s task.ImageSource[float32]) task.Source[float32] {
			return task.ViewSource[float32]{ImageSource: s, Views: *v, Angles: c.Lifts / f.lifts.scales, Scales: f.lifts.scales, Side: viewSide}
		}
		if s, ok := test.(task.ImageSource[float32]); ok {
			test = seen(s)
		}
		return a.train(cmd.Context(), &f.trainFlags, c, seen(src), test, "--batch, --size, --width, --blocks or --lifts", changed, notes)
	}
	return a.train(cmd.Context(), &f.trainFlags, c, src, test, "--batch, --size, --width, --blocks or --lifts", changed, notes)
}

// viewSide is how many cells wide the canvases are that views are trained on.
const viewSide = 48

// see makes the configuration that of a model with views, whose network is a small one.
func (f *imageFlags) see(c *cnp.Config, g group.Group, changed func(string) bool) error {
	if _, ok := g.(*group.Sim2); !ok || f.lifts.scales == 0 {
		return usagef("--views is for --group Sim2 with --lifts of angles and scales, such as 12x4; these are %s with %v", g.Name(), &f.lifts)
	}
	v := cnp.DefaultViews()
	if n, err := fmt.Sscanf(f.views+" ", "%g:%g ", &v.Min, &v.Max); n != 2 || err != nil {
		return usagef("--views %q: need the least and the greatest size of things, as parts of that in training: 0.3:1 for example", f.views)
	}
	c.Views, c.Fill, c.BlockFill, c.RadiusRate = &v, 0.035, 0.0125, 0 // balls of about 140 and 50 cells
	if !changed("width") {
		f.width = 32
	}
	if !changed("batch") {
		f.batch = 8
	}
	return nil
}
