package neighbor

import (
	"testing"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/testkit"
)

// TestHostile calls everything exported with what nobody should pass.
func TestHostile(t *testing.T) {
	named := func(name string, f any, good ...any) {
		t.Helper()
		testkit.Hostile(t, "neighbor", name, f, good...)
	}
	x := []float64{0, 0, 1, 0, 0, 1, 1, 1}
	named("NewTree", NewTree[float64], x, 2, []float64{0, 3})
	named("NewGrid", NewGrid[float64], x, 2, 0.5)
	named("NewTreeAt", NewTreeAt[float64], x, Layout{4, 2, 2, 1}, []float64{0, 3})
	named("NewGridAt", NewGridAt[float64], x, Layout{4, 2, 2, 1}, 0.5)
	named("Arrange", Arrange[float64], x, 2, 0.5, []float64{0, 3})
	tree, err := NewTree(x, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	grid, err := NewGrid(x, 2, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	named("Rebuild", grid.Rebuild, x, 0.5)
	named("Box", tree.Box, []int32{}, []float64{0, 0}, []float64{1, 1})
	named("RadiusForMean", tree.RadiusForMean, 2.0, 0.1)
	for _, c := range []Cloud[float64]{tree, grid} {
		named("Ball", c.Ball, []int32{}, []float64{0, 0}, 2.0)
		named("Count", c.Count, []float64{0, 0}, 2.0)
		named("KNearest", c.KNearest, []float64{0, 0}, 2)
		named("KNearestWithin", c.KNearestWithin, []int32{}, []float64{}, []float64{0, 0}, 2, 3.0, &NearestWorkspace{})
		opt := BulkOptions{Workers: 1, MaxPairs: 100}
		each := func(int, *Batch[float64]) {}
		named("BallCounts", BallCounts[float64], c, c, 2.0, opt)
		named("Balls", Balls[float64], c, c, 2.0, opt)
		named("EachBall", EachBall[float64], c, c, 2.0, opt, each)
		named("EachNearest", EachNearest[float64], tree, c, 2, 3.0, opt, each)
		named("Nearest", Nearest[float64], tree, c, 2, 3.0, opt)
	}
	mask := []bool{true, true, false, true}
	for _, g := range []group.Group{group.NewT(2, 0), group.NewSE2(0), group.NewSO2(0)} {
		l := group.LiftPoints(g, x, 1, 1)
		opt := Options{Radius: 1.2, QueryMask: mask, PointMask: mask, QueryBlocks: []int{0, 2, 4}, PointBlocks: []int{0, 2, 4},
			MaxNeighbors: 2, MaxPairs: 100,
			MaxBytes: 1 << 20, Stop: func() bool { return false }}
		named("Ball", Ball, l, l, opt)
		named("KNearest", KNearest, l, l, 2, opt)
		named("RadiusForFill", RadiusForFill, l, 0.5, opt)
		named("Subsample", Subsample, l, mask, 2, Farthest, uint64(1))
		n, err := Ball(l, l, Options{Radius: 1.5})
		if err != nil {
			t.Fatal(err)
		}
		named("Shrink", n.Shrink, l, l, 1.2)
		testkit.HostileIndexed(t, "neighbor", "Row", n.Row, 1)
	}
	named("NewLine", NewLine, []float64{0, 1, 2, 3}, 1.0, 1.5)
	named("NewNumberedLine", NewNumberedLine, 16.0, 1.0, 0.5)
	line, err := NewNumberedLine(16, 1, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	named("Lay", func(all *Line, spans [][2]int) { new(Line).Lay(all, spans...) }, line, [][2]int{{0, 8}, {20, 30}})
	part := new(Line)
	part.Lay(line, [2]int{0, 8})
	named("Rows", part.Rows, []LineRow{}, []float64{0.1, 0.2}, LineSight{true, true})
	named("SphereLattice", SphereLattice, 10)
	named("SphereStep", SphereStep, 10)
	named("Chord2", Chord2, 1.0)
	named("Angle", Angle, 1.0)
	named("AdaptRadius", AdaptRadius, 1.0, 0.1, 0.2, 10, 5, 5.0)
}
