// Package search holds the kernels that trees, grids and balls of groups search with: boxes, points and cells near a place, points within a
// radius by the distance of a group, the k smallest of a list. Packages neighbor and group are built on it.
//
// Files and levels are organised as in package simd, whose level holds here too: a portable twin of each kernel,
// *_generic.go, defines what it computes, and every level gives the same bits. The assembly is written by the
// generators in the module asm.
package search

import (
	"fmt"
	"math/bits"

	"github.com/equivcnp/equivcnp/internal/cpu"
)

// Float is the type of coordinates and squared distances.
type Float interface{ float32 | float64 }

// level is what the dispatchers switch on.
var level cpu.Level

func init() { cpu.Follow(&level) }

// unreachable stands in the default branch of the switches on a type parameter.
func unreachable(fn string) {
	panic("search: " + fn + ": element type is neither float32 nor float64")
}

// checkLen panics unless the argument has exactly the length needed.
func checkLen(fn, arg string, got, need int) {
	if got != need {
		panicLen(fn, arg, got, need)
	}
}

//go:noinline
func panicLen(fn, arg string, got, need int) {
	panic(fmt.Sprintf("search: %s: len(%s) = %d, need %d", fn, arg, got, need))
}

// checkRoom panics if a slice is shorter than its kernel needs.
func checkRoom(fn, arg string, got, need int) {
	if got < need {
		panic(fmt.Sprintf("search: %s: len(%s) = %d, need at least %d", fn, arg, got, need))
	}
}

// checkSize panics if a size is negative.
func checkSize(fn, arg string, size int) {
	if size < 0 {
		panic(fmt.Sprintf("search: %s: %s = %d, need at least 0", fn, arg, size))
	}
}

// checkMatrix panics unless a slice of the given length holds a row-major matrix [rows, cols] whose rows start ld elements apart. The last
// row need not be followed by its padding. A matrix without elements needs none.
func checkMatrix(fn, arg string, length, rows, cols, ld int) {
	if ld < cols {
		panic(fmt.Sprintf("search: %s: ld%s = %d, need at least %d", fn, arg, ld, cols))
	}
	if rows == 0 || cols == 0 {
		return
	}
	// (rows-1)·ld may be larger than an int.
	if high, low := bits.Mul64(uint64(rows-1), uint64(ld)); high != 0 || length < cols || low > uint64(length-cols) {
		panicLen(fn, arg, length, (rows-1)*ld+cols)
	}
}
