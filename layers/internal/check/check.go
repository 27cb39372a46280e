// Package check panics on arguments that the layers cannot take, with messages that name them.
package check

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// maxSize bounds each size of a layer, and maxWeights the weights that its sizes ask for, so that a wrong number is a message and not an
// attempt to allocate as much.
const (
	maxSize    = 1 << 24
	maxWeights = 1 << 30
)

// Size panics on a size below 1 or beyond what any layer has.
func Size(where, name string, v int) {
	if v < 1 {
		panic(fmt.Sprintf("layers: %s: %s = %d, need at least 1", where, name, v))
	}
	if v > maxSize {
		panic(fmt.Sprintf("layers: %s: %s = %d, need at most %d", where, name, v, maxSize))
	}
}

// Odd panics unless v is a size that a window around a point may have.
func Odd(where, name string, v int) {
	Size(where, name, v)
	if v%2 == 0 {
		panic(fmt.Sprintf("layers: %s: %s = %d, need an odd number", where, name, v))
	}
}

// Weights panics if the product of sizes, each of which Size has let pass, is beyond maxWeights.
func Weights(where string, sizes ...int) {
	n := 1.0
	for _, v := range sizes {
		n *= float64(v)
	}
	if n > maxWeights {
		panic(fmt.Sprintf("layers: %s: sizes %d ask for %g weights, need at most %d", where, sizes, n, maxWeights))
	}
}

// Rand panics without a source of random numbers.
func Rand(where string, rng *rand.Rand) {
	Given(where, "rng", rng != nil)
}

// Given panics if what a call needs is nil.
func Given(where, name string, given bool) {
	if !given {
		panic(fmt.Sprintf("layers: %s: %s = nil", where, name))
	}
}

// Len panics if a length is not the product of these factors.
func Len(where, name string, got int, factors ...int) {
	want := 1
	for _, f := range factors {
		switch {
		case f < 0:
			want = f
		case f > 0 && want > math.MaxInt/f:
			want = math.MaxInt
		default:
			want *= f
			continue
		}
		break
	}
	if got != want {
		panic(fmt.Sprintf("layers: %s: len(%s) = %d, need %d", where, name, got, want))
	}
}

// Strided panics if a slice is shorter than n rows of c numbers that begin stride apart.
func Strided(where, name string, got, n, stride, c int) {
	if stride < c || n > 0 && (got < c || (got-c)/stride < n-1) {
		panic(fmt.Sprintf("layers: %s: len(%s) = %d, need %d rows of %d numbers, %d apart", where, name, got, n, c, stride))
	}
}
