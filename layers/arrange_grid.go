package layers

import (
	"cmp"
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/schedule"
	"github.com/equivcnp/equivcnp/internal/spectral"
	"github.com/equivcnp/equivcnp/layers/internal/buffers"
	"github.com/equivcnp/equivcnp/layers/internal/check"
)

// ArrangeGrid arranges the balls of a radius on a pixel grid (Lifted.Across) under translations of the plane, for an
// algorithm that takes transforms; elsewhere, and where it cannot tell, it returns nil. The arrangement has the bits of the
// one that Arrange makes of neighbor.Ball's result, but no search is needed: neighbours follow from the grid.
func ArrangeGrid[T Float](points *group.Lifted, radius float64, algorithm Algorithm) *Arrangement[T] {
	check.Given("ArrangeGrid", "points", points != nil && points.Group != nil)
	if buffers.SizeOf[T]() != 4 || algorithm == NoDepthwise || !takesTransforms(algorithm) {
		return nil
	}
	g, poses := stepsOf(points, radius)
	if g == nil {
		return nil
	}
	a := &Arrangement[T]{Rows: points.N, dim: 2, poses: len(g.Steps), across: points.Across, offsets: g.Offsets(),
		table: make([]T, len(poses))}
	t := a.tiling(g, algorithm)
	if t == nil || !schedule.Flat(a.poses, a.Pairs()) {
		return nil
	}
	for i, v := range poses {
		a.table[i] = T(v)
	}
	a.derive(g)
	a.transform(t)
	return a
}

// gridAxis is where the rows of a grid, or its columns, stand.
type gridAxis struct {
	at   []float64
	step float64
}

// newGridAxis returns an axis and how far its points are off even steps, or false if they stand at one place.
func newGridAxis(at []float64) (a gridAxis, off float64, ok bool) {
	last := len(at) - 1
	a = gridAxis{at, (at[last] - at[0]) / float64(last)}
	for k, v := range at {
		off = max(off, math.Abs(v-math.FMA(float64(k), a.step, at[0])))
	}
	return a, off, a.step != 0 && !math.IsNaN(off)
}

// reach is how many steps along the axis, at most, a distance of r may be.
func (a *gridAxis) reach(r float64) int {
	return int(min(r/math.Abs(a.step)+1, float64(len(a.at)-1)))
}

// first returns the first of the axis' points from which d steps lead to another one.
func first(d int) int { return max(0, -d) }

// stepsOf returns the grid that points stand on, with the steps of a ball of that radius around each, and the table of
// their poses. It is nil if the points stand on none or in a single line, or if rounding may decide who is in a ball.
//
// How far the points are off even steps bounds by how much the poses of a step differ. That must be less than what
// poses are merged within, and steps must differ by more; then the first pair of a step has the pose that stands for
// all of them. No step may be as near to the radius as rounding could matter.
func stepsOf(points *group.Lifted, radius float64) (g *spectral.Grid, poses []float64) {
	t, ok := points.Group.(*group.T)
	if n := points.N; !ok || t.PointDim() != 2 || points.K != 1 || n < 4 || len(points.A) != 2*n || !(radius > 0 && radius < 1e100) {
		return nil, nil
	}
	x, w := points.A, points.Across
	if w < 2 || points.N%w != 0 || points.N/w < 2 {
		return nil, nil
	}
	h := points.N / w
	ys, xs := make([]float64, h), make([]float64, w)
	for k := range ys {
		ys[k] = x[2*k*w]
	}
	for k := range xs {
		xs[k] = x[2*k+1]
	}
	size := 1.0
	for i := range points.N {
		if x[2*i] != ys[i/w] || x[2*i+1] != xs[i%w] {
			return nil, nil
		}
		size = max(size, math.Abs(x[2*i]), math.Abs(x[2*i+1]))
	}
	down, offDown, okDown := newGridAxis(ys)
	right, offRight, okRight := newGridAxis(xs)
	// The merging tolerance is 2⁻⁴⁴ of the median of sizes, which under a grid is at least a quarter of the largest.
	tol, blur := 0x1p-46*size, 1e-9*max(size, radius)
	slack := t.TranslationError(4*(max(offDown, offRight)+0x1p-52*size), size)
	if !okDown || !okRight || !(slack <= tol/4 && min(math.Abs(down.step), math.Abs(right.step)) > 4*tol) {
		return nil, nil
	}
	reach := (radius + blur) / t.Alpha()
	above, left := down.reach(reach), right.reach(reach)
	var pose [2]float64
	var steps []spectral.Step
	for dy := -above; dy <= above; dy++ {
		for dx := -left; dx <= left; dx++ {
			i, j := [2]float64{ys[first(dy)], xs[first(dx)]}, [2]float64{ys[first(dy)+dy], xs[first(dx)+dx]}
			t.RelativePose(pose[:], i[:], nil, j[:], nil)
			d := t.Distance(pose[:])
			if !(math.Abs(d-radius) > blur) {
				return nil, nil
			}
			if d < radius {
				steps = append(steps, spectral.Step{DY: dy, DX: dx})
				poses = append(poses, pose[:]...)
			}
		}
	}
	// Poses are numbered in the order in which rows show them.
	order := make([]int, len(steps))
	for k := range order {
		order[k] = k
	}
	row := func(s spectral.Step) int { return first(s.DY)*w + first(s.DX) }
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(row(steps[a]), row(steps[b])) })
	numbered := make([]float64, 0, len(poses))
	for number, k := range order {
		steps[k].Pose = int32(number)
		numbered = append(numbered, poses[2*k:2*k+2]...)
	}
	if g = spectral.NewGrid(h, w, steps); g == nil || !g.Spreads() {
		return nil, nil
	}
	g.Ordered = true
	return g, numbered
}
