package layers

import (
	"fmt"
	"math"

	"github.com/equivcnp/equivcnp/layers/internal/buffers"
	"github.com/equivcnp/equivcnp/layers/internal/check"
	"github.com/equivcnp/equivcnp/simd"
)

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
	window  Window
	scale   float64 // of a pose: its distance in radii
}

// Compile folds and packs the layer, under T(1) with the distance alpha·|x - y|. The result keeps the parameters as they are now.
func (l *LieConv[T]) Compile(alpha float64) *PlannedLieConv[T] {
	return &PlannedLieConv[T]{In: l.In, Out: l.Out, net: l.WeightNet.fold(),
		linear: simd.PackTransposed(l.Linear.Weight, l.Linear.In, l.Linear.In, l.Out), bias: append([]T(nil), l.Linear.Bias...),
		window: l.Window, scale: alpha / l.Radius()}
}

// LineWeights are the convolution weights of poses [poses, mid], with the window, and the window itself, nil for WindowBox.
type LineWeights[T Float] struct{ weights, window []T }

// Weights returns the weights of poses.
func (l *PlannedLieConv[T]) Weights(poses []T) LineWeights[T] {
	w := LineWeights[T]{weights: make([]T, len(poses)*l.net.out())}
	l.net.forward(w.weights, poses, len(poses), l.net.scratch())
	if !l.window.box() {
		w.window = make([]T, len(poses))
		l.windows(w.window, poses)
		scaleRows(w.weights, w.window, l.net.out())
	}
	return w
}

// windows sets dst to the window at poses.
func (l *PlannedLieConv[T]) windows(dst, poses []T) {
	for i, x := range poses {
		dst[i] = T(l.window.At(math.Abs(float64(x)) * l.scale))
	}
}

// check panics on arguments of Forward that do not fit each other.
func (l *PlannedLieConv[T]) check(dst int, p *LinePairs[T], c LineChunk, shared LineWeights[T], s *LineScratch[T]) {
	const where = "PlannedLieConv.Forward"
	check.Given(where, "p", p != nil)
	check.Given(where, "s", s != nil)
	if c.Lo < 0 || c.Hi < c.Lo || c.Hi >= len(p.Offsets) || c.First < 0 || c.Last < c.First || c.Last > len(p.Own) {
		panic(fmt.Sprintf("layers: %s: chunk %+v of %d rows and %d own poses", where, c, len(p.Offsets)-1, len(p.Own)))
	}
	check.Len(where, "shared weights", len(shared.weights), p.Shared, l.net.out())
	check.Strided(where, "dst", dst, c.Hi, l.Out, l.Out)
}

// LineScratch is the memory of one goroutine that runs planned layers.
type LineScratch[T Float] struct{ weights, window, net, sum []T }

// Forward sets the rows of chunk c in dst [rows, out] to relu(LieConv(f)), for f [points, in]; shared are the Weights of the
// shared poses. It panics if there are not p.Shared of them, if dst is too short, or c is no run of p's rows.
func (l *PlannedLieConv[T]) Forward(dst, f []T, p *LinePairs[T], c LineChunk, shared LineWeights[T], s *LineScratch[T]) {
	mid, own, rows := l.net.out(), c.Last-c.First, c.Hi-c.Lo
	l.check(len(dst), p, c, shared, s)
	w := buffers.Sized(&s.weights, (p.Shared+own)*mid)
	copy(w, shared.weights)
	l.net.forward(w[p.Shared*mid:], p.Own[c.First:c.Last], own, buffers.Sized(&s.net, simd.WeightNetScratch(&l.net.net)))
	var window []T
	if !l.window.box() {
		window = buffers.Sized(&s.window, p.Shared+own)
		copy(window, shared.window)
		l.windows(window[p.Shared:], p.Own[c.First:c.Last])
		scaleRows(w[p.Shared*mid:], window[p.Shared:], mid)
	}
	from, to := p.Offsets[c.Lo], p.Offsets[c.Hi]
	sum := buffers.Sized(&s.sum, rows*l.In*mid)
	simd.PointConv(sum, f, w, p.Offsets[c.Lo:c.Hi+1], p.Index[from:to], p.Pose[from:to], l.In, mid)
	out := dst[c.Lo*l.Out : c.Hi*l.Out]
	simd.GemmPacked(out, l.Out, sum, l.In*mid, l.linear, l.bias, simd.ActReLU, rows)
	for i := range rows { // dividing by a positive number commutes with ReLU
		lo, hi := p.Offsets[c.Lo+i], p.Offsets[c.Lo+i+1]
		scale := 1 / T(max(1, hi-lo))
		if window != nil {
			scale *= rowFactor(window, p.Pose[lo:hi])
		}
		row := out[i*l.Out : (i+1)*l.Out]
		for k := range row {
			row[k] *= scale
		}
	}
}
