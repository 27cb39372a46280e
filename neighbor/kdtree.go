package neighbor

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

const (
	// leafSize is the largest number of points in a leaf: enough for a vector loop to pay, few enough that a leaf on the
	// rim of a ball does not waste much.
	leafSize = 16
	// maxTreeDim bounds the axes. Beyond, a tree prunes hardly anything and a scan is as fast.
	maxTreeDim = 8
	// periodSlack, times the period, covers the rounding of an angle that is shifted by a period: three operations on
	// numbers of up to 1.5 periods.
	periodSlack = 0x1p-49
)

// KDTree is a static kd-tree. It is immutable and safe for concurrent use.
//
// The layout is implicit: points are stored in tree order, node k of level l owns the stored positions
// [k·n>>l, (k+1)·n>>l), and its children are nodes 2k and 2k+1 of level l+1. All leaves are on one level. What is stored
// per node is the bounding box of its points, tighter than the half-spaces of the splits and all that pruning needs.
// Coordinates are kept axis by axis, so the points of a leaf lie side by side.
//
// Distances along an axis are the rounded differences |x - c|. Rounding is monotonic, so the bound that a box gives is
// never larger than the difference computed for a point in it, and pruning is exact without any allowance; only
// periodic axes need one.
type KDTree struct {
	n, dim, levels int
	periods        []float64 // [dim], 0: not periodic
	coord          []float64 // [dim, n] in tree order
	index          []int32   // [n] the point at each stored position
	box            []float64 // [nodes, dim, 2] least and greatest coordinate
}

// NewTree builds a tree over points [n, dim], 1 ≤ dim ≤ 8. periods is nil or holds the period of each axis, 0 for one
// that is not periodic; coordinates on periodic axes count modulo their period. The points are copied.
//
// Equal points are fine. The same points give the same tree.
func NewTree(points []float64, dim int, periods []float64) (*KDTree, error) {
	if dim < 1 || dim > maxTreeDim {
		return nil, fmt.Errorf("neighbor: NewTree: %w: dim = %d, need 1 to %d", ErrShape, dim, maxTreeDim)
	}
	if len(points)%dim != 0 || len(points)/dim > math.MaxInt32 {
		return nil, fmt.Errorf("neighbor: NewTree: %w: len(points) = %d, need at most %d rows of %d", ErrShape, len(points), math.MaxInt32, dim)
	}
	t := &KDTree{n: len(points) / dim, dim: dim, periods: make([]float64, dim)}
	if periods != nil {
		if len(periods) != dim {
			return nil, fmt.Errorf("neighbor: NewTree: %w: len(periods) = %d, need %d", ErrShape, len(periods), dim)
		}
		for axis, p := range periods {
			if !(p >= 0) || math.IsInf(p, 0) {
				return nil, fmt.Errorf("neighbor: NewTree: %w: period %d = %g", ErrOption, axis, p)
			}
		}
		copy(t.periods, periods)
	}
	if c := firstBad(points); c >= 0 {
		return nil, fmt.Errorf("neighbor: NewTree: %w: point %d, coordinate %d = %g", ErrValue, c/dim, c%dim, points[c])
	}
	x := slices.Clone(points)
	for i := range x {
		x[i] = t.wrap(i%dim, x[i])
	}
	for t.n > leafSize<<t.levels {
		t.levels++
	}
	t.box = make([]float64, (2<<t.levels-1)*2*dim)
	t.index = make([]int32, t.n)
	for i := range t.index {
		t.index[i] = int32(i)
	}
	if t.n > 0 {
		t.build(x, 0, 0)
	}
	t.coord = make([]float64, len(x))
	for pos, i := range t.index {
		for axis := range dim {
			t.coord[axis*t.n+pos] = x[int(i)*dim+axis]
		}
	}
	return t, nil
}

// Len is the number of points.
func (t *KDTree) Len() int { return t.n }

// Dim is the number of axes.
func (t *KDTree) Dim() int { return t.dim }

// wrap takes x modulo the period of its axis, to [-period/2, period/2].
func (t *KDTree) wrap(axis int, x float64) float64 {
	if p := t.periods[axis]; p > 0 && math.Abs(x) > p/2 {
		return math.Remainder(x, p)
	}
	return x
}

// span returns the stored positions of node k of level l.
func (t *KDTree) span(l, k int) (lo, hi int) {
	n := uint64(t.n)
	return int(uint64(k) * n >> l), int(uint64(k+1) * n >> l)
}

// build orders the points x [n, dim] of node k of level l, computes its box and goes on with its children.
func (t *KDTree) build(x []float64, l, k int) {
	lo, hi := t.span(l, k)
	box := t.box[(1<<l-1+k)*2*t.dim:][:2*t.dim]
	split, widest := 0, -1.0
	for axis := range t.dim {
		least, greatest := math.Inf(1), math.Inf(-1)
		for _, i := range t.index[lo:hi] {
			v := x[int(i)*t.dim+axis]
			least, greatest = min(least, v), max(greatest, v)
		}
		box[2*axis], box[2*axis+1] = least, greatest
		if greatest-least > widest {
			split, widest = axis, greatest-least
		}
	}
	if l == t.levels {
		return
	}
	_, mid := t.span(l+1, 2*k)
	t.selectNth(x, split, lo, hi, mid)
	t.build(x, l+1, 2*k)
	t.build(x, l+1, 2*k+1)
}

// selectNth reorders index[lo:hi] by (coordinate, index) so far that what is sorted before position nth stands before
// it. Keys are distinct, so clouds of equal points split evenly too.
func (t *KDTree) selectNth(x []float64, axis, lo, hi, nth int) {
	at := t.index
	order := func(i, j int32) int {
		return cmp.Or(cmp.Compare(x[int(i)*t.dim+axis], x[int(j)*t.dim+axis]), cmp.Compare(i, j))
	}
	// Quickselect, Hoare's Algorithm 65; orders that defeat the median of three end in a sort.
	for budget := 2 * bits.Len(uint(hi-lo)); hi-lo > leafSize && budget > 0; budget-- {
		a, b, c := at[lo], at[lo+(hi-lo)/2], at[hi-1]
		if order(a, b) > 0 {
			a, b = b, a
		}
		pivot := greater(order, a, lesser(order, b, c))
		pv := x[int(pivot)*t.dim+axis]
		i, j := lo, hi-1
		for i <= j {
			for v := x[int(at[i])*t.dim+axis]; v < pv || (v == pv && at[i] < pivot); v = x[int(at[i])*t.dim+axis] {
				i++
			}
			for v := x[int(at[j])*t.dim+axis]; v > pv || (v == pv && at[j] > pivot); v = x[int(at[j])*t.dim+axis] {
				j--
			}
			if i <= j {
				at[i], at[j] = at[j], at[i]
				i++
				j--
			}
		}
		switch {
		case nth <= j:
			hi = j + 1
		case nth >= i:
			lo = i
		default: // j < nth < i: the pivot stands there
			return
		}
	}
	slices.SortFunc(at[lo:hi], order)
}

func lesser(order func(i, j int32) int, a, b int32) int32 {
	if order(b, a) < 0 {
		return b
	}
	return a
}

func greater(order func(i, j int32) int, a, b int32) int32 {
	if order(b, a) > 0 {
		return b
	}
	return a
}

// axisDist is the distance of two coordinates on an axis; on a periodic one both lie in [-period/2, period/2].
func axisDist(x, c, period float64) float64 {
	d := math.Abs(x - c)
	if period > 0 {
		d = min(d, math.Abs(period-d))
	}
	return d
}

// axisGap is a lower bound of axisDist over all x in [lo, hi].
func axisGap(lo, hi, c, period float64) float64 {
	d := max(lo-c, c-hi, 0)
	if period > 0 && d > 0 {
		up, down := c+period, c-period
		d = max(min(d, max(lo-up, up-hi), max(lo-down, down-hi))-period*periodSlack, 0)
	}
	return d
}

// run is a range [lo, hi) of stored positions.
type run struct{ lo, hi int }

// boxRuns appends, ascending, the runs of stored positions whose leaves touch the box |x - c| ≤ half. Axes of c are
// wrapped. Every point in the box is in a run, not every point in a run is in the box.
func (t *KDTree) boxRuns(dst []run, c, half []float64) []run {
	if t.n == 0 {
		return dst
	}
	var stack [64]int // node numbers; a path keeps at most one waiting node per level
	top := 1          // stack[0] is the root, node 0
	for top > 0 {
		top--
		node := stack[top]
		if !t.touches(node, c, half) {
			continue
		}
		if first := 1<<t.levels - 1; node >= first {
			lo, hi := t.span(t.levels, node-first)
			if k := len(dst) - 1; k >= 0 && dst[k].hi == lo {
				dst[k].hi = hi
			} else {
				dst = append(dst, run{lo, hi})
			}
			continue
		}
		stack[top], stack[top+1] = 2*node+2, 2*node+1 // the left child comes first
		top += 2
	}
	return dst
}

// touches reports whether a node's points can lie in the box |x - c| ≤ half.
func (t *KDTree) touches(node int, c, half []float64) bool {
	box := t.box[node*2*t.dim:][:2*t.dim]
	for axis, h := range half[:t.dim] {
		if !(axisGap(box[2*axis], box[2*axis+1], c[axis], t.periods[axis]) <= h) {
			return false
		}
	}
	return true
}

// checkQuery panics, as an index out of range does, if a query has the wrong length, and returns it wrapped.
func (t *KDTree) checkQuery(op string, c []float64) (w [maxTreeDim]float64) {
	if len(c) != t.dim {
		panic(fmt.Sprintf("neighbor: KDTree.%s: len(center) = %d, need %d", op, len(c), t.dim))
	}
	for axis, x := range c {
		w[axis] = t.wrap(axis, x)
	}
	return w
}
