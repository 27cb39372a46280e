package layers

import (
	"github.com/equivcnp/equivcnp/internal/depthwise"
	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/internal/schedule"
	"github.com/equivcnp/equivcnp/layers/internal/buffers"
	"github.com/equivcnp/equivcnp/layers/internal/nodal"
	"github.com/equivcnp/equivcnp/neighbor"
)

// Where most poses have only a few pairs, there are many times more weights than features, and the speed depends on how often
// weights come from memory. So rows are computed in tiles. A tile's weights are computed slice by slice in the second-level
// cache, used there for all rows and images, and then forgotten.

// tiled reports whether convolutions go by tiles and take weights slice by slice.
func (p *Pairs[T]) tiled() bool { return buffers.SizeOf[T]() != 4 || !Flat(p.Neighborhood) }

// byFours reports whether convolutions of c channels take rows by fours.
func (p *Pairs[T]) byFours(c int) bool {
	if buffers.SizeOf[T]() != 4 || !depthwise.HaveOrbitsGrad() || c%depthwise.OrbitChannels != 0 || !p.tiled() {
		return false
	}
	p.sorted.tileOnce[1].Do(func() { p.tiling[1] = p.tileFours() })
	return p.tiling[1] != nil
}

// tileWidth is how many of c channels form a slice of the weights of a tile; in float64 a slice has all.
func (p *Pairs[T]) tileWidth(c int) int {
	switch {
	case p.byFours(c):
		return depthwise.OrbitChannels
	case buffers.SizeOf[T]() == 4:
		return min(buffers.SliceWidth, c)
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
		if buffers.SizeOf[T]() == 4 { // so that pairs of poses with similar numbers are near each other, too
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
			case buffers.SizeOf[T]() == 4:
				t.poses = depthwise.NewPoses(n.Offsets, n.Index, n.Pose, n.Queries, n.NumPoses())
				t.places = make([]nodal.Places, t.poses.Parts())
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

// inTableOrder returns windows whose poses are numbered as in poseTable, for convolutions of c channels.
func (p *Pairs[T]) inTableOrder(w *windowed[T], c int) *windowed[T] {
	if w == nil || !p.tiled() || p.tiles(c).old == nil {
		return w
	}
	old := p.tiles(c).old
	pose := make([]T, len(old))
	for to, q := range old {
		pose[to] = w.pose[q]
	}
	return &windowed[T]{pose, w.row}
}
