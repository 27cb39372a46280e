package main

import (
	"context"
	"errors"
	"fmt"
	"image/png"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/predict"
	"github.com/equivcnp/equivcnp/internal/cli"
	"github.com/equivcnp/equivcnp/internal/picture"
	"github.com/equivcnp/equivcnp/internal/raster"
	"github.com/equivcnp/equivcnp/internal/words"
)

// completeFlags are the flags of equivcnp complete.
type completeFlags struct {
	model                modelFlags
	image, mask          string
	rate                 float64
	seed                 uint64
	out, meanOut, stdOut string
	zoom, scale          int
	memory               memoryFlag
	chain                chainFlags
}

func (a *app) completeCommand() *cobra.Command {
	var f completeFlags
	cmd := &cobra.Command{
		Use:                   "complete --model M --image in.png (--mask mask.png | --rate 0.25) --out out.png",
		DisableFlagsInUseLine: true,
		Short:                 "Complete an image from some of its pixels",
		Long:                  helpText("complete"),
		Example: `  # Observe a quarter of the pixels, picked at random.
  equivcnp complete --model T2.pth --group "T(2)" --image digit.png --rate 0.25 --seed 7 --out out.png

  # Observe the pixels that are white in a mask; write the mean alone as well.
  equivcnp complete --model model.safetensors --image in.png --mask mask.png --out out.png --mean-out mean.png

  # Six images that the model thinks likely, drawn pixel by pixel; --function=true is faster and smoother.
  equivcnp complete --model digits-T2-small --image digit.png --rate 0.05 --samples 6 --function=false --out out.png

  # Four times as many pixels along each side.
  equivcnp complete --model T2.pth --group "T(2)" --image digit.png --rate 0.5 --scale 4 --out a.png --mean-out b.png`,
		Args: noArguments,
		RunE: a.action(func(cmd *cobra.Command, _ []string) error { return a.complete(cmd.Context(), &f) }),
	}
	f.model.register(a, cmd)
	f.model.registerPrecision(cmd)
	f.model.registerPlans(cmd)
	fl := cmd.Flags()
	fl.StringVarP(&f.image, "image", "i", "", "the image, PNG, JPEG or TIFF, required")
	fl.StringVar(&f.mask, "mask", "", "image of the same size, bright where a pixel is observed")
	fl.Float64Var(&f.rate, "rate", 0, "share of the pixels to observe, 0 to 1")
	fl.Uint64Var(&f.seed, "seed", 0, "seed of the pixels of --rate, and of --samples")
	fl.StringVarP(&f.out, "out", "o", "", "the drawing, a PNG file, required")
	fl.StringVar(&f.meanOut, "mean-out", "", "also write the predicted mean alone, 16-bit PNG or float TIFF")
	fl.StringVar(&f.stdOut, "std-out", "", "also write the predicted standard deviation alone, 16-bit PNG or float TIFF")
	fl.IntVar(&f.zoom, "zoom", 0, "size of a pixel in the drawing; 0: panels of about 256 pixels")
	fl.IntVar(&f.scale, "scale", 1, "number of values to predict along each side of a pixel, 1 to 16")
	f.memory.register(cmd)
	f.chain.register(cmd, 0, true, false)
	a.jsonFlag(cmd)
	for _, name := range []string{"image", "out"} {
		must(cmd.MarkFlagRequired(name))
	}
	for _, name := range []string{"image", "mask"} {
		must(cmd.MarkFlagFilename(name, "png", "jpg", "jpeg", "tif", "tiff"))
	}
	for _, name := range []string{"out", "mean-out", "std-out"} {
		must(cmd.MarkFlagFilename(name, "png", "tif"))
	}
	cmd.MarkFlagsMutuallyExclusive("mask", "rate")
	cmd.MarkFlagsOneRequired("mask", "rate")
	return cmd
}

// completeResult is what complete --json prints.
type completeResult struct {
	Model         string   `json:"model"`
	Architecture  string   `json:"architecture"`
	Group         string   `json:"group,omitempty"`
	Image         string   `json:"image"`
	Width         int      `json:"width"`
	Height        int      `json:"height"`
	Channels      int      `json:"channels"`
	Pixels        int      `json:"pixels"`
	ContextPixels int      `json:"context_pixels"`
	Scale         int      `json:"scale,omitempty"`
	LogLikelihood number   `json:"log_likelihood_per_pixel"`
	SquaredError  number   `json:"mean_squared_error"`
	Seconds       number   `json:"seconds"`
	Out           string   `json:"out"`
	Notes         []string `json:"notes"`
}

// maxDrawing bounds the drawing's pixels.
const maxDrawing = 1 << 28

// check refuses flags that say nothing sensible, alone or together.
func (f *completeFlags) check() error {
	switch {
	case !(f.rate >= 0 && f.rate <= 1):
		return cli.Usagef("--rate %g: need a number from 0 to 1", f.rate)
	case f.zoom < 0 || f.zoom > 256:
		return cli.Usagef("--zoom %d: need 0 to 256", f.zoom)
	case f.scale < 1 || f.scale > 16:
		return cli.Usagef("--scale %d: need 1 to 16", f.scale)
	}
	if err := f.chain.check(); err != nil {
		return err
	}
	if f.scale > 1 && f.chain.samples > 0 {
		return cli.Usagef("--samples are drawn at the pixels, not with --scale")
	}
	return errors.Join(f.model.exactly(f.scale > 1, "--scale", "a finer grid"),
		f.model.exactly(f.chain.samples > 0, "--samples", "the chain rule"))
}

// completing is a run of equivcnp complete.
type completing struct {
	app     *app
	flags   *completeFlags
	r       *result
	model   cnp.Completer[float32]
	cfg     cnp.Config
	ready   *predict.Prepared
	im      *raster.Image
	mask    []bool
	drawing picture.Sampled
	p, fine *cnp.Prediction[float32] // at the pixels, and with --scale
	samples []float32
	seconds float64
}

func (a *app) complete(ctx context.Context, f *completeFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	f.chain.seed = f.seed
	outs, err := a.outputs([]string{f.model.path, f.image, f.mask}, cli.Out("out", f.out, pictureFiles),
		cli.Out("mean-out", f.meanOut, picture.ImageFiles), cli.Out("std-out", f.stdOut, picture.ImageFiles))
	if err != nil {
		return err
	}
	defer outs.Discard()
	c := &completing{app: a, flags: f, r: &result{}}
	if err := c.read(ctx); err != nil {
		return err
	}
	if err := c.predict(ctx); err != nil {
		return err
	}
	res, err := c.describe()
	if err != nil {
		return err
	}
	if err := c.write(outs); err != nil {
		return err
	}
	if err := outs.CommitUnlessDone(ctx); err != nil {
		return err
	}
	c.r.Written(outs)
	res.Notes = c.r.AllNotes()
	return a.print(c.r, *res)
}

// read reads image, mask and model, and brings them together.
func (c *completing) read(ctx context.Context) (err error) {
	f, a := c.flags, c.app
	if c.im, err = fromInput(ctx, a, f.image, raster.Read, raster.Decode); err != nil {
		return err
	}
	if f.mask == "" {
		c.mask = raster.RandomMask(c.im.H, c.im.W, f.rate, f.seed)
	} else {
		light, err := fromInput(ctx, a, f.mask, raster.Read, raster.Decode)
		if err != nil {
			return err
		}
		if c.mask, err = light.Mask(f.mask, c.im.H, c.im.W); err != nil {
			return err
		}
	}
	if c.model, err = f.model.completer(ctx); err != nil {
		return err
	}
	c.cfg = c.model.Config()
	if c.im, c.r.Notes, err = c.im.Fit(c.cfg.DimY); err != nil {
		return fmt.Errorf("%s: %w", f.model.path, err)
	}
	for i := range c.mask {
		c.mask[i] = c.mask[i] && c.im.Pix[i] == c.im.Pix[i] // all channels are NaN where one is
	}
	d := picture.Sampled{Completion: picture.Completion{Truth: c.im, Mask: c.mask, Scale: f.zoom}, Samples: f.chain.samples}
	if f.scale > 1 {
		d.Truth, d.Mask = raster.Enlarge(c.im, c.mask, f.scale)
	}
	if w, h := d.Size(); w > maxDrawing/h {
		return cli.Usagef("--zoom %d would make a drawing of %d x %d pixels", f.zoom, w, h)
	}
	c.drawing = d
	return nil
}

// prepare checks the image for the model, divides it if it needs more memory than allowed, and refuses what needs more even then.
func (c *completing) prepare() error {
	f, im := c.flags, c.im
	limit, err := f.memory.limit()
	if err != nil {
		return err
	}
	opt := predict.Options{Scale: f.scale, Memory: limit, Plan: cnp.PlanOptions{Memory: implicitWeights, Soft: true},
		Refuse: func(need cnp.Need, err error) error { return f.memory.check(need, err, "image, --scale or --samples") }}
	if f.chain.samples > 0 {
		draw := f.chain.options(&c.cfg, 1, raster.Count(c.mask))
		opt.Sample = &draw
	}
	task := &cnp.Images[float32]{B: 1, C: im.C, H: im.H, W: im.W, Pixels: im.Pix, Mask: c.mask}
	if c.ready, err = predict.PrepareImages(c.model, task, opt); err != nil {
		return err
	}
	c.r.divided(c.ready.Parts, limit)
	c.r.Cautions = c.ready.Cautions
	c.r.Notes = append(c.r.Notes, f.model.precisionNotes(&c.cfg)...)
	return nil
}

// predict completes the image, and draws samples.
func (c *completing) predict(ctx context.Context) error {
	if err := c.prepare(); err != nil {
		return err
	}
	work, done := c.app.withProgress(ctx, "completing")
	start := time.Now()
	var err error
	c.p, c.fine, err = c.ready.Fine(work)
	if err == nil && c.flags.chain.samples > 0 {
		c.samples, err = c.ready.Sample(work)
	}
	c.seconds = time.Since(start).Seconds()
	done()
	if err == nil {
		err = errors.Join(c.p.Check(nil), c.fine.Check(nil))
	}
	return err
}

// write writes the drawing and the other files.
func (c *completing) write(outs *cli.Outputs) error {
	f := c.flags
	for _, file := range []struct {
		flag  string
		write func(io.Writer) error
	}{
		{"out", func(to io.Writer) error { return png.Encode(to, c.drawing.DrawWith(c.samples)) }},
		{"mean-out", func(to io.Writer) error { return picture.WriteLike(to, f.meanOut, c.im, c.fine.Mean, f.scale, false) }},
		{"std-out", func(to io.Writer) error { return picture.WriteLike(to, f.stdOut, c.im, c.fine.Std, f.scale, true) }},
	} {
		if err := outs.Write(file.flag, file.write); err != nil {
			return err
		}
	}
	return nil
}

// describe says how good the completion is, to the drawing too.
func (c *completing) describe() (*completeResult, error) {
	f, im, cfg, r := c.flags, c.im, &c.cfg, c.r
	pixels, observed := im.H*im.W, raster.Count(c.mask)
	known := make([]bool, len(im.Pix))
	for i, v := range im.Pix {
		known[i] = v == v
	}
	if err := cnp.CheckSupport(c.p.Likelihood, "pixel", im.Pix, known, 1); err != nil {
		return nil, fmt.Errorf("%s: %w", f.image, err)
	}
	sum, n := c.p.LogDensity(im.Pix, known)
	likelihood, mse := sum/float64(n), raster.MeanSquare(c.p.Mean, im.Pix)
	if note := predict.ImageMisfit(c.p, im.Pix, c.mask); f.mask == "" && note != "" { // behind a mask may be anything
		r.Cautions = append(r.Cautions, note)
	}
	name := string(cfg.Architecture)
	if cfg.Group != "" {
		name = cfg.Group
	}
	c.drawing.Mean, c.drawing.Std = c.fine.Mean, c.fine.Std
	c.drawing.Title = fmt.Sprintf("%s    %d of %s observed    log-likelihood %.4f per pixel", name, observed, words.Plural(pixels, "pixel"),
		likelihood)
	r.Line("model", "%s", f.model.describe(*cfg))
	r.Line("image", "%d x %d pixels, %s", im.W, im.H, words.Plural(im.C, "channel"))
	r.Line("context", "%s (%.1f %%)", words.Plural(observed, "pixel"), 100*float64(observed)/float64(pixels))
	r.Line("log-likelihood", "%.4f per pixel", likelihood)
	r.Line("squared error", "%.4f mean, a constant's %.4f", mse, raster.Variance(im.Pix))
	scale := 0
	if f.scale > 1 {
		scale = f.scale
		r.Line("predicted", "%d x %d pixels", f.scale*im.W, f.scale*im.H)
	}
	r.Line("time", "%.2f s", c.seconds)
	return &completeResult{Scale: scale,
		Model: f.model.path, Architecture: string(cfg.Architecture), Group: cfg.Group, Image: f.image, Width: im.W, Height: im.H,
		Channels: im.C, Pixels: pixels, ContextPixels: observed, LogLikelihood: number(likelihood), SquaredError: number(mse),
		Seconds: number(c.seconds), Out: f.out,
	}, nil
}
