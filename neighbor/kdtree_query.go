package neighbor

import (
	"fmt"
	"math"
	"slices"
)

// Box appends to dst, ascending, the points whose coordinates all differ from center [dim] by at most half [dim],
// modulo the period on periodic axes. A half-width of +Inf bounds nothing; NaN in either argument finds nothing. It
// panics if a length differs from the tree's dimension.
func (t *KDTree) Box(dst []int32, center, half []float64) []int32 {
	c := t.checkQuery("Box", center)
	if len(half) != t.dim {
		panic(fmt.Sprintf("neighbor: KDTree.Box: len(half) = %d, need %d", len(half), t.dim))
	}
	start := len(dst)
	for _, r := range t.boxRuns(nil, c[:t.dim], half) {
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

// Ball appends to dst, ascending, the points whose squared Euclidean distance from center [dim] is strictly smaller
// than radius2. It panics if len(center) differs from the tree's dimension.
func (t *KDTree) Ball(dst []int32, center []float64, radius2 float64) []int32 {
	c := t.checkQuery("Ball", center)
	start := len(dst)
	if t.n == 0 {
		return dst
	}
	var stack [64]int
	top := 1
	for top > 0 {
		top--
		node := stack[top]
		if !(t.bound2(node, &c) < radius2) {
			continue
		}
		if first := 1<<t.levels - 1; node >= first {
			lo, hi := t.span(t.levels, node-first)
			for pos := lo; pos < hi; pos++ {
				if t.dist2(pos, &c) < radius2 {
					dst = append(dst, t.index[pos])
				}
			}
			continue
		}
		stack[top], stack[top+1] = 2*node+2, 2*node+1
		top += 2
	}
	slices.Sort(dst[start:])
	return dst
}

// KNearest returns the k points nearest to center [dim] in Euclidean distance and their squared distances, ordered by
// (dist2, index); fewer if the tree has fewer, none for a NaN center. It panics if len(center) differs from the tree's
// dimension or k is negative.
func (t *KDTree) KNearest(center []float64, k int) (index []int32, dist2 []float64) {
	c := t.checkQuery("KNearest", center)
	if k < 0 {
		panic(fmt.Sprintf("neighbor: KDTree.KNearest: k = %d is negative", k))
	}
	var best nearest
	best.reset(min(k, t.n))
	t.descend(&best, &c, 0, 0)
	best.sort()
	return best.index, best.dist
}

// descend offers to best every point below node that can still be among the nearest; bound is at most the squared
// distance of any of them.
func (t *KDTree) descend(best *nearest, c *[maxTreeDim]float64, node int, bound float64) {
	// Equal to the worst is still good enough: a lower index wins a tie.
	if best.k == 0 || (best.full() && bound > best.dist[0]) {
		return
	}
	if first := 1<<t.levels - 1; node >= first {
		lo, hi := t.span(t.levels, node-first)
		for pos := lo; pos < hi; pos++ {
			best.offer(t.dist2(pos, c), t.index[pos])
		}
		return
	}
	l, r := 2*node+1, 2*node+2
	bl, br := t.bound2(l, c), t.bound2(r, c)
	if br < bl {
		l, r, bl, br = r, l, br, bl
	}
	t.descend(best, c, l, bl)
	t.descend(best, c, r, br)
}

// dist2 is the squared distance of c and the point at a stored position. The conversions keep the compiler from fusing
// the multiplication into the sum, so that every machine gives the same bits and bound2 stays a bound.
func (t *KDTree) dist2(pos int, c *[maxTreeDim]float64) float64 {
	sum := 0.0
	for axis := range t.dim {
		d := axisDist(t.coord[axis*t.n+pos], c[axis], t.periods[axis])
		sum += float64(d * d)
	}
	return sum
}

// bound2 is a lower bound of dist2 over the points of a node: the same sum, in the same order, of no larger terms.
func (t *KDTree) bound2(node int, c *[maxTreeDim]float64) float64 {
	box := t.box[node*2*t.dim:][:2*t.dim]
	sum := 0.0
	for axis := range t.dim {
		d := axisGap(box[2*axis], box[2*axis+1], c[axis], t.periods[axis])
		sum += float64(d * d)
	}
	return sum
}

// nearest keeps the k smallest of the pairs (dist, index) offered to it, in a heap with the greatest on top.
type nearest struct {
	k     int
	dist  []float64
	index []int32
}

// reset empties the heap for another k.
func (h *nearest) reset(k int) {
	h.k = k
	h.dist, h.index = h.dist[:0], h.index[:0]
}

func (h *nearest) full() bool { return len(h.dist) == h.k }

// after reports whether entry i comes after (d, j) in the order by (dist, index).
func (h *nearest) after(i int, d float64, j int32) bool {
	return h.dist[i] > d || (h.dist[i] == d && h.index[i] > j)
}

// offer takes the pair (d, j) if it is among the k smallest so far. NaN is no distance and never taken.
func (h *nearest) offer(d float64, j int32) {
	if math.IsNaN(d) || h.k == 0 {
		return
	}
	if h.full() {
		if h.after(0, d, j) {
			h.down(0, d, j)
		}
		return
	}
	h.dist, h.index = append(h.dist, d), append(h.index, j)
	i := len(h.dist) - 1
	for i > 0 {
		up := (i - 1) / 2
		if h.after(up, d, j) {
			break
		}
		h.dist[i], h.index[i] = h.dist[up], h.index[up]
		i = up
	}
	h.dist[i], h.index[i] = d, j
}

// down puts (d, j) into the hole at i and restores the heap below it.
func (h *nearest) down(i int, d float64, j int32) {
	for {
		c := 2*i + 1
		if c >= len(h.dist) {
			break
		}
		if c+1 < len(h.dist) && h.after(c+1, h.dist[c], h.index[c]) {
			c++
		}
		if !h.after(c, d, j) {
			break
		}
		h.dist[i], h.index[i] = h.dist[c], h.index[c]
		i = c
	}
	h.dist[i], h.index[i] = d, j
}

// sort turns the heap into the list by ascending (dist, index).
func (h *nearest) sort() {
	dist, index := h.dist, h.index
	for n := len(dist) - 1; n > 0; n-- {
		d, j := dist[n], index[n]
		dist[n], index[n] = dist[0], index[0]
		h.dist, h.index = dist[:n], index[:n]
		h.down(0, d, j)
	}
	h.dist, h.index = dist, index
}
