package layers

import (
	"github.com/equivcnp/equivcnp/internal/bf16"
	"github.com/equivcnp/equivcnp/internal/reuse"
	"github.com/equivcnp/equivcnp/layers/internal/buffers"
	"github.com/equivcnp/equivcnp/simd"
)

// denseSlices is a linear map whose results are stored slice by slice.
type denseSlices[T Float] struct {
	in, out, width int
	packed         *simd.Packed[T]
	tiles          *bf16.Tiles // instead of packed, for float32 in a single slice
	dots           *bf16.Dots  // instead of either, for a map of features that are rounded to bfloat16
	bias           []T
}

// newDenseSlices packs weight [out, in]. half lets it and the features be rounded to bfloat16, where that is faster.
func newDenseSlices[T Float](weight, bias []T, in, out, width int, half bool) denseSlices[T] {
	d := denseSlices[T]{in: in, out: out, width: width, bias: append([]T(nil), bias...)}
	if w, ok := any(weight).([]float32); ok && half && bf16.FastDots() {
		if d.dots = bf16.PackDots(w, in, in, out); d.dots != nil {
			return d
		}
	}
	if w, ok := any(weight).([]float32); ok && width >= out {
		d.tiles = bf16.PackTiles(w, in, in, out, denseParts)
		return d
	}
	d.packed = simd.PackTransposed(weight[:out*in], in, in, out)
	return d
}

// denseRows is how many rows pass through the map before their results are sliced, so that both stay in the first-level
// cache. The panels of a packed matrix are wider than a slice.
const denseRows = 56

// forward computes the results of x [n, in] by blocks of rows and by slices. It writes the results of rows lo to lo+rows-1 for
// the slice that starts at channel to the place that y returns.
func (d *denseSlices[T]) forward(x []T, n int, act simd.Activation, w *workspace[T], y func(lo, rows, channel, width int) []T) {
	if d.tiles != nil {
		need := d.tiles.Space()
		space := any(buffers.Roomy(&w.space, need, need)).([]float32)
		bf16.GemmTiles(any(y(0, n, 0, d.out)).([]float32), d.out, any(x).([]float32), d.in, d.tiles, any(d.bias).([]float32),
			act, n, space)
		return
	}
	multiply, block := func(to []T, lo, rows int) {
		simd.GemmPacked(to, d.out, x[lo*d.in:(lo+rows)*d.in], d.in, d.packed, d.bias, act, rows)
	}, denseRows
	if d.dots != nil {
		w.half = reuse.Roomy(w.half, bf16.DotsRows(n)*d.in, bf16.DotsRows(n)*d.in*9/8)
		half := w.half
		simd.BF16FromF32(half[:n*d.in], any(x[:n*d.in]).([]float32))
		multiply, block = func(to []T, lo, rows int) {
			bf16.GemmDots(any(to).([]float32), d.out, half[lo*d.in:], d.dots, any(d.bias).([]float32), act, rows)
		}, bf16.DotsRows(denseRows)
	}
	if d.width >= d.out {
		multiply(y(0, n, 0, d.out), 0, n)
		return
	}
	for lo := 0; lo < n; lo += block {
		rows := min(block, n-lo)
		all := buffers.Sized(&w.rows, block*d.out)
		multiply(all, lo, rows)
		for c := 0; c < d.out; c += d.width {
			width := min(d.width, d.out-c)
			buffers.CopyRows(y(lo, rows, c, width), width, all[c:], d.out, width, rows)
		}
	}
}

// PlannedLinear is a Linear with packed weights.
type PlannedLinear[T Float] struct {
	dense *simd.Packed[T]
	bias  []T
}

// Plan compiles the layer. The plan keeps the parameters as they are now.
func (l *Linear[T]) Plan() *PlannedLinear[T] {
	return &PlannedLinear[T]{simd.PackTransposed(l.Weight, l.In, l.In, l.Out), append([]T(nil), l.Bias...)}
}

// Forward sets dst [rows, out] to the result for x [rows, in], on the calling goroutine.
func (l *PlannedLinear[T]) Forward(dst, x []T, rows int) {
	simd.GemmPacked(dst, l.dense.N(), x, l.dense.K(), l.dense, l.bias, simd.ActNone, rows)
}
