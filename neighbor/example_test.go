package neighbor_test

import (
	"fmt"
	"math"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/neighbor"
	"github.com/equivcnp/equivcnp/simd"
)

// Nine points of a line: their balls overlap, and there are few distinct relative poses.
func ExampleBall() {
	g := group.NewT(1, 0.5) // distance 0.5·|x - x'|
	points := group.LiftPoints(g, []float64{0, 1, 2, 3, 4, 5, 6, 7, 8}, 1, 0)
	nb, err := neighbor.Ball(points, points, neighbor.Options{Radius: 1.1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(nb.Pairs(), "pairs,", nb.NumPoses(), "poses:", nb.Poses)
	index, pose := nb.Row(0)
	fmt.Println("point 0 has", index, "with poses", pose)
	index, pose = nb.Row(4)
	fmt.Println("point 4 has", index, "with poses", pose)
	// Output:
	// 39 pairs, 5 poses: [0 -1 -2 1 2]
	// point 0 has [0 1 2] with poses [0 1 2]
	// point 4 has [2 3 4 5 6] with poses [4 3 0 1 2]
}

// Two tasks in one batch, the second padded to the length of the first.
func ExampleBall_batch() {
	g := group.NewT(1, 0.5)
	points := group.LiftPoints(g, []float64{
		0, 1, 2, // the first task
		0, 1, math.NaN(), // the second
	}, 1, 0)
	mask := []bool{true, true, true, true, true, false}
	blocks := []int{0, 3, 6}
	nb, err := neighbor.Ball(points, points, neighbor.Options{
		Radius: 10, QueryMask: mask, PointMask: mask, QueryBlocks: blocks, PointBlocks: blocks,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range nb.Queries {
		index, _ := nb.Row(i)
		fmt.Println(i, index)
	}
	// Output:
	// 0 [0 1 2]
	// 1 [0 1 2]
	// 2 [0 1 2]
	// 3 [3 4]
	// 4 [3 4]
	// 5 []
}

func ExampleKNearest() {
	g := group.NewT(1, 0.5)
	queries := group.LiftPoints(g, []float64{1.2}, 1, 0)
	points := group.LiftPoints(g, []float64{0, 1, 2, 3}, 1, 0)
	index, dist, err := neighbor.KNearest(queries, points, 2, neighbor.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d %.1f\n", index, dist)
	// Output: [1 2] [0.1 0.4]
}

func ExampleRadiusForFill() {
	g := group.NewT(1, 0.5)
	x := make([]float64, 100)
	for i := range x {
		x[i] = float64(i)
	}
	points := group.LiftPoints(g, x, 1, 0)
	r, err := neighbor.RadiusForFill(points, 0.1, neighbor.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	nb, err := neighbor.Ball(points, points, neighbor.Options{Radius: r})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("radius %.2f: %.1f of 100 points on average\n", r, float64(nb.Pairs())/100)
	// Output: radius 2.75: 10.7 of 100 points on average
}

// A tree over angles: the axis is periodic.
func ExampleNewTree() {
	angles := []float64{-3, -1, 0, 1, 3}
	tree, err := neighbor.NewTree(angles, 1, []float64{2 * math.Pi})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(tree.Ball(nil, []float64{math.Pi}, 0.2*0.2))
	fmt.Println(tree.Box(nil, []float64{0.5}, []float64{0.5}))
	index, _ := tree.KNearest([]float64{0.1}, 2)
	fmt.Println(index)
	// Output:
	// [0 4]
	// [2 3]
	// [2 3]
}

// Neighbours of all points of a cloud among themselves, in the plane's own distance: no group, float32, answers streamed.
func ExampleEachBall() {
	points := []float32{0, 0, 1, 0, 0, 1, 5, 5, 5, 6} // five rows of two
	tree, err := neighbor.NewTree(points, 2, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	found := make([]int, tree.Len())
	err = neighbor.EachBall[float32](tree, tree, 1.5*1.5, neighbor.BulkOptions{}, func(_ int, b *neighbor.Batch[float32]) {
		for i, query := range b.Query { // each query is in one batch only
			index, _ := b.Row(i)
			found[query] = len(index)
		}
	})
	fmt.Println(found, err)
	index, dist2, err := neighbor.Nearest(tree, tree, 2, float32(math.Inf(1)), neighbor.BulkOptions{})
	fmt.Println(index, dist2, err)
	// Output:
	// [3 3 3 2 2] <nil>
	// [0 1 1 0 2 0 3 4 4 3] [0 1 0 1 0 1 0 1 0 1] <nil>
}

// How crowded a cloud is, and who is near whom in compressed sparse rows, for a graph network or a particle simulation.
func ExampleBalls() {
	points := []float64{0, 0, 1, 0, 0, 1, 5, 5, 5, 6} // five rows of two
	cloud, err := neighbor.Arrange(points, 2, 1.5, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	counts, err := neighbor.BallCounts(cloud, cloud, 1.5*1.5, neighbor.BulkOptions{})
	fmt.Println(counts, err)
	rows, err := neighbor.Balls(cloud, cloud, 1.5*1.5, neighbor.BulkOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	index, dist2 := rows.Row(1)
	fmt.Println(rows.Offsets, index, dist2)
	// Output:
	// [3 3 3 2 2] <nil>
	// [0 3 6 9 11 13] [0 1 2] [1 0 2]
}

// Particles that are kept as an array per axis, and whose grid is built anew in every step, in the same memory.
func ExampleGrid_Rebuild() {
	particles := []float32{
		0, 1, 9, // x
		0, 0, 9, // y
	}
	layout := neighbor.Layout{N: 3, Dim: 2, Stride: 1, AxisStride: 3}
	grid, err := neighbor.NewGridAt(particles, layout, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(grid.Ball(nil, []float32{0, 0}, 2*2))
	err = grid.Rebuild([]float32{0, 0, 1, 0, 0, 1}, 2) // rows now: the third particle has come near
	fmt.Println(grid.Ball(nil, []float32{0, 0}, 2*2), err)
	// Output:
	// [0 1]
	// [0 1 2] <nil>
}

// One query after the other without allocating: the slices and the workspace are used again.
func ExampleKDTree_KNearestWithin() {
	tree, err := neighbor.NewTree([]float64{0, 1, 2, 10}, 1, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	var w neighbor.NearestWorkspace
	var index []int32
	var dist2 []float64
	for _, x := range []float64{0.2, 9} {
		index, dist2 = tree.KNearestWithin(index[:0], dist2[:0], []float64{x}, 2, 3*3, &w)
		fmt.Printf("%d %.2f\n", index, dist2)
	}
	// Output:
	// [0 1] [0.04 0.64]
	// [3] [1.00]
}

// The radius at which a point has about ten neighbours, for scattered data of unknown density.
func ExampleKDTree_RadiusForMean() {
	points := make([]float64, 1000) // a line with a step of 0.1
	for i := range points {
		points[i] = 0.1 * float64(i)
	}
	tree, err := neighbor.NewTree(points, 1, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	radius2, err := tree.RadiusForMean(11, 0.05)
	fmt.Println(math.Abs(math.Sqrt(radius2)-0.55) < 0.06, err)
	// Output: true <nil>
}

// A point cloud thinned to centres that cover it, for a layer that keeps only some points, and the points around each centre.
func ExampleSubsample() {
	g := group.NewT(1, 0.5)
	points := group.LiftPoints(g, []float64{0, 0.1, 0.2, 5, 5.1, 9}, 1, 0)
	centres, err := neighbor.Subsample(points, nil, 3, neighbor.Farthest, 1)
	fmt.Println(len(centres), err)
	coarse, err := neighbor.Subsample(points, nil, 3, neighbor.Uniform, 0)
	fmt.Println(coarse, err)
	// Output:
	// 3 <nil>
	// [0 2 4] <nil>
}

// A library of one's own that computes something once per kind of row: on a line, rows away from the ends share their poses.
func ExampleNeighborhood_Classes() {
	points := group.LiftPoints(group.NewT(1, 0.5), []float64{0, 1, 2, 3, 4, 5}, 1, 0)
	nb, err := neighbor.Ball(points, points, neighbor.Options{Radius: 0.6})
	if err != nil {
		fmt.Println(err)
		return
	}
	c := nb.Classes()
	fmt.Println(c.Of, c.Lead)
	fmt.Println(c.By[0] == neighbor.First, c.By[2] == neighbor.Shift)
	// Output:
	// [0 1 1 1 1 2] [0 1 5]
	// true true
}

// Layers of different radii share one search: the smaller neighbourhood is cut out of the larger. Its transpose says who sees a point,
// which a gradient needs.
func ExampleNeighborhood_Shrink() {
	points := group.LiftPoints(group.NewT(1, 0.5), []float64{0, 1, 2, 3}, 1, 0)
	large, err := neighbor.Ball(points, points, neighbor.Options{Radius: 1.1})
	if err != nil {
		fmt.Println(err)
		return
	}
	small := large.Shrink(points, points, 0.6)
	fmt.Println(large.Pairs(), small.Pairs())
	index, _ := small.Transpose().Row(0)
	fmt.Println(index)
	// Output:
	// 14 10
	// [0 1]
}

// Training adapts a radius to the share of points that a ball should hold: after a step in which balls were too empty it grows.
func ExampleAdaptRadius() {
	pairs, queries, points := 400, 100, 50.0 // 4 of 50 points in a ball
	fmt.Printf("%.3f\n", neighbor.AdaptRadius(1, 0.1, 0.2, pairs, queries, points))
	// Output: 1.012
}

// The neighbours of a task's own points on an evenly spaced line: a ball is an interval, so a row is two runs of numbers.
func ExampleNewLine() {
	line := neighbor.NewLine([]float64{0, 1, 2, 3}, 0.5, 0.8) // half the difference is less than 0.8
	rows, pairs, poses := line.Rows(nil, []float64{0.4}, neighbor.LineSight{Lattice: true, Own: true})
	own := rows[4] // after the rows of the four lattice points
	fmt.Printf("points %d to %d of the lattice, %d pairs, %d poses of its own\n",
		own[0].Point, own[0].Point+own[0].N-1, pairs, poses)
	// Output: points 0 to 1 of the lattice, 15 pairs, 5 poses of its own
}

// Embeddings are compared by the cosine of their angle.
func ExampleVectors() {
	rows := []float32{1, 0, 0, 1, 1, 1}
	v, err := neighbor.NewVectors(rows, 2, neighbor.Cosine)
	if err != nil {
		panic(err)
	}
	index, score := make([]int32, 2), make([]float32, 2)
	v.Search(index, score, []float32{3, 1}, 2)
	fmt.Printf("%v %.3f\n", index, score)
	// Output: [0 2] [0.949 0.894]
}

// The best of scores that come in parts, such as those of rows that are read from a file, in which all would not fit into memory.
func ExampleTop() {
	top, err := neighbor.NewTop(2, true)
	if err != nil {
		panic(err)
	}
	query, scores := []float32{3, 1}, make([]float32, 2)
	for i, rows := range [][]float32{{1, 0, 0, 1}, {1, 1, -2, 7}} { // two rows of two numbers at a time
		simd.CosineRowsF32(scores, rows, 2, query)
		top.Offer(scores, 2*i)
	}
	index, score := make([]int32, 2), make([]float32, 2)
	top.Best(index, score)
	fmt.Printf("%v %.3f\n", index, score)
	// Output: [0 2] [0.949 0.894]
}

// Embeddings of one byte a number take a quarter of the memory.
func ExampleVectorsI8() {
	rows := []int8{127, 0, 0, 127, 90, 90}
	v, err := neighbor.NewVectorsI8(rows, 2, neighbor.Cosine)
	if err != nil {
		panic(err)
	}
	index, score := make([]int32, 2), make([]float32, 2)
	v.Search(index, score, []int8{120, 40}, 2)
	fmt.Printf("%v %.3f\n", index, score)
	// Output: [0 2] [0.949 0.894]
}
