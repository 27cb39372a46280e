package neighbor

import "github.com/equivcnp/equivcnp/simd"

// Among few points, comparing a query with all of them by vectors takes no longer than looking up who is near. It pays most
// where answers ascend: the points are then sorted once, and not group by group (BenchmarkFlat; 64 points of the plane with 30
// neighbours each: 24 ns a query instead of 43 with a tree and 51 with a grid, in ascending order; 256: 45, 46 and 57).

const (
	// flatVectors is up to how many vectors of points a query is compared with all of them, and flatAscending if answers
	// ascend.
	flatVectors   = 4
	flatAscending = 16
	// flatGroup is how many queries are then answered at a time.
	flatGroup = 16
)

// scansAll reports whether queries are compared with all of n points.
func scansAll[T Float](n int, ascending bool) bool {
	vectors := flatVectors
	if ascending {
		vectors = flatAscending
	}
	return n <= vectors*lanes[T]()
}

// lanes is the number of coordinates in a vector, 0 where there are none: one pair at a time, looking up is always faster.
func lanes[T Float]() int {
	n := 0
	switch simd.CurrentLevel() {
	case simd.AVX512:
		n = 16
	case simd.AVX2:
		n = 8
	case simd.NEON:
		n = 4
	}
	if _, ok := any(T(0)).(float64); ok {
		n /= 2
	}
	return n
}

// gatherAll collects all points. An order that ascends is made once.
func (w *bulk[T]) gatherAll(p *stored[T], ascending bool) {
	w.makeRoom(p.n, p.dim)
	for axis := range p.dim {
		copy(w.coord[axis*w.room:], p.coord[axis*p.n:][:p.n])
	}
	copy(w.id, p.index[:p.n])
	if ascending {
		w.sort(p.n, p.dim)
	}
}
