package linalg

import (
	"fmt"

	"github.com/equivcnp/equivcnp/simd"
)

// Float is the element type of the matrix functions. One float32 matrix is computed in float64 and rounded once, entry by
// entry; for batches see the package comment.
type Float = simd.Float

// load widens matrix i of a batch of n into m.
func load[T Float](m []float64, a []T, n, i int) {
	for e := range m {
		m[e] = float64(a[e*n+i])
	}
}

// store rounds m into matrix i of a batch of n.
func store[T Float](dst []T, m []float64, n, i int) {
	for e, v := range m {
		dst[e*n+i] = T(v)
	}
}

// widen copies src, converted, into dst of the same length.
func widen[T Float](dst []float64, src []T) {
	for e, v := range src {
		dst[e] = float64(v)
	}
}

// narrow copies src, rounded, into dst of the same length.
func narrow[T Float](dst []T, src []float64) {
	for e, v := range src {
		dst[e] = T(v)
	}
}

// checkBatch panics unless an argument holds n matrices of k entries.
func checkBatch(fn, arg string, got, k, n int) {
	if n < 0 || got/k != n || got%k != 0 {
		panicBatch(fn, arg, got, k, n)
	}
}

//go:noinline
func panicBatch(fn, arg string, got, k, n int) {
	if n < 0 {
		panic(fmt.Sprintf("linalg: %s: n = %d, need at least 0", fn, n))
	}
	panic(fmt.Sprintf("linalg: %s: len(%s) = %d, need %d·%d", fn, arg, got, k, n))
}

// finiteAt reports whether matrix i of a batch of n with k entries is finite.
func finiteAt[T Float](a []T, k, n, i int) bool {
	for e := range k {
		if v := a[e*n+i]; v-v != 0 {
			return false
		}
	}
	return true
}

// fillTrue sets all of ok, for the matrices that a kernel computes; the others have theirs overwritten.
func fillTrue(ok []bool) {
	for i := range ok {
		ok[i] = true
	}
}
