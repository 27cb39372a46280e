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
	// Transforms goes by Fourier transforms along the rows of a grid, and is Direct where rows are those of no grid or balls are wider than 79 pixels. It takes a
	// fifth of the multiply-adds. A result is off by at most some eps · Σ |weights| · |features|, where the sum is over the grid's rows that a ball reaches,
	// and |.| is the Euclidean norm over a ball's and an image's row: relative to the largest results, hardly more than Direct;
	// relative to each result, more where neighbours are much larger. Rows of the grid that see a number that is not finite, or so large that
	// a transform overflows, are computed by Direct.
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
		if t := a.tiling(spectral.Find(a.offsets, a.index, a.pose), algorithm); t != nil {
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

// bandBytes bounds the transforms that a goroutine holds at a time, so that they stay in the second-level cache; where points have several lifts, bands see
// more rows beside their own, and liftedBytes is the bound. A band has at least leastBand rows and, unless it ends the image, a multiple of them.
const (
	bandBytes   = 1 << 20
	liftedBytes = 3 << 19
	leastBand   = 16
)

// bandRows is how many rows of the grid a goroutine computes at a time. No bits depend on it.
func bandRows(t *spectral.Tiling, channels, images int) int {
	rows := (t.H + leastBand - 1) / leastBand * leastBand
	units := func() int { return images * spectral.Slabs(channels) * t.Tiles() * ((t.H + rows - 1) / rows) }
	most := int64(bandBytes)
	if t.Lifts > 1 {
		most = liftedBytes
	}
	for rows > leastBand && (t.WorkspaceBytes(rows) > most || units() < workers()) {
		rows = (rows/2 + leastBand - 1) / leastBand * leastBand
	}
	return rows
}

// imagesTogether is how many images are transformed before their sums pass through the dense map: enough to keep the goroutines busy.
func (a *Arrangement[T]) imagesTogether(channels, batch int) int {
	units := spectral.Slabs(channels) * a.transforms.Tiles()
	return max(1, min(batch, (2*workers()+units-1)/units))
}

// transformBytes is CallBytes, of which there are as many as goroutines.
func (a *Arrangement[T]) transformBytes(channels, images int) int64 {
	sums := int64(a.imagesTogether(channels, images) * a.Rows * channels * sizeof[T]())
	rows := flatRows + flatRows/8
	if a.inSlabs(channels, channels) {
		rows *= 3
	}
	return sums/int64(workers()) + a.transforms.WorkspaceBytes(bandRows(a.transforms, channels, 1)) + int64((rows*channels+denseSpace(channels))*sizeof[T]())
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
	slabs  bool // sums stand slab by slab, [images, in/16, rows, 16], and so do f if fSlabs
	fSlabs bool
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

// transformed computes what each would, with sums by transforms. Of every channel of f, plan convolves that many copies, with weights of their own.
func (a *Arrangement[T]) transformed(ctx context.Context, plan *spectral.Plan, copies int, weights *poseWeights[T], layer rowLayer[T], dst, f []T, batch int,
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
	t.listBands(a, runs, bandRows(a.transforms, channels, batch))
	together := a.imagesTogether(channels, batch)
	size := a.transforms.H * a.transforms.Tiles()
	sums := sized(&t.memory, together*a.Rows*channels)
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
		t.f, t.sums, t.images, t.whole = images, sums[:n*a.Rows*channels], n, nil
		if copies > 1 {
			t.f = t.repeat(images, copies)
		}
		parallel.ForWorkers(spectral.Slabs(channels)*len(t.bands)*n, 1, workers(), t.run)
		part := base
		if base != nil {
			part = base[lo*a.Rows*out : (lo+n)*a.Rows*out]
		}
		if err := a.each(ctx, weights, layer, dst[lo*a.Rows*out:(lo+n)*a.Rows*out], images, n, add, runs, part, ws); err != nil {
			return err
		}
	}
	return ctx.Err()
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
	size, marks := len(t.sums)/t.images, t.plan.H*t.plan.Tiles()
	lines := func(x []T, slabs bool) spectral.Lines {
		part := any(x[image*size : (image+1)*size]).([]float32)
		if slabs {
			return t.plan.Side(part, slab)
		}
		return t.plan.Among(part, size/t.plan.Points(), slab)
	}
	t.plan.Band(&t.spaces[worker], lines(t.sums, t.slabs), lines(t.f, t.fSlabs), t.scale, t.broken[image*marks:(image+1)*marks], slab, b.tile, b.lo, b.hi)
}

// listBands lists the bands, of at most that many rows, that runs of rows are in; nil: all.
func (t *transformPass[T]) listBands(a *Arrangement[T], runs []RowRun, rows int) {
	g := a.transforms
	t.bands = t.bands[:0]
	if runs == nil {
		for tile := range g.Tiles() {
			for lo := 0; lo < g.H; lo += rows {
				t.bands = append(t.bands, band{tile, lo, min(lo+rows, g.H)})
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

// Features of a number of channels that is a multiple of 16 can stand slab by slab, [channels/16, rows, 16]. Transforms read and write one slab
// after the other: among rows of all channels they would meet a line of the caches here and one there, of which memory delivers a fifth as many a second.
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
func (a *Arrangement[T]) GatherSlabs(dst, f []T, c, lo, hi int) {
	for slab := range c / slabWidth {
		copyRows(dst[slab*slabWidth:], c, a.slabOf(f, slab, lo, hi), slabWidth, slabWidth, hi-lo)
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
		a.GatherSlabs(t.whole[image], f, c, 0, a.Rows)
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
	n := int64((cap(t.memory)+cap(t.copies))*sizeof[T]() + 4*len(t.broken) + len(t.need))
	for i := range t.spaces {
		n += t.spaces[i].Bytes()
	}
	return n
}
