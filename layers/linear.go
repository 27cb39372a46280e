package layers

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/simd"
)

// Linear is y = x·Wᵀ + b.
type Linear[T Float] struct {
	In, Out int
	Weight  []T // [out, in]
	Bias    []T // [out]
}

// NewLinear draws weight and bias from U(-1/√in, 1/√in), PyTorch's default.
func NewLinear[T Float](in, out int, rng *rand.Rand) *Linear[T] {
	checkSize("NewLinear", "out", out)
	checkSize("NewLinear", "in", in)
	checkWeights("NewLinear", in, out)
	checkRand("NewLinear", rng)
	l := &Linear[T]{In: in, Out: out, Weight: make([]T, in*out), Bias: make([]T, out)}
	bound := 1 / math.Sqrt(float64(in))
	uniform(l.Weight, bound, rng)
	uniform(l.Bias, bound, rng)
	return l
}

func uniform[T Float](dst []T, bound float64, rng *rand.Rand) {
	for i := range dst {
		dst[i] = T((2*rng.Float64() - 1) * bound)
	}
}

// Params lists the layer's state.
func (l *Linear[T]) Params(prefix string) []Param[T] {
	return []Param[T]{
		{Name: prefix + "weight", Shape: []int{l.Out, l.In}, Data: l.Weight},
		{Name: prefix + "bias", Shape: []int{l.Out}, Data: l.Bias},
	}
}

// Forward sets dst [rows, out] = act(x·Wᵀ + b) for x [rows, in]. dst and x must not overlap.
func (l *Linear[T]) Forward(dst, x []T, rows int, act simd.Activation) {
	checkLen("Linear", "x", len(x), rows, l.In)
	checkLen("Linear", "dst", len(dst), rows, l.Out)
	l.forward(dst, l.Out, x, rows, act, nil)
}

// forward is Forward into rows that begin stride numbers apart. then, if it is not nil, may change rows lo to hi of the
// result, at most rowGrain of them, while they are in the cache; it is called on several goroutines.
func (l *Linear[T]) forward(dst []T, stride int, x []T, rows int, act simd.Activation, then func(lo, hi int)) {
	w := simd.PackTransposed(l.Weight, l.In, l.In, l.Out)
	parallel.For(rows, rowGrain, func(lo, hi int) {
		simd.GemmPacked(dst[lo*stride:], stride, x[lo*l.In:hi*l.In], l.In, w, l.Bias, act, hi-lo)
		if then != nil {
			then(lo, hi)
		}
	})
}

// maxSize bounds each size of a layer, and maxWeights the weights that its sizes ask for, so that a wrong number is a message and not an
// attempt to allocate as much.
const (
	maxSize    = 1 << 24
	maxWeights = 1 << 30
)

// checkSize panics on a size below 1 or beyond what any layer has.
func checkSize(where, name string, v int) {
	if v < 1 {
		panic(fmt.Sprintf("layers: %s: %s = %d, need at least 1", where, name, v))
	}
	if v > maxSize {
		panic(fmt.Sprintf("layers: %s: %s = %d, need at most %d", where, name, v, maxSize))
	}
}

// checkWeights panics if the product of sizes, each of which checkSize has let pass, is beyond maxWeights.
func checkWeights(where string, sizes ...int) {
	n := 1.0
	for _, v := range sizes {
		n *= float64(v)
	}
	if n > maxWeights {
		panic(fmt.Sprintf("layers: %s: sizes %d ask for %g weights, need at most %d", where, sizes, n, maxWeights))
	}
}

func checkRand(where string, rng *rand.Rand) {
	checkGiven(where, "rng", rng != nil)
}

// checkGiven panics if what a call needs is nil.
func checkGiven(where, name string, given bool) {
	if !given {
		panic(fmt.Sprintf("layers: %s: %s = nil", where, name))
	}
}

// checkPoses panics if a geometry's poses are not as long as those that the layer's WeightNet takes.
func checkPoses(where string, got, want int) {
	if got != want {
		panic(fmt.Sprintf("layers: %s: the geometry's poses have %d coordinates, the layer's PoseDim is %d", where, got, want))
	}
}

// checkLen panics if a length is not the product of these factors.
func checkLen(where, name string, got int, factors ...int) {
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

// checkStrided panics if a slice is shorter than n rows of c numbers that begin stride apart.
func checkStrided(where, name string, got, n, stride, c int) {
	if stride < c || n > 0 && (got < c || (got-c)/stride < n-1) {
		panic(fmt.Sprintf("layers: %s: len(%s) = %d, need %d rows of %d numbers, %d apart", where, name, got, n, c, stride))
	}
}
