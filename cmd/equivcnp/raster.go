package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/cnp/tiled"
	"github.com/equivcnp/equivcnp/internal/cli"
	"github.com/equivcnp/equivcnp/internal/raster"
	"github.com/equivcnp/equivcnp/internal/words"
)

// rasterFlags are the flags of equivcnp raster.
type rasterFlags struct {
	model  modelFlags
	opt    tiled.Options
	memory string
}

func (a *app) rasterCommand() *cobra.Command {
	var f rasterFlags
	cmd := &cobra.Command{
		Use:                   "raster --model M --in map.npy --out mean.npy --std-out std.npy",
		DisableFlagsInUseLine: true,
		Short:                 "Complete an image or raster that is larger than memory",
		Long:                  helpText("raster"),
		Example: `  equivcnp raster --model digits-T2-small --in map.npy --out mean.npy --std-out std.npy --memory 1G
  equivcnp raster --model digits-T2-small --in photo.pgm --rate 0.3 --seed 7 --out mean.pgm`,
		Args: noArguments,
		RunE: a.action(func(cmd *cobra.Command, _ []string) error { return a.raster(cmd.Context(), &f) }),
	}
	f.model.register(a, cmd)
	fl := cmd.Flags()
	fl.StringVarP(&f.opt.In, "in", "i", "", "the raster, required")
	fl.StringVar(&f.opt.Mask, "mask", "", "raster of the same size, at least 0.5 where a pixel is observed")
	fl.Float64Var(&f.opt.Rate, "rate", 1, "share of the pixels to observe, drawn by --seed")
	fl.Uint64Var(&f.opt.Seed, "seed", 0, "seed of --rate")
	fl.StringVarP(&f.opt.Out, "out", "o", "", "file of the predicted mean, .npy, .tif, .png, .pgm or .ppm, required")
	fl.StringVar(&f.opt.StdOut, "std-out", "", "file of the predicted standard deviation")
	fl.StringVar(&f.memory, "memory", "1G", "approximate memory to use, beside the program's own")
	fl.IntVar(&f.opt.Across, "tile-width", 0, "width of a band of tiles with its margins, a multiple of 8 (default: as --memory allows)")
	fl.IntVar(&f.opt.Down, "tile-height", 0, "height of a tile (default 256)")
	a.jsonFlag(cmd)
	for _, name := range []string{"in", "out"} {
		must(cmd.MarkFlagRequired(name))
	}
	return cmd
}

// rasterResult is what raster --json prints.
type rasterResult struct {
	Model    string   `json:"model"`
	In       string   `json:"in"`
	Width    int      `json:"width"`
	Height   int      `json:"height"`
	Channels int      `json:"channels"`
	Tiles    int      `json:"tiles"`
	Kept     int      `json:"kept"`     // done by an earlier process
	Reach    [2]int   `json:"reach"`    // lines and columns
	Observed int      `json:"observed"` // pixels, of the tiles that were computed now
	Seconds  number   `json:"seconds"`
	Out      string   `json:"out"`
	Notes    []string `json:"notes"`
}

func (a *app) raster(ctx context.Context, f *rasterFlags) error {
	opt := f.opt
	if !(opt.Rate >= 0 && opt.Rate <= 1) {
		return cli.Usagef("--rate %g: need a number from 0 to 1", opt.Rate)
	}
	var ok bool
	if opt.Memory, ok = cli.ParseBytes(f.memory); !ok || opt.Memory == 0 {
		return cli.Usagef("--memory %q: need a number of bytes, with K, M, G or T for powers of 1024", f.memory)
	}
	if opt.Across < 0 || opt.Across%8 != 0 || opt.Down < 0 {
		return cli.Usagef("--tile-width %d, --tile-height %d: need a multiple of 8, and a height of 0 or more", opt.Across, opt.Down)
	}
	outs, err := cli.NewOutputs([]string{f.model.path, opt.In, opt.Mask}, cli.Out("out", opt.Out, raster.StripEndings),
		cli.Out("std-out", opt.StdOut, raster.StripEndings))
	if err != nil {
		return err
	}
	defer outs.Discard()
	if opt.Out, err = outs.Regular("out"); err == nil {
		opt.StdOut, err = outs.Regular("std-out")
	}
	if err != nil {
		return err
	}
	model, err := f.model.load(ctx)
	if err != nil {
		return err
	}
	cfg := model.Config()
	if err := cfg.Tileable(); err != nil {
		return fmt.Errorf("%s: %w", f.model.path, err)
	}
	opt.Settings = []any{modelSetting(f.model.path), f.model.group, f.model.alpha}
	work, remove := a.withProgress(ctx, "completing")
	defer remove()
	rep, err := tiled.Run(work, model, opt)
	remove()
	if err != nil {
		return err
	}
	r, seconds := &result{Result: cli.Result{Notes: rep.Notes}}, rep.Time.Seconds()
	r.Line("model", "%s", f.model.describe(cfg))
	r.Line("raster", "%d x %d pixels, %s", rep.W, rep.H, words.Plural(rep.C, "channel"))
	r.Line("tiles", "%d, %d of them done before", rep.Tiles, rep.Kept)
	r.Line("reach", "%d lines, %d columns", rep.Reach[0], rep.Reach[1])
	r.Line("time", "%.2f s, %.3g µs a pixel", seconds, 1e6*seconds/float64(rep.H)/float64(rep.W))
	r.Line("written", "%s", f.opt.Out)
	if f.opt.StdOut != "" {
		r.Line("", "%s", f.opt.StdOut)
	}
	return a.print(r, rasterResult{f.model.path, opt.In, rep.W, rep.H, rep.C, rep.Tiles, rep.Kept, rep.Reach, rep.Observed,
		number(seconds), f.opt.Out, r.AllNotes()})
}
