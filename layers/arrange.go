package layers

import (
	"fmt"
	"slices"
	"sync"

	"github.com/equivcnp/equivcnp/internal/depthwise"
	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/internal/schedule"
	"github.com/equivcnp/equivcnp/internal/spectral"
	"github.com/equivcnp/equivcnp/layers/internal/buffers"
	"github.com/equivcnp/equivcnp/layers/internal/check"
	"github.com/equivcnp/equivcnp/layers/internal/nodal"
	"github.com/equivcnp/equivcnp/neighbor"
	"github.com/equivcnp/equivcnp/simd"
)

// Arrangement is a neighbourhood in the order in which a plan computes it. It is made once and then only read, by any number of
// goroutines. All layers of one radius share it.
//
// Where few poses stand for many pairs (translations on a grid) the arrangement is flat: rows keep their order, or are sorted by
// lift; the weights of all poses fit the cache; and neighbouring rows are computed together (simd.DepthwisePlan). Otherwise rows
// are computed in tiles (package schedule).
type Arrangement[T Float] struct {
	// Rows is the number of queries, and of rows of the features that they gather from. A query that is no point of any
	// neighbourhood has a row of features as well, which is never read.
	Rows int

	dim, poses  int // e, and the number of poses
	across      int // rows are the points of a grid with so many in each of its rows; 0: of none
	offsets     []int
	index, pose []int32                      // in a tiled arrangement, pose counts within the tile's weights
	derived     func() (index, pose []int32) // of a grid, after ForgetPairs
	// Flat:
	table []T // [poses, e]
	// For depthwise convolutions in float32: the pairs arranged for sums over them, and, where the rows are those of a
	// grid and it is worth it, how transforms go along the grid's rows. With transforms, direct is made when it is
	// first needed.
	direct     func() *simd.DepthwisePlan
	transforms *spectral.Tiling
	scale      []float32 // with transforms: what the sum of each row is multiplied by
	// Tiled:
	tiles []tile[T]
	most  int    // the greatest number of poses of a tile
	tall  int    // and of rows
	same  []bool // for depthwise convolutions in float32: rows that list the poses of the row before, in the same order
	slice int    // how many channels of features are stored side by side
	grids nodal.Grids

	window *windowed[T] // nil: WindowBox; rows are the arrangement's, poses the neighbourhood's
	file   Archive      // that arrays are part of, if they were read; it must stay reachable
}

// planPoses is about how many poses a tile of a plan has: a slice of their weights takes three quarters of a megabyte of the
// second-level cache, and leaves room for the features that they are multiplied with.
const planPoses = 3 << 11

// Order returns the order in which arrangements compute the rows of a neighbourhood of points at positions x [rows, 2] with that many
// lifts each. nil means that rows keep their order. stop, if not nil, is called now and then; once it returns true, the result must not
// be used.
func Order(n *neighbor.Neighborhood, x []float64, lifts int, flat bool, stop func() bool) []int32 {
	check.Given("Order", "n", n != nil)
	check.Size("Order", "lifts", lifts)
	switch {
	case !flat:
		check.Len("Order", "x", len(x), n.Queries, 2)
		if r := rowsOf(n, stop); r != nil {
			return r.Order(x)
		}
	case lifts > 1:
		return schedule.ByLift(n.Queries, lifts)
	}
	return nil
}

// Arrange arranges a neighbourhood whose queries and points are the same rows, or whose points are its first queries.
// Row i of the result is row order[i] of n (order nil: row i). All arrangements that one set of features passes through
// must have the same order, and all be flat or none. algorithm says how separable convolutions will be computed; window
// is that of the layers, nil for WindowBox. stop, if not nil, is called now and then; once it returns true, the result
// must not be used. It panics if order does not have each row once, or algorithm is none of the constants.
func Arrange[T Float](n *neighbor.Neighborhood, order []int32, flat bool, algorithm Algorithm, window *Windowing,
	stop func() bool) *Arrangement[T] {
	check.Given("Arrange", "n", n != nil)
	if !slices.Contains(Algorithms, algorithm) && algorithm != NoDepthwise && algorithm != TransformsOnly {
		panic(fmt.Sprintf("layers: Arrange: unknown algorithm %q", algorithm))
	}
	if order != nil {
		check.Len("Arrange", "order", len(order), n.Queries)
		seen := make([]bool, n.Queries)
		for i, from := range order {
			if from < 0 || int(from) >= n.Queries || seen[from] {
				panic(fmt.Sprintf("layers: Arrange: order[%d] = %d of %d rows, need each of them once", i, from, n.Queries))
			}
			seen[from] = true
		}
	}
	if window != nil {
		check.Given("Arrange", "window.Group", window.Group != nil)
	}
	a := &Arrangement[T]{Rows: n.Queries, dim: n.PoseDim, poses: n.NumPoses(), across: n.Across}
	if flat {
		a.arrangeFlat(n, order, stop)
	} else {
		a.arrangeTiles(n, order, algorithm != NoDepthwise && algorithm != TransformsOnly, stop)
	}
	if window != nil {
		a.window = windowsOf[T](n, window.Window, window.Radius, distances(window.Group, n))
		if order != nil {
			row := a.window.row
			a.window.row = make([]T, len(order))
			for to, from := range order {
				a.window.row[to] = row[from]
			}
		}
	}
	if flat && algorithm != NoDepthwise && buffers.SizeOf[T]() == 4 && !stopped(stop) {
		a.choose(algorithm, stop)
	}
	return a
}

func (a *Arrangement[T]) arrangeFlat(n *neighbor.Neighborhood, order []int32, stop func() bool) {
	a.offsets, a.index, a.pose = n.Offsets, n.Index, n.Pose
	if order != nil {
		r := (&schedule.Rows{Offsets: n.Offsets, Index: n.Index, Pose: n.Pose}).Reorder(order, stop)
		if r == nil {
			return
		}
		a.offsets, a.index, a.pose = r.Offsets, r.Index, r.Pose
	}
	a.table = make([]T, len(n.Poses))
	for i, v := range n.Poses {
		a.table[i] = T(v)
	}
}

func (a *Arrangement[T]) arrangeTiles(n *neighbor.Neighborhood, order []int32, channelwise bool, stop func() bool) {
	if order == nil {
		order = schedule.ByLift(n.Queries, 1)
	}
	r := rowsOf(n, stop)
	if r == nil {
		return
	}
	orbits := buffers.SizeOf[T]() == 4 && r.Quarters()
	if a.slice = buffers.SliceWidth; orbits {
		a.slice = depthwise.OrbitChannels
	}
	s := r.Tile(order, schedule.Options{Poses: planPoses, Number: schedule.Inverse(order), Orbits: orbits && channelwise, Stop: stop})
	if s == nil {
		return
	}
	a.offsets, a.index, a.pose = s.Offsets, s.Index, s.Pose
	if a.tiles = newTiles[T](s, n.Poses, n.PoseDim, stop); a.tiles == nil {
		return
	}
	a.measure()
	if buffers.SizeOf[T]() == 4 && channelwise {
		a.same = s.Same
		a.makeRows(stop)
	}
}

// Agree makes the arrangements that one set of features passes through store it in the same layout, and reports whether
// they did so before.
func Agree[T Float](all []*Arrangement[T]) bool {
	most, alike := 0, true
	for _, a := range all {
		most = max(most, a.slice)
	}
	for _, a := range all {
		alike = alike && a.slice == most
		a.slice = most
	}
	return alike
}

// measure finds the largest tile.
func (a *Arrangement[T]) measure() {
	for i := range a.tiles {
		t := &a.tiles[i]
		a.most, a.tall = max(a.most, len(t.poses)), max(a.tall, t.hi-t.lo)
	}
}

// Pairs returns the number of pairs of the neighbourhood.
func (a *Arrangement[T]) Pairs() int { return a.offsets[a.Rows] }

// Poses returns the number of distinct poses.
func (a *Arrangement[T]) Poses() int { return a.poses }

// Row returns the rows that row i gathers from.
func (a *Arrangement[T]) Row(i int) []int32 {
	index, _ := a.pairs()
	return index[a.offsets[i]:a.offsets[i+1]]
}

// pairs returns index and pose.
func (a *Arrangement[T]) pairs() (index, pose []int32) {
	if a.derived != nil {
		return a.derived()
	}
	return a.index, a.pose
}

// ForgetPairs lets go of the pairs where they follow from a grid, for an arrangement that goes by transforms: they are
// made again if they are needed, where numbers are not finite or single rows are computed.
func (a *Arrangement[T]) ForgetPairs() {
	if a.transforms != nil && a.transforms.Ordered && a.derived == nil {
		a.derive(a.transforms.Grid)
	}
}

// derive lets the pairs be those of a grid, which are made when they are first needed.
func (a *Arrangement[T]) derive(g *spectral.Grid) {
	offsets := a.offsets
	a.index, a.pose = nil, nil
	a.derived = sync.OnceValues(func() (index, pose []int32) {
		index, pose = make([]int32, offsets[len(offsets)-1]), make([]int32, offsets[len(offsets)-1])
		parallel.For(len(offsets)-1, rowGrain, func(lo, hi int) { g.Pairs(index, pose, offsets, lo, hi) })
		return index, pose
	})
}

// Flat reports whether one table of weights serves all rows.
func (a *Arrangement[T]) Flat() bool { return a.tiles == nil }

// Evaluations returns the number of poses that a WeightNet is evaluated for when nothing is stored: a pose counts once
// for each tile that needs it.
func (a *Arrangement[T]) Evaluations() int {
	if a.Flat() {
		return a.Poses()
	}
	n := 0
	for i := range a.tiles {
		n += len(a.tiles[i].poses)
	}
	return n
}

// inverse is what the sum over row i's pairs is multiplied by: one over their number, or over the sum of their windows.
func (a *Arrangement[T]) inverse(i int) T {
	v := 1 / T(max(1, a.offsets[i+1]-a.offsets[i]))
	if a.window != nil {
		v *= a.window.row[i]
	}
	return v
}

// width returns the number of channels in a slice of features with c channels. Features under an arrangement are stored slice by
// slice, [c/width, rows, width]; the last slice has the remaining channels.
func (a *Arrangement[T]) width(c int) int {
	if a.Flat() {
		return max(c, 1)
	}
	return max(1, min(c, a.slice))
}

// Gather copies the features of one row to dst [c]. f holds one feature set [rows, c] in the form of the arrangement.
// It panics if the row is none of the arrangement's, or f too short.
func (a *Arrangement[T]) Gather(dst, f []T, row int) {
	check.Strided("Arrangement.Gather", "f", len(f), a.Rows, len(dst), len(dst))
	if row < 0 || row >= a.Rows {
		panic(fmt.Sprintf("layers: Arrangement.Gather: row %d of %d", row, a.Rows))
	}
	for lo, w := 0, 0; lo < len(dst); lo += w {
		w = min(a.width(len(dst)), len(dst)-lo)
		copy(dst[lo:lo+w], f[lo*a.Rows+row*w:])
	}
}

// makeRows prepares the rows of tiles, whose poses are those of the row before where a.same says so, and groups of rows that come in fours.
func (a *Arrangement[T]) makeRows(stop func() bool) {
	parallel.Until(stop, len(a.tiles), 1, func(k, _ int) {
		t := &a.tiles[k]
		from, to := a.offsets[t.lo], a.offsets[t.hi]
		offsets, index, pose, same := a.offsets[t.lo:t.hi+1], a.index[from:to], a.pose[from:to], a.same[t.lo:t.hi]
		t.rows = simd.NewDepthwiseRows(offsets, index, pose, same, a.Rows, len(t.poses))
		if len(t.code) > 0 {
			t.orbits = depthwise.NewOrbits(t.code, offsets, index, pose, same, a.Rows, len(t.poses), true)
		}
	})
}
