package neighbor

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync"
	"unsafe"

	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/internal/search"
	"github.com/equivcnp/equivcnp/simd"
)

const (
	// columnsGrain is how many columns a goroutine takes at a time where several go through those of one node: about as many as
	// the second-level cache holds. sharedNode is the number of points from which on they do.
	columnsGrain = 1 << 15
	sharedNode   = 1 << 17
	// sharedThreads is the number of goroutines from which on it pays: columns move twice more than for one goroutine.
	sharedThreads = 4
	// parallelNode is the number of points from which on the halves of a node are built by two goroutines.
	parallelNode = 1 << 13
	// sortedNode is the number of points, a power of two, up to which a node is sorted instead of split: search.Smallest sorts
	// that many float32 at once.
	sortedNode = 64
	// sortedRest is the number of points from which on selectNth sorts instead of partitioning.
	sortedRest = 8
)

// builder holds the points while they are put in order: a matrix with a row per axis and one for the points' numbers. Whole
// columns are moved.
type builder[T Float] struct {
	*KDTree[T]
	x    []T // [dim+1, n]
	free chan struct{}

	threads int
}

// room is what a goroutine needs while it builds nodes. Rooms are used again, as a small tree takes less time than clearing them.
type room[T Float] struct {
	columns       []T // for columns that move
	sample        [sampleSize]T
	above, sorted [sortedNode + search.Slack]T
	from          [sortedNode + search.Slack]int32
}

// roomKept is the largest number of elements whose room is kept for the next tree.
const roomKept = 1 << 20

var rooms32, rooms64 sync.Pool // of *room[float32] and of *room[float64]

func roomsOf[T Float]() *sync.Pool {
	if unsafe.Sizeof(T(0)) == 4 {
		return &rooms32
	}
	return &rooms64
}

// newRoom returns room for a node of m columns.
func (b *builder[T]) newRoom(m int) *room[T] {
	need := (b.dim + 1) * (m + (m/columnsGrain+1)*search.Slack)
	r, ok := roomsOf[T]().Get().(*room[T])
	if !ok {
		r = new(room[T])
	}
	if len(r.columns) < need {
		r.columns = make([]T, need)
	}
	return r
}

func (r *room[T]) free() {
	if len(r.columns) <= roomKept {
		roomsOf[T]().Put(r)
	}
}

// build copies the points and puts them in order.
func (t *KDTree[T]) build(points []T, l Layout) error {
	threads := parallel.Workers()
	b := &builder[T]{KDTree: t, x: make([]T, (t.dim+1)*t.n), free: make(chan struct{}, threads-1), threads: threads}
	n := t.n
	parallel.For(n, columnsGrain, func(lo, hi int) { b.copyPoints(points, l, lo, hi) })
	if err := b.checkFinite(); err != nil {
		return err
	}
	t.box = make([]T, (2<<t.levels-1)*2*t.dim)
	if n > 0 {
		r := b.newRoom(n)
		b.node(0, 0, r)
		r.free()
	}
	t.index = make([]int32, n)
	parallel.For(n, columnsGrain, func(lo, hi int) {
		switch number := any(b.x[t.dim*n:]).(type) {
		case []float32:
			for i, v := range number[lo:hi] {
				t.index[lo+i] = int32(math.Float32bits(v))
			}
		case []float64:
			for i, v := range number[lo:hi] {
				t.index[lo+i] = int32(v)
			}
		}
	})
	t.coord = b.x[: t.dim*n : t.dim*n]
	if n > 0 {
		t.numberNodes()
	}
	return nil
}

// numberNodes finds the lowest number of a point in every node.
func (t *KDTree[T]) numberNodes() {
	t.first = make([]int32, 2<<t.levels-1)
	leaves := 1<<t.levels - 1
	for k := range leaves + 1 {
		lo, hi := t.span(t.levels, k)
		t.first[leaves+k] = slices.Min(t.index[lo:hi])
	}
	for node := leaves - 1; node >= 0; node-- {
		t.first[node] = min(t.first[2*node+1], t.first[2*node+2])
	}
}

// copyPoints sets columns lo to hi: coordinates, and numbers.
func (b *builder[T]) copyPoints(points []T, l Layout, lo, hi int) {
	n := b.n
	for axis := range b.dim {
		row := b.x[axis*n+lo : axis*n+hi]
		for i, at := 0, axis*l.AxisStride+lo*l.Stride; i < len(row); i, at = i+1, at+l.Stride {
			row[i] = points[at]
		}
	}
	switch number := any(b.x[b.dim*n:]).(type) {
	case []float32: // stored as bits: a float32 cannot represent every number
		for i := lo; i < hi; i++ {
			number[i] = math.Float32frombits(uint32(i))
		}
	case []float64:
		for i := lo; i < hi; i++ {
			number[i] = float64(i)
		}
	}
}

// checkFinite refuses the first coordinate, axis by axis, that is not finite, and brings those of periodic axes into their period.
func (b *builder[T]) checkFinite() error {
	n := b.n
	for axis := range b.dim {
		row := b.x[axis*n : (axis+1)*n]
		if least, greatest := b.minMax(row, b.threads); n > 0 && (least-least != 0 || greatest-greatest != 0) { // Inf - Inf is NaN
			for i, v := range row {
				if v-v != 0 {
					return fmt.Errorf("%w: point %d, coordinate %d = %g", ErrValue, i, axis, v)
				}
			}
		}
		if b.periods[axis] > 0 {
			parallel.For(n, columnsGrain, func(lo, hi int) {
				for i, v := range row[lo:hi] {
					row[lo+i] = b.wrap(axis, v)
				}
			})
		}
	}
	return nil
}

// minMax returns the least and the greatest element of a row, NaN if there is one, by so many goroutines.
func (b *builder[T]) minMax(row []T, threads int) (least, greatest T) {
	if len(row) < sharedNode || threads < 2 {
		return simd.MinMax(row)
	}
	parts := make([]T, 2*((len(row)+columnsGrain-1)/columnsGrain))
	parallel.ForWorkers(len(row), columnsGrain, threads, func(_, lo, hi int) {
		at := 2 * (lo / columnsGrain)
		parts[at], parts[at+1] = simd.MinMax(row[lo:hi])
	})
	return simd.MinMax(parts)
}

// partition is search.Partition of columns lo to hi, by so many goroutines.
func (b *builder[T]) partition(axis, lo, hi int, pivot T, scratch []T, threads int) (front int) {
	if hi-lo < sharedNode || threads < sharedThreads {
		return search.Partition(b.x[lo:], b.n, b.dim+1, hi-lo, axis, pivot, scratch)
	}
	return b.partitionShared(axis, lo, hi, pivot, scratch, threads)
}

// partitionShared goes through pieces by a goroutine each, and brings them together. The result is the same, because the order of
// columns on either side stays.
func (b *builder[T]) partitionShared(axis, lo, hi int, pivot T, scratch []T, threads int) (front int) {
	x, n, m, rows := b.x[lo:], b.n, hi-lo, b.dim+1
	kept := make([]int, (m+columnsGrain-1)/columnsGrain)
	parallel.ForWorkers(m, columnsGrain, threads, func(_, from, to int) {
		piece := from / columnsGrain
		room := scratch[rows*(from+piece*search.Slack):]
		kept[piece] = search.Partition(x[from:], n, rows, to-from, axis, pivot, room[:rows*(to-from+search.Slack)])
	})
	places := make([]int, len(kept)) // of those that were kept
	for i, k := range kept {
		places[i], front = front, front+k
	}
	parallel.ForWorkers(m, columnsGrain, threads, func(_, from, to int) {
		piece := from / columnsGrain
		k, place := kept[piece], places[piece]
		for r := range rows {
			row := x[r*n+from : r*n+to]
			copy(scratch[r*m+place:], row[:k])
			copy(scratch[r*m+front+from-place:], row[k:])
		}
	})
	parallel.ForWorkers(m, columnsGrain, threads, func(_, from, to int) {
		for r := range rows {
			copy(x[r*n+from:r*n+to], scratch[r*m+from:r*m+to])
		}
	})
	return front
}

// node builds node k of level l: its box, and unless it is a leaf the order of its points and its children. r is this goroutine's.
func (b *builder[T]) node(l, k int, r *room[T]) {
	lo, hi := b.span(l, k)
	box := b.nodeBox(1<<l - 1 + k)
	split, widest, threads := 0, T(-1), b.threads>>l // the nodes of a level share the goroutines
	for axis := range b.dim {
		least, greatest := b.minMax(b.x[axis*b.n+lo:axis*b.n+hi], threads)
		box[2*axis], box[2*axis+1] = least, greatest
		if w := greatest - least; w > widest {
			split, widest = axis, w
		}
	}
	if l == b.levels {
		return
	}
	_, mid := b.span(l+1, 2*k)
	if _, ok := any(box).([]float32); ok && hi-lo <= sortedNode {
		b.sortNode(split, lo, hi, box[2*split], r)
	} else {
		b.selectNth(split, lo, hi, mid, box[2*split], r, threads)
	}
	if hi-lo >= parallelNode {
		select {
		case b.free <- struct{}{}:
			var wg sync.WaitGroup
			wg.Go(func() {
				other := b.newRoom(mid - lo)
				b.node(l+1, 2*k, other)
				other.free()
				<-b.free
			})
			b.node(l+1, 2*k+1, r)
			wg.Wait()
			return
		default:
		}
	}
	b.node(l+1, 2*k, r)
	b.node(l+1, 2*k+1, r)
}

// sortNode sorts the columns of a small node by the distance of their coordinate from the least. Columns that rounding makes
// equal may change places, which does not matter to any search.
func (b *builder[T]) sortNode(axis, lo, hi int, least T, r *room[T]) {
	m := hi - lo
	above := r.above[:m]
	for i, v := range b.x[axis*b.n+lo:][:m] {
		above[i] = v - least
	}
	search.Smallest(r.from[:], r.sorted[:], positions[:m], above, m)
	from, old := r.from[:m], &r.above
	for a := range b.dim + 1 {
		row := b.x[a*b.n+lo:][:m]
		copy(old[:], row)
		for i, at := range from {
			row[i] = old[uint32(at)%sortedNode]
		}
	}
}

// positions are the numbers of a small node's columns.
var positions = func() (p [sortedNode]int32) {
	for i := range p {
		p[i] = int32(i)
	}
	return p
}()

// selectNth reorders the columns lo .. hi-1 so that no coordinate before position nth is greater than one from nth on. least is a
// lower bound of the coordinates; threads is how many goroutines may share the work.
func (b *builder[T]) selectNth(axis, lo, hi, nth int, least T, r *room[T], threads int) {
	x, n := b.x, b.n
	key := x[axis*n : (axis+1)*n]
	// Each round keeps the side of a pivot that contains position nth. The pivot is taken from a sample, a little beyond the
	// wanted rank, so that the second round removes most of what the first has left: about 1.6 passes in all.
	for budget := 2 * bits.Len(uint(hi-lo)); hi-lo > sortedRest; budget-- {
		if budget == 0 {
			break // samples were misleading again and again: sort
		}
		pivot := pivotOf(key[lo:hi], nth-lo, least, r)
		left := b.partition(axis, lo, hi, pivot, r.columns, threads)
		if left == 0 { // the pivot is the least: move all columns equal to it to the front
			left = b.partition(axis, lo, hi, next(pivot), r.columns, threads)
			if lo+left >= nth {
				return
			}
		}
		switch mid := lo + left; {
		case mid == nth:
			return
		case mid > nth:
			hi = mid
		default:
			lo = mid
		}
	}
	b.sortColumns(axis, lo, hi, r.columns)
}

// sampleSize is the largest number of elements that a pivot is chosen from; search.Smallest takes that many at once.
const sampleSize = 63

// pivotOf returns an element of v of about rank nth, chosen a little to the side that leaves fewer elements. least is a lower
// bound of v.
func pivotOf[T Float](v []T, nth int, least T, room *room[T]) T {
	m := 5
	switch n := len(v); {
	case n > 4096:
		m = sampleSize
	case n > 512:
		m = 31
	case n > 96:
		m = 15
	case n > 32:
		m = 9
	}
	s := room.sample[:m]
	// Random places: a regular pattern of places could meet the pattern of regular data.
	seed := uint64(len(v))*0x9e3779b97f4a7c15 + uint64(nth)
	for i := range s {
		seed = seed*6364136223846793005 + 1442695040888963407
		at, _ := bits.Mul64(seed, uint64(len(v)))
		s[i] = v[at]
	}
	f := float64(nth) / float64(len(v))
	r := float64(f * float64(m)) // not fused: the same pivot on every machine
	switch spread := math.Sqrt(r*(1-f)) + 0.5; {
	case f < 0.4:
		r += spread
	case f > 0.6:
		r -= spread
	}
	rank := max(0, min(int(r), m-1))
	if unsafe.Sizeof(least) == 4 {
		return room.ranked(s, rank, least)
	}
	for i, y := range s {
		j := i
		for ; j > 0 && s[j-1] > y; j-- {
			s[j] = s[j-1]
		}
		s[j] = y
	}
	return s[rank]
}

// ranked returns the element of that rank by distance from the least. Rounding may have made the distances of others equal to its
// own.
func (r *room[T]) ranked(s []T, rank int, least T) T {
	above := r.above[:len(s)]
	for i, y := range s {
		above[i] = y - least
	}
	search.Smallest(r.from[:], r.sorted[:], positions[:len(s)], above, rank+1)
	return s[r.from[rank]]
}

// next returns the next larger number.
func next[T Float](x T) T {
	switch v := any(x).(type) {
	case float32:
		return T(math.Nextafter32(v, float32(math.Inf(1))))
	case float64:
		return T(math.Nextafter(v, math.Inf(1)))
	}
	return x
}

// sortColumns sorts the columns lo .. hi-1 by the coordinate on an axis; equal ones stay in order.
func (b *builder[T]) sortColumns(axis, lo, hi int, scratch []T) {
	m := hi - lo
	key := b.x[axis*b.n+lo:][:m]
	if m <= sortedRest {
		// Few columns: insertion sort.
		for i := 1; i < m; i++ {
			j := i
			for ; j > 0 && key[j-1] > key[i]; j-- {
			}
			if j == i {
				continue
			}
			for r := range b.dim + 1 {
				row := b.x[r*b.n+lo:][:m]
				v := row[i]
				copy(row[j+1:i+1], row[j:i])
				row[j] = v
			}
		}
		return
	}
	order := make([]int32, m)
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(i, j int32) int { return cmp.Compare(key[i], key[j]) })
	for r := range b.dim + 1 {
		row := b.x[r*b.n+lo:][:m]
		for i, from := range order {
			scratch[i] = row[from]
		}
		copy(row, scratch)
	}
}
