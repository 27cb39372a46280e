package layers

import (
	"github.com/equivcnp/equivcnp/internal/bicubic"
	"github.com/equivcnp/equivcnp/internal/depthwise"
	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/internal/schedule"
	"github.com/equivcnp/equivcnp/layers/internal/buffers"
	"github.com/equivcnp/equivcnp/layers/internal/check"
	"github.com/equivcnp/equivcnp/layers/internal/nodal"
	"github.com/equivcnp/equivcnp/neighbor"
	"github.com/equivcnp/equivcnp/simd"
)

// tile is rows lo to hi of an order, whose weights are computed together, and the poses that they need.
type tile[T Float] struct {
	lo, hi  int
	poses   []int32             // by first use
	table   []T                 // the coordinates of those poses, [poses, e]
	between *nodal.Places       // of those poses, for float32
	rows    *simd.DepthwiseRows // for depthwise convolutions in float32
	// Groups of rows that come in fours, for the same convolutions, as written by package schedule and as planned; nil: none.
	code   []int32
	orbits *depthwise.Orbits
}

// newTiles returns the tiles of a schedule, with the coordinates of their poses; poses holds those of all. It returns nil if stop, which
// may be nil, returned true.
func newTiles[T, P Float](s *schedule.Tiles, poses []P, dim int, stop func() bool) []tile[T] {
	tiles := make([]tile[T], len(s.Tiles))
	if !parallel.Until(stop, len(tiles), 1, func(k, _ int) {
		from := &s.Tiles[k]
		t := tile[T]{lo: from.Lo, hi: from.Hi, poses: from.Poses, code: from.Orbits, table: make([]T, 0, len(from.Poses)*dim),
			between: &nodal.Places{}}
		for _, q := range t.poses {
			for _, v := range poses[int(q)*dim : (int(q)+1)*dim] {
				t.table = append(t.table, T(v))
			}
		}
		tiles[k] = t
	}) {
		return nil
	}
	return tiles
}

// rowsOf returns a neighbourhood in the form that package schedule takes, or nil if stop, which may be nil, returned true.
func rowsOf(n *neighbor.Neighborhood, stop func() bool) *schedule.Rows {
	c := n.ClassesUntil(stop)
	if c == nil {
		return nil
	}
	return &schedule.Rows{Offsets: n.Offsets, Index: n.Index, Pose: n.Pose, Poses: n.NumPoses(), Class: c.Of, Lead: c.Lead}
}

// Flat reports whether a neighbourhood's arrangement is best flat.
func Flat(n *neighbor.Neighborhood) bool {
	check.Given("Flat", "n", n != nil)
	return schedule.Flat(n.NumPoses(), n.Pairs())
}

// placesOf returns where the poses of a tile lie between the nodes.
func placesOf[T Float](n *nodal.Table, t *tile[T]) *bicubic.Plan {
	return t.between.Of(buffers.F32(t.table), n)
}

// tiling is a neighbourhood in an order in which few weights and few features are needed at a time.
type tiling[T Float] struct {
	table        []T     // [poses, e]; for float32 in the order in which tiles use them
	count        []int32 // the number of pairs of each pose
	old          []int32 // the numbers of the poses in the neighbourhood's table; nil: the same
	query, point rowTiles[T]
	poses        *depthwise.Poses // float32 only, without fours: the pairs by pose
	grids        nodal.Grids
	places       []nodal.Places // of the parts of poses
	fours        bool           // rows go by fours, and features are packed by packFours
	starts       []int          // with fours: the first of each of the queries' tiles' poses in table, which follow each other there
}

// rowTiles holds the tiles of one side: of the queries, or of the points.
type rowTiles[T Float] struct {
	*schedule.Tiles // without the pairs for float32: plans have them
	tiles           []tile[T]
	batch           []*depthwise.Batch  // of each tile, for float32 without fours
	fours           []*depthwise.Orbits // of each tile, with fours
	mean            bool                // sums are divided by the number of pairs
}

// partPlaces is where the poses of part k of the weights' gradient lie between nodes.
func (t *tiling[T]) partPlaces(k int) *nodal.Places {
	if t.fours {
		return t.query.tiles[k].between
	}
	return &t.places[k]
}

// trainTiles says where tiles end. A slice of the weights of that many poses takes a quarter of a second-level cache of 2 MB, and
// the hidden channels that it is computed from take another quarter. The other half is left for the features of several images. A
// tile of half as many poses would use nearly as many features.
var trainTiles = schedule.Options{Poses: 1 << 12, Rows: rowGrain}

// newRowTiles arranges a neighbourhood for sums or means. Its points are its queries, and its poses are those of a table.
func newRowTiles[T Float](r *schedule.Rows, order []int32, table []T, dim int, mean bool) rowTiles[T] {
	s := r.Tile(order, trainTiles)
	t := rowTiles[T]{Tiles: s, tiles: newTiles[T](s, table, dim, nil), mean: mean}
	if buffers.SizeOf[T]() != 4 {
		return t
	}
	t.batch = make([]*depthwise.Batch, len(t.tiles))
	parallel.For(len(t.tiles), 1, func(k, _ int) {
		from := &s.Tiles[k]
		offsets, index, pose, same := s.Of(from)
		t.batch[k] = depthwise.NewBatch(order[from.Lo:from.Hi], offsets, index, pose, same, r.Len(), r.Len(), len(from.Poses), mean)
	})
	t.Tiles = &schedule.Tiles{Order: order}
	return t
}

// foursPoses is about how many poses a tile of fours has: a slice of their weights takes 256 KB, half of the smallest
// second-level cache that is common.
const foursPoses = 1 << 12

// newFours arranges a neighbourhood for sums or means by fours. Points have new numbers. The tiles' poses are those of
// the neighbourhood, and have no tables yet.
func newFours[T Float](r *schedule.Rows, order, number []int32, mean bool) rowTiles[T] {
	s := r.Tile(order, schedule.Options{Poses: foursPoses, Number: number, Orbits: true})
	t := rowTiles[T]{Tiles: s, tiles: newTiles[T, T](s, nil, 0, nil), mean: mean, fours: make([]*depthwise.Orbits, len(s.Tiles))}
	parallel.For(len(s.Tiles), 1, func(k, _ int) {
		from := &s.Tiles[k]
		offsets, index, pose, same := s.Of(from)
		t.fours[k] = depthwise.NewOrbits(from.Orbits, offsets, index, pose, same, r.Len(), len(from.Poses), mean)
	})
	return t
}

// poseSlices computes the convolution weights of a tile's poses slice by slice; a WeightNetTape implements it.
type poseSlices[T Float] interface {
	hidden(tile *tile[T]) []T                    // what the slices of its poses are computed from, from rent; nil: nothing
	slice(dst, hidden []T, tile *tile[T], k int) // sets dst [poses, width] to slice k; slices have Pairs.tileWidth channels
}
