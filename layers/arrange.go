package layers

import (
	"cmp"
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/neighbor"
	"github.com/equivcnp/equivcnp/simd"
)

// Arrangement is a neighbourhood in the order in which a plan computes it. It is made once and only read afterwards, by any
// number of goroutines, and every layer of the same radius shares it.
//
// Where few poses stand for many pairs (translations on a grid) the arrangement is flat: rows keep their order or go lift by lift, the weights
// of all poses fit the cache, and neighbouring rows are computed together (simd.DepthwisePlan). Otherwise it is tiled: a
// tile is a run of rows whose weights fill part of the second-level cache. They are brought there once, from memory or out
// of the WeightNet, and used by all rows of the tile in all images of the batch.
type Arrangement[T Float] struct {
	// Rows is the number of queries, and of rows of the features that they gather from. Queries that are nobody's neighbour
	// have a row of features, too, which nothing reads.
	Rows int

	dim         int // e
	table       []T // [poses, e], numbered by first use in the order of rows
	offsets     []int
	index, pose []int32 // pose counts within the tile's weights where tiles exist
	tiles       []poseTile
	grid        *simd.DepthwisePlan // flat float32 only
	most        int                 // the greatest number of poses of a tile
}

// poseTile is a run of rows and the poses whose weights they need: those numbered first to last, which no tile before it
// has used, and then some older ones.
type poseTile struct {
	lo, hi      int
	first, last int
	older       []int32
	checked     *simd.DepthwiseRows // for depthwise convolutions in float32
}

// poses is the number of weights rows that a tile needs.
func (t *poseTile) poses() int { return t.last - t.first + len(t.older) }

// flatRatio and flatPoses say when an arrangement is flat: each pose stands for so many pairs at least, and there are so few
// that the weights of 128 channels stay within a common second-level cache.
const (
	flatRatio = 32
	flatPoses = 1 << 11
)

// tilePoses is about how many poses a tile may have: a slice of their weights takes three quarters of a megabyte of the second-level
// cache, and leaves room for the features that they meet.
const tilePoses = 3 << 11

// Flat reports whether a neighbourhood's arrangement is best flat.
func Flat(n *neighbor.Neighborhood) bool {
	return n.NumPoses() <= flatPoses && n.NumPoses()*flatRatio <= n.Pairs()
}

// RowOrder returns the order in which a tiled arrangement goes through the rows of a neighbourhood. Under rotation groups the
// rotated copies of a row have the same poses: pose numbers grow in order of first use, so ordering rows by their largest one
// puts the copies side by side, and each pose serves all of them at once. Such sets of copies then follow each other along a
// Z-shaped curve through the positions x [rows, 2] of their first members: the rows of a tile lie close together, and the
// points that they gather are mostly the same.
func RowOrder(n *neighbor.Neighborhood, x []float64) []int32 {
	order, key := make([]int32, n.Queries), rowKeys(n)
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(key[a], key[b]) })
	place := zOrder(x)
	first := make([]int32, n.Queries) // of the set that a row belongs to
	for k, i := range order {
		first[i] = i
		if k > 0 && key[order[k-1]] == key[i] {
			first[i] = first[order[k-1]]
		}
	}
	slices.SortStableFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(place[first[a]], place[first[b]]), cmp.Compare(first[a], first[b]))
	})
	return order
}

// LiftOrder is the order of rows for a flat arrangement of points with several lifts: lift by lift. Lifts of one point see different poses,
// but neighbouring points of a grid in the same lift see the same ones, side by side, which is what simd.DepthwisePlan gains from.
func LiftOrder(rows, lifts int) []int32 {
	order := make([]int32, 0, rows)
	for k := range lifts {
		for row := k; row < rows; row += lifts {
			order = append(order, int32(row))
		}
	}
	return order
}

// zOrder returns the places of positions [rows, 2] along a Z-shaped curve: their coordinates, taken to 16 bits, bit by bit in
// turn (Morton 1966).
func zOrder(x []float64) []uint32 {
	out := make([]uint32, len(x)/2)
	for d := range 2 {
		lo, hi := math.Inf(1), math.Inf(-1)
		for i := d; i < len(x); i += 2 {
			lo, hi = min(lo, x[i]), max(hi, x[i])
		}
		step := (hi - lo) / (1<<16 - 1)
		if !(step > 0 && step <= math.MaxFloat64) {
			continue // all in one place, or too far apart for a difference
		}
		for i := range out {
			v := uint32((x[2*i+d] - lo) / step)
			for bit := range 16 {
				out[i] |= v >> bit & 1 << (2*bit + d)
			}
		}
	}
	return out
}

// rowKeys returns the largest pose of every row, -1 for none.
func rowKeys(n *neighbor.Neighborhood) []int32 {
	key := make([]int32, n.Queries)
	parallel.For(n.Queries, rowGrain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			key[i] = -1
			_, pose := n.Row(i)
			for _, k := range pose {
				key[i] = max(key[i], k)
			}
		}
	})
	return key
}

// Arrange arranges a neighbourhood whose rows, queries and points alike, are renumbered by order (nil: they are not): row i
// of the result is row order[i] of n. The points of n must be its first queries. All arrangements that one set of features
// passes through have the same order, and all are flat or none. depthwise says that a separable convolution will use it,
// which costs some memory more where it is flat.
func Arrange[T Float](n *neighbor.Neighborhood, order []int32, flat, depthwise bool) *Arrangement[T] {
	a := &Arrangement[T]{Rows: n.Queries, dim: n.PoseDim}
	if flat {
		a.arrangeFlat(n, order, depthwise)
	} else {
		a.arrangeTiles(n, order)
		if floatSize[T]() == 4 && depthwise {
			parallel.For(len(a.tiles), 1, func(i, _ int) {
				t := &a.tiles[i]
				from, to := a.offsets[t.lo], a.offsets[t.hi]
				t.checked = simd.NewDepthwiseRows(a.offsets[t.lo:t.hi+1], a.index[from:to], a.pose[from:to], a.Rows, t.poses())
			})
		}
	}
	return a
}

// Pairs and Poses are the sizes of the neighbourhood.
func (a *Arrangement[T]) Pairs() int { return a.offsets[a.Rows] }

// Poses is the number of distinct poses.
func (a *Arrangement[T]) Poses() int { return len(a.table) / max(a.dim, 1) }

// Flat reports whether one table of weights serves all rows.
func (a *Arrangement[T]) Flat() bool { return a.tiles == nil }

// Evaluations is how many times a WeightNet runs when nothing is stored: a pose counts once for each tile that needs it.
func (a *Arrangement[T]) Evaluations() int {
	if a.Flat() {
		return a.Poses()
	}
	n := 0
	for i := range a.tiles {
		n += a.tiles[i].poses()
	}
	return n
}

// Bytes is the memory that the arrangement keeps.
func (a *Arrangement[T]) Bytes() int64 {
	size := int64(8*len(a.offsets) + 4*len(a.index) + 4*len(a.pose) + floatSize[T]()*len(a.table))
	if a.grid != nil {
		size += 9 * int64(len(a.index)) // its own copy of the pairs and the steps of eight rows at a time
	}
	return size
}

// CallBytes is about what one goroutine needs while it computes a layer of that many channels for so many images at once: with
// tiles, a slice of one's weights, the hidden channels of the WeightNets that they come from (as many as a slice has, in the
// paper's models), and its rows' sums before and after the dense map.
func (a *Arrangement[T]) CallBytes(channels, images int) int64 {
	rows, weights := flatRows, 0
	if !a.Flat() {
		rows, weights = 0, 2*a.most*a.width(channels)
		for i := range a.tiles {
			rows = max(rows, a.tiles[i].hi-a.tiles[i].lo)
		}
		rows *= images + 1
	}
	return int64(weights+(rows+rows/8)*channels) * int64(floatSize[T]())
}

// neighbors is how many pairs row i has, at least 1: what a mean divides by.
func (a *Arrangement[T]) neighbors(i int) int { return max(1, a.offsets[i+1]-a.offsets[i]) }

func (a *Arrangement[T]) arrangeFlat(n *neighbor.Neighborhood, order []int32, depthwise bool) {
	a.offsets, a.index, a.pose = n.Offsets, n.Index, n.Pose
	if order != nil {
		a.renumber(n, order)
	}
	a.table = make([]T, len(n.Poses))
	for i, v := range n.Poses {
		a.table[i] = T(v)
	}
	if floatSize[T]() == 4 && depthwise {
		a.grid = simd.NewDepthwisePlan(a.offsets, a.index, a.pose, n.Queries, n.NumPoses())
	}
}

// renumber copies the pairs of n with its rows in the given order.
func (a *Arrangement[T]) renumber(n *neighbor.Neighborhood, order []int32) {
	rank := make([]int32, n.Queries)
	a.offsets = make([]int, n.Queries+1)
	for i, from := range order {
		rank[from] = int32(i)
		a.offsets[i+1] = a.offsets[i] + n.Offsets[from+1] - n.Offsets[from]
	}
	a.index, a.pose = make([]int32, n.Pairs()), make([]int32, n.Pairs())
	parallel.For(n.Queries, rowGrain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			index, pose := n.Row(int(order[i]))
			at := a.offsets[i]
			copy(a.pose[at:], pose)
			for k, j := range index {
				a.index[at+k] = rank[j]
			}
		}
	})
}

// arrangeTiles cuts the rows into tiles and numbers each tile's poses. Rows that share their largest pose, rotated copies of
// each other, are not separated unless a tile would grow fourfold.
func (a *Arrangement[T]) arrangeTiles(n *neighbor.Neighborhood, order []int32) {
	if order == nil {
		order = make([]int32, n.Queries)
		for i := range order {
			order[i] = int32(i)
		}
	}
	a.renumber(n, order)
	key := rowKeys(n)
	number := make([]int32, n.NumPoses()) // by first use, plus one; 0: unused
	local := make([]int32, n.NumPoses())  // among the older poses of the current tile, plus one
	numbered := make([]int32, 0, n.NumPoses())
	tile := poseTile{}
	var older []int32 // as n numbers them
	flush := func(hi int) {
		tile.hi, tile.last = hi, len(numbered)
		fresh := int32(tile.last - tile.first)
		for i := tile.lo; i < hi; i++ {
			row := a.pose[a.offsets[i]:a.offsets[i+1]]
			for k, p := range row {
				if id := number[p] - 1; id >= int32(tile.first) {
					row[k] = id - int32(tile.first)
				} else {
					row[k] = fresh + local[p] - 1
				}
			}
		}
		for _, p := range older {
			tile.older = append(tile.older, number[p]-1)
			local[p] = 0
		}
		a.most = max(a.most, tile.poses())
		a.tiles = append(a.tiles, tile)
		tile, older = poseTile{lo: hi, first: len(numbered)}, older[:0]
	}
	for i := range n.Queries {
		size := len(numbered) - tile.first + len(older)
		if i > tile.lo && size >= tilePoses && (key[order[i]] != key[order[i-1]] || size >= 4*tilePoses) {
			flush(i)
		}
		for _, p := range a.pose[a.offsets[i]:a.offsets[i+1]] {
			switch {
			case number[p] == 0:
				numbered = append(numbered, p)
				number[p] = int32(len(numbered))
			case number[p]-1 < int32(tile.first) && local[p] == 0:
				older = append(older, p)
				local[p] = int32(len(older))
			}
		}
	}
	flush(n.Queries)
	a.table = make([]T, len(numbered)*a.dim)
	for to, from := range numbered {
		for d, v := range n.Poses[int(from)*a.dim : (int(from)+1)*a.dim] {
			a.table[to*a.dim+d] = T(v)
		}
	}
	a.sortRows()
}

// sortRows orders the pairs of every row by pose, so that rows with the same poses list them alike and share each vector of
// weights. Pairs of one pose keep their order.
func (a *Arrangement[T]) sortRows() {
	parallel.For(a.Rows, rowGrain, func(lo, hi int) {
		var from, to []uint64
		for i := lo; i < hi; i++ {
			index, pose := a.index[a.offsets[i]:a.offsets[i+1]], a.pose[a.offsets[i]:a.offsets[i+1]]
			if slices.IsSorted(pose) {
				continue
			}
			from, to = slices.Grow(from[:0], len(pose))[:len(pose)], slices.Grow(to[:0], len(pose))[:len(pose)]
			most := uint64(0)
			for k, p := range pose {
				from[k] = uint64(p)<<32 | uint64(uint32(index[k]))
				most = max(most, uint64(p))
			}
			for shift := 32; most>>(shift-32) > 0; shift += radixBits {
				radixPass(to, from, shift)
				from, to = to, from
			}
			for k, v := range from {
				index[k], pose[k] = int32(uint32(v)), int32(v>>32)
			}
		}
	})
}

// radixBits is how many bits a pass sorts by: two passes are enough for most tiles, and rows are hardly longer than the counts.
const radixBits = 7

// radixPass sorts stably by the bits from shift on.
func radixPass(to, from []uint64, shift int) {
	const mask = 1<<radixBits - 1
	var next [mask + 1]int32
	for _, v := range from {
		next[v>>shift&mask]++
	}
	sum := int32(0)
	for k, n := range next {
		next[k] = sum
		sum += n
	}
	for _, v := range from {
		k := v >> shift & mask
		to[next[k]] = v
		next[k]++
	}
}

// floatSize is the number of bytes of a T.
func floatSize[T Float]() int {
	var zero T
	if _, ok := any(zero).(float64); ok {
		return 8
	}
	return 4
}
