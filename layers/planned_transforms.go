package layers

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/internal/reuse"
	"github.com/equivcnp/equivcnp/internal/spectral"
	"github.com/equivcnp/equivcnp/layers/internal/buffers"
	"github.com/equivcnp/equivcnp/layers/internal/gridsums"
)

// band is rows lo to hi of a tile of the grid.
type band struct{ tile, lo, hi int }

// transformPass is one call's way through the transforms.
type transformPass[T Float] struct {
	plan   *spectral.Plan
	scale  []float32
	f      []T
	sums   []T  // [images, rows, in]; nil while no transforms are used
	memory []T  // of sums
	copies []T  // of features, where several channels see the same one
	slabs  bool // sums stand slab by slab, [images, in/16, points, 16]
	fSlabs bool // and so does f, of all rows
	first  int  // of the points that sums are of
	points int
	part   []RowRun // those points
	mixed  sync.Mutex
	whole  map[int][]T // of images whose f stand slab by slab and have broken rows: f as rows
	broken []atomic.Bool
	bands  []band
	need   []bool // [h, tiles], rows that are wanted
	images int
	spaces []spectral.Workspace
	ctx    context.Context
	run    func(worker, unit, _ int)
}

// form says which features of a layer stand slab by slab; see inSlabs.
type form struct{ dst, f bool }

// transformed computes what each would, with sums by transforms. Of every channel of f, plan convolves that many
// copies, with weights of their own.
func (a *Arrangement[T]) transformed(ctx context.Context, plan *spectral.Plan, copies int, weights *poseWeights[T],
	layer rowLayer[T], dst, f []T, batch int,
	add bool, runs []RowRun, base []T, slabs form, ws *Workspace[T]) error {
	if batch == 0 {
		return ctx.Err()
	}
	in, out, t := len(f)/(batch*a.Rows), len(dst)/(batch*a.Rows), &ws.transforms
	channels := in * copies
	if t.run == nil {
		t.run = t.unit
	}
	for len(t.spaces) < workers() {
		t.spaces = append(t.spaces, spectral.Workspace{})
	}
	t.plan, t.scale, t.ctx, t.slabs, t.fSlabs = plan, a.scale, ctx, slabs.dst, slabs.f
	g, together := a.transforms, a.imagesTogether(channels, batch)
	high := g.H
	if slabs.dst {
		high = gridsums.PartHeight(g, channels)
	}
	size, line := g.H*g.Tiles(), a.Rows/g.H // of points
	sums := buffers.Sized(&t.memory, together*high*line*channels)
	defer func() { t.f, t.sums, t.ctx, t.whole = nil, nil, nil, nil }()
	for lo := 0; lo < batch; lo += together {
		n := min(together, batch-lo)
		if len(t.broken) < n*size {
			t.broken = make([]atomic.Bool, n*size)
		}
		for i := range t.broken {
			if t.broken[i].Load() {
				t.broken[i].Store(false)
			}
		}
		images := f[lo*a.Rows*in : (lo+n)*a.Rows*in]
		t.f, t.images, t.whole = images, n, nil
		if copies > 1 {
			t.f = t.repeat(images, copies)
		}
		begin := base
		if base != nil {
			begin = base[lo*a.Rows*out : (lo+n)*a.Rows*out]
		}
		for y := 0; y < g.H; y += high {
			end := min(y+high, g.H)
			t.first, t.points = y*line, (end-y)*line
			t.sums = sums[:n*t.points*channels]
			t.listBands(a, runs, gridsums.BandRows(g, channels, n, end-y), y, end)
			parallel.ForWorkers(spectral.Slabs(channels)*len(t.bands)*n, 1, workers(), t.run)
			if err := a.each(ctx, weights, layer, dst[lo*a.Rows*out:(lo+n)*a.Rows*out], images, n, add, t.partRuns(runs, a.Rows),
				begin, ws); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// partRuns returns the runs of rows of the part of an image whose sums are known: all that there are if that is an
// image, of that many rows.
func (t *transformPass[T]) partRuns(runs []RowRun, rows int) []RowRun {
	if t.points == rows {
		return runs
	}
	t.part = t.part[:0]
	for lo, end := t.first, t.first+t.points; lo < end; lo += flatRows {
		t.part = append(t.part, RowRun{lo, min(lo+flatRows, end)})
	}
	return t.part
}

// repeat returns that many copies of every number of f, side by side.
func (t *transformPass[T]) repeat(f []T, copies int) []T {
	y := buffers.Sized(&t.copies, len(f)*copies)
	for i, v := range f {
		part := y[i*copies : (i+1)*copies]
		for k := range part {
			part[k] = v
		}
	}
	return y
}

// unit computes a band of a slab of channels of an image. Images go fastest, as they share weights.
func (t *transformPass[T]) unit(worker, unit, _ int) {
	if t.ctx.Err() != nil {
		return
	}
	image, b := unit%t.images, t.bands[unit/t.images%len(t.bands)]
	slab := unit / t.images / len(t.bands)
	marks := t.plan.H * t.plan.Tiles()
	lines := func(x []T, slabs bool, first, points int) spectral.Lines {
		size := len(x) / t.images
		part := any(x[image*size : (image+1)*size]).([]float32)
		if slabs {
			return spectral.Side(part, slab, first, points)
		}
		return t.plan.Among(part, size/t.plan.Points(), slab)
	}
	t.guard(image, slab, b)
	sums, f := lines(t.sums, t.slabs, t.first, t.points), lines(t.f, t.fSlabs, 0, t.plan.Points())
	t.plan.Band(&t.spaces[worker], sums, f, t.scale, t.broken[image*marks:(image+1)*marks], slab, b.tile, b.lo, b.hi)
}

// listBands lists the bands, of at most that many rows, that runs of rows are in; nil: all from row y to end.
func (t *transformPass[T]) listBands(a *Arrangement[T], runs []RowRun, rows, y, end int) {
	g := a.transforms
	t.bands = t.bands[:0]
	if runs == nil {
		for tile := range g.Tiles() {
			for lo := y; lo < end; lo += rows {
				t.bands = append(t.bands, band{tile, lo, min(lo+rows, end)})
			}
		}
		return
	}
	t.need = reuse.Sized(t.need, g.H*g.Tiles())
	clear(t.need)
	for _, r := range runs {
		for i := r.Lo; i < r.Hi; {
			tile, _, end := g.Segment(i)
			t.need[i/g.W*g.Tiles()+tile] = true
			i = end
		}
	}
	for tile := range g.Tiles() {
		for lo := 0; lo < g.H; lo++ {
			hi := lo
			for hi < g.H && hi-lo < rows && t.need[hi*g.Tiles()+tile] {
				hi++
			}
			if hi > lo {
				t.bands = append(t.bands, band{tile, lo, hi})
				lo = hi - 1
			}
		}
	}
}

// rowsOf returns the features of an image as rows.
func (t *transformPass[T]) rowsOf(a *Arrangement[T], image, c int) []T {
	f := t.f[image*a.Rows*c : (image+1)*a.Rows*c]
	if !t.fSlabs {
		return f
	}
	t.mixed.Lock()
	defer t.mixed.Unlock()
	if t.whole == nil {
		t.whole = map[int][]T{}
	}
	if t.whole[image] == nil {
		t.whole[image] = make([]T, len(f))
		GatherSlabs(t.whole[image], f, c, 0, a.Rows)
	}
	return t.whole[image]
}

// repair calls direct for the parts of rows lo to hi of an image of which a transform has no finite result.
func (t *transformPass[T]) repair(lo, hi, image int, direct func(lo, hi int)) {
	g := t.plan
	for i := lo; i < hi; {
		tile, _, end := g.Segment(i)
		end = min(end, hi)
		if t.broken[(image*g.H+i/g.W)*g.Tiles()+tile].Load() {
			direct(i, end)
		}
		i = end
	}
}

// bytes returns the size of the pass's memory.
func (t *transformPass[T]) bytes() int64 {
	n := int64((cap(t.memory)+cap(t.copies))*buffers.SizeOf[T]() + 4*len(t.broken) + len(t.need) + 16*cap(t.part))
	for i := range t.spaces {
		n += t.spaces[i].Bytes()
	}
	return n
}
