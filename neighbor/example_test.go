package neighbor_test

import (
	"fmt"
	"math"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/neighbor"
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
