package layers

import (
	"github.com/equivcnp/equivcnp/internal/depthwise"
	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/internal/spectral"
	"github.com/equivcnp/equivcnp/layers/internal/buffers"
	"github.com/equivcnp/equivcnp/layers/internal/nodal"
	"github.com/equivcnp/equivcnp/simd"
)

// What is written of a plan is what takes time to compute: the pairs in their order, and weights. The rest is made anew from them and
// from the layers. Whatever is read is checked before a kernel trusts it, since a checksum says nothing about who wrote a file.

// Archive is a file of a plan that is being written or read. Its parts follow each other in the order in which they are
// named, and what is written and what is read is said by the same calls. Package cnp has such files.
type Archive interface {
	// Reading reports whether the archive is read. Otherwise it is written.
	Reading() bool
	// Err returns the first error so far. After an error nothing is read or written.
	Err() error
	// Fail makes the archive fail for a reason that its reader has found.
	Fail(format string, args ...any)
	// Left returns how many bytes can still be read.
	Left() int
	// Int writes *v or reads it.
	Int(v *int)
	// Bools writes *v or reads it.
	Bools(v *[]bool)
	// Array writes the slice that v points to or sets it to what was written: of float32, float64, int, int32 or uint16.
	// What is read is part of the archive, and must not be written to.
	Array(v any)
}

// Freeze writes an arrangement of that many rows to f or, if f is being read, returns the one that was written; a is
// not looked at then. What is wrong with a file is f's error.
func Freeze[T Float](f Archive, a *Arrangement[T], rows int) *Arrangement[T] {
	algorithm, windows, grid := NoDepthwise, windowed[T]{}, spectral.Grid{}
	offsets, index, pose := []int(nil), []int32(nil), []int32(nil) // empty where they follow from the grid
	if f.Reading() {
		a = &Arrangement[T]{file: f}
	} else {
		algorithm = a.Algorithm()
		if a.window != nil {
			windows = *a.window
		}
		var g *spectral.Grid
		switch {
		case a.transforms != nil:
			g = a.transforms.Grid
		case a.Flat() && algorithm == NoDepthwise:
			all, poses := a.pairs()
			g = spectral.Find(a.offsets, all, poses, a.across)
		}
		if g != nil {
			grid = *g
		}
		if !grid.Ordered {
			offsets = a.offsets
			index, pose = a.pairs()
		}
	}
	f.Int(&a.Rows)
	if a.Rows != rows {
		f.Fail("a neighbourhood of %d rows, the geometry has %d", a.Rows, rows)
		return a
	}
	f.Int(&a.dim)
	f.Int(&a.poses)
	f.Int(&a.across)
	f.Array(&offsets)
	f.Array(&index)
	f.Array(&pose)
	f.Array(&a.table)
	f.Array(&windows.pose)
	f.Array(&windows.row)
	freezeAlgorithm(f, &algorithm)
	a.freezeTiles(f)
	freezeGrid(f, &grid)
	if !f.Reading() || f.Err() != nil {
		return a
	}
	a.offsets, a.index, a.pose = offsets, index, pose
	g := spectral.NewGrid(grid.H, grid.W, grid.Steps)
	if g != nil && (g.H*g.W != a.Rows || !a.Flat()) {
		g = nil
	}
	derived := g != nil && len(offsets) == 0
	if derived {
		g.Ordered, a.offsets = true, g.Offsets()
	}
	if a.checkPairs(f, g, derived); f.Err() != nil {
		return a
	}
	if len(windows.pose) > 0 {
		if len(windows.pose) != a.poses || len(windows.row) != a.Rows {
			f.Fail("windows of %d poses and %d rows, there are %d and %d", len(windows.pose), len(windows.row), a.poses, a.Rows)
			return a
		}
		a.window = &windows
	}
	if derived {
		a.derive(g)
	}
	a.thaw(f, algorithm, g)
	return a
}

// algorithmCodes are the numbers of algorithms in files.
var algorithmCodes = []Algorithm{NoDepthwise, Direct, Transforms}

func freezeAlgorithm(f Archive, algorithm *Algorithm) {
	code := 0
	for i, a := range algorithmCodes {
		if a == *algorithm {
			code = i
		}
	}
	f.Int(&code)
	if code < 0 || code >= len(algorithmCodes) {
		f.Fail("algorithm %d is unknown", code)
		return
	}
	*algorithm = algorithmCodes[code]
}

func (a *Arrangement[T]) freezeTiles(f Archive) {
	f.Bools(&a.same)
	n := len(a.tiles)
	f.Int(&n)
	if f.Reading() && n != 0 {
		if n < 0 || n > f.Left()/64 { // which an array takes at least
			f.Fail("%d tiles", n)
			return
		}
		a.tiles = make([]tile[T], n)
	}
	for i := range a.tiles {
		t := &a.tiles[i]
		if f.Reading() {
			t.between = &nodal.Places{}
		}
		f.Int(&t.lo)
		f.Int(&t.hi)
		f.Array(&t.poses)
		f.Array(&t.table)
		f.Array(&t.code)
	}
	f.Int(&a.slice)
	if a.slice != buffers.SliceWidth && a.slice != depthwise.OrbitChannels && len(a.tiles) > 0 {
		f.Fail("features of %d channels side by side", a.slice)
	}
	a.measure()
}

func freezeGrid(f Archive, g *spectral.Grid) {
	f.Int(&g.H)
	f.Int(&g.W)
	steps := make([]int32, 0, 3*len(g.Steps))
	for _, s := range g.Steps {
		steps = append(steps, int32(s.DY), int32(s.DX), s.Pose)
	}
	f.Array(&steps)
	if f.Reading() {
		g.Steps = nil
		for ; len(steps) >= 3; steps = steps[3:] {
			g.Steps = append(g.Steps, spectral.Step{DY: int(steps[0]), DX: int(steps[1]), Pose: steps[2]})
		}
	}
}

// within reports whether all of x are from 0 to n-1.
func within(x []int32, n int) bool {
	const grain = 1 << 16
	parts := make([]bool, (len(x)+grain-1)/grain)
	parallel.For(len(x), grain, func(lo, hi int) {
		var m [4]uint32 // negative numbers are the largest
		part := x[lo:hi]
		for ; len(part) >= 4; part = part[4:] {
			m[0], m[1], m[2], m[3] = max(m[0], uint32(part[0])), max(m[1], uint32(part[1])), max(m[2], uint32(part[2])),
				max(m[3], uint32(part[3]))
		}
		for _, v := range part {
			m[0] = max(m[0], uint32(v))
		}
		parts[lo/grain] = max(m[0], m[1], m[2], m[3]) < uint32(min(n, 1<<31-1))
	})
	for _, ok := range parts {
		if !ok {
			return false
		}
	}
	return true
}

// checkPairs checks what was read; g is the grid, if there is any, and derived says that the pairs are the grid's.
func (a *Arrangement[T]) checkPairs(f Archive, g *spectral.Grid, derived bool) {
	if a.dim < 0 || a.dim > 1<<10 || a.poses < 0 || len(a.offsets) != a.Rows+1 || len(a.index) != len(a.pose) || a.offsets[0] != 0 ||
		a.offsets[a.Rows] != len(a.index) && !derived || derived && len(a.index) > 0 {
		f.Fail("%d rows with %d offsets, and %d and %d pairs", a.Rows, len(a.offsets), len(a.index), len(a.pose))
		return
	}
	for i := range a.Rows {
		if a.offsets[i] > a.offsets[i+1] {
			f.Fail("row %d ends before it begins", i)
			return
		}
	}
	if g != nil {
		for _, s := range g.Steps {
			if s.Pose < 0 || int(s.Pose) >= a.poses {
				f.Fail("a step names pose %d of %d", s.Pose, a.poses)
				return
			}
		}
	}
	if !within(a.index, a.Rows) {
		f.Fail("a pair names a row that is not one of %d", a.Rows)
		return
	}
	if a.Flat() {
		if a.dim == 0 || len(a.table)%a.dim != 0 || len(a.table)/a.dim != a.poses || !within(a.pose, a.poses) {
			f.Fail("a pair names a pose that is not one of %d, or these are of another length", a.poses)
		}
		return
	}
	at := 0
	for i := range a.tiles {
		t := &a.tiles[i]
		if t.lo != at || t.hi < t.lo || t.hi > a.Rows || !within(t.poses, a.poses) || len(t.table) != len(t.poses)*a.dim ||
			!within(a.pose[a.offsets[t.lo]:a.offsets[t.hi]], len(t.poses)) {
			f.Fail("tile %d is not one of %d rows, or names a pose that is none", i, a.Rows)
			return
		}
		at = t.hi
	}
	if at != a.Rows {
		f.Fail("tiles of %d rows, there are %d", at, a.Rows)
	}
}

// thaw prepares what was read for depthwise convolutions.
func (a *Arrangement[T]) thaw(f Archive, algorithm Algorithm, g *spectral.Grid) {
	defer func() {
		if r := recover(); r != nil { // the checks of those who make plans
			f.Fail("%v", r)
		}
	}()
	switch {
	case buffers.SizeOf[T]() != 4:
	case algorithm == Transforms:
		if g == nil {
			f.Fail("transforms without a grid of %d rows", a.Rows)
			return
		}
		if t := g.Tiling(); t != nil {
			a.transform(t)
			return
		}
		f.Fail("the grid's steps reach too far")
	case algorithm == Direct && a.Flat():
		index, pose := a.pairs()
		made := simd.NewDepthwisePlan(a.offsets, index, pose, a.Rows, a.poses)
		a.direct = func() *simd.DepthwisePlan { return made }
	case !a.Flat() && len(a.same) > 0:
		if len(a.same) != a.Rows {
			f.Fail("%d rows are marked of %d", len(a.same), a.Rows)
			return
		}
		a.makeRows(nil)
	}
}
