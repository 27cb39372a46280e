package neighbor

import "github.com/equivcnp/equivcnp/simd"

// Among few points, comparing a query with all of them with vectors takes no longer than looking up which are near. It gains most
// where answers ascend, because the points are then sorted once instead of for each group of queries (see BenchmarkFlat).

const (
	// flatVectors is the largest number of vectors of points that a query is compared with, flatAscending the same for ascending
	// answers.
	flatVectors   = 4
	flatAscending = 16
	// flatGroup is how many queries are answered at a time in that case.
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

// lanes returns the number of coordinates in a vector. It is 0 without vectors, where looking up is always faster than comparing pair
// by pair.
func lanes[T Float]() int {
	n := 0
	switch simd.CurrentLevel().Vectors() {
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

// gatherAll collects all points. If they have to ascend, they are sorted once.
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
