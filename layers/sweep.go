package layers

import (
	"runtime"
	"slices"

	"github.com/equivcnp/equivcnp/internal/parallel"
)

// tableBytes is the size up to which a layer keeps the weights of all distinct poses at once. Beyond it the poses of a
// few rows at a time are evaluated and consumed while they are in cache, and memory stays bounded.
const tableBytes = 32 << 20

// tileRows is the number of output rows of such a tile.
const tileRows = 32

// tile is a set of output rows with their pairs, as the kernels in simd take them.
type tile[T Float] struct {
	rows        []int32 // output rows; nil means lo, lo+1, ..
	lo, n       int
	offsets     []int
	index, pose []int32
	weights     []T // [p', out], pose indexes into it
}

// row is the output row of the tile's i-th row.
func (t *tile[T]) row(i int) int {
	if t.rows == nil {
		return t.lo + i
	}
	return int(t.rows[i])
}

// sweep evaluates the WeightNet on the poses of p and hands every output row, with the weights that it needs, to
// consume exactly once, from several goroutines; consume may write the tile's output rows only.
func sweep[T Float](p *Pairs[T], net *folded[T], consume func(worker int, t *tile[T])) {
	var zero T
	size := 4
	if _, ok := any(zero).(float64); ok {
		size = 8
	}
	if p.NumPoses()*net.out()*size <= tableBytes {
		w := make([]T, p.NumPoses()*net.out())
		net.forwardAll(w, p.Table, p.NumPoses())
		sweepTable(p, w, consume)
		return
	}
	sweepTiles(p, net, consume)
}

// sweepTable hands out the rows of p in chunks, given the weights of all poses.
func sweepTable[T Float](p *Pairs[T], w []T, consume func(worker int, t *tile[T])) {
	parallel.ForWorkers(p.Queries, tileRows, workers(), func(worker, lo, hi int) {
		a, b := p.Offsets[lo], p.Offsets[hi]
		consume(worker, &tile[T]{
			lo: lo, n: hi - lo, offsets: p.Offsets[lo : hi+1], index: p.Index[a:b], pose: p.Pose[a:b], weights: w,
		})
	})
}

// workers is the number of goroutines of a sweep, and so of the scratch buffers that a caller needs.
func workers() int { return runtime.GOMAXPROCS(0) }

// sweepTiles evaluates the poses of tileRows rows at a time. Under rotation groups the rotated copies of a row have the
// same poses: pose ids grow in order of first use, so ordering rows by their largest id puts the copies side by side
// and each pose is evaluated about once.
func sweepTiles[T Float](p *Pairs[T], net *folded[T], consume func(worker int, t *tile[T])) {
	order, key := make([]int32, p.Queries), make([]int32, p.Queries)
	for i := range order {
		order[i], key[i] = int32(i), -1
		_, pose := p.Row(i)
		for _, k := range pose {
			key[i] = max(key[i], k)
		}
	}
	slices.SortStableFunc(order, func(a, b int32) int { return int(key[a]) - int(key[b]) })

	e, out := net.in(), net.out()
	type state struct {
		local       []int32 // [p] index among the tile's poses plus one, 0: not among them
		used        []int32
		offsets     []int
		index, pose []int32
		table, w    []T
		scratch     []T
	}
	states := make([]*state, workers())
	parallel.ForWorkers(p.Queries, tileRows, len(states), func(worker, lo, hi int) {
		s := states[worker]
		if s == nil {
			s = &state{local: make([]int32, p.NumPoses()), scratch: net.scratch()}
			states[worker] = s
		}
		s.used, s.index, s.pose, s.table = s.used[:0], s.index[:0], s.pose[:0], s.table[:0]
		s.offsets = append(s.offsets[:0], 0)
		for _, i := range order[lo:hi] {
			index, pose := p.Row(int(i))
			s.index = append(s.index, index...)
			for _, k := range pose {
				if s.local[k] == 0 {
					s.used = append(s.used, k)
					s.local[k] = int32(len(s.used))
					s.table = append(s.table, p.Table[int(k)*e:(int(k)+1)*e]...)
				}
				s.pose = append(s.pose, s.local[k]-1)
			}
			s.offsets = append(s.offsets, len(s.index))
		}
		for _, k := range s.used {
			s.local[k] = 0
		}
		s.w = slices.Grow(s.w[:0], len(s.used)*out)[:len(s.used)*out]
		net.forward(s.w, s.table, len(s.used), s.scratch)
		consume(worker, &tile[T]{
			rows: order[lo:hi], n: hi - lo, offsets: s.offsets, index: s.index, pose: s.pose, weights: s.w,
		})
	})
}
