package layers

import (
	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/layers/internal/check"
	"github.com/equivcnp/equivcnp/layers/internal/reduce"
	"github.com/equivcnp/equivcnp/simd"
)

// Backward adds the gradients of weight and bias to g and sets dx [batch, n, in] to the gradient of x, unless dx is nil. dy
// [batch, n, out] is the gradient to the convolution's result y, after the activation, and x the input of Forward. act is none,
// ReLU, sigmoid or softplus.
func (l *Conv1d[T]) Backward(dx, dy, x, y []T, batch, n int, act simd.Activation, g *Grads[T]) {
	checkDerivative("Conv1d.Backward", act)
	check.Len("Conv1d.Backward", "x", len(x), batch, n, l.In)
	check.Len("Conv1d.Backward", "y", len(y), batch, n, l.Out)
	check.Len("Conv1d.Backward", "dy", len(dy), batch, n, l.Out)
	if act != simd.ActNone {
		d := make([]T, len(dy))
		activationGrad(d, dy, y, act)
		dy = d
	}
	if dx != nil {
		check.Len("Conv1d.Backward", "dx", len(dx), batch, n, l.In)
		clear(dx)
	}
	// For each tap, the convolution is a matrix product of shifted rows. The weights of a tap are [out, in].
	size := l.Out * l.In
	taps := make([]T, l.Width*size)
	for i, v := range l.Weight {
		taps[i%l.Width*size+i/l.Width] = v
	}
	parts := make([]T, batch*l.Width*size)
	parallel.For(batch, 1, func(lo, hi int) {
		for b := lo; b < hi; b++ {
			for k := range l.Width {
				// Output p reads input p + shift; both must exist.
				shift := k - l.Width/2
				from, to := max(0, -shift), min(n, n-shift)
				if from >= to {
					continue
				}
				m := to - from
				d := dy[(b*n+from)*l.Out:][:m*l.Out]
				at := (b*n + from + shift) * l.In
				simd.GemmTN(parts[(b*l.Width+k)*size:][:size], l.In, d, l.Out, x[at:at+m*l.In], l.In, 1, 0, l.Out, l.In, m)
				if dx != nil {
					simd.Gemm(dx[at:at+m*l.In], l.In, d, l.Out, taps[k*size:], l.In, 1, 1, m, l.In, l.Out)
				}
			}
		}
	})
	if dw := g.Of(l.Weight); dw != nil {
		for b := range batch {
			part := parts[b*l.Width*size:][:l.Width*size]
			for i := range dw {
				dw[i] += part[i%l.Width*size+i/l.Width]
			}
		}
	}
	reduce.AddTo(g.Of(l.Bias), reduce.Rows(batch*n, rowGrain, l.Out, func(sum []float64, lo, hi int) {
		for at := lo * l.Out; at < hi*l.Out; at += l.Out {
			for i, v := range dy[at : at+l.Out] {
				sum[i] += float64(v)
			}
		}
	}))
}

// Backward adds the gradients of weight and bias to g and sets dx to the gradient of x, unless dx is nil, given the gradient dy
// to the result; all are [batch, h, w, c]. If Positive is set, the gradient to a weight is multiplied by the weight's sign; a
// weight of exactly 0 gets none.
func (l *DepthwiseConv2d[T]) Backward(dx, dy, x []T, batch, h, w int, g *Grads[T]) {
	c, k := l.Channels, l.Width
	check.Len("DepthwiseConv2d.Backward", "x", len(x), batch, h, w, c)
	check.Len("DepthwiseConv2d.Backward", "dy", len(dy), batch, h, w, c)
	if dx != nil {
		check.Len("DepthwiseConv2d.Backward", "dx", len(dx), batch, h, w, c)
		// dx is the convolution of dy with the kernel rotated by 180 degrees, without a bias.
		turned := &DepthwiseConv2d[T]{Channels: c, Width: k, Positive: l.Positive, Weight: make([]T, len(l.Weight))}
		for ch := range c {
			for t := range k * k {
				turned.Weight[ch*k*k+t] = l.Weight[ch*k*k+k*k-1-t]
			}
		}
		turned.forward(dx, dy, batch, h, w, k-1-k/2)
	}
	sums := reduce.Rows(batch*h, max(1, rowGrain/max(1, w)), (k*k+1)*c, func(sum []float64, lo, hi int) {
		for r := lo; r < hi; r++ {
			b, y := r/h, r%h
			for xx := range w {
				d := dy[(r*w+xx)*c:][:c]
				for ch, v := range d {
					sum[k*k*c+ch] += float64(v)
				}
				for ky := max(0, k/2-y); ky < min(k, h+k/2-y); ky++ {
					for kx := max(0, k/2-xx); kx < min(k, w+k/2-xx); kx++ {
						in := x[((b*h+y+ky-k/2)*w+xx+kx-k/2)*c:][:c]
						tap := sum[(ky*k+kx)*c:][:c]
						for ch, v := range d {
							tap[ch] += float64(v) * float64(in[ch])
						}
					}
				}
			}
		}
	})
	if dw := g.Of(l.Weight); dw != nil {
		for ch := range c {
			for t := range k * k {
				at, v := ch*k*k+t, T(sums[t*c+ch])
				if l.Positive && l.Weight[at] < 0 {
					v = -v
				}
				if !l.Positive || l.Weight[at] != 0 {
					dw[at] += v
				}
			}
		}
	}
	reduce.AddTo(g.Of(l.Bias), sums[k*k*c:])
}
