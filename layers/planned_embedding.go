package layers

import (
	"context"

	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/internal/spectral"
	"github.com/equivcnp/equivcnp/layers/internal/buffers"
	"github.com/equivcnp/equivcnp/layers/internal/check"
	"github.com/equivcnp/equivcnp/simd"
)

// PlannedEmbedding is a LieConv on several feature sets side by side (density and signal) followed by a linear map of all
// their results, compiled into one:
//
//	out_i = W·[vec(P¹_i); vec(P²_i); ..]/n_i + b/n_i + c
//
// where W is the product of the two linear maps, b the first one's bias mapped by the second, and c the second one's bias.
type PlannedEmbedding[T Float] struct {
	a        *Arrangement[T]
	weights  poseWeights[T]
	channels int // of all sets together
	dense    denseSlices[T]
	shift    []T // b
	// nil: sums over pairs. A channel of it is one of P, which is a channel's feature with a weight of the WeightNet's
	transforms *spectral.Plan
}

// PlanEmbedding compiles the layer together with the linear map next. The layer is applied to that many feature sets, and next to
// its concatenated results.
func (l *LieConv[T]) PlanEmbedding(a *Arrangement[T], s Storage, sets int, next *Linear[T]) *PlannedEmbedding[T] {
	check.Given("PlanEmbedding", "a", a != nil)
	check.Given("PlanEmbedding", "next", next != nil)
	check.Len("PlanEmbedding", "next.In", next.In, sets, l.Out)
	check.Len("PlanEmbedding", "next.Weight", len(next.Weight), next.Out, next.In)
	check.Len("PlanEmbedding", "next.Bias", len(next.Bias), next.Out)
	k := l.Linear.In
	product := make([]T, next.Out*sets*k)
	shift := make([]T, next.Out)
	parallel.For(next.Out, 16, func(lo, hi int) {
		sum := make([]float64, k)
		for o := lo; o < hi; o++ {
			b := 0.0
			for set := range sets {
				clear(sum)
				for m, v := range next.Weight[o*next.In+set*l.Out:][:l.Out] {
					for i, w := range l.Linear.Weight[m*k : (m+1)*k] {
						sum[i] += float64(v) * float64(w)
					}
					b += float64(v) * float64(l.Linear.Bias[m])
				}
				for i, v := range sum {
					product[(o*sets+set)*k+i] = T(v)
				}
			}
			shift[o] = T(b)
		}
	})
	p := &PlannedEmbedding[T]{
		a: a, weights: newPoseWeights(a, l.WeightNet, l.WeightNet.Out(), false, s), channels: sets * l.In,
		dense: newDenseSlices(product, next.Bias, sets*k, next.Out, a.width(next.Out), false), shift: shift,
	}
	if mid := l.WeightNet.Out(); a.transforms != nil && len(p.weights.table) == a.poses*mid { // a file that failed may have fewer
		all := make([]float32, 0, a.poses*sets*k)
		for table := buffers.F32(p.weights.table); len(table) > 0; table = table[mid:] {
			for range p.channels {
				all = append(all, table[:mid]...)
			}
		}
		p.transforms = spectral.New(a.transforms, all, sets*k)
	}
	return p
}

// Arrangement returns the arrangement that the layer was planned for.
func (l *PlannedEmbedding[T]) Arrangement() *Arrangement[T] { return l.a }

// Kept returns what the layer stores.
func (l *PlannedEmbedding[T]) Kept() Kept {
	k := l.weights.kept(l.a)
	if l.transforms != nil {
		k.Bytes += l.transforms.Bytes()
	}
	return k
}

// Forward sets dst [batch, rows, out], in the form of the arrangement, for features f [batch, rows, sets·in].
func (l *PlannedEmbedding[T]) Forward(ctx context.Context, dst, f []T, batch int, ws *Workspace[T]) error {
	a, in, out := l.a, l.channels, l.dense.out
	check.Given("PlannedEmbedding", "ws", ws != nil)
	check.Len("PlannedEmbedding", "f", len(f), batch, a.Rows, in)
	check.Len("PlannedEmbedding", "dst", len(dst), batch, a.Rows, out)
	return l.forward(ctx, dst, f, batch, nil, form{}, ws)
}

// Slabs reports whether there is ForwardSlabs.
func (l *PlannedEmbedding[T]) Slabs() bool {
	return l.transforms != nil && l.a.inSlabs(l.dense.in, l.dense.out)
}

// ForwardSlabs is like Forward, with the same bits, for dst [batch, out/16, rows, 16].
func (l *PlannedEmbedding[T]) ForwardSlabs(ctx context.Context, dst, f []T, batch int, ws *Workspace[T]) error {
	check.Given("PlannedEmbedding", "ws", ws != nil)
	check.Given("PlannedEmbedding", "Slabs", l.Slabs())
	check.Len("PlannedEmbedding", "f", len(f), batch, l.a.Rows, l.channels)
	check.Len("PlannedEmbedding", "dst", len(dst), batch, l.a.Rows, l.dense.out)
	return l.forward(ctx, dst, f, batch, nil, form{dst: true}, ws)
}

// ForwardRows is like Forward for some rows, as that of a PlannedSeparable.
func (l *PlannedEmbedding[T]) ForwardRows(ctx context.Context, dst, f []T, batch int, runs []RowRun, ws *Workspace[T]) error {
	a := l.a
	a.checkRuns("PlannedEmbedding", runs)
	check.Given("PlannedEmbedding", "ws", ws != nil)
	check.Len("PlannedEmbedding", "f", len(f), batch, a.Rows, l.channels)
	check.Len("PlannedEmbedding", "dst", len(dst), batch, a.Rows, l.dense.out)
	return l.forward(ctx, dst, f, batch, runs, form{}, ws)
}

func (l *PlannedEmbedding[T]) forward(ctx context.Context, dst, f []T, batch int, runs []RowRun, slabs form, ws *Workspace[T]) error {
	if l.transforms != nil {
		return l.a.transformed(ctx, l.transforms, l.dense.in/l.channels, &l.weights, l, dst, f, batch, false, runs, nil, slabs, ws)
	}
	return l.a.each(ctx, &l.weights, l, dst, f, batch, false, runs, nil, ws)
}

func (l *PlannedEmbedding[T]) rows(s *pass[T], w *workspace[T], weights *tileWeights[T], lo, hi, image, images int) {
	a, in, out := l.a, l.channels, l.dense.out
	width, rows := l.dense.in, hi-lo
	if s.slabs {
		x := s.slabSums(w, lo, hi, image, width)
		f := s.f[image*a.Rows*in : (image+1)*a.Rows*in]
		s.ws.transforms.repair(lo, hi, image, func(i, end int) { l.means(x[(i-lo)*width:(end-lo)*width], f, weights, i, end) })
		y := buffers.Sized(&w.dense, rows*out)
		l.dense.forward(x, rows, simd.ActNone, w, func(int, int, int, int) []T { return y })
		for i := lo; i < hi; i++ {
			simd.Axpy(y[(i-lo)*out:(i-lo+1)*out], a.inverse(i), l.shift)
		}
		s.toSlabs(w, y, lo, hi, image, out)
		return
	}
	for b := image; b < image+images; b++ {
		f, sum := s.f[b*a.Rows*in:(b+1)*a.Rows*in], []T(nil)
		if s.sums != nil {
			sum = s.sums[(b*a.Rows+lo)*width : (b*a.Rows+hi)*width]
			s.ws.transforms.repair(lo, hi, b, func(i, end int) { l.means(sum[(i-lo)*width:(end-lo)*width], f, weights, i, end) })
		} else {
			sum = buffers.Roomy(&w.sum, rows*width, a.tall*width)
			l.means(sum, f, weights, lo, hi)
		}
		y := s.dst[b*a.Rows*out : (b+1)*a.Rows*out]
		l.dense.forward(sum, rows, simd.ActNone, w, func(l, n, c, width int) []T { return y[c*a.Rows+(lo+l)*width:][:n*width] })
		for c := 0; c < out; c += l.dense.width {
			n := min(l.dense.width, out-c)
			for i := lo; i < hi; i++ {
				simd.Axpy(y[c*a.Rows+i*n:][:n], a.inverse(i), l.shift[c:c+n])
			}
		}
	}
}

func (l *PlannedEmbedding[T]) waiting() int { return 0 }

// means sets sum [hi-lo, in, mid] to P of rows lo to hi, divided as the result is; f is an image's.
func (l *PlannedEmbedding[T]) means(sum, f []T, weights *tileWeights[T], lo, hi int) {
	a, in, mid := l.a, l.channels, l.dense.in/l.channels
	from, to := a.offsets[lo], a.offsets[hi]
	index, pose := a.pairs()
	simd.PointConv(sum, f, weights.slice(0, 0, mid), a.offsets[lo:hi+1], index[from:to], pose[from:to], in, mid)
	for i := range hi - lo {
		row := sum[i*in*mid : (i+1)*in*mid]
		simd.Scale(row, a.inverse(lo+i), row)
	}
}

// Freeze writes what the layer stores, for Storage.File.
func (l *PlannedEmbedding[T]) Freeze(f Archive) { l.weights.freeze(f, l.a) }
