package batch

import (
	"fmt"
	"math/bits"
)

// Float is the element type of a batch.
type Float interface{ float32 | float64 }

// shape is how many entries the results and inputs of an operation have; b is 0 for operations of one matrix.
type shape struct{ out, a, b int }

// The largest shapes: SE(3)'s Jacobians, and products of 4×4 matrices.
const (
	maxOut = 36
	maxIn  = 16
)

// run computes an operation for n matrices: as many as possible by the kernels of the current level, the others one by one.
func run[T Float](o op, s shape, dst []T, ok []bool, a, b []T, n int) {
	for from := 0; from < n; {
		at, next, hard := kernel(o, s, dst, a, b, from, n)
		if next == from {
			oneByOne(o, s, dst, ok, a, b, from, n, n)
			return
		}
		for ; hard != 0; hard &= hard - 1 {
			i := at + bits.TrailingZeros64(hard)
			oneByOne(o, s, dst, ok, a, b, i, i+1, n)
		}
		from = next
	}
}

// oneByOne computes matrices from .. to-1 of n.
func oneByOne[T Float](o op, s shape, dst []T, ok []bool, a, b []T, from, to, n int) {
	var y [maxOut]float64
	var x, z [maxIn]float64
	for i := from; i < to; i++ {
		load(x[:s.a], a, n, i)
		load(z[:s.b], b, n, i)
		fine := portable(o, &y, &x, &z)
		store(dst, y[:s.out], n, i)
		if ok != nil {
			ok[i] = fine && (o == opLog2x2 || o == opLog3x3 || finite(dst, s.out, n, i))
		}
	}
}

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

// finite reports whether matrix i of a batch of n with k entries is finite.
func finite[T Float](a []T, k, n, i int) bool {
	for e := range k {
		if v := a[e*n+i]; v-v != 0 {
			return false
		}
	}
	return true
}

// check panics unless an argument holds n matrices of k entries.
func check(fn, group, arg string, got, k, n int) {
	if n < 0 || (k > 0 && (got/k != n || got%k != 0)) {
		panicLength(fn, group, arg, got, k, n)
	}
}

//go:noinline
func panicLength(fn, group, arg string, got, k, n int) {
	if group != "" {
		fn += "(" + group + ")"
	}
	if n < 0 {
		panic(fmt.Sprintf("batch: %s: n = %d, need at least 0", fn, n))
	}
	panic(fmt.Sprintf("batch: %s: len(%s) = %d, need %d·%d", fn, arg, got, k, n))
}
