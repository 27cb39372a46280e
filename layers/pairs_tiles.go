package layers

import (
	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/internal/schedule"
	"github.com/equivcnp/equivcnp/neighbor"
	"github.com/equivcnp/equivcnp/simd"
)

// Where most poses have a few pairs only, weights are many times the features, and what counts is how often they come from memory.
// So rows go by tiles, whose weights are made slice by slice in the second-level cache, used there for all rows and images, and
// forgotten.

// tiling is a neighbourhood in an order that needs few weights and few features at a time.
type tiling[T Float] struct {
	table        []T     // [poses, e], for float32 in the order in which tiles meet them
	count        []int32 // how many pairs each has
	query, point rowTiles[T]
	poses        *simd.DepthwisePosePlan // float32 only: the pairs by pose
}

// rowTiles is one side of it, queries or points.
type rowTiles[T Float] struct {
	*schedule.Tiles // without the pairs for float32: plans have them
	tiles           []tile[T]
	batch           []*simd.DepthwiseBatchPlan // of each tile, for float32
	mean            bool                       // sums are divided by the number of pairs
}

// trainTiles is where tiles end. A slice of so many poses' weights takes a quarter of a second-level cache of 2 MB, and so does
// what it is made from; half is left for the features that they meet, of several images. Half as many poses meet nearly as many features.
var trainTiles = schedule.Options{Poses: 1 << 12, Rows: rowGrain}

// tiled says that convolutions go by tiles, and take weights slice by slice.
func (p *Pairs[T]) tiled() bool { return sizeof[T]() != 4 || !Flat(p.Neighborhood) }

// tiles returns the pairs in tiles.
func (p *Pairs[T]) tiles() *tiling[T] {
	p.sorted.tileOnce.Do(func() {
		rows, n := rowsOf(p.Neighborhood, nil), p.Neighborhood
		order := p.order(rows)
		t := &tiling[T]{table: p.Table, count: p.Count}
		if sizeof[T]() == 4 { // the pairs of poses with numbers close to each other are close, too
			pose, old := rows.ByFirstUse(order)
			rows.Pose, rows.Poses = pose, len(old)
			t.table, t.count = make([]T, 0, len(old)*p.PoseDim), make([]int32, len(old))
			for to, q := range old {
				t.table = append(t.table, p.Table[int(q)*p.PoseDim:(int(q)+1)*p.PoseDim]...)
				t.count[to] = p.Count[q]
			}
			n = &neighbor.Neighborhood{Queries: n.Queries, Points: n.Points, Offsets: n.Offsets, Index: n.Index, Pose: pose, PoseDim: n.PoseDim, Count: t.count}
		}
		parallel.For(3, 1, func(k, _ int) {
			switch {
			case k == 0:
				t.query = newRowTiles(rows, order, t.table, p.PoseDim, true)
			case k == 1:
				// Points that are rotated copies of each other have the same poses too, though others than queries.
				back := rowsOf(n.Transpose(), nil)
				t.point = newRowTiles(back, p.order(back), t.table, p.PoseDim, false)
			case sizeof[T]() == 4:
				t.poses = simd.NewDepthwisePosePlan(n.Offsets, n.Index, n.Pose, n.Queries, n.NumPoses())
			}
		})
		p.tiling = t
	})
	return p.tiling
}

// order returns the order in which tiles take rows, queries or points.
func (p *Pairs[T]) order(rows *schedule.Rows) []int32 {
	place := p.place
	if place == nil {
		place = make([]float64, 2*p.Queries)
	}
	return rows.Order(place)
}

// newRowTiles arranges a neighbourhood whose points are its queries and whose poses are those of a table, for sums or means.
func newRowTiles[T Float](r *schedule.Rows, order []int32, table []T, dim int, mean bool) rowTiles[T] {
	s := r.Tile(order, trainTiles)
	t := rowTiles[T]{Tiles: s, tiles: newTiles[T](s, table, dim, nil), mean: mean}
	if sizeof[T]() != 4 {
		return t
	}
	t.batch = make([]*simd.DepthwiseBatchPlan, len(t.tiles))
	parallel.For(len(t.tiles), 1, func(k, _ int) {
		from := &s.Tiles[k]
		offsets, index, pose, same := s.Of(from)
		t.batch[k] = simd.NewDepthwiseBatchPlan(order[from.Lo:from.Hi], offsets, index, pose, same, r.Len(), r.Len(), len(from.Poses), mean)
	})
	t.Tiles = &schedule.Tiles{Order: order}
	return t
}
