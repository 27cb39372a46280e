package neighbor

import (
	"fmt"
	"math"

	"github.com/equivcnp/equivcnp/internal/search"
	"github.com/equivcnp/equivcnp/simd"
)

// Float is the type of coordinates: float32 or float64.
type Float = simd.Float

const (
	// leafSize is the largest number of points in a leaf: a vector of float32, or two of float64.
	leafSize = 16
	// maxTreeDim bounds the axes. With more axes a tree excludes hardly any points, and a scan is as fast.
	maxTreeDim = search.MaxDim
	// maxTreePoints bounds the points: while a tree is built, points' numbers are stored as the bits of coordinates, which must
	// be finite.
	maxTreePoints = 0x7f7fffff
	// periodSlack, times the period, covers the rounding of an angle that is shifted by a period: three operations on
	// numbers of up to 1.5 periods. periodSlack32 is the same for float32.
	periodSlack   = 0x1p-49
	periodSlack32 = 0x1p-20
)

// KDTree is a static kd-tree. It is immutable and safe for concurrent use.
//
// The layout is implicit: points are stored in tree order, node k of level l owns the stored positions
// [k·n>>l, (k+1)·n>>l), and its children are nodes 2k and 2k+1 of level l+1. All leaves are on one level. What is stored
// per node is the bounding box of its points, tighter than the half-spaces of the splits and all that pruning needs.
// Coordinates are kept axis by axis, so the points of a leaf lie side by side.
//
// Squared distances are sums, axis by axis, of rounded squares of the rounded differences |x - c|, in T. Rounding is
// monotonic, so the bound that a box gives is never larger than what is computed for a point in it, and pruning is exact
// without any allowance; only periodic axes need one. A grid or a scan of all points gives the same pairs, bit for bit.
type KDTree[T Float] struct {
	n, dim, levels int
	periods        []T     // [dim], 0: not periodic
	wrapped        []T     // nil if no axis is periodic, else the periods with +Inf for 0
	coord          []T     // [dim, n] in tree order
	index          []int32 // [n] the point at each stored position
	box            []T     // [nodes, dim, 2] least and greatest coordinate
	first          []int32 // [nodes] the lowest number of a point
}

// Layout says where the coordinates of points lie in a slice x: coordinate a of point i is x[i*Stride + a*AxisStride]. Rows one
// after the other have Stride Dim and AxisStride 1; an array per axis has Stride 1 and AxisStride N. Fields of larger records
// have the record's length as Stride.
type Layout struct{ N, Dim, Stride, AxisStride int }

// check returns an error unless the layout fits a slice of that length.
func (l Layout) check(length int) error {
	if l.Dim < 1 || l.Dim > maxTreeDim {
		return fmt.Errorf("%w: dim = %d, need 1 to %d", ErrShape, l.Dim, maxTreeDim)
	}
	if l.N < 0 || l.N > maxTreePoints {
		return fmt.Errorf("%w: %d points, need 0 to %d", ErrShape, l.N, maxTreePoints)
	}
	if l.N > 0 {
		if l.Stride < 1 || l.AxisStride < 1 {
			return fmt.Errorf("%w: strides %d and %d, need at least 1", ErrShape, l.Stride, l.AxisStride)
		}
		// By division, as the products may overflow.
		left := length - 1 - (l.Dim-1)*min(l.AxisStride, length)
		if left < 0 || (l.N-1 > left/l.Stride) {
			return fmt.Errorf("%w: %d numbers are too few for %d points of %d coordinates, strides %d and %d",
				ErrShape, length, l.N, l.Dim, l.Stride, l.AxisStride)
		}
	}
	return nil
}

// rows returns the layout of a slice of rows of at most so many numbers.
func rows(length, dim, most int) (Layout, error) {
	if dim < 1 || dim > most {
		return Layout{}, fmt.Errorf("%w: dim = %d, need 1 to %d", ErrShape, dim, most)
	}
	if length%dim != 0 {
		return Layout{}, fmt.Errorf("%w: %d numbers do not fill rows of %d", ErrShape, length, dim)
	}
	return Layout{N: length / dim, Dim: dim, Stride: dim, AxisStride: 1}, nil
}

// NewTree builds a tree over points [n, dim], 1 ≤ dim ≤ 8. periods is nil or holds the period of each axis, 0 for one
// that is not periodic; coordinates on periodic axes count modulo their period p, and two of them differ by min(|x-y|, p-|x-y|) once both
// are reduced to [-p/2, p/2]. The points are copied.
//
// Equal points are fine. The same points give the same tree, whatever GOMAXPROCS is.
func NewTree[T Float](points []T, dim int, periods []T) (*KDTree[T], error) {
	l, err := rows(len(points), dim, maxTreeDim)
	if err != nil {
		return nil, fmt.Errorf("neighbor: NewTree: %w", err)
	}
	return newTree("NewTree", points, l, periods)
}

// NewTreeAt is like NewTree for points that are not stored as rows: an array per axis, or fields of larger records.
func NewTreeAt[T Float](points []T, layout Layout, periods []T) (*KDTree[T], error) {
	return newTree("NewTreeAt", points, layout, periods)
}

func newTree[T Float](op string, points []T, l Layout, periods []T) (*KDTree[T], error) {
	if err := l.check(len(points)); err != nil {
		return nil, fmt.Errorf("neighbor: %s: %w", op, err)
	}
	t := &KDTree[T]{n: l.N, dim: l.Dim, periods: make([]T, l.Dim)}
	if periods != nil {
		if len(periods) != t.dim {
			return nil, fmt.Errorf("neighbor: %s: %w: len(periods) = %d, need %d", op, ErrShape, len(periods), t.dim)
		}
		for axis, p := range periods {
			if !(p >= 0) || math.IsInf(float64(p), 0) {
				return nil, fmt.Errorf("neighbor: %s: %w: period %d = %g, need a length, or 0 for none", op, ErrOption, axis, p)
			}
			if p > 0 && t.wrapped == nil {
				t.wrapped = make([]T, t.dim)
			}
		}
		copy(t.periods, periods)
		for axis := range t.wrapped {
			if t.wrapped[axis] = periods[axis]; periods[axis] == 0 {
				t.wrapped[axis] = T(math.Inf(1))
			}
		}
	}
	for t.n > leafSize<<t.levels {
		t.levels++
	}
	if err := t.build(points, l); err != nil {
		return nil, fmt.Errorf("neighbor: %s: %w", op, err)
	}
	return t, nil
}

// Len returns the number of points.
func (t *KDTree[T]) Len() int { return t.n }

// Dim returns the number of axes.
func (t *KDTree[T]) Dim() int { return t.dim }

// wrap takes x modulo the period of its axis, to [-period/2, period/2].
func (t *KDTree[T]) wrap(axis int, x T) T {
	if p := t.periods[axis]; p > 0 && math.Abs(float64(x)) > float64(p)/2 {
		return T(math.Remainder(float64(x), float64(p)))
	}
	return x
}

// span returns the stored positions of node k of level l.
func (t *KDTree[T]) span(l, k int) (lo, hi int) {
	n := uint64(t.n)
	return int(uint64(k) * n >> l), int(uint64(k+1) * n >> l)
}

// nodeBox returns the box [dim, 2] of a node.
func (t *KDTree[T]) nodeBox(node int) []T { return t.box[node*2*t.dim:][:2*t.dim] }

// axisDist returns the distance of two coordinates on an axis; on a periodic one both lie in [-period/2, period/2].
func axisDist[T Float](x, c, period T) T {
	d := abs(x - c)
	if period > 0 {
		if other := abs(period - d); other < d {
			d = other
		}
	}
	return d
}

// axisGap returns a lower bound of axisDist over all x in [lo, hi] and c in [clo, chi].
func axisGap[T Float](lo, hi, clo, chi, period T) T {
	d := gap(lo, hi, clo, chi)
	if period > 0 && d > 0 {
		d = min(d, gap(lo, hi, clo+period, chi+period), gap(lo, hi, clo-period, chi-period))
		slack := T(periodSlack)
		if T(1)+slack == 1 { // float32
			slack = periodSlack32
		}
		d = max(d-period*slack, 0)
	}
	return d
}

// gap returns the distance of two intervals.
func gap[T Float](lo, hi, clo, chi T) T {
	if d := lo - chi; d > 0 {
		return d
	}
	if d := clo - hi; d > 0 {
		return d
	}
	return 0
}

func abs[T Float](x T) T {
	if x < 0 {
		return -x
	}
	return x
}
