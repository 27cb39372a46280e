package layers

import (
	"context"

	"github.com/equivcnp/equivcnp/internal/spectral"
	"github.com/equivcnp/equivcnp/layers/internal/buffers"
	"github.com/equivcnp/equivcnp/layers/internal/check"
	"github.com/equivcnp/equivcnp/simd"
)

// PlannedSeparable is a separable convolution over an arrangement, ready for inference: immutable and safe for concurrent
// use.
type PlannedSeparable[T Float] struct {
	a          *Arrangement[T]
	weights    poseWeights[T]
	dense      denseSlices[T]
	transforms *spectral.Plan // nil: sums over pairs
}

// Plan compiles the layer for an arrangement of its radius. The plan keeps the parameters as they are now.
func (l *SeparableLieConv[T]) Plan(a *Arrangement[T], s Storage) *PlannedSeparable[T] {
	check.Given("SeparableLieConv.Plan", "a", a != nil)
	p := l.Pointwise
	planned := &PlannedSeparable[T]{
		a: a, weights: newPoseWeights(a, l.Depthwise.WeightNet, a.width(p.In), true, s),
		dense: newDenseSlices(p.Weight, p.Bias, p.In, p.Out, a.width(p.Out), s.BF16Dense),
	}
	switch {
	case s.File != nil:
		planned.freezeTransforms(s.File)
	case a.transforms != nil:
		planned.transforms = spectral.New(a.transforms, any(planned.weights.table).([]float32), p.In)
	}
	return planned
}

// Arrangement returns the arrangement that the layer was planned for.
func (l *PlannedSeparable[T]) Arrangement() *Arrangement[T] { return l.a }

// Kept returns what the layer stores.
func (l *PlannedSeparable[T]) Kept() Kept {
	k := l.weights.kept(l.a)
	k.Rounded.Dense = l.dense.dots != nil
	if l.transforms != nil {
		k.Bytes += l.transforms.Bytes()
	}
	return k
}

// Forward sets dst [batch, rows, out] to ReLU(convolution of f [batch, rows, in]) or, if add is set, to ReLU(dst + convolution):
// the two halves of a residual block. Both have the form of the arrangement. dst and f must not overlap.
func (l *PlannedSeparable[T]) Forward(ctx context.Context, dst, f []T, batch int, add bool, ws *Workspace[T]) error {
	a, in, out := l.a, l.dense.in, l.dense.out
	check.Given("PlannedSeparable", "ws", ws != nil)
	check.Len("PlannedSeparable", "f", len(f), batch, a.Rows, in)
	check.Len("PlannedSeparable", "dst", len(dst), batch, a.Rows, out)
	if l.transforms != nil {
		return a.transformed(ctx, l.transforms, 1, &l.weights, l, dst, f, batch, add, nil, nil, form{}, ws)
	}
	return a.each(ctx, &l.weights, l, dst, f, batch, add, nil, nil, ws)
}

// Slabs reports whether there is ForwardSlabs.
func (l *PlannedSeparable[T]) Slabs() bool {
	return l.transforms != nil && l.a.inSlabs(l.dense.in, l.dense.out)
}

// ForwardSlabs is like Forward, with the same bits, for dst [batch, out/16, rows, 16] and f [batch, in/16, rows, 16]. Large
// images are faster so.
func (l *PlannedSeparable[T]) ForwardSlabs(ctx context.Context, dst, f []T, batch int, add bool, ws *Workspace[T]) error {
	a := l.a
	check.Given("PlannedSeparable", "ws", ws != nil)
	check.Given("PlannedSeparable", "Slabs", l.Slabs())
	check.Len("PlannedSeparable", "f", len(f), batch, a.Rows, l.dense.in)
	check.Len("PlannedSeparable", "dst", len(dst), batch, a.Rows, l.dense.out)
	return a.transformed(ctx, l.transforms, 1, &l.weights, l, dst, f, batch, add, nil, nil, form{true, true}, ws)
}

// ForwardRows is like Forward for some rows of a flat arrangement; base, unless nil, is what the convolution is added
// to. Other rows of dst stay as they are, and the bits of a row do not depend on which others there are. Runs must not
// overlap, and are best of 64 rows or less: each is computed by one goroutine.
func (l *PlannedSeparable[T]) ForwardRows(ctx context.Context, dst, f, base []T, batch int, runs []RowRun, ws *Workspace[T]) error {
	a := l.a
	a.checkRuns("PlannedSeparable", runs)
	check.Given("PlannedSeparable", "ws", ws != nil)
	check.Len("PlannedSeparable", "f", len(f), batch, a.Rows, l.dense.in)
	check.Len("PlannedSeparable", "dst", len(dst), batch, a.Rows, l.dense.out)
	if base != nil {
		check.Len("PlannedSeparable", "base", len(base), len(dst))
	}
	if l.transforms != nil {
		return a.transformed(ctx, l.transforms, 1, &l.weights, l, dst, f, batch, base != nil, runs, base, form{}, ws)
	}
	return a.each(ctx, &l.weights, l, dst, f, batch, base != nil, runs, base, ws)
}

func (l *PlannedSeparable[T]) rows(s *pass[T], w *workspace[T], weights *tileWeights[T], lo, hi, image, images int) {
	if s.slabs {
		l.slabRows(s, w, weights, lo, hi, image)
		return
	}
	a, in, out, rows := l.a, l.dense.in, l.dense.out, hi-lo
	f := s.f[image*a.Rows*in : (image+images)*a.Rows*in]
	var sum []T
	switch {
	case s.sliced:
		sum = s.sums
	case s.sums != nil:
		sum = s.sums[(image*a.Rows+lo)*in : (image*a.Rows+hi)*in]
		s.ws.transforms.repair(lo, hi, image, func(i, end int) {
			a.depthwise(sum[(i-lo)*in:(end-lo)*in], f, weights, i, end, in, a.width(in), w)
		})
	default:
		sum = buffers.Roomy(&w.sum, images*rows*in, images*a.tall*in)
		a.depthwise(sum, f, weights, lo, hi, in, a.width(in), w)
	}
	for b := range images {
		to := s.dst[(image+b)*a.Rows*out:][:a.Rows*out]
		var x []T
		if s.sliced {
			if x = sum[(b*a.Rows+lo)*in : (b*a.Rows+hi)*in]; a.window != nil {
				scaleRows(x, a.window.row[lo:hi], in)
			}
		} else {
			x = sum[b*rows*in : (b+1)*rows*in]
		}
		at := func(l, n, c, width int) []T { return to[c*a.Rows+(lo+l)*width:][:n*width] }
		if !s.add {
			l.dense.forward(x, rows, simd.ActReLU, w, at)
			continue
		}
		if s.base != nil { // rows lie side by side: the arrangement is flat
			copy(to[lo*out:hi*out], s.base[((image+b)*a.Rows+lo)*out:])
		}
		y := buffers.Roomy(&w.dense, rows*out, a.tall*out)
		l.dense.forward(x, rows, simd.ActNone, w, func(l, n, c, width int) []T { return y[c*rows+l*width:][:n*width] })
		for c := 0; c < out; c += l.dense.width {
			n := min(l.dense.width, out-c)
			h := at(0, rows, c, n)
			simd.Add(h, h, y[c*rows:][:rows*n])
			simd.ReLU(h, h)
		}
	}
}

func (l *PlannedSeparable[T]) waiting() int { return l.dense.in }

// slabRows is rows for an image whose features and sums stand slab by slab.
func (l *PlannedSeparable[T]) slabRows(s *pass[T], w *workspace[T], weights *tileWeights[T], lo, hi, image int) {
	a, t, in, out := l.a, &s.ws.transforms, l.dense.in, l.dense.out
	x := s.slabSums(w, lo, hi, image, in)
	t.repair(lo, hi, image, func(i, end int) {
		a.depthwise(x[(i-lo)*in:(end-lo)*in], t.rowsOf(a, image, in), weights, i, end, in, in, w)
	})
	act := simd.ActReLU
	if s.add {
		act = simd.ActNone
	}
	y := buffers.Sized(&w.dense, (hi-lo)*out)
	l.dense.forward(x, hi-lo, act, w, func(int, int, int, int) []T { return y })
	s.toSlabs(w, y, lo, hi, image, out)
}

// Freeze writes what the layer stores, for Storage.File.
func (l *PlannedSeparable[T]) Freeze(f Archive) {
	l.weights.freeze(f, l.a)
	l.freezeTransforms(f)
}

func (l *PlannedSeparable[T]) freezeTransforms(f Archive) {
	if l.a.transforms == nil {
		return
	}
	var weights []float32
	if !f.Reading() {
		weights = l.transforms.Weights()
	}
	f.Array(&weights)
	if !f.Reading() || f.Err() != nil {
		return
	}
	if l.transforms = spectral.Stored(l.a.transforms, weights, l.dense.in); l.transforms == nil {
		f.Fail("%d numbers are no transforms of the layer's weights", len(weights))
	}
}
