package layers

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/internal/reuse"
	"github.com/equivcnp/equivcnp/internal/spectral"
	"github.com/equivcnp/equivcnp/simd"
)

// Algorithm is how depthwise convolutions in float32 are computed under a flat arrangement. Float64 and tiles know sums over pairs only.
type Algorithm string

// The algorithms.
const (
	// Auto takes whichever is estimated to be faster. On a pixel grid under translations that is transforms, unless balls are small.
	Auto Algorithm = ""
	// Direct sums over the pairs of each row. An error is at most (n+8)·eps of the sum of a row's terms, each taken as positive.
	Direct Algorithm = "direct"
	// Transforms goes by Fourier transforms along the rows of a grid, and is Direct where rows are those of no grid or
	// balls are wider than 111 pixels. It takes a fifth of the multiply-adds. A result is off by at most some eps · Σ
	// |weights| · |features|, where the sum is over the grid's rows that a ball reaches, and |.| is the Euclidean norm
	// over a ball's and an image's row: relative to the largest results, hardly more than Direct; relative to each
	// result, more where neighbours are much larger. Rows of the grid that see a number that is not finite, or so large
	// that a transform overflows, are computed by Direct.
	Transforms Algorithm = "transforms"
	// NoDepthwise is for arrangements that no separable convolution uses: it saves memory.
	NoDepthwise Algorithm = "none"
	// TransformsOnly is Transforms where Auto takes these, and otherwise NoDepthwise: an embedding's sums go by transforms as well.
	TransformsOnly Algorithm = "transforms only"
)

// Algorithms lists those that compute something, in the order of documentation.
var Algorithms = []Algorithm{Auto, Direct, Transforms}

func stopped(stop func() bool) bool { return stop != nil && stop() }

// pairWork is what a pair costs, as a multiple of a multiply-add of lines in spectral's estimate of work: gathered sums are not as
// fast as sums down a column.
const pairWork = 1.3

// takesTransforms reports whether an algorithm goes by transforms where these are faster.
func takesTransforms(algorithm Algorithm) bool {
	return algorithm == Transforms || algorithm != Direct && simd.CurrentLevel() != simd.Generic
}

// tiling returns how transforms go along a grid, which may be nil, or nil if algorithm does without them there.
func (a *Arrangement[T]) tiling(g *spectral.Grid, algorithm Algorithm) *spectral.Tiling {
	if g != nil {
		if t := g.Tiling(); t != nil && (algorithm == Transforms || t.Work() < pairWork*float64(a.Pairs())) {
			return t
		}
	}
	return nil
}

// choose prepares a flat arrangement for depthwise convolutions and embeddings.
func (a *Arrangement[T]) choose(algorithm Algorithm, stop func() bool) {
	if takesTransforms(algorithm) {
		if t := a.tiling(spectral.Find(a.offsets, a.index, a.pose, a.across), algorithm); t != nil {
			a.transform(t)
			return
		}
	}
	if algorithm == TransformsOnly {
		return
	}
	made := simd.NewDepthwisePlanUntil(stop, a.offsets, a.index, a.pose, a.Rows, a.poses)
	a.direct = func() *simd.DepthwisePlan { return made }
}

// transform prepares an arrangement for transforms.
func (a *Arrangement[T]) transform(t *spectral.Tiling) {
	a.transforms, a.scale = t, make([]float32, a.Rows)
	for i := range a.scale {
		a.scale[i] = float32(a.inverse(i))
	}
	a.direct = sync.OnceValue(func() *simd.DepthwisePlan {
		index, pose := a.pairs()
		return simd.NewDepthwisePlan(a.offsets, index, pose, a.Rows, a.poses)
	})
}

// Algorithm is how depthwise convolutions are computed.
func (a *Arrangement[T]) Algorithm() Algorithm {
	switch {
	case a.transforms != nil:
		return Transforms
	case a.direct != nil || !a.Flat():
		return Direct
	}
	return NoDepthwise
}

// liftedBytes bounds the transforms that a goroutine holds at a time where points have several lifts, so that they stay
// in the second-level cache. A band has at least leastBand rows and, unless it ends the image or a part, a multiple of
// them. One of more than evenBand rows, which transforms fewer twice, is cut where there are too few bands to keep all
// goroutines busy to the end.
const (
	liftedBytes = 3 << 19
	leastBand   = 16
	evenBand    = 64
)

// A part of an image is leastPart rows, and more where their sums take less than partBytes: sums pass through the dense
// map while they are in a cache, and take little memory. Tests change both.
var leastPart, partBytes = 128, 8 << 20

// bandRows is how many of the grid's rows, of which there are high, a goroutine computes at a time. No bits depend on it.
func bandRows(t *spectral.Tiling, channels, images, high int) int {
	rows := (high + leastBand - 1) / leastBand * leastBand
	units := func() int { return images * spectral.Slabs(channels) * t.Tiles() * ((high + rows - 1) / rows) }
	for rows > leastBand && (t.Lifts > 1 && t.WorkspaceBytes(rows) > liftedBytes || units() < workers() || rows > evenBand &&
		units() < 4*workers()) {
		rows = (rows/2 + leastBand - 1) / leastBand * leastBand
	}
	return rows
}

// imagesTogether is how many images are transformed before their sums pass through the dense map: enough to keep the goroutines busy.
func (a *Arrangement[T]) imagesTogether(channels, batch int) int {
	units := spectral.Slabs(channels) * a.transforms.Tiles()
	return max(1, min(batch, (2*workers()+units-1)/units))
}

// partHeight is how many of the grid's rows make a part of an image.
func partHeight(t *spectral.Tiling, channels int) int {
	return min(t.H, max(leastPart, partBytes/(4*t.W*channels)/leastBand*leastBand))
}

// transformBytes is CallBytes, of which there are as many as goroutines.
func (a *Arrangement[T]) transformBytes(channels, images int) int64 {
	high, rows := a.transforms.H, flatRows+flatRows/8
	if a.inSlabs(channels, channels) {
		high, rows = partHeight(a.transforms, channels), 3*rows
	}
	sums := int64(a.imagesTogether(channels, images) * a.Rows / a.transforms.H * high * channels * sizeof[T]())
	return sums/int64(workers()) + a.transforms.WorkspaceBytes(high) + int64((rows*channels+denseSpace(channels))*sizeof[T]())
}

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
		high = partHeight(g, channels)
	}
	size, line := g.H*g.Tiles(), a.Rows/g.H // of points
	sums := sized(&t.memory, together*high*line*channels)
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
			t.listBands(a, runs, bandRows(g, channels, n, end-y), y, end)
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
	y := sized(&t.copies, len(f)*copies)
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

// Features of a number of channels that is a multiple of 16 can stand slab by slab, [channels/16, rows, 16]. Transforms
// read and write one slab after the other: among rows of all channels they would meet a line of the caches here and one
// there, of which memory delivers a fifth as many a second.
const slabWidth = 16

// inSlabs reports whether layers of so many channels may have features slab by slab under the arrangement.
func (a *Arrangement[T]) inSlabs(in, out int) bool {
	return a.transforms != nil && a.transforms.Lifts == 1 && in%slabWidth == 0 && out%slabWidth == 0
}

// slabOf returns rows lo to hi of a slab of features x [channels/16, rows, 16].
func (a *Arrangement[T]) slabOf(x []T, slab, lo, hi int) []T {
	return x[(slab*a.Rows+lo)*slabWidth : (slab*a.Rows+hi)*slabWidth]
}

// GatherSlabs copies rows lo to hi of features f [c/16, rows, 16] to dst [hi-lo, c].
func GatherSlabs[T Float](dst, f []T, c, lo, hi int) {
	rows := len(f) / max(1, c)
	for slab := range c / slabWidth {
		spectral.CopyLines(f32(dst[slab*slabWidth:]), c, f32(f[(slab*rows+lo)*slabWidth:(slab*rows+hi)*slabWidth]), slabWidth, hi-lo)
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

// bytes is the size of the pass's memory.
func (t *transformPass[T]) bytes() int64 {
	n := int64((cap(t.memory)+cap(t.copies))*sizeof[T]() + 4*len(t.broken) + len(t.need) + 16*cap(t.part))
	for i := range t.spaces {
		n += t.spaces[i].Bytes()
	}
	return n
}
