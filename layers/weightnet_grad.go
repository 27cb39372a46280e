package layers

import (
	"math/bits"
	"runtime"
	"sync/atomic"

	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/layers/internal/buffers"
	"github.com/equivcnp/equivcnp/layers/internal/check"
	"github.com/equivcnp/equivcnp/simd"
)

// keepBytes bounds how much of the results of forward passes all tapes together keep: 4 GiB, or 512 MiB where addresses have 32
// bits. Beyond it, Backward computes the activations of a layer again, with the same bits: a third more work, but memory no
// longer grows with the number of layers.
var keepBytes = int64(1) << (26 + 3*(bits.UintSize/32)) // a variable for tests

// kept is how many bytes tapes keep now.
var kept atomic.Int64

// netBlock is the number of poses that pass at once, while they are in the cache, through everything between two sums over all
// poses: the batch normalisation of one layer, swish, and the linear map of the next.
const netBlock = 64

// WeightNetTape holds what a WeightNet's Backward needs of a forward pass. Until then, poses and parameters must stay unchanged.
type WeightNetTape[T Float] struct {
	net  *WeightNet[T]
	pose []T
	rows int
	norm [3]*BatchNormTape[T] // nil: no normalisation

	first firstLayer[T]

	// linear holds, if they are kept, the results of the second and third linear map [rows, c]; weights those of the last swish,
	// once they have been requested. What lies between is computed again, block by block, in less time than fetching it from
	// memory takes.
	linear  [3][]T
	weights []T

	window []T // what the weights of every pose are multiplied by at the end; nil: nothing

	keeps  [3]bool            // for each map, whether its results are kept
	packed [3]*simd.Packed[T] // the second and third map

	sliced  *slicedNet[T]   // computes weights tile by tile and slice by slice; nil if they are not used in that way
	between *nodeWeights[T] // computes them from those at the nodes of a grid; nil: the network does

	kept      int64 // the bytes that count as kept
	forgotten runtime.Cleanup
}

// ForwardTape returns the convolution weights [rows, out] of the poses [rows, in], in either mode, together with what Backward
// needs. Row i stands for count[i] pairs (nil: one each) in each of repeat images. In Train mode the statistics are therefore
// those over all pairs, at the cost of the distinct poses only.
func (w *WeightNet[T]) ForwardTape(pose []T, rows int, count []int32, repeat int, mode Mode) *WeightNetTape[T] {
	return w.forwardTape(pose, rows, count, repeat, mode, 0)
}

// forwardTape is ForwardTape. A positive width says that the weights will be taken tile by tile, in slices of so many
// channels. They are then computed from the poses, in less time than storing and fetching them takes; so the results of
// the third map are not kept, nor those of the second if no statistics are taken of them.
func (w *WeightNet[T]) forwardTape(pose []T, rows int, count []int32, repeat int, mode Mode, width int) *WeightNetTape[T] {
	byTiles := width > 0
	check.Len("WeightNet", "pose", len(pose), rows, w.In())
	if count != nil {
		check.Len("WeightNet", "count", len(count), rows)
	}
	t := &WeightNetTape[T]{net: w, pose: pose, rows: rows, keeps: [3]bool{1: !byTiles || w.Norm[1] != nil || w.Norm[2] != nil, 2: !byTiles}}
	for i, l := range w.Linear[1:] {
		t.packed[i+1] = simd.PackTransposed(l.Weight, l.In, l.In, l.Out)
	}
	t.prepareFirst(count, mode, func(m *moments) *BatchNormTape[T] { return w.Norm[0].tape(m, count, repeat, mode) })
	t.run(func(i int, parts []moments) {
		if n := w.Norm[i]; n != nil {
			m := &moments{}
			if mode == Train {
				m = joinMoments(parts, n.width())
			}
			t.norm[i] = n.tape(m, count, repeat, mode)
		}
	}, count, mode)
	if byTiles {
		t.sliced = t.newSliced(width)
	}
	return t
}

func (b *BatchNorm[T]) width() int { return len(b.Weight) }

// run computes all activations behind the first layer's normalisation. In Train mode, normalise gets the moments, by parts, of
// the results of layer i's linear map.
func (t *WeightNetTape[T]) run(normalise func(i int, parts []moments), count []int32, mode Mode) {
	for i, l := range t.net.Linear {
		if i == 0 {
			continue
		}
		in, out, keep := l.In, l.Out, t.keeps[i]
		var parts []moments
		if t.net.Norm[i] != nil && mode == Train {
			parts = make([]moments, (t.rows+rowGrain-1)/rowGrain)
		}
		if keep {
			t.linear[i] = buffers.Rent[T](t.rows * out)
		} else if parts == nil {
			normalise(i, nil)
			continue
		}
		parallel.For(t.rows, rowGrain, func(lo, hi int) {
			x, u := buffers.Rent[T](netBlock*in), []T(nil)
			if keep {
				u = t.linear[i][lo*out : hi*out]
			} else {
				u = buffers.Rent[T]((hi - lo) * out)
			}
			for at := lo; at < hi; at += netBlock {
				end := min(at+netBlock, hi)
				simd.GemmPacked(u[(at-lo)*out:(end-lo)*out], out, t.input(x, i, at, end), in, t.packed[i], l.Bias, simd.ActNone, end-at)
			}
			buffers.GiveBack(x)
			if parts != nil {
				weight := count
				if count != nil {
					weight = count[lo:hi]
				}
				parts[lo/rowGrain] = partMoments(u, weight, out, 0, hi-lo)
			}
			if !keep {
				buffers.GiveBack(u)
			}
		})
		normalise(i, parts)
	}
}

// need computes the results of the linear maps again if they were dropped.
func (t *WeightNetTape[T]) need() {
	if t.linear[1] == nil && t.keeps[1] {
		t.run(func(int, []moments) {}, nil, Eval)
	}
}

// input returns rows lo to hi of layer i's input, i > 0, in scratch.
func (t *WeightNetTape[T]) input(scratch []T, i, lo, hi int) []T {
	x := scratch[:(hi-lo)*t.net.Linear[i].In]
	t.activate(x, i-1, lo, hi)
	return x
}

// activate sets y to rows lo to hi of layer i's activation.
func (t *WeightNetTape[T]) activate(y []T, i, lo, hi int) {
	simd.Swish(y, t.normalised(y, i, lo, hi))
}

// normalised returns rows lo to hi of the input of layer i's swish, in scratch if it is not kept.
func (t *WeightNetTape[T]) normalised(scratch []T, i, lo, hi int) []T {
	c := t.net.Linear[i].Out
	if i == 0 {
		t.firstNormalised(scratch[:(hi-lo)*c], lo, hi)
		return scratch[:(hi-lo)*c]
	}
	u := t.results(scratch, i, lo, hi)
	if t.norm[i] == nil {
		return u
	}
	t.net.Norm[i].rows(t.norm[i], scratch[:len(u)], u)
	return scratch[:len(u)]
}

// results returns rows lo to hi of the result of layer i's linear map, i > 0, in scratch if it is not kept.
func (t *WeightNetTape[T]) results(scratch []T, i, lo, hi int) []T {
	l := t.net.Linear[i]
	if t.linear[i] != nil {
		return t.linear[i][lo*l.Out : hi*l.Out]
	}
	x, u := buffers.Rent[T](netBlock*l.In), scratch[:(hi-lo)*l.Out]
	for at := lo; at < hi; at += netBlock {
		end := min(at+netBlock, hi)
		simd.GemmPacked(u[(at-lo)*l.Out:(end-lo)*l.Out], l.Out, t.input(x, i, at, end), l.In, t.packed[i], l.Bias, simd.ActNone, end-at)
	}
	buffers.GiveBack(x)
	return u
}

// Weights returns the convolution weights [rows, out].
func (t *WeightNetTape[T]) Weights() []T {
	if t.weights == nil {
		t.need()
		c := t.net.Out()
		t.weights = buffers.Rent[T](t.rows * c)
		parallel.For(t.rows, rowGrain, func(lo, hi int) {
			t.activate(t.weights[lo*c:hi*c], 2, lo, hi)
			if t.window != nil {
				scaleRows(t.weights[lo*c:hi*c], t.window[lo:hi], c)
			}
		})
	}
	return t.weights
}

// slicedNet is the network of a pass with its normalisations folded into the linear maps. It computes the weights of a tile's
// poses, some channels at a time. It is only read, by any number of goroutines.
type slicedNet[T Float] struct {
	first, second simd.Dense[T]
	last          []simd.Dense[T] // slice by slice
}

// newSliced returns the network of the pass, for slices of width channels.
func (t *WeightNetTape[T]) newSliced(width int) *slicedNet[T] {
	weight, bias := t.foldLayer(1)
	l := t.net.Linear[1]
	n := &slicedNet[T]{first: simd.Dense[T]{B: t.first.packed, Bias: t.first.bias},
		second: simd.Dense[T]{B: simd.PackTransposed(weight, l.In, l.In, l.Out), Bias: bias}}
	weight, bias = t.foldLayer(2)
	l = t.net.Linear[2]
	for lo := 0; lo < l.Out; lo += width {
		m := min(width, l.Out-lo)
		n.last = append(n.last, simd.Dense[T]{B: simd.PackTransposed(weight[lo*l.In:(lo+m)*l.In], l.In, l.In, m), Bias: bias[lo : lo+m]})
	}
	return n
}

// foldLayer returns layer i's linear map combined with the normalisation behind it:
//
//	(w·x + b - mean)·s + β = (s·w)·x + (s·(b - mean) + β)
func (t *WeightNetTape[T]) foldLayer(i int) (weight, bias []T) {
	l, n := t.net.Linear[i], t.norm[i]
	if n == nil || n.mean == nil {
		return l.Weight, l.Bias
	}
	weight, bias = make([]T, len(l.Weight)), make([]T, l.Out)
	for j := range l.Out {
		s := float64(t.net.Norm[i].Weight[j]) * n.inv[j]
		for k, v := range l.Weight[j*l.In : (j+1)*l.In] {
			weight[j*l.In+k] = T(s * float64(v))
		}
		bias[j] = T(s*(float64(l.Bias[j])-n.mean[j]) + float64(t.net.Norm[i].Bias[j]))
	}
	return weight, bias
}

// hidden returns the input of the last layer for the poses of a tile, from rent; nil if weights are interpolated.
func (t *WeightNetTape[T]) hidden(tile *tile[T]) []T {
	if t.between != nil {
		return nil
	}
	n := t.sliced
	out, between := buffers.Rent[T](len(tile.poses)*n.second.B.N()), buffers.Rent[T](poseBlock*n.second.B.K())
	throughLayers(out, tile.table, &n.first, &n.second, between)
	buffers.GiveBack(between)
	return out
}

// slice sets dst [poses, width] to slice k of the weights of a tile's poses, hidden the result for it.
func (t *WeightNetTape[T]) slice(dst, hidden []T, tile *tile[T], k int) {
	if t.between != nil {
		t.between.Slice(buffers.F32(dst), placesOf(t.between.Table, tile), k)
		return
	}
	layer := &t.sliced.last[k]
	simd.DenseSwish(dst, hidden, layer, len(dst)/layer.B.N())
}

// Release drops the activations if all tapes together keep too much. Weights and Backward then compute them again, with the same
// bits.
func (t *WeightNetTape[T]) Release() {
	n := len(t.weights)
	for _, u := range t.linear {
		n += len(u)
	}
	if n == 0 || t.kept != 0 {
		return
	}
	t.kept = int64(n * buffers.SizeOf[T]())
	if kept.Add(t.kept) > keepBytes {
		t.drop()
		return
	}
	// A tape that is dropped without Backward gives back its share, too.
	t.forgotten = runtime.AddCleanup(t, func(n int64) { kept.Add(-n) }, t.kept)
}

// drop gives the activations back to the pools.
func (t *WeightNetTape[T]) drop() {
	buffers.GiveBack(t.linear[:]...)
	buffers.GiveBack(t.weights)
	if t.between != nil {
		t.between.tape.drop()
	}
	t.forgotten.Stop()
	kept.Add(-t.kept)
	t.linear, t.weights, t.kept = [3][]T{}, nil, 0
}
