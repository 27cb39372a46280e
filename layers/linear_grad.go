package layers

import (
	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/layers/internal/buffers"
	"github.com/equivcnp/equivcnp/layers/internal/check"
	"github.com/equivcnp/equivcnp/layers/internal/reduce"
	"github.com/equivcnp/equivcnp/simd"
)

// Backward adds the gradients of weight and bias to g and sets dx [rows, in] to the gradient of x, unless dx is nil. dy [rows,
// out] is the gradient to x·Wᵀ + b, before any activation, and x [rows, in] the input of Forward.
func (l *Linear[T]) Backward(dx, dy, x []T, rows int, g *Grads[T]) {
	check.Len("Linear.Backward", "x", len(x), rows, l.In)
	check.Len("Linear.Backward", "dy", len(dy), rows, l.Out)
	if dx != nil {
		check.Len("Linear.Backward", "dx", len(dx), rows, l.In)
	}
	l.backward(dx, x, rows, g, func(lo, hi int) []T { return dy[lo*l.Out : hi*l.Out] }, nil)
}

// backward is Backward for a gradient dy that is made, and a gradient dx that is used, rowGrain rows at a time, while
// they are in the cache: dy returns rows lo to hi, once each, and then, if it is not nil, may change rows lo to hi of
// dx. Both are called on several goroutines.
func (l *Linear[T]) backward(dx, x []T, rows int, g *Grads[T], dy func(lo, hi int) []T, then func(lo, hi int)) {
	var packed *simd.Packed[T]
	if dx != nil {
		packed = simd.Pack(l.Weight, l.In, l.Out, l.In)
	}
	db, dw := g.Of(l.Bias), g.Of(l.Weight)
	grain := reduce.PartRows(rows, rowGrain)
	parts := (rows + grain - 1) / grain
	biases, weights := make([]float64, parts*len(db)), buffers.Rent[T](parts*len(dw))
	parallel.For(rows, grain, func(from, to int) {
		bias, weight := biases[from/grain*len(db):][:len(db)], weights[from/grain*len(dw):][:len(dw)]
		for lo := from; lo < to; lo += rowGrain {
			hi := min(lo+rowGrain, to)
			d := dy(lo, hi)
			reduce.Columns(bias, d)
			if dw != nil {
				beta := T(1)
				if lo == from {
					beta = 0
				}
				simd.GemmTN(weight, l.In, d, l.Out, x[lo*l.In:hi*l.In], l.In, 1, beta, l.Out, l.In, hi-lo)
			}
			if dx != nil {
				simd.GemmPacked(dx[lo*l.In:hi*l.In], l.In, d, l.Out, packed, nil, simd.ActNone, hi-lo)
				if then != nil {
					then(lo, hi)
				}
			}
		}
	})
	sum := make([]float64, len(db))
	for i := range biases {
		sum[i%len(db)] += biases[i]
	}
	reduce.AddTo(db, sum)
	for k := range parts {
		if dw != nil {
			simd.Add(dw, dw, weights[k*len(dw):(k+1)*len(dw)])
		}
	}
	buffers.GiveBack(weights)
}

// activationGrad sets dx to the gradient to the input of an activation with result y, given that to the result. dx may be dy.
func activationGrad[T Float](dx, dy, y []T, act simd.Activation) {
	switch act {
	case simd.ActNone:
		copy(dx, dy)
	case simd.ActReLU:
		simd.ReLUGrad(dx, dy, y)
	case simd.ActSigmoid:
		simd.SigmoidGrad(dx, dy, y)
	case simd.ActSoftplus:
		simd.SoftplusGrad(dx, dy, y)
	default:
		checkDerivative("activationGrad", act)
	}
}

// checkDerivative panics unless an activation's derivative can be told from its result.
func checkDerivative(where string, act simd.Activation) {
	switch act {
	case simd.ActNone, simd.ActReLU, simd.ActSigmoid, simd.ActSoftplus:
	default:
		panic("layers: " + where + ": the derivative of " + act.String() + " cannot be told from its result")
	}
}

// add sets dst = x + y, in parallel.
func add[T Float](dst, x, y []T) {
	parallel.For(len(dst), elementGrain, func(lo, hi int) { simd.Add(dst[lo:hi], x[lo:hi], y[lo:hi]) })
}

// elementGrain is the number of elements that one goroutine takes of an elementwise function at a time.
const elementGrain = 1 << 14
