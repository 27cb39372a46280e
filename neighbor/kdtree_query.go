package neighbor

import (
	"fmt"
	"math"
	"slices"
)

// run is a range [lo, hi) of stored positions.
type run struct{ lo, hi int }

// boxRuns appends, ascending, the runs of stored positions whose leaves touch the box |x - c| ≤ half. Axes of c are already
// wrapped. Every point of the box is in a run, but not every point of a run is in the box.
func (t *KDTree[T]) boxRuns(dst []run, c, half []T) []run {
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
func (t *KDTree[T]) touches(node int, c, half []T) bool {
	box := t.nodeBox(node)
	for axis, h := range half[:t.dim] {
		if !(axisGap(box[2*axis], box[2*axis+1], c[axis], c[axis], t.periods[axis]) <= h) {
			return false
		}
	}
	return true
}

// checkQuery panics, as an index out of range does, if a query has the wrong length, and returns it wrapped.
func (t *KDTree[T]) checkQuery(op string, c []T) (w [maxTreeDim]T) {
	if len(c) != t.dim {
		panic(fmt.Sprintf("neighbor: KDTree.%s: len(center) = %d, need %d", op, len(c), t.dim))
	}
	for axis, x := range c {
		w[axis] = t.wrap(axis, x)
	}
	return w
}

// Box appends to dst, ascending, the points whose coordinates all differ from center [dim] by at most half [dim], modulo the
// period on periodic axes: a selection on a map, or a first step before a test of your own. A half-width of +Inf bounds nothing;
// NaN in either argument finds nothing. It panics if a length differs from the tree's dimension.
func (t *KDTree[T]) Box(dst []int32, center, half []T) []int32 {
	c := t.checkQuery("Box", center)
	if len(half) != t.dim {
		panic(fmt.Sprintf("neighbor: KDTree.Box: len(half) = %d, need %d", len(half), t.dim))
	}
	start := len(dst)
	var few [64]run
	for _, r := range t.boxRuns(few[:0], c[:t.dim], half) {
	points:
		for pos := r.lo; pos < r.hi; pos++ {
			for axis, h := range half {
				if !(axisDist(t.coord[axis*t.n+pos], c[axis], t.periods[axis]) <= h) {
					continue points
				}
			}
			dst = append(dst, t.index[pos])
		}
	}
	slices.Sort(dst[start:])
	return dst
}

// eachLeaf calls f with the stored positions of every leaf whose points can be nearer to c than radius2, in order.
func (t *KDTree[T]) eachLeaf(c *[maxTreeDim]T, radius2 T, f func(lo, hi int)) {
	if t.n == 0 {
		return
	}
	var stack [64]int
	top := 1
	for top > 0 {
		top--
		node := stack[top]
		if !(t.bound2(node, c) < radius2) {
			continue
		}
		if first := 1<<t.levels - 1; node >= first {
			f(t.span(t.levels, node-first))
			continue
		}
		stack[top], stack[top+1] = 2*node+2, 2*node+1
		top += 2
	}
}

// Ball appends to dst, ascending, the points whose squared Euclidean distance from center [dim] is strictly smaller
// than radius2. It panics if len(center) differs from the tree's dimension.
//
// For many centres [EachBall] is several times faster.
func (t *KDTree[T]) Ball(dst []int32, center []T, radius2 T) []int32 {
	c := t.checkQuery("Ball", center)
	start := len(dst)
	t.eachLeaf(&c, radius2, func(lo, hi int) {
		for pos := lo; pos < hi; pos++ {
			if t.dist2(pos, &c) < radius2 {
				dst = append(dst, t.index[pos])
			}
		}
	})
	slices.Sort(dst[start:])
	return dst
}

// Count returns the number of points that Ball finds.
func (t *KDTree[T]) Count(center []T, radius2 T) (count int) {
	c := t.checkQuery("Count", center)
	t.eachLeaf(&c, radius2, func(lo, hi int) {
		for pos := lo; pos < hi; pos++ {
			if t.dist2(pos, &c) < radius2 {
				count++
			}
		}
	})
	return count
}

// KNearest returns the k points nearest to center [dim] in Euclidean distance and their squared distances, ordered by
// (dist2, index); fewer if the tree has fewer, none for a NaN center. It panics if len(center) differs from the tree's
// dimension or k is negative.
func (t *KDTree[T]) KNearest(center []T, k int) (index []int32, dist2 []T) {
	var w NearestWorkspace
	return t.KNearestWithin(nil, nil, center, k, T(math.Inf(1)), &w)
}

// NearestWorkspace is scratch of KNearestWithin. The zero value is ready; using one again saves allocations.
type NearestWorkspace struct{ best nearest }

// KNearestWithin appends to index and dist2 the k points nearest to center [dim] among those with a squared distance
// strictly smaller than radius2 (any, if that is +Inf), ordered by (dist2, index), and returns both. It panics as KNearest
// does.
func (t *KDTree[T]) KNearestWithin(index []int32, dist2 []T, center []T, k int, radius2 T, w *NearestWorkspace) ([]int32, []T) {
	c := t.checkQuery("KNearest", center)
	if k < 0 {
		panic(fmt.Sprintf("neighbor: KDTree.KNearest: k = %d is negative", k))
	}
	if w == nil {
		w = new(NearestWorkspace)
	}
	w.best.reset(min(k, t.n))
	t.descend(&w.best, &c, 0, 0, radius2)
	w.best.sort()
	for i, j := range w.best.index {
		index, dist2 = append(index, j), append(dist2, T(w.best.dist[i]))
	}
	return index, dist2
}

// descend offers to best every point below node that can still be among the nearest and is nearer than radius2 (any point, if
// that is +Inf). bound is a lower bound of the squared distances of these points.
func (t *KDTree[T]) descend(best *nearest, c *[maxTreeDim]T, node int, bound, radius2 T) {
	if best.k == 0 || (bound >= radius2 && !math.IsInf(float64(radius2), 1)) {
		return
	}
	// A bound equal to the worst distance is good enough only for lower indices, which win a tie. Without this a query among many
	// equal points would look at all of them.
	if best.full() && (float64(bound) > best.dist[0] || (float64(bound) == best.dist[0] && t.first[node] > best.index[0])) {
		return
	}
	if first := 1<<t.levels - 1; node >= first {
		lo, hi := t.span(t.levels, node-first)
		for pos := lo; pos < hi; pos++ {
			if d := t.dist2(pos, c); d < radius2 || math.IsInf(float64(radius2), 1) {
				best.offer(float64(d), t.index[pos])
			}
		}
		return
	}
	l, r := 2*node+1, 2*node+2
	bl, br := t.bound2(l, c), t.bound2(r, c)
	if br < bl || (br == bl && t.first[r] < t.first[l]) {
		l, r, bl, br = r, l, br, bl
	}
	t.descend(best, c, l, bl, radius2)
	t.descend(best, c, r, br, radius2)
}

// dist2 returns the squared distance of c and the point at a stored position. The conversions keep the compiler from fusing the
// multiplication into the sum, so that every machine computes the same bits and bound2 stays a bound.
func (t *KDTree[T]) dist2(pos int, c *[maxTreeDim]T) T {
	var sum T
	for axis := range t.dim {
		d := axisDist(t.coord[axis*t.n+pos], c[axis], t.periods[axis])
		sum += T(d * d)
	}
	return sum
}

// bound2 returns a lower bound of dist2 over the points of a node: the same sum in the same order, of terms that are no larger.
func (t *KDTree[T]) bound2(node int, c *[maxTreeDim]T) T {
	box := t.nodeBox(node)
	var sum T
	for axis := range t.dim {
		d := axisGap(box[2*axis], box[2*axis+1], c[axis], c[axis], t.periods[axis])
		sum += T(d * d)
	}
	return sum
}
