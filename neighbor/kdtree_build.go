package neighbor

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"runtime"
	"slices"
	"sync"

	"github.com/equivcnp/equivcnp/internal/search"
	"github.com/equivcnp/equivcnp/simd"
)

const (
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
}

// build copies the points and puts them in order.
func (t *KDTree[T]) build(points []T, l Layout) error {
	b := &builder[T]{KDTree: t, x: make([]T, (t.dim+1)*t.n), free: make(chan struct{}, max(runtime.GOMAXPROCS(0)-1, 0))}
	n := t.n
	for axis := range t.dim {
		row, from := b.x[axis*n:(axis+1)*n], points[min(axis*l.AxisStride, len(points)):]
		for i, at := 0, 0; i < len(row); i, at = i+1, at+l.Stride {
			row[i] = from[at]
		}
		if least, greatest := simd.MinMax(row); n > 0 && (least-least != 0 || greatest-greatest != 0) { // Inf - Inf is NaN
			for i, v := range row {
				if v-v != 0 {
					return fmt.Errorf("%w: point %d, coordinate %d = %g", ErrValue, i, axis, v)
				}
			}
		}
		if t.periods[axis] > 0 {
			for i, v := range row {
				row[i] = t.wrap(axis, v)
			}
		}
	}
	number := b.x[t.dim*n:]
	switch number := any(number).(type) {
	case []float32: // stored as bits: a float32 cannot represent every number
		for i := range number {
			number[i] = math.Float32frombits(uint32(i))
		}
	case []float64:
		for i := range number {
			number[i] = float64(i)
		}
	}
	t.box = make([]T, (2<<t.levels-1)*2*t.dim)
	if n > 0 {
		b.node(0, 0, nil)
	}
	t.index = make([]int32, n)
	switch number := any(number).(type) {
	case []float32:
		for i, v := range number {
			t.index[i] = int32(math.Float32bits(v))
		}
	case []float64:
		for i, v := range number {
			t.index[i] = int32(v)
		}
	}
	t.coord = b.x[: t.dim*n : t.dim*n]
	return nil
}

// node builds node k of level l: its box, and unless it is a leaf the order of its points and its children. scratch is
// for this goroutine.
func (b *builder[T]) node(l, k int, scratch []T) {
	lo, hi := b.span(l, k)
	box := b.nodeBox(1<<l - 1 + k)
	split, widest := 0, T(-1)
	for axis := range b.dim {
		least, greatest := simd.MinMax(b.x[axis*b.n+lo : axis*b.n+hi])
		box[2*axis], box[2*axis+1] = least, greatest
		if w := greatest - least; w > widest {
			split, widest = axis, w
		}
	}
	if l == b.levels {
		return
	}
	if need := (b.dim + 1) * (hi - lo + search.Slack); len(scratch) < need {
		scratch = make([]T, need)
	}
	_, mid := b.span(l+1, 2*k)
	if _, ok := any(box).([]float32); ok && hi-lo <= sortedNode {
		b.sortNode(split, lo, hi, box[2*split], scratch)
	} else {
		b.selectNth(split, lo, hi, mid, box[2*split], scratch)
	}
	if hi-lo >= parallelNode {
		select {
		case b.free <- struct{}{}:
			var wg sync.WaitGroup
			wg.Go(func() {
				b.node(l+1, 2*k, nil)
				<-b.free
			})
			b.node(l+1, 2*k+1, scratch)
			wg.Wait()
			return
		default:
		}
	}
	b.node(l+1, 2*k, scratch)
	b.node(l+1, 2*k+1, scratch)
}

// sortNode sorts the columns of a small node by the distance of their coordinate from the least. Columns that rounding makes
// equal may change places, which does not matter to any search.
func (b *builder[T]) sortNode(axis, lo, hi int, least T, scratch []T) {
	var (
		above, sorted [sortedNode + search.Slack]T
		from          [sortedNode + search.Slack]int32
	)
	m := hi - lo
	for i, v := range b.x[axis*b.n+lo : axis*b.n+hi] {
		above[i] = v - least
	}
	search.Smallest(from[:], sorted[:], positions[:m], above[:m], m)
	for r := range b.dim + 1 {
		row := b.x[r*b.n+lo:][:m]
		old := scratch[:copy(scratch[:m], row)]
		for i := range row {
			row[i] = old[uint32(from[i])%sortedNode]
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
// lower bound of the coordinates.
func (b *builder[T]) selectNth(axis, lo, hi, nth int, least T, scratch []T) {
	x, n := b.x, b.n
	key := x[axis*n : (axis+1)*n]
	var sample [sampleSize]T
	// Each round keeps the side of a pivot that contains position nth. The pivot is taken from a sample, a little beyond the
	// wanted rank, so that the second round removes most of what the first has left: about 1.6 passes in all.
	for budget := 2 * bits.Len(uint(hi-lo)); hi-lo > sortedRest; budget-- {
		if budget == 0 {
			break // samples were misleading again and again: sort
		}
		pivot := pivotOf(key[lo:hi], nth-lo, least, &sample)
		left := search.Partition(x[lo:], n, b.dim+1, hi-lo, axis, pivot, scratch)
		if left == 0 { // the pivot is the least: move all columns equal to it to the front
			left = search.Partition(x[lo:], n, b.dim+1, hi-lo, axis, next(pivot), scratch)
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
	b.sortColumns(axis, lo, hi, scratch)
}

// sampleSize is the largest number of elements that a pivot is chosen from; search.Smallest takes that many at once.
const sampleSize = 63

// pivotOf returns an element of v of about rank nth, chosen a little to the side that leaves fewer elements. least is a lower
// bound of v.
func pivotOf[T Float](v []T, nth int, least T, sample *[sampleSize]T) T {
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
	s := sample[:m]
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
	switch s := any(s).(type) {
	case []float32:
		return T(ranked(s, rank, float32(least)))
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
func ranked(s []float32, rank int, least float32) float32 {
	var (
		above, sorted [sampleSize + search.Slack]float32
		from          [sampleSize + search.Slack]int32
	)
	for i, y := range s {
		above[i] = y - least
	}
	search.Smallest(from[:], sorted[:], positions[:len(s)], above[:len(s)], rank+1)
	return s[from[rank]]
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
