package layers

import (
	"github.com/equivcnp/equivcnp/internal/depthwise"
	"github.com/equivcnp/equivcnp/layers/internal/buffers"
	"github.com/equivcnp/equivcnp/simd"
)

// between says where one slice stands among features of c channels and among the sums of a tile's rows, which have all
// channels side by side.
type between struct {
	c      int // numbers from a row of the sums to the next
	out, f int // from an image's sums, and from its features, to the next one's
	from   int // where the slice of the first image's features begins
	images int
}

// means sets n channels of the sums of a tile's rows to the means over their pairs, of features f with weights slice, for every image.
func (v *tileWeights[T]) means(out, f []T, at between, slice []T, offsets []int, index, pose []int32, n int) {
	rows, points := len(offsets)-1, at.f/at.c
	for b, images := 0, 1; b < at.images; b += images {
		to, x := out[b*at.out:], f[b*at.f+at.from:]
		if v.pairs != nil {
			depthwise.DotsF32(any(to).([]float32), at.c, v.w.features[b*at.f+at.from:][:points*depthwise.OrbitChannels], v.part, v.pairs)
			continue
		}
		orbits := v.orbits != nil && n == depthwise.OrbitChannels
		if orbits {
			images = min(depthwise.OrbitImages(), at.images-b)
		}
		part := buffers.Roomy(&v.w.part, images*rows*n, min(depthwise.OrbitImages(), at.images)*v.tall*n)
		switch {
		case orbits:
			depthwise.OrbitsBatchF32(any(part).([]float32), any(x).([]float32), any(slice).([]float32), v.orbits, at.f, images)
		case v.rows != nil:
			simd.DepthwiseRowsF32(any(part).([]float32), any(x[:points*n]).([]float32), any(slice).([]float32), v.rows, n, true)
		default:
			simd.Depthwise(part, x[:points*n], slice, offsets, index, pose, n, true)
		}
		for i := range images {
			buffers.CopyRows(to[i*at.out:], at.c, part[i*rows*n:], n, n, rows)
		}
	}
}

// depthwise sets out [images, hi-lo, c] to the mean of weights ⊙ features over the pairs of each row. f and weights are stored in
// slices of width channels.
func (a *Arrangement[T]) depthwise(out, f []T, weights *tileWeights[T], lo, hi, c, width int, w *workspace[T]) {
	a.means(out, f, weights, lo, hi, c, width, w)
	if a.window != nil {
		for ; len(out) > 0; out = out[(hi-lo)*c:] {
			scaleRows(out, a.window.row[lo:hi], c)
		}
	}
}

// means is depthwise with the weights' sums divided by the number of pairs.
func (a *Arrangement[T]) means(out, f []T, weights *tileWeights[T], lo, hi, c, width int, w *workspace[T]) {
	if a.direct != nil {
		all := weights.slice(0, 0, c)
		simd.DepthwisePlanF32(any(out).([]float32), any(f).([]float32), any(all).([]float32), a.direct(), lo, hi, c, true)
		return
	}
	from, to, rows := a.offsets[lo], a.offsets[hi], hi-lo
	index, pose := a.pairs()
	offsets, index, pose := a.offsets[lo:hi+1], index[from:to], pose[from:to]
	if width >= c {
		all := weights.slice(0, 0, c)
		for b := range len(f) / max(1, a.Rows*c) {
			simd.Depthwise(out[b*rows*c:(b+1)*rows*c], f[b*a.Rows*c:(b+1)*a.Rows*c], all, offsets, index, pose, c, true)
		}
		return
	}
	// A slice of the weights serves all images before the next slice.
	at := between{c: c, out: rows * c, f: a.Rows * c, images: len(f) / max(1, a.Rows*c)}
	for j, n := 0, 0; j < c; j += n {
		n = min(width, c-j)
		at.from = j * a.Rows
		weights.means(out[j:], f, at, weights.slice(j/width, j, n), offsets, index, pose, n)
	}
}
