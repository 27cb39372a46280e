package layers

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/layers/internal/check"
	"github.com/equivcnp/equivcnp/simd"
)

// WeightNet is the network that computes convolution weights from a relative pose: three times Linear, batch normalisation (or
// none) and swish, with widths in → hidden → hidden → out. The last layer has a swish, too.
type WeightNet[T Float] struct {
	Linear [3]*Linear[T]
	Norm   [3]*BatchNorm[T] // nil entries: no normalisation
}

// NewWeightNet returns a network with PyTorch's default initialisation.
func NewWeightNet[T Float](in, hidden, out int, norm bool, rng *rand.Rand) *WeightNet[T] {
	check.Size("NewWeightNet", "in", in)
	check.Size("NewWeightNet", "hidden", hidden)
	check.Size("NewWeightNet", "out", out)
	check.Rand("NewWeightNet", rng)
	w := &WeightNet[T]{}
	widths := [4]int{in, hidden, hidden, out}
	for i := range w.Linear {
		w.Linear[i] = NewLinear[T](widths[i], widths[i+1], rng)
		if norm {
			w.Norm[i] = NewBatchNorm[T](widths[i+1])
		}
	}
	return w
}

// In returns the length of a pose.
func (w *WeightNet[T]) In() int { return w.Linear[0].In }

// Out returns the number of weights per pose.
func (w *WeightNet[T]) Out() int { return w.Linear[2].Out }

// Params lists the network's state.
func (w *WeightNet[T]) Params(prefix string) []Param[T] {
	var ps []Param[T]
	for i, l := range w.Linear {
		ps = append(ps, l.Params(fmt.Sprintf("%snet.%d.linear.", prefix, i))...)
		if n := w.Norm[i]; n != nil {
			ps = append(ps, n.Params(fmt.Sprintf("%snet.%d.bn.", prefix, i))...)
		}
	}
	return ps
}

// folded is a WeightNet in Eval mode: packed weights with the normalisation folded in. It is immutable.
type folded[T Float] struct {
	net  [3]simd.Dense[T]
	last []T // the last layer's weight [out, hidden], with the normalisation
}

func (w *WeightNet[T]) fold() *folded[T] {
	f := &folded[T]{}
	for i, l := range w.Linear {
		weight, bias := l.Weight, slices.Clone(l.Bias)
		if n := w.Norm[i]; n != nil {
			scale, shift := n.Fold()
			weight, bias = make([]T, len(l.Weight)), make([]T, l.Out)
			for o := range l.Out {
				for k := range l.In {
					weight[o*l.In+k] = scale[o] * l.Weight[o*l.In+k]
				}
				bias[o] = scale[o]*l.Bias[o] + shift[o]
			}
		}
		f.net[i] = simd.Dense[T]{B: simd.PackTransposed(weight, l.In, l.In, l.Out), Bias: bias}
		f.last = weight
	}
	return f
}

// columns returns the last layer divided into ranges of that many columns.
func (f *folded[T]) columns(width int) []simd.Dense[T] {
	in, out, bias := f.net[2].B.K(), f.out(), f.net[2].Bias
	if width >= out {
		return f.net[2:]
	}
	var parts []simd.Dense[T]
	for lo := 0; lo < out; lo += width {
		n := min(width, out-lo)
		parts = append(parts, simd.Dense[T]{B: simd.PackTransposed(f.last[lo*in:(lo+n)*in], in, in, n), Bias: bias[lo : lo+n]})
	}
	return parts
}

// in returns the length of a pose, out the number of weights.
func (f *folded[T]) in() int  { return f.net[0].B.K() }
func (f *folded[T]) out() int { return f.net[2].B.N() }

// scratch returns the scratch memory that forward needs.
func (f *folded[T]) scratch() []T { return make([]T, simd.WeightNetScratch(&f.net)) }

// forward sets dst [rows, out] to the weights of pose [rows, in].
func (f *folded[T]) forward(dst, pose []T, rows int, scratch []T) {
	simd.WeightNet(dst[:rows*f.out()], pose[:rows*f.in()], &f.net, rows, scratch)
}

// Forward sets dst [rows, out] to the convolution weights of the relative poses [rows, in], in Eval mode.
func (w *WeightNet[T]) Forward(dst, pose []T, rows int) {
	check.Len("WeightNet", "pose", len(pose), rows, w.In())
	check.Len("WeightNet", "dst", len(dst), rows, w.Out())
	w.fold().forwardAll(dst, pose, rows)
}

// forwardAll is forward in parallel over rows.
func (f *folded[T]) forwardAll(dst, pose []T, rows int) {
	in, out := f.in(), f.out()
	parallel.For(rows, poseChunk, func(lo, hi int) {
		f.forward(dst[lo*out:hi*out], pose[lo*in:hi*in], hi-lo, f.scratch())
	})
}

// MulAdds returns the number of multiply-adds that one pose takes, without the activations.
func (w *WeightNet[T]) MulAdds() float64 {
	n := 0
	for _, l := range w.Linear {
		n += l.In * l.Out
	}
	return float64(n)
}

// poseBlock is how many poses pass through two layers of a WeightNet at a time, so that the intermediate results stay in the
// first-level cache.
const poseBlock = 42

// throughLayers sets dst [poses, out] to the result of two layers for poses. between is scratch for poseBlock results of the
// first layer.
func throughLayers[T Float](dst, poses []T, first, second *simd.Dense[T], between []T) {
	e, mid, out := first.B.K(), first.B.N(), second.B.N()
	for lo, n := 0, len(poses)/e; lo < n; lo += poseBlock {
		m := min(poseBlock, n-lo)
		simd.DenseSwish(between[:m*mid], poses[lo*e:(lo+m)*e], first, m)
		simd.DenseSwish(dst[lo*out:(lo+m)*out], between[:m*mid], second, m)
	}
}
