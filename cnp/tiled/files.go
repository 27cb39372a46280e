package tiled

import (
	"encoding/json"
	"errors"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/settings"
	"github.com/equivcnp/equivcnp/internal/raster"
)

// tileDone is a line of the progress file: a tile, and the digests of its pixels in the files.
type tileDone struct {
	Tile int      `json:"tile"`
	Sums []string `json:"sums"`
}

// output is a file of the result, and the field of Options that names it.
type output struct{ field, path string }

// partials are the files of a raster while they are not complete.
type partials struct {
	outs    []output
	writers []*raster.StripWriter
}

// openPartials opens the files of a raster of c channels, whose pixels are at that place.
func openPartials(outs []output, c, h, w int, place *raster.Place) (p *partials, err error) {
	p = &partials{outs: outs}
	for _, o := range outs {
		own := place
		if o.field == "StdOut" {
			own = place.Deviation()
		}
		writer, err := raster.OpenStripWriter(o.path+".partial", o.path, c, h, w, own)
		if err != nil {
			return nil, errors.Join(o.errorf(err), p.close())
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
		var d tileDone
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
func (p *partials) write(t cnp.RasterTile, i int, values func(o output) []float32) (d tileDone, err error) {
	d.Tile = i
	for k, o := range p.outs {
		if err := errors.Join(p.writers[k].Write(values(o), t.Y, t.X, t.H, t.W), p.writers[k].Sync()); err != nil {
			return d, o.errorf(err)
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
			return o.errorf(err)
		}
	}
	return nil
}

// errorf names the field of an output that cannot be written.
func (o output) errorf(err error) error { return settings.Hintf("{%s}: %w", o.field, err) }
