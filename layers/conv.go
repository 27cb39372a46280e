package layers

import (
	"math"
	"math/rand/v2"

	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/layers/internal/check"
	"github.com/equivcnp/equivcnp/layers/internal/initial"
	"github.com/equivcnp/equivcnp/simd"
)

// Conv1d is an ordinary convolution over a line of points with zero padding, as in the ConvCNP baseline and in any model of
// evenly sampled series. The width is odd, and the output is as long as the input.
type Conv1d[T Float] struct {
	In, Out, Width int
	Weight         []T // [out, in, width], PyTorch's order
	Bias           []T // [out]
}

// NewConv1d draws the weights from U(±1/√(in·width)), as PyTorch does.
func NewConv1d[T Float](in, out, width int, rng *rand.Rand) *Conv1d[T] {
	check.Size("NewConv1d", "in", in)
	check.Size("NewConv1d", "out", out)
	check.Odd("NewConv1d", "width", width)
	check.Weights("NewConv1d", in, out, width)
	check.Rand("NewConv1d", rng)
	c := &Conv1d[T]{In: in, Out: out, Width: width, Weight: make([]T, out*in*width), Bias: make([]T, out)}
	bound := 1 / math.Sqrt(float64(in*width))
	initial.Uniform(c.Weight, bound, rng)
	initial.Uniform(c.Bias, bound, rng)
	return c
}

// Params lists the layer's state.
func (l *Conv1d[T]) Params(prefix string) []Param[T] {
	return []Param[T]{
		{Name: prefix + "weight", Shape: []int{l.Out, l.In, l.Width}, Data: l.Weight},
		{Name: prefix + "bias", Shape: []int{l.Out}, Data: l.Bias},
	}
}

// Forward sets dst [batch, n, out] = act(convolution of x [batch, n, in]). The patch of an output is a contiguous run of
// the padded input, so the convolution is one matrix product whose rows overlap in memory.
func (l *Conv1d[T]) Forward(dst, x []T, batch, n int, act simd.Activation) {
	check.Len("Conv1d", "x", len(x), batch, n, l.In)
	check.Len("Conv1d", "dst", len(dst), batch, n, l.Out)
	if len(dst) == 0 {
		return // one of the sizes may be as large as an int
	}
	// The patch holds the taps one after the other, each with its channels: [width, in]. The weights are put into the same order.
	patch := l.Width * l.In
	w := make([]T, l.Out*patch)
	for o := range l.Out {
		for i := range l.In {
			for k := range l.Width {
				w[o*patch+k*l.In+i] = l.Weight[(o*l.In+i)*l.Width+k]
			}
		}
	}
	packed, pad := simd.PackTransposed(w, patch, patch, l.Out), l.Width/2
	parallel.For(batch, 1, func(lo, hi int) {
		padded := make([]T, (n+2*pad)*l.In)
		for b := lo; b < hi; b++ {
			copy(padded[pad*l.In:], x[b*n*l.In:(b+1)*n*l.In])
			if n > 0 {
				overlapping(dst[b*n*l.Out:(b+1)*n*l.Out], padded, packed, l.In, l.Bias, act, n)
			}
		}
	})
}

// overlapping multiplies rows that start every step elements and overlap. A matrix product needs a row stride of at least the row
// length, so the rows are processed in ceil(K/step) interleaved groups.
func overlapping[T Float](dst, x []T, w *simd.Packed[T], step int, bias []T, act simd.Activation, n int) {
	groups := (w.K() + step - 1) / step
	out := make([]T, ((n+groups-1)/groups)*w.N())
	for g := range min(groups, n) {
		m := (n - g + groups - 1) / groups
		simd.GemmPacked(out[:m*w.N()], w.N(), x[g*step:][:(m-1)*groups*step+w.K()], groups*step, w, bias, act, m)
		for r := range m {
			copy(dst[(g+r*groups)*w.N():][:w.N()], out[r*w.N():])
		}
	}
}

// DepthwiseConv2d is a per-channel convolution over pixels with zero padding, as in the on-the-grid ConvCNP baseline and in any
// image model with channels that are filtered separately. The output is as large as the input. An even width reaches width/2 pixels up and
// to the left, and one less down and to the right.
type DepthwiseConv2d[T Float] struct {
	Channels, Width int
	// Positive uses the absolute values of the weights, so that a density stays nonnegative.
	Positive bool
	Weight   []T // [c, 1, width, width], PyTorch's order
	Bias     []T // [c], nil: none
}

// NewDepthwiseConv2d draws the weights from U(±1/width), as PyTorch does.
func NewDepthwiseConv2d[T Float](channels, width int, positive, bias bool, rng *rand.Rand) *DepthwiseConv2d[T] {
	check.Size("NewDepthwiseConv2d", "channels", channels)
	check.Size("NewDepthwiseConv2d", "width", width)
	check.Weights("NewDepthwiseConv2d", channels, width, width)
	check.Rand("NewDepthwiseConv2d", rng)
	c := &DepthwiseConv2d[T]{Channels: channels, Width: width, Positive: positive, Weight: make([]T, channels*width*width)}
	bound := 1 / float64(width)
	initial.Uniform(c.Weight, bound, rng)
	if bias {
		c.Bias = make([]T, channels)
		initial.Uniform(c.Bias, bound, rng)
	}
	return c
}

// Params lists the layer's state.
func (l *DepthwiseConv2d[T]) Params(prefix string) []Param[T] {
	ps := []Param[T]{{Name: prefix + "weight", Shape: []int{l.Channels, 1, l.Width, l.Width}, Data: l.Weight}}
	if l.Bias != nil {
		ps = append(ps, Param[T]{Name: prefix + "bias", Shape: []int{l.Channels}, Data: l.Bias})
	}
	return ps
}

// Forward sets dst [batch, h, w, c] for x [batch, h, w, c], channels last. dst and x must not overlap.
func (l *DepthwiseConv2d[T]) Forward(dst, x []T, batch, h, w int) {
	l.forward(dst, x, batch, h, w, l.Width/2)
}

// forward is Forward with tap (o, o) of the kernel at the output's pixel.
func (l *DepthwiseConv2d[T]) forward(dst, x []T, batch, h, w, o int) {
	c, k := l.Channels, l.Width
	check.Len("DepthwiseConv2d", "x", len(x), batch, h, w, c)
	check.Len("DepthwiseConv2d", "dst", len(dst), batch, h, w, c)
	if len(dst) == 0 {
		return // one of the sizes may be as large as an int
	}
	taps := make([]T, k*k*c) // channels last
	for ch := range c {
		for t := range k * k {
			v := l.Weight[ch*k*k+t]
			if l.Positive && v < 0 {
				v = -v
			}
			taps[t*c+ch] = v
		}
	}
	parallel.For(batch*h, 4, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			b, y := r/h, r%h
			for xx := range w {
				out := dst[(r*w+xx)*c:][:c]
				if l.Bias != nil {
					copy(out, l.Bias)
				} else {
					clear(out)
				}
				for ky := max(0, o-y); ky < min(k, h+o-y); ky++ {
					for kx := max(0, o-xx); kx < min(k, w+o-xx); kx++ {
						in := x[((b*h+y+ky-o)*w+xx+kx-o)*c:][:c]
						tap := taps[(ky*k+kx)*c:][:c]
						for ch := range out {
							out[ch] += tap[ch] * in[ch]
						}
					}
				}
			}
		}
	})
}
