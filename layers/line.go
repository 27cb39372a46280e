package layers

import "github.com/equivcnp/equivcnp/simd"

// LinePairs are the neighbourhoods of one task on a line. A lattice of points is shared by many tasks and has few poses; the
// task's own points have a different pose for every pair. The weights of shared poses are stored; the others are computed chunk
// by chunk and used at once.
type LinePairs[T Float] struct {
	Offsets []int
	// Index and Pose have one entry per pair. A pose is either the number of a shared pose, or Shared plus a number within the
	// row's chunk.
	Index, Pose []int32
	Shared      int // number of shared poses
	Own         []T // poses of the task's own pairs, chunk after chunk
	Chunks      []LineChunk
}

// LineChunk is a run of rows and the part of LinePairs.Own that they need.
type LineChunk struct{ Lo, Hi, First, Last int }

// PlannedLieConv is a LieConv in Eval mode, ready for inference over one-dimensional poses: immutable and safe for concurrent
// use.
type PlannedLieConv[T Float] struct {
	In, Out int
	net     *folded[T]
	linear  *simd.Packed[T]
	bias    []T
}

// Compile folds and packs the layer. The result keeps the parameters as they are now.
func (l *LieConv[T]) Compile() *PlannedLieConv[T] {
	return &PlannedLieConv[T]{In: l.In, Out: l.Out, net: l.WeightNet.fold(),
		linear: simd.PackTransposed(l.Linear.Weight, l.Linear.In, l.Linear.In, l.Out), bias: append([]T(nil), l.Linear.Bias...)}
}

// Weights returns the convolution weights [poses, mid] of poses [poses, e].
func (l *PlannedLieConv[T]) Weights(poses []T) []T {
	n := len(poses) / l.net.in()
	w := make([]T, n*l.net.out())
	l.net.forward(w, poses, n, l.net.scratch())
	return w
}

// LineScratch is the memory of one goroutine that runs planned layers.
type LineScratch[T Float] struct{ weights, net, sum []T }

// Forward sets the rows of chunk c in dst [rows, out] to relu(LieConv(f)), for f [points, in]; shared are the Weights of the
// shared poses.
func (l *PlannedLieConv[T]) Forward(dst, f []T, p *LinePairs[T], c LineChunk, shared []T, s *LineScratch[T]) {
	mid, own, rows := l.net.out(), c.Last-c.First, c.Hi-c.Lo
	w := sized(&s.weights, (p.Shared+own)*mid)
	copy(w, shared)
	l.net.forward(w[p.Shared*mid:], p.Own[c.First:c.Last], own, sized(&s.net, simd.WeightNetScratch(&l.net.net)))
	from, to := p.Offsets[c.Lo], p.Offsets[c.Hi]
	sum := sized(&s.sum, rows*l.In*mid)
	simd.PointConv(sum, f, w, p.Offsets[c.Lo:c.Hi+1], p.Index[from:to], p.Pose[from:to], l.In, mid)
	out := dst[c.Lo*l.Out : c.Hi*l.Out]
	simd.GemmPacked(out, l.Out, sum, l.In*mid, l.linear, l.bias, simd.ActReLU, rows)
	for i := range rows { // dividing by a positive number commutes with ReLU
		scale := 1 / T(max(1, p.Offsets[c.Lo+i+1]-p.Offsets[c.Lo+i]))
		row := out[i*l.Out : (i+1)*l.Out]
		for k := range row {
			row[k] *= scale
		}
	}
}
