package layers

import (
	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/internal/schedule"
	"github.com/equivcnp/equivcnp/neighbor"
	"github.com/equivcnp/equivcnp/simd"
)

// Where most poses have only a few pairs, there are many times more weights than features, and the speed depends on how often
// weights come from memory. So rows are computed in tiles. A tile's weights are computed slice by slice in the second-level
// cache, used there for all rows and images, and then forgotten.

// tiling is a neighbourhood in an order in which few weights and few features are needed at a time.
type tiling[T Float] struct {
	table        []T     // [poses, e]; for float32 in the order in which tiles use them
	count        []int32 // the number of pairs of each pose
	old          []int32 // the numbers of the poses in the neighbourhood's table; nil: the same
	query, point rowTiles[T]
	poses        *simd.DepthwisePosePlan // float32 only, without fours: the pairs by pose
	grids        nodeGrids
	places       []nodePlaces // of the parts of poses
	fours        bool         // rows go by fours, and features are packed by packFours
	starts       []int        // with fours: the first of each of the queries' tiles' poses in table, which follow each other there
}

// rowTiles holds the tiles of one side: of the queries, or of the points.
type rowTiles[T Float] struct {
	*schedule.Tiles // without the pairs for float32: plans have them
	tiles           []tile[T]
	batch           []*simd.DepthwiseBatchPlan // of each tile, for float32 without fours
	fours           []*simd.DepthwiseOrbits    // of each tile, with fours
	mean            bool                       // sums are divided by the number of pairs
}

// trainTiles says where tiles end. A slice of the weights of that many poses takes a quarter of a second-level cache of 2 MB, and
// the hidden channels that it is computed from take another quarter. The other half is left for the features of several images. A
// tile of half as many poses would use nearly as many features.
var trainTiles = schedule.Options{Poses: 1 << 12, Rows: rowGrain}

// tiled reports whether convolutions go by tiles and take weights slice by slice.
func (p *Pairs[T]) tiled() bool { return sizeof[T]() != 4 || !Flat(p.Neighborhood) }

// byFours reports whether convolutions of c channels take rows by fours.
func (p *Pairs[T]) byFours(c int) bool {
	if sizeof[T]() != 4 || !simd.HaveOrbitsGrad() || c%simd.OrbitChannels != 0 || !p.tiled() {
		return false
	}
	p.sorted.tileOnce[1].Do(func() { p.tiling[1] = p.tileFours() })
	return p.tiling[1] != nil
}

// tileWidth is how many of c channels form a slice of the weights of a tile; in float64 a slice has all.
func (p *Pairs[T]) tileWidth(c int) int {
	switch {
	case p.byFours(c):
		return simd.OrbitChannels
	case sizeof[T]() == 4:
		return min(sliceWidth, c)
	}
	return c
}

// tiles returns the pairs in tiles, for convolutions of c channels.
func (p *Pairs[T]) tiles(c int) *tiling[T] {
	if p.byFours(c) {
		return p.tiling[1]
	}
	p.sorted.tileOnce[0].Do(func() {
		rows, n := rowsOf(p.Neighborhood, nil), p.Neighborhood
		order := p.order(rows)
		t := &tiling[T]{table: p.Table, count: p.Count}
		if sizeof[T]() == 4 { // so that pairs of poses with similar numbers are near each other, too
			pose, old := rows.ByFirstUse(order)
			rows.Pose, rows.Poses = pose, len(old)
			t.old = old
			t.table, t.count = make([]T, 0, len(old)*p.PoseDim), make([]int32, len(old))
			for to, q := range old {
				t.table = append(t.table, p.Table[int(q)*p.PoseDim:(int(q)+1)*p.PoseDim]...)
				t.count[to] = p.Count[q]
			}
			n = &neighbor.Neighborhood{Queries: n.Queries, Points: n.Points, Offsets: n.Offsets, Index: n.Index, Pose: pose,
				PoseDim: n.PoseDim, Count: t.count}
		}
		parallel.For(3, 1, func(k, _ int) {
			switch {
			case k == 0:
				t.query = newRowTiles(rows, order, t.table, p.PoseDim, true)
			case k == 1:
				// Points that are rotated copies of each other have the same poses as well, but other poses than queries.
				back := rowsOf(n.Transpose(), nil)
				t.point = newRowTiles(back, p.order(back), t.table, p.PoseDim, false)
			case sizeof[T]() == 4:
				t.poses = simd.NewDepthwisePosePlan(n.Offsets, n.Index, n.Pose, n.Queries, n.NumPoses())
				t.places = make([]nodePlaces, t.poses.Parts())
			}
		})
		p.tiling[0] = t
	})
	return p.tiling[0]
}

// order returns the order in which tiles take the rows, which are queries or points.
func (p *Pairs[T]) order(rows *schedule.Rows) []int32 {
	place := p.place
	if place == nil {
		place = make([]float64, 2*p.Queries)
	}
	return rows.Order(place)
}

// newRowTiles arranges a neighbourhood for sums or means. Its points are its queries, and its poses are those of a table.
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
