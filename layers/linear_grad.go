package layers

import (
	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/simd"
)

// Backward adds the gradients of weight and bias to g and sets dx [rows, in] to that of x; dy [rows, out] is the gradient to
// x·Wᵀ + b, before any activation, and x [rows, in] what Forward was given. A nil dx is not wanted.
func (l *Linear[T]) Backward(dx, dy, x []T, rows int, g *Grads[T]) {
	checkLen("Linear.Backward", "x", len(x), rows*l.In)
	checkLen("Linear.Backward", "dy", len(dy), rows*l.Out)
	if dx != nil {
		checkLen("Linear.Backward", "dx", len(dx), rows*l.In)
		parallel.For(rows, rowGrain, func(lo, hi int) {
			simd.Gemm(dx[lo*l.In:hi*l.In], l.In, dy[lo*l.Out:hi*l.Out], l.Out, l.Weight, l.In, 1, 0, hi-lo, l.In, l.Out)
		})
	}
	if db := g.Of(l.Bias); db != nil {
		addTo(db, sumRows(rows, rowGrain, l.Out, func(sum []float64, lo, hi int) {
			for at := lo * l.Out; at < hi*l.Out; at += l.Out {
				for i, v := range dy[at : at+l.Out] {
					sum[i] += float64(v)
				}
			}
		}))
	}
	if dw := g.Of(l.Weight); dw != nil {
		addProduct(dw, dy, x, l.Out, l.In, rows)
	}
}

// addProduct adds aᵀ·b to dst [m, n] for a [rows, m] and b [rows, n].
func addProduct[T Float](dst, a, b []T, m, n, rows int) {
	grain := partRows(rows, rowGrain)
	parts := make([]T, (rows+grain-1)/grain*m*n)
	parallel.For(rows, grain, func(lo, hi int) {
		part := parts[lo/grain*m*n:][:m*n]
		simd.GemmTN(part, n, a[lo*m:hi*m], m, b[lo*n:hi*n], n, 1, 0, m, n, hi-lo)
	})
	for i := 0; i < len(parts); i += m * n {
		simd.Add(dst, dst, parts[i:i+m*n])
	}
}

// activationGrad replaces dy by the gradient to the input of an activation with result y.
func activationGrad[T Float](dy, y []T, act simd.Activation) {
	switch act {
	case simd.ActNone:
	case simd.ActReLU:
		simd.ReLUGrad(dy, dy, y)
	case simd.ActSigmoid:
		simd.SigmoidGrad(dy, dy, y)
	case simd.ActSoftplus:
		simd.SoftplusGrad(dy, dy, y)
	default:
		panic("layers: the derivative of " + act.String() + " cannot be told from its result")
	}
}

// swish is y = swish(x) in parallel.
func swish[T Float](y, x []T) {
	parallel.For(len(x), elementGrain, func(lo, hi int) { simd.Swish(y[lo:hi], x[lo:hi]) })
}

// swishGrad replaces dy by dy·swish'(x), in parallel.
func swishGrad[T Float](dy, x []T) {
	parallel.For(len(x), elementGrain, func(lo, hi int) { simd.SwishGrad(dy[lo:hi], dy[lo:hi], x[lo:hi]) })
}

// elementGrain is the number of elements that one goroutine takes of an elementwise function at a time.
const elementGrain = 1 << 14

// sizeof is the number of bytes of a T.
func sizeof[T Float]() int {
	var zero T
	if _, ok := any(zero).(float64); ok {
		return 8
	}
	return 4
}
