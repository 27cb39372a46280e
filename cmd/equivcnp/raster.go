package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/internal/raster"
	"github.com/equivcnp/equivcnp/internal/shards"
	"github.com/equivcnp/equivcnp/internal/words"
)

// rasterFlags are the flags of equivcnp raster.
type rasterFlags struct {
	model        modelFlags
	in, mask     string
	rate         float64
	seed         uint64
	out, stdOut  string
	memory       string
	across, down int
}

func (a *app) rasterCommand() *cobra.Command {
	var f rasterFlags
	cmd := &cobra.Command{
		Use:                   "raster --model M --in map.npy --out mean.npy --std-out std.npy",
		DisableFlagsInUseLine: true,
		Short:                 "Complete an image or raster that is larger than memory",
		Long: `Complete a raster of any size, piece by piece. The result is bit-identical to that of the whole raster.

The model must be one under T(2): its prediction of a pixel depends on the surrounding pixels within the
reach of its layers, and not on where the pixel lies. Pixels have the distance that they had in training, whatever the
size of the raster: "complete" takes a large image for a finer drawing of a small one instead.

Rasters are .npy arrays of numbers, [H, W], [C, H, W] or [H, W, C]; TIFF and BigTIFF of integers or floats, in
strips or tiles; binary .pgm and .ppm; and PNG. All of them are read in parts, those that lie uncompressed in a
file fastest. JPEG, interlaced or transparent PNG, and TIFF with a palette or alpha are decoded as a whole, and take memory as
they do in the file. Unsigned integers of 8 and 16 bits are taken to [0, 1], other numbers are as they are; NaN, and
what a TIFF file of GDAL names as no data, is unobserved. --mask is another one of that size: a pixel is
observed where it is at least 0.5. Lines are padded to whole eights by unobserved pixels at their right end.

Outputs are .npy or .tif of float32, or .png, .pgm and .ppm of 16 bits. While they are not complete, they are called
.partial, and .progress beside --out says which tiles are done: the same command resumes after an
interruption. Memory and tiles change no bit of the result.`,
		Example: `  equivcnp raster --model digits-T2-small --in map.npy --out mean.npy --std-out std.npy --memory 1G
  equivcnp raster --model digits-T2-small --in photo.pgm --rate 0.3 --seed 7 --out mean.pgm`,
		Args: cobra.NoArgs,
		RunE: a.action(func(cmd *cobra.Command, _ []string) error { return a.raster(cmd.Context(), &f) }),
	}
	f.model.register(a, cmd)
	fl := cmd.Flags()
	fl.StringVarP(&f.in, "in", "i", "", "the raster, required")
	fl.StringVar(&f.mask, "mask", "", "raster of the same size, at least 0.5 where a pixel is observed")
	fl.Float64Var(&f.rate, "rate", 1, "share of the pixels to observe, each on its own, by --seed")
	fl.Uint64Var(&f.seed, "seed", 0, "seed of --rate")
	fl.StringVarP(&f.out, "out", "o", "", "file of the predicted mean, .npy, .tif, .png, .pgm or .ppm, required")
	fl.StringVar(&f.stdOut, "std-out", "", "file of the predicted standard deviation")
	fl.StringVar(&f.memory, "memory", "1G", "about how much memory to take, beside the program's own")
	fl.IntVar(&f.across, "tile-width", 0, "width of a band of tiles with what it sees to its sides, a multiple of 8 (default: as --memory allows)")
	fl.IntVar(&f.down, "tile-height", 0, "height of a tile (default 256)")
	fl.BoolVar(&a.json, "json", false, "print one JSON object")
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

// rasterDone is a line of the progress file: a tile, and the digests of its pixels in the files.
type rasterDone struct {
	Tile int      `json:"tile"`
	Sums []string `json:"sums"`
}

// partials are the files of a raster while they are not complete.
type partials struct {
	outs    []*output
	writers []*raster.StripWriter
}

// openPartials opens the files of a raster of c channels.
func openPartials(outs []*output, c, h, w int) (p *partials, err error) {
	p = &partials{outs: outs}
	for _, o := range outs {
		writer, err := raster.OpenStripWriter(o.path+".partial", o.path, c, h, w)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("--%s: %w", o.flag, err), p.close())
		}
		p.writers = append(p.writers, writer)
	}
	return p, nil
}

func (p *partials) close() (err error) {
	for _, w := range p.writers {
		err = errors.Join(err, w.Close())
	}
	p.writers = nil
	return err
}

// done says which tiles are in the files as an earlier process recorded them; the others are computed again.
func (p *partials) done(steps []json.RawMessage, tiles []cnp.RasterTile) (done []bool, n int) {
	done = make([]bool, len(tiles))
	for _, line := range steps {
		var d rasterDone
		if json.Unmarshal(line, &d) != nil || d.Tile < 0 || d.Tile >= len(tiles) || len(d.Sums) != len(p.writers) || done[d.Tile] {
			continue
		}
		same, t := true, tiles[d.Tile]
		for k, w := range p.writers {
			sum, err := w.Sum(t.Y, t.X, t.H, t.W)
			same = same && err == nil && sum == d.Sums[k]
		}
		if done[d.Tile] = same; same {
			n++
		}
	}
	return done, n
}

// write writes a tile, which is on the disk then.
func (p *partials) write(t cnp.RasterTile, i int, values func(o *output) []float32) (d rasterDone, err error) {
	d.Tile = i
	for k, o := range p.outs {
		if err := errors.Join(p.writers[k].Write(values(o), t.Y, t.X, t.H, t.W), p.writers[k].Sync()); err != nil {
			return d, fmt.Errorf("--%s: %w", o.flag, err)
		}
		d.Sums = append(d.Sums, p.writers[k].LastSum())
	}
	return d, nil
}

// finish gives the files their names.
func (p *partials) finish() error {
	if err := p.close(); err != nil {
		return err
	}
	for _, o := range p.outs {
		if err := raster.FinishStrips(o.path+".partial", o.path); err != nil {
			return fmt.Errorf("--%s: %w", o.flag, err)
		}
	}
	return nil
}

func (a *app) raster(ctx context.Context, f *rasterFlags) (err error) {
	if !(f.rate >= 0 && f.rate <= 1) {
		return usagef("--rate %g: need a number from 0 to 1", f.rate)
	}
	memory, ok := parseBytes(f.memory)
	if !ok || memory == 0 {
		return usagef("--memory %q: need a number of bytes, with K, M, G or T for powers of 1024", f.memory)
	}
	if f.across < 0 || f.across%8 != 0 || f.down < 0 {
		return usagef("--tile-width %d, --tile-height %d: need a multiple of 8, and a height of 0 or more", f.across, f.down)
	}
	outs, err := newOutputs([]string{f.model.path, f.in, f.mask}, outFile{"out", f.out, raster.StripEndings},
		outFile{"std-out", f.stdOut, raster.StripEndings})
	if err != nil {
		return err
	}
	defer outs.discard()
	for _, o := range outs.files {
		if o.direct || o.path == stdio {
			return usagef("--%s: %s is not a regular file", o.flag, o.path)
		}
	}
	loaded, err := f.model.load(ctx)
	if err != nil {
		return err
	}
	cfg := loaded.Config()
	if err := cfg.Tileable(); err != nil {
		return fmt.Errorf("%s: %w", f.model.path, err)
	}
	in, err := raster.OpenStrips(f.in, cfg.DimY)
	if err != nil {
		return err
	}
	defer in.Close()
	var mask *raster.Strips
	if f.mask != "" {
		if mask, err = raster.OpenStrips(f.mask, 1); err != nil {
			return err
		}
		defer mask.Close()
		if mask.H != in.H || mask.W != in.W {
			return fmt.Errorf("%s: %w: the mask has %d x %d pixels, the raster %d x %d", f.mask, raster.ErrSize, mask.W, mask.H, in.W, in.H)
		}
	}
	plan, err := cnp.PlanRaster(ctx, loaded, in.H, in.W, cnp.RasterOptions{Memory: memory, Across: f.across, Down: f.down})
	if err != nil {
		return fmt.Errorf("%s: %w", f.in, err)
	}
	tiles := plan.Tiles()
	work, err := f.work(tiles)
	if err != nil {
		return err
	}
	progress, err := shards.OpenProgress(outs.files[0].path+".progress", work, nil)
	if err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	defer progress.Close()
	if len(progress.Steps) == 0 {
		for _, o := range outs.files { // what is there may be another raster's
			if err := os.Remove(o.path + ".partial"); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	files, err := openPartials(outs.files, cfg.DimY, in.H, in.W)
	if err != nil {
		return err
	}
	defer files.close()
	done, kept := files.done(progress.Steps, tiles)

	observed := 0
	read := func(part *cnp.Images[float32], y, x int) error {
		n, err := f.readPart(part, in, mask, y, x)
		observed += n
		return err
	}
	ctx, remove := a.withProgress(ctx, "completing")
	defer remove()
	start := time.Now()
	err = plan.Predict(ctx, read, func(i int) bool { return done[i] }, func(i int, t cnp.RasterTile, p *cnp.Prediction[float32]) error {
		if err := p.Check(nil); err != nil {
			return fmt.Errorf("line %d, column %d: %w", t.Y, t.X, err)
		}
		step, err := files.write(t, i, func(o *output) []float32 {
			if o.flag == "std-out" {
				return p.Std
			}
			return p.Mean
		})
		if err != nil {
			return err
		}
		return progress.Step(step)
	})
	remove()
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("interrupted: the same command resumes")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", f.in, err)
	}
	if err := files.finish(); err != nil {
		return err
	}
	if err := progress.End(); err != nil {
		return err
	}
	seconds := time.Since(start).Seconds()
	lines, columns := plan.Reach()
	r := &result{}
	r.line("model", "%s", f.model.describe(cfg))
	r.line("raster", "%d x %d pixels, %s", in.W, in.H, words.Plural(in.C, "channel"))
	r.line("tiles", "%d, %d of them done before", len(tiles), kept)
	r.line("reach", "%d lines, %d columns", lines, columns)
	r.line("time", "%.2f s, %.3g µs a pixel", seconds, 1e6*seconds/float64(in.H)/float64(in.W))
	r.line("written", "%s", f.out)
	return a.print(r, rasterResult{f.model.path, f.in, in.W, in.H, in.C, len(tiles), kept, [2]int{lines, columns}, observed,
		number(seconds), f.out, r.allNotes()})
}

// work tells this raster, model and settings from others.
func (f *rasterFlags) work(tiles []cnp.RasterTile) (string, error) {
	h := sha256.New()
	fmt.Fprintln(h, modelSetting(f.model.path), f.model.group, f.model.alpha, f.rate, f.seed, f.stdOut != "",
		strings.ToLower(filepath.Ext(f.out)), tiles)
	for _, path := range []string{f.in, f.mask} {
		if path == "" {
			continue
		}
		file, err := shards.Identity(path)
		if err != nil {
			return "", err
		}
		fmt.Fprintln(h, file)
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}

// readPart reads a part of the raster, and says how many of its pixels are observed.
func (f *rasterFlags) readPart(part *cnp.Images[float32], in, mask *raster.Strips, y, x int) (observed int, err error) {
	n := part.H * part.W
	light := make([]float32, part.W)
	for line := range part.H {
		row := part.Mask[line*part.W : (line+1)*part.W]
		for i := range row {
			row[i] = true
		}
		for c := range part.C {
			values := part.Pixels[c*n+line*part.W:][:part.W]
			if err := in.Line(values, c, y+line, x); err != nil {
				return 0, fmt.Errorf("line %d: %w", y+line, err)
			}
			for i, v := range values {
				row[i] = row[i] && v == v // NaN is missing
			}
		}
		if mask != nil {
			if err := mask.Line(light, 0, y+line, x); err != nil {
				return 0, fmt.Errorf("%s: line %d: %w", f.mask, y+line, err)
			}
			for i, v := range light {
				row[i] = row[i] && v >= 0.5
			}
		}
		for i := range row {
			row[i] = row[i] && (f.rate >= 1 || chosen(f.seed, y+line, x+i) < f.rate)
			if row[i] {
				observed++
			}
		}
	}
	return observed, nil
}

// chosen is a number from 0 to 1 that belongs to a pixel (splitmix64).
func chosen(seed uint64, y, x int) float64 {
	mix := func(v uint64) uint64 {
		v += 0x9e3779b97f4a7c15
		v = (v ^ v>>30) * 0xbf58476d1ce4e5b9
		v = (v ^ v>>27) * 0x94d049bb133111eb
		return v ^ v>>31
	}
	return float64(mix(mix(mix(seed)+uint64(y))+uint64(x))>>11) / (1 << 53)
}
