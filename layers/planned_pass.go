package layers

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/internal/spectral"
	"github.com/equivcnp/equivcnp/layers/internal/buffers"
	"github.com/equivcnp/equivcnp/simd"
)

// rowLayer is a layer that computes runs of rows.
type rowLayer[T Float] interface {
	// rows computes rows lo to hi of some images of the pass with the weights that the rows' pose numbers refer to.
	rows(s *pass[T], w *workspace[T], weights *tileWeights[T], lo, hi, image, images int)
	// waiting is how many channels the sums of a row have, if the sums of all rows may wait for the rest of the layer; else 0.
	waiting() int
}

// RowRun is rows Lo to Hi of an arrangement. Of a flat one, those that begin and end at multiples of 8 are fastest.
type RowRun struct{ Lo, Hi int }

// Workspace is the scratch memory of planned layers. It grows as needed and serves one call at a time.
type Workspace[T Float] struct {
	workers    []workspace[T]
	pass       *pass[T] // the current one
	transforms transformPass[T]
	sums       []T // of tiles that go slice by slice
	features   []simd.BF16
}

// Bytes returns the size of the workspace.
func (w *Workspace[T]) Bytes() int64 {
	n, half := 0, 0
	for i := range w.workers {
		p := &w.workers[i]
		for _, b := range [][]T{p.weights, p.net, p.hidden, p.part, p.sum, p.dense, p.space, p.rows} {
			n += cap(b)
		}
		half += cap(p.half)
	}
	return 2*int64(half) + int64(n+cap(w.sums))*int64(buffers.SizeOf[T]()) + 2*int64(cap(w.features)) + w.transforms.bytes()
}

// pass is one call of a layer's Forward: it sets dst [batch, rows, out] to the layer of f [batch, rows, in], or adds it if add is
// set.
type pass[T Float] struct {
	a       *Arrangement[T]
	weights *poseWeights[T]
	layer   rowLayer[T]
	dst, f  []T
	add     bool
	batch   int
	runs    []RowRun // of a flat arrangement: the rows to compute; nil: all
	base    []T      // what rows that are added to begin with; nil: what dst holds
	sums    []T      // [images, rows, in]: the sums of the rows, if transforms or slices have computed them
	slabs   bool     // transforms have, and sums and dst stand slab by slab
	sliced  bool     // slices have, of the stored tiles; first and images are those images
	split   bool     // stored tiles and others take turns
	first   int
	images  int
	ctx     context.Context
	stopped atomic.Bool
	all     tileWeights[T]
	ws      *Workspace[T]
	// The methods flat, tile and slice as function values, bound once, so that passing them to goroutines does not allocate.
	runFlat, runTile, runSlice func(worker, i, _ int)
}

// each computes a layer in parallel, for runs of rows of every image: those given, or nil for all. It returns early,
// with the context's error, once ctx is done. Other arguments are as in pass.
func (a *Arrangement[T]) each(ctx context.Context, weights *poseWeights[T], layer rowLayer[T], dst, f []T, batch int, add bool,
	runs []RowRun, base []T,
	ws *Workspace[T]) error {
	if batch == 0 || a.Rows == 0 {
		return ctx.Err()
	}
	s := ws.pass
	if s == nil {
		s = &pass[T]{}
		s.runFlat, s.runTile, s.runSlice = s.flat, s.tile, s.slice
		ws.pass = s
	}
	s.runs, s.base, s.sums, s.slabs = runs, base, ws.transforms.sums, ws.transforms.sums != nil && ws.transforms.slabs
	s.a, s.weights, s.layer, s.dst, s.f, s.add, s.batch, s.ctx, s.ws = a, weights, layer, dst, f, add, batch, ctx, ws
	s.split, s.sliced, s.first, s.images = false, false, 0, batch
	s.stopped.Store(false)
	n := workers()
	for len(ws.workers) < n {
		ws.workers = append(ws.workers, workspace[T]{})
	}
	if a.Flat() {
		s.all = tileWeights[T]{poseWeights: weights, poses: a.Poses(), stored: weights.table}
		parallel.ForWorkers(batch*s.chunks(), 1, n, s.runFlat)
	} else {
		s.tiles(n)
	}
	s.layer, s.dst, s.f, s.ctx, s.runs, s.base, s.sums = nil, nil, nil, nil, nil, nil, nil // do not keep the caller's data alive
	return ctx.Err()
}

// checkRuns panics on runs that a flat arrangement does not have, and on an arrangement that is not flat.
func (a *Arrangement[T]) checkRuns(where string, runs []RowRun) {
	if !a.Flat() {
		panic("layers: " + where + ": rows by themselves need a flat arrangement")
	}
	for _, r := range runs {
		if r.Lo < 0 || r.Hi < r.Lo || r.Hi > a.Rows {
			panic(fmt.Sprintf("layers: %s: rows %d to %d, need a part of 0 to %d", where, r.Lo, r.Hi, a.Rows))
		}
	}
}

// stop reports whether the context is done.
func (s *pass[T]) stop() bool {
	if !s.stopped.Load() && s.ctx.Err() != nil {
		s.stopped.Store(true)
	}
	return s.stopped.Load()
}

// chunks is how many runs of rows an image has under a flat arrangement.
func (s *pass[T]) chunks() int {
	if s.runs != nil {
		return len(s.runs)
	}
	return (s.a.Rows + flatRows - 1) / flatRows
}

// flat computes a run of rows of one image.
func (s *pass[T]) flat(worker, i, _ int) {
	if s.stop() {
		return
	}
	n := s.chunks()
	run := RowRun{i % n * flatRows, min((i%n+1)*flatRows, s.a.Rows)}
	if s.runs != nil {
		run = s.runs[i%n]
	}
	s.layer.rows(s, &s.ws.workers[worker], &s.all, run.Lo, run.Hi, i/n, 1)
}

// tile computes a tile of the pass's images, unless its turn is another.
func (s *pass[T]) tile(worker, i, _ int) {
	if s.stop() || s.split && s.sliced != s.weights.isSliced(i) {
		return
	}
	t, w := &s.a.tiles[i], &s.ws.workers[worker]
	w.tile = s.weights.tile(s.a, i, w)
	s.layer.rows(s, w, &w.tile, t.lo, t.hi, s.first, s.images)
}

// slabSums gathers the sums of rows lo to hi of an image.
func (s *pass[T]) slabSums(w *workspace[T], lo, hi, image, c int) []T {
	x := buffers.Sized(&w.sum, (hi-lo)*c)
	first, points := s.ws.transforms.first, s.ws.transforms.points
	GatherSlabs(x, s.sums[image*points*c:(image+1)*points*c], c, lo-first, hi-first)
	return x
}

// toSlabs sets rows lo to hi of an image of dst to y [hi-lo, c], or to ReLU(dst + y).
func (s *pass[T]) toSlabs(w *workspace[T], y []T, lo, hi, image, c int) {
	dst := s.dst[image*s.a.Rows*c : (image+1)*s.a.Rows*c]
	lines := spectral.CopyLines
	if s.add {
		lines = spectral.AddLinesReLU
	}
	for slab := range c / slabWidth {
		lines(buffers.F32(s.a.slabOf(dst, slab, lo, hi)), slabWidth, buffers.F32(y[slab*slabWidth:]), c, hi-lo)
	}
}
