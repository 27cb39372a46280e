// Package tiled completes rasters that are larger than memory, tile by tile. The result has the bits of a completion of the
// whole raster. A journal beside the output lets an interrupted run resume.
package tiled

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/internal/raster"
	"github.com/equivcnp/equivcnp/internal/shards"
)

// Options say what is completed, and where it is written.
type Options struct {
	// In is the file of the raster: an array, TIFF, PNG, PGM or PPM of any size.
	In string
	// Mask is a raster of the same size, at least 0.5 where a pixel is observed; "" is everywhere.
	Mask string
	// Rate is the share of these pixels that is observed, from 0 to 1, each chosen on its own by Seed.
	Rate float64
	Seed uint64
	// Out and StdOut are the files of the mean and of the standard deviation, "" for none. While they are not complete, they
	// are called .partial, and .progress beside Out is the journal.
	Out, StdOut string
	// Memory is about how many bytes to take. Across is the width of a band of tiles, a multiple of 8, and Down the height of
	// a tile; 0 is as Memory allows.
	Memory       int64
	Across, Down int
	// Settings tell this work from other work beside the options: which model it is, for example.
	Settings []any
}

// Report says what a run did.
type Report struct {
	H, W, C int // of the raster
	Tiles   int
	Kept    int    // tiles that were done by an earlier process
	Reach   [2]int // lines and columns that a prediction depends on
	// Observed counts the pixels that are observed, of the tiles that were computed now.
	Observed int
	Time     time.Duration
	// Notes say what outputs lack of what the raster, or a file beside it, says of its pixels, how the raster was converted, and
	// that the model does not suit it.
	Notes []string
}

// ErrInterrupted is returned where the context ended; the same call resumes.
var ErrInterrupted = errors.New("interrupted: the same command resumes")

// Run completes a raster by a model whose predictions depend on near pixels alone.
func Run(ctx context.Context, model cnp.Model[float32], o Options) (*Report, error) {
	if model == nil {
		return nil, fmt.Errorf("%w: no model", cnp.ErrConfig)
	}
	cfg := model.Config()
	in, err := raster.OpenStrips(o.In, cfg.DimY)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	mask, err := o.openMask(in)
	if err != nil {
		return nil, err
	}
	if mask != nil {
		defer mask.Close()
	}
	plan, err := cnp.PlanRaster(ctx, model, in.H, in.W, cnp.RasterOptions{Memory: o.Memory, Across: o.Across, Down: o.Down})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.In, err)
	}
	tiles := plan.Tiles()
	work, err := shards.Work(append(slices.Clone(o.Settings), o.Rate, o.Seed, o.StdOut != "", strings.ToLower(filepath.Ext(o.Out)), tiles),
		o.In, o.Mask, in.Beside(), mask.Beside())
	if err != nil {
		return nil, err
	}
	outs := []output{{"Out", o.Out}}
	if o.StdOut != "" {
		outs = append(outs, output{"StdOut", o.StdOut})
	}
	progress, err := shards.OpenProgress(o.Out+".progress", work, nil)
	if err != nil {
		return nil, outs[0].errorf(err)
	}
	defer progress.Close()
	if len(progress.Steps) == 0 {
		for _, o := range outs { // what is there may be another raster's
			if err := os.Remove(o.path + ".partial"); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
		}
	}
	rep := &Report{H: in.H, W: in.W, C: in.C, Tiles: len(tiles), Notes: in.Converted()}
	files, err := openPartials(outs, cfg.DimY, in.H, in.W, rep.place(in, outs))
	if err != nil {
		return nil, err
	}
	defer files.close()
	rep.Reach[0], rep.Reach[1] = plan.Reach()
	start := time.Now()
	if err := o.predict(ctx, plan, in, mask, files, progress, rep); err != nil {
		return nil, err
	}
	if err := files.finish(); err != nil {
		return nil, err
	}
	if err := progress.End(); err != nil {
		return nil, err
	}
	rep.Time = time.Since(start)
	return rep, nil
}

// place is where the pixels are, with notes of what outputs do not say of it.
func (r *Report) place(in *raster.Strips, outs []output) *raster.Place {
	place, err := in.Place()
	if err != nil {
		r.Notes = append(r.Notes, fmt.Sprintf("the outputs do not say where their pixels are: %v", err))
	}
	r.Notes = append(r.Notes, in.Unread(place)...)
	for _, o := range outs {
		if place.Located() && !raster.IsTIFFName(o.path) {
			r.Notes = append(r.Notes, fmt.Sprintf("%s does not say where its pixels are: write .tif for that", o.path))
		}
	}
	return place
}

// openMask opens the mask of a raster, nil without.
func (o *Options) openMask(in *raster.Strips) (*raster.Strips, error) {
	if o.Mask == "" {
		return nil, nil
	}
	mask, err := raster.OpenStrips(o.Mask, 1)
	if err == nil && (mask.H != in.H || mask.W != in.W) {
		err = fmt.Errorf("%s: %w: the mask has %d x %d pixels, the raster %d x %d", o.Mask, raster.ErrSize, mask.W, mask.H, in.W, in.H)
		mask.Close()
	}
	if err != nil {
		return nil, err
	}
	return mask, nil
}

// predict computes the tiles that are not done, and writes them.
func (o *Options) predict(ctx context.Context, plan *cnp.RasterPlan[float32], in, mask *raster.Strips, files *partials,
	progress *shards.Progress,
	rep *Report) error {
	var done []bool
	done, rep.Kept = files.done(progress.Steps, plan.Tiles())
	var f fit
	read := func(part *cnp.Images[float32], y, x int) error {
		n, err := o.readPart(part, in, mask, y, x)
		rep.Observed += n
		f.see(part, y, x)
		return err
	}
	err := plan.Predict(ctx, read, func(i int) bool { return done[i] }, func(i int, t cnp.RasterTile, p *cnp.Prediction[float32]) error {
		if err := p.Check(nil); err != nil {
			return fmt.Errorf("line %d, column %d: %w", t.Y, t.X, err)
		}
		f.add(t, p.Mean)
		step, err := files.write(t, i, func(o output) []float32 {
			if o.field == "StdOut" {
				return p.Std
			}
			return p.Mean
		})
		if err != nil {
			return err
		}
		return progress.Step(step)
	})
	if errors.Is(err, context.Canceled) {
		return ErrInterrupted
	}
	if err != nil {
		return fmt.Errorf("%s: %w", o.In, err)
	}
	if note := f.note(); note != "" {
		rep.Notes = append(rep.Notes, note)
	}
	return nil
}

// readPart reads a part of the raster, and says how many of its pixels are observed.
func (o *Options) readPart(part *cnp.Images[float32], in, mask *raster.Strips, y, x int) (observed int, err error) {
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
				return 0, fmt.Errorf("%s: line %d: %w", o.Mask, y+line, err)
			}
			for i, v := range light {
				row[i] = row[i] && v >= 0.5
			}
		}
		for i := range row {
			row[i] = row[i] && (o.Rate >= 1 || chosen(o.Seed, y+line, x+i) < o.Rate)
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
