package schedule

import (
	"runtime"
	"slices"

	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/internal/radix"
	"github.com/equivcnp/equivcnp/internal/reuse"
)

// Options say how rows are cut into tiles.
type Options struct {
	// A tile is full when it has that many poses or, if Rows is not 0, that many rows. Rows of one class are only separated where
	// the tile would otherwise grow fourfold.
	Poses, Rows int
	// Number gives the points new numbers; nil keeps the old ones.
	Number []int32
	// AsListed leaves the pairs of a row in their order, and Same is false for all rows.
	AsListed bool
	// Orbits arranges rows that come in fours in groups, whose poses are numbered by use.
	Orbits bool
	// Stop, if not nil, is called before every tile. Once it returns true, there is no result.
	Stop func() bool
}

// Tiles are rows in an order, cut into tiles, with their pairs.
type Tiles struct {
	Order       []int32 // the row that is the k-th
	Offsets     []int   // of the k-th row
	Index, Pose []int32 // Pose counts within the tile's Poses
	Same        []bool  // the k-th row lists the poses of the one before, in the same order
	Tiles       []Tile
}

// Tile is the k-th rows, Lo ≤ k < Hi, and the poses that they have, by first use or, with groups of fours, by use.
type Tile struct {
	Lo, Hi int
	Poses  []int32
	Orbits []int32 // groups of fours; nil: none
}

// Of returns the pairs of a tile's rows.
func (t *Tiles) Of(tile *Tile) (offsets []int, index, pose []int32, same []bool) {
	a, b := t.Offsets[tile.Lo], t.Offsets[tile.Hi]
	return t.Offsets[tile.Lo : tile.Hi+1], t.Index[a:b], t.Pose[a:b], t.Same[tile.Lo:tile.Hi]
}

// Tile cuts the rows, in that order, into tiles. The pairs of a row are ordered by the poses' places within the tile, so rows of
// a class list their poses in the same order; with AsListed the pairs keep their order. The work is divided among goroutines; the
// result does not depend on how many. It is nil if the work was stopped.
func (r *Rows) Tile(order []int32, opt Options) *Tiles {
	scratch := make([]int32, r.Poses)
	tiles := r.cut(order, scratch, opt)
	if tiles == nil {
		return nil
	}
	clear(scratch)
	t := &Tiles{Order: order, Offsets: r.offsets(order), Index: make([]int32, len(r.Index)), Pose: make([]int32, len(r.Pose)),
		Same: make([]bool, len(order)), Tiles: tiles}
	// A plan's memory is greatest here, so builders are few and small, and leave no garbage: the first takes the scratch memory of cut.
	builders := make([]*builder, runtime.GOMAXPROCS(0))
	builders[0] = &builder{rows: r, tiles: t, asListed: opt.AsListed, local: scratch}
	if !parallel.UntilWorkers(opt.Stop, len(t.Tiles), 1, len(builders), func(worker, k, _ int) {
		b := builders[worker]
		if b == nil {
			b = &builder{rows: r, tiles: t, asListed: opt.AsListed, local: make([]int32, r.Poses)}
			builders[worker] = b
		}
		b.tile(&t.Tiles[k])
		if tile := &t.Tiles[k]; opt.Number != nil {
			part := t.Index[t.Offsets[tile.Lo]:t.Offsets[tile.Hi]]
			for i, x := range part {
				part[i] = opt.Number[x]
			}
		}
		if opt.Orbits {
			b.orbits.tile(b, &t.Tiles[k])
		}
	}) {
		return nil
	}
	return t
}

// cut divides an order into tiles, whose poses are not known yet; no row makes no tile. counted [poses] is zero. It returns nil if it was
// stopped.
func (r *Rows) cut(order, counted []int32, opt Options) []Tile {
	if len(order) == 0 {
		return []Tile{}
	}
	if opt.Rows == 0 {
		opt.Rows = len(order)
	}
	var tiles []Tile
	lo, poses := 0, 0
	if !parallel.UntilWorkers(opt.Stop, len(order), grain, 1, func(_, from, to int) {
		for k := from; k < to; k++ {
			i := order[k]
			sibling := k > lo && r.Class[i] == r.Class[order[k-1]]
			full := func(times int) bool { return poses >= times*opt.Poses || k-lo >= times*opt.Rows }
			if k > lo && (full(4) || full(1) && !sibling) {
				tiles = append(tiles, Tile{Lo: lo, Hi: k})
				lo, poses, sibling = k, 0, false
			}
			if sibling {
				continue
			}
			tile := int32(len(tiles) + 1) // counted is the last tile that a pose was counted in, from 1
			_, row := r.Row(int(i))
			for _, q := range row {
				if counted[q] != tile {
					counted[q] = tile
					poses++
				}
			}
		}
	}) {
		return nil
	}
	return append(tiles, Tile{Lo: lo, Hi: len(order)})
}

// builder is the scratch memory with which a goroutine makes tiles.
type builder struct {
	rows     *Rows
	tiles    *Tiles
	asListed bool
	local    []int32 // of each pose the place within the tile, plus one; all 0 between tiles
	poses    []int32 // those of the tile so far
	rank     []int32 // of each pose of the tile the place in a row, plus one; all 0 unless learned
	learned  bool
	orbits   orbits
	// Scratch for sorting.
	keys, spare []uint64
}

// tile lists the pairs of a tile's rows, those of every row by their poses' places within the tile.
func (b *builder) tile(tile *Tile) {
	r, t := b.rows, b.tiles
	first, once := tile.Lo, false // the first row of the current class; it has no pose twice, and rank knows it
	b.poses = b.poses[:0]
	for k := tile.Lo; k < tile.Hi; k++ {
		i := t.Order[k]
		index, pose := r.Row(int(i))
		from, to := t.Offsets[k], t.Offsets[k+1]
		if k > tile.Lo && r.Class[i] == r.Class[t.Order[k-1]] && !b.asListed {
			if k == first+1 {
				once = b.learn(t.Pose[t.Offsets[first]:from])
			}
			t.Same[k] = true
			if once {
				for e, q := range pose {
					t.Index[from+int(b.rank[b.local[q]-1])-1] = index[e]
				}
				copy(t.Pose[from:to], t.Pose[t.Offsets[k-1]:from])
				continue
			}
		} else {
			b.forget(t.Pose[t.Offsets[first]:t.Offsets[first+1]])
			first = k
		}
		copy(t.Index[from:to], index)
		for e, q := range pose {
			if b.local[q] == 0 {
				b.poses = append(b.poses, q)
				b.local[q] = int32(len(b.poses))
			}
			t.Pose[from+e] = b.local[q] - 1
		}
		if !b.asListed {
			b.sort(t.Index[from:to], t.Pose[from:to], len(b.poses))
		}
	}
	b.forget(t.Pose[t.Offsets[first]:t.Offsets[first+1]])
	for _, q := range b.poses {
		b.local[q] = 0
	}
	tile.Poses = append([]int32(nil), b.poses...)
}

// learn sets rank for the poses of a row, and reports whether each occurs once.
func (b *builder) learn(pose []int32) bool {
	b.learned = true
	if n := len(b.poses); len(b.rank) < n {
		b.rank = append(b.rank, make([]int32, n-len(b.rank))...)
	}
	for e, q := range pose {
		if b.rank[q] != 0 {
			return false
		}
		b.rank[q] = int32(e + 1)
	}
	return true
}

// forget undoes learn.
func (b *builder) forget(pose []int32) {
	if !b.learned {
		return
	}
	b.learned = false
	for _, q := range pose {
		b.rank[q] = 0
	}
}

// sort orders the pairs of a row by pose; pairs of one pose keep their order. There are so many poses.
func (b *builder) sort(index, pose []int32, poses int) {
	if slices.IsSorted(pose) {
		return
	}
	n := len(pose)
	b.keys, b.spare = reuse.Sized(b.keys, n), reuse.Sized(b.spare, n)
	for k, q := range pose {
		b.keys[k] = uint64(q)<<32 | uint64(uint32(index[k]))
	}
	b.keys, b.spare = radix.ByUpper(b.keys, b.spare, uint32(poses))
	for k, v := range b.keys {
		index[k], pose[k] = int32(uint32(v)), int32(v>>32)
	}
}
