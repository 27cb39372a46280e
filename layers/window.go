package layers

import (
	"fmt"
	"sync"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/layers/internal/buffers"
	"github.com/equivcnp/equivcnp/neighbor"
	"github.com/equivcnp/equivcnp/simd"
)

// Window says how much a neighbour counts, by its distance d in a ball of radius r.
//
// A convolution multiplies its weights by the window, and divides the sum of a row by the sum of the windows of its neighbours, or by 1
// where that is less. So constant features under constant weights stay what they are; under a smooth window the result is
// continuous in all positions and in the radius, also where the last neighbour leaves. Dividing by the number of neighbours instead
// would let the result jump each time one comes in: by a tenth, where there are ten.
type Window string

// The windows.
const (
	// WindowBox is 1 within the ball, and is the authors' convolution; the empty Window is the same. A result jumps where a neighbour
	// comes in or leaves.
	WindowBox Window = "box"
	// WindowSmooth is (1 - (d/r)²)²: it falls to 0 at the ball's border, where its slope is 0, too.
	WindowSmooth Window = "smooth"
)

// Windows lists them in the order of documentation.
var Windows = []Window{WindowBox, WindowSmooth}

// At returns the window at a distance of u radii.
func (w Window) At(u float64) float64 {
	switch {
	case w == WindowBox || w == "":
		return 1
	case !(u < 1):
		return 0
	}
	v := 1 - u*u
	return v * v
}

// box reports whether nothing is to be done.
func (w Window) box() bool { return w == WindowBox || w == "" }

func (w Window) check(where string) {
	if !w.box() && w != WindowSmooth {
		panic(fmt.Sprintf("layers: %s: window %q is not one of %q", where, string(w), Windows))
	}
}

// windowed is what a window makes of a neighbourhood; nil: WindowBox. The window of a pair is that of its pose, so it becomes part of the
// pose's weights, and costs nothing per pair.
type windowed[T Float] struct {
	pose []T // the window at every pose of the table
	row  []T // what the mean over a row's pairs is multiplied by: their number over the sum of their windows, or over 1
}

// windowedPairs keeps the windows of a neighbourhood at one radius, as most layers have the same.
type windowedPairs[T Float] struct {
	mu       sync.Mutex
	distance []float64 // of every pose
	window   Window
	radius   float64
	last     *windowed[T]
}

// Windowing is a window over a neighbourhood of a group, for Arrange.
type Windowing struct {
	Window Window
	Group  group.Group
	Radius float64
}

// distances returns those of a neighbourhood's poses.
func distances(g group.Group, n *neighbor.Neighborhood) []float64 {
	d := make([]float64, n.NumPoses())
	parallel.For(len(d), poseChunk, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			d[i] = g.Distance(n.Poses[i*n.PoseDim : (i+1)*n.PoseDim])
		}
	})
	return d
}

// windowsOf returns a window's numbers, given the distances of all poses.
func windowsOf[T Float](n *neighbor.Neighborhood, window Window, r float64, distance []float64) *windowed[T] {
	w := &windowed[T]{pose: make([]T, len(distance)), row: make([]T, n.Queries)}
	for i, d := range distance {
		w.pose[i] = T(window.At(d / r))
	}
	parallel.For(n.Queries, rowGrain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			_, pose := n.Row(i)
			w.row[i] = rowFactor(w.pose, pose)
		}
	})
	return w
}

// rowFactor is what the mean over a row's pairs, given by their poses, is multiplied by.
func rowFactor[T Float](window []T, pose []int32) T {
	sum := 0.0
	for _, q := range pose {
		sum += float64(window[q])
	}
	return T(float64(max(1, len(pose))) / max(1, sum))
}

// scaleRows multiplies the rows of x by a number each; those beyond the numbers stay as they are.
func scaleRows[T Float](x, by []T, c int) { simd.ScaleRows(x[:len(by)*c], by, c) }

// factorsOf returns what window has for some poses, in buf or in more room if that takes it; nothing without a window.
func factorsOf[T Float](buf *[]T, window []T, poses []int32, room int) []T {
	if window == nil {
		return nil
	}
	out := buffers.Roomy(buf, len(poses), room)
	for i, q := range poses {
		out[i] = window[q]
	}
	return out
}

// scaleImages multiplies the rows of every image of x [batch, rows, c] by the windows' factors.
func (w *windowed[T]) scaleImages(x []T, batch, c int) {
	if w == nil {
		return
	}
	n := len(w.row)
	parallel.For(batch*n, rowGrain, func(lo, hi int) {
		for lo < hi { // an image, or what of it is among these rows
			end := min(hi, (lo/n+1)*n)
			scaleRows(x[lo*c:end*c], w.row[lo%n:][:end-lo], c)
			lo = end
		}
	})
}

// poses returns the window of every pose, nil under WindowBox.
func (w *windowed[T]) poses() []T {
	if w == nil {
		return nil
	}
	return w.pose
}

// rows is what the means of every row are multiplied by, nil under WindowBox.
func (w *windowed[T]) rows() []T {
	if w == nil {
		return nil
	}
	return w.row
}
