package layers

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/layers/internal/buffers"
	"github.com/equivcnp/equivcnp/layers/internal/check"
	"github.com/equivcnp/equivcnp/layers/internal/initial"
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
	check.Size("NewLinear", "out", out)
	check.Size("NewLinear", "in", in)
	check.Weights("NewLinear", in, out)
	check.Rand("NewLinear", rng)
	l := &Linear[T]{In: in, Out: out, Weight: make([]T, in*out), Bias: make([]T, out)}
	bound := 1 / math.Sqrt(float64(in))
	initial.Uniform(l.Weight, bound, rng)
	initial.Uniform(l.Bias, bound, rng)
	return l
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
	check.Len("Linear", "x", len(x), rows, l.In)
	check.Len("Linear", "dst", len(dst), rows, l.Out)
	l.forward(dst, l.Out, x, rows, act, nil)
}

// forward is Forward into rows that begin stride numbers apart. then, if it is not nil, may change rows lo to hi of the
// result, at most rowGrain of them, while they are in the cache; it is called on several goroutines.
func (l *Linear[T]) forward(dst []T, stride int, x []T, rows int, act simd.Activation, then func(lo, hi int)) {
	w := buffers.RentPacked[T]()
	defer buffers.GiveBackPacked(w)
	w.RepackTransposed(l.Weight, l.In, l.In, l.Out)
	parallel.For(rows, rowGrain, func(lo, hi int) {
		simd.GemmPacked(dst[lo*stride:], stride, x[lo*l.In:hi*l.In], l.In, w, l.Bias, act, hi-lo)
		if then != nil {
			then(lo, hi)
		}
	})
}

// checkPoses panics if a geometry's poses are not as long as those that the layer's WeightNet takes.
func checkPoses(where string, got, want int) {
	if got != want {
		panic(fmt.Sprintf("layers: %s: the geometry's poses have %d coordinates, the layer's PoseDim is %d", where, got, want))
	}
}
