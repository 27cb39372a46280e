package layers

import (
	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/simd"
)

// Backward adds the gradients of weight and bias to g and sets dx [rows, in] to the gradient of x, unless dx is nil. dy [rows,
// out] is the gradient to x·Wᵀ + b, before any activation, and x [rows, in] the input of Forward.
func (l *Linear[T]) Backward(dx, dy, x []T, rows int, g *Grads[T]) {
	checkLen("Linear.Backward", "x", len(x), rows, l.In)
	checkLen("Linear.Backward", "dy", len(dy), rows, l.Out)
	if dx != nil {
		checkLen("Linear.Backward", "dx", len(dx), rows, l.In)
		linear(dx, dy, simd.Pack(l.Weight, l.In, l.Out, l.In), nil, simd.ActNone, rows)
	}
	if db := g.Of(l.Bias); db != nil {
		addTo(db, sumRows(rows, rowGrain, l.Out, func(sum []float64, lo, hi int) {
			columnSums(sum, dy[lo*l.Out:hi*l.Out])
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
func activationGrad[T Float](dy, y []T, act simd.Activation) { activationGradTo(dy, dy, y, act) }

// activationGradTo sets dx to that gradient.
func activationGradTo[T Float](dx, dy, y []T, act simd.Activation) {
	switch act {
	case simd.ActNone:
		copy(dx, dy)
	case simd.ActReLU:
		reluGrad(dx, dy, y)
	case simd.ActSigmoid:
		simd.SigmoidGrad(dx, dy, y)
	case simd.ActSoftplus:
		simd.SoftplusGrad(dx, dy, y)
	default:
		panic("layers: the derivative of " + act.String() + " cannot be told from its result")
	}
}

// add sets dst = x + y, in parallel; relu and reluGrad do the same for simd.ReLU and simd.ReLUGrad.
func add[T Float](dst, x, y []T) {
	parallel.For(len(dst), elementGrain, func(lo, hi int) { simd.Add(dst[lo:hi], x[lo:hi], y[lo:hi]) })
}

func relu[T Float](dst, x []T) {
	parallel.For(len(dst), elementGrain, func(lo, hi int) { simd.ReLU(dst[lo:hi], x[lo:hi]) })
}

func reluGrad[T Float](dx, dy, y []T) {
	parallel.For(len(dx), elementGrain, func(lo, hi int) { simd.ReLUGrad(dx[lo:hi], dy[lo:hi], y[lo:hi]) })
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

// sumBlock is how many rows columnSums adds up in T before it continues in float64. It adds pairs, then pairs of those and so on:
// six roundings.
const sumBlock = 64

// columnSums adds the sums of the columns of x [rows, c] to sum [c].
func columnSums[T Float](sum []float64, x []T) {
	c := len(sum)
	if c == 0 {
		return
	}
	half := rent[T](sumBlock / 2 * c)
	for len(x) > 0 {
		from := x[:min(sumBlock*c, len(x))]
		x = x[len(from):]
		for n := len(from) / c; n > 1; n = len(from) / c {
			to := half[:n/2*c]
			if n%2 == 1 {
				addRow(sum, from[(n-1)*c:])
			}
			simd.Add(to, from[:n/2*c], from[n/2*c:n/2*2*c])
			from = to
		}
		addRow(sum, from)
	}
	giveBack(half)
}

// addRow adds a row to float64 sums.
func addRow[T Float](sum []float64, x []T) {
	for j, v := range x[:len(sum)] {
		sum[j] += float64(v)
	}
}
