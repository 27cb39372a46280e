package layers

import (
	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/internal/schedule"
	"github.com/equivcnp/equivcnp/layers/internal/buffers"
)

// tableBytes is the size up to which a layer keeps the weights of all distinct poses at once. Beyond it, the poses of one tile of
// rows at a time are evaluated and used while they are in the cache, so that memory stays bounded.
const tableBytes = 32 << 20

// evalTiles says where the tiles of rows end whose weights are evaluated together. Pairs stay in their order, so the bits are the
// same as with a table of all weights.
var evalTiles = schedule.Options{Poses: 1 << 13, Rows: chunkRows, AsListed: true}

// weightedRows are some output rows with their pairs and weights, in the form that the kernels in simd take.
type weightedRows[T Float] struct {
	rows        []int32 // the numbers of the rows; nil: lo, lo+1, ..
	lo, n       int
	offsets     []int
	index, pose []int32
	weights     []T // [p', out], pose indexes into it
}

// row returns the i-th of the rows.
func (t *weightedRows[T]) row(i int) int {
	if t.rows == nil {
		return t.lo + i
	}
	return int(t.rows[i])
}

// withWeights passes every output row of p, with the weights that the WeightNet and the window compute for it, to
// consume exactly once, from several goroutines. consume may write these output rows only. It gets at most chunkRows
// rows at a time.
func withWeights[T Float](p *Pairs[T], net *folded[T], win *windowed[T], consume func(worker int, t *weightedRows[T])) {
	if p.NumPoses()*net.out()*buffers.SizeOf[T]() > tableBytes {
		withEvaluated(p, net, win, consume)
		return
	}
	w := make([]T, p.NumPoses()*net.out())
	net.forwardAll(w, p.Table, p.NumPoses())
	scaleRows(w, win.poses(), net.out())
	withTable(p, w, consume)
}

// withTable is withWeights, given the weights of all poses.
func withTable[T Float](p *Pairs[T], w []T, consume func(worker int, t *weightedRows[T])) {
	parallel.ForWorkers(p.Queries, chunkRows, workers(), func(worker, lo, hi int) {
		a, b := p.Offsets[lo], p.Offsets[hi]
		consume(worker, &weightedRows[T]{
			lo: lo, n: hi - lo, offsets: p.Offsets[lo : hi+1], index: p.Index[a:b], pose: p.Pose[a:b], weights: w,
		})
	})
}

// withEvaluated is withWeights by tiles; the poses of each tile are evaluated for it alone.
func withEvaluated[T Float](p *Pairs[T], net *folded[T], win *windowed[T], consume func(worker int, t *weightedRows[T])) {
	type state struct{ poses, weights, factors, scratch []T }
	rows := rowsOf(p.Neighborhood, nil)
	s, states, e := rows.Tile(p.order(rows), evalTiles), make([]state, workers()), net.in()
	parallel.ForWorkers(len(s.Tiles), 1, len(states), func(worker, k, _ int) {
		tile, w := &s.Tiles[k], &states[worker]
		if w.scratch == nil {
			w.scratch = net.scratch()
		}
		w.poses = w.poses[:0]
		for _, q := range tile.Poses {
			w.poses = append(w.poses, p.Table[int(q)*e:(int(q)+1)*e]...)
		}
		weights := buffers.Sized(&w.weights, len(tile.Poses)*net.out())
		net.forward(weights, w.poses, len(tile.Poses), w.scratch)
		scaleRows(weights, factorsOf(&w.factors, win.poses(), tile.Poses, 0), net.out())
		for lo := tile.Lo; lo < tile.Hi; lo += chunkRows {
			hi := min(lo+chunkRows, tile.Hi)
			a, b := s.Offsets[lo], s.Offsets[hi]
			consume(worker, &weightedRows[T]{
				rows: s.Order[lo:hi], n: hi - lo, offsets: s.Offsets[lo : hi+1], index: s.Index[a:b], pose: s.Pose[a:b], weights: weights,
			})
		}
	})
}
