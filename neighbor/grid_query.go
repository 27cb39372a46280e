package neighbor

import (
	"fmt"
	"math"
	"slices"
)

// checkQuery panics, as an index out of range does, if a query has the wrong length, and returns the box of that one point.
func (g *Grid[T]) checkQuery(op string, center []T) (box [2 * maxGridDim]T) {
	if len(center) != g.dim {
		panic(fmt.Sprintf("neighbor: Grid.%s: len(center) = %d, need %d", op, len(center), g.dim))
	}
	for axis, x := range center {
		box[2*axis], box[2*axis+1] = x, x
	}
	return box
}

// each calls f with every point whose squared distance from center is smaller than radius2 (every point, if radius2 is +Inf), and
// with that distance, in order of the cells.
func (g *Grid[T]) each(op string, center []T, radius2 T, f func(index int32, dist2 T)) {
	box := g.checkQuery(op, center)
	all := math.IsInf(float64(radius2), 1)
	look := func(from, to int32) {
		for pos := int(from); pos < int(to); pos++ {
			var sum T
			for axis, c := range center {
				d := g.coord[axis*g.n+pos] - c
				sum += T(d * d)
			}
			if sum < radius2 || all {
				f(g.index[pos], sum)
			}
		}
	}
	if all { // also where center is infinite, which is in no cell
		look(0, int32(g.n))
		return
	}
	g.runs(box[:], radius2, look)
}

// Ball appends to dst, ascending, the points whose squared Euclidean distance from center [dim] is strictly smaller
// than radius2: what KDTree.Ball finds. It panics if len(center) differs from the grid's dimension.
//
// For many centres [EachBall] is several times faster.
func (g *Grid[T]) Ball(dst []int32, center []T, radius2 T) []int32 {
	start := len(dst)
	g.each("Ball", center, radius2, func(index int32, dist2 T) {
		if dist2 < radius2 {
			dst = append(dst, index)
		}
	})
	slices.Sort(dst[start:])
	return dst
}

// Count returns the number of points that Ball finds.
func (g *Grid[T]) Count(center []T, radius2 T) (count int) {
	g.each("Count", center, radius2, func(_ int32, dist2 T) {
		if dist2 < radius2 {
			count++
		}
	})
	return count
}

// KNearest returns the k points nearest to center [dim] and their squared distances, as KDTree.KNearest does. A tree is faster
// where points crowd in few cells, or where k is many times the number of points in a cell.
func (g *Grid[T]) KNearest(center []T, k int) (index []int32, dist2 []T) {
	var w NearestWorkspace
	return g.KNearestWithin(nil, nil, center, k, T(math.Inf(1)), &w)
}

// KNearestWithin appends to index and dist2 the k points nearest to center [dim] among those with a squared distance
// strictly smaller than radius2, as KDTree.KNearestWithin does.
func (g *Grid[T]) KNearestWithin(index []int32, dist2 []T, center []T, k int, radius2 T, w *NearestWorkspace) ([]int32, []T) {
	box := g.checkQuery("KNearest", center)
	if k < 0 {
		panic(fmt.Sprintf("neighbor: Grid.KNearest: k = %d is negative", k))
	}
	if w == nil {
		w = new(NearestWorkspace)
	}
	best := &w.best
	// A ball that holds k points holds the nearest k. The first ball reaches about as many cells into the grid as hold k points;
	// each further one is twice as wide.
	perCell := float64(g.n) / float64(g.cells[0]*g.cells[1]*g.cells[2])
	reach := g.edge * math.Pow(float64(k)/max(perCell, 1e-9), 1/float64(g.dim))
	for axis := range g.dim {
		x, lo := float64(box[2*axis]), float64(g.low[axis])
		reach += max(lo-x, x-lo-float64(g.cells[axis])*g.edge, 0)
	}
	for {
		r2 := T(reach * reach)
		if !(r2 < radius2) {
			r2 = radius2
		}
		best.reset(min(k, g.n))
		if best.k == 0 {
			break
		}
		g.each("KNearest", center, r2, func(j int32, d T) { best.offer(float64(d), j) })
		if best.full() || r2 == radius2 || radius2 != radius2 {
			break
		}
		reach *= 2
	}
	best.sort()
	for i, j := range best.index {
		index, dist2 = append(index, j), append(dist2, T(best.dist[i]))
	}
	return index, dist2
}
