package main

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/spatial/kdtree"

	"github.com/equivcnp/equivcnp/neighbor"
)

// peerRadii are radii within which a point of the peers' uniform clouds in [-1, 1)^dim has, on average, 30 and 270 other points. The
// peers' calibration found them.
var peerRadii = []struct {
	dim, n int
	r30    float32
	r270   float32
}{
	{dim: 2, n: 4096, r30: 0.0971446, r270: 0.309335},
	{dim: 3, n: 4096, r30: 0.249863, r270: 0.556546},
	{dim: 2, n: 65536, r30: 0.0238392, r270: 0.0734023},
	{dim: 3, n: 65536, r30: 0.0962411, r270: 0.206669},
	{dim: 2, n: 1000000, r30: 0.00608623, r270: 0.0185792},
	{dim: 3, n: 1000000, r30: 0.038404, r270: 0.0813299},
}

const (
	// peerQueries bounds the queries: the first points, as for the peers.
	peerQueries = 100000
	// gonumQueries is how many of them gonum's tree answers; it takes some hundred times as long.
	gonumQueries = 1000
)

func neighborCommand() *cobra.Command {
	var (
		asJSON bool
		only   string
		large  int
	)
	cmd := &cobra.Command{
		Use:   "neighbor",
		Short: "Time searches among points beside gonum/spatial/kdtree, on one core",
		Long: `Time trees and grids on the peers' uniform clouds, radii and queries, on one core, and name the lines as the peers do.
A query's answer is the list of its neighbours' numbers and squared distances, in an order that is not sorted by either
(balls) or sorted by distance (knn); queries are put into the order of a tree or grid of their own first, which is not timed
and which the peers call sorted. Lines of posetable time the neighbourhoods of images, pose tables included, on one core
and two. --large N builds a tree over N points in space and streams the balls of all of them,
30 neighbours each, in bounded memory.`,
		Example: "  go run ./bench neighbor --only kdtree/ours_tree/d2/n65536\n  go run ./bench neighbor --large 10000000",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r := &report{w: cmd.OutOrStdout(), json: asJSON}
			if cmd.Flags().Changed("large") {
				if err := within("large", large, math.MaxInt32); err != nil { // as many as a tree numbers
					return err
				}
				return largeCloud(r, large)
			}
			if err := reportPoseTables(r, only); err != nil {
				return err
			}
			for _, c := range peerRadii {
				if !mayStart(only, c.dim, c.n) {
					continue
				}
				x := floatsFor(c.dim, c.n)
				for _, lines := range []func() ([]neighborCase, error){
					func() ([]neighborCase, error) { return treeCases(x, c.dim, c.n, c.r30, c.r270) },
					func() ([]neighborCase, error) { return gridCases(x, c.dim, c.n, c.r30, c.r270) },
					func() ([]neighborCase, error) { return gonumCases(x, c.dim, c.n, c.r30) },
				} {
					if err := reportCases(r, only, lines); err != nil {
						return err
					}
				}
			}
			if r.lines == 0 {
				return fmt.Errorf("--only %s: no line starts so", only)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one object a line")
	cmd.Flags().StringVar(&only, "only", "", "lines whose names start with this")
	cmd.Flags().IntVar(&large, "large", 0, "only stream the balls of this many points")
	return cmd
}

// mayStart reports whether a line about that cloud can start with only, so that others are not even drawn.
func mayStart(only string, dim, n int) bool {
	parts := strings.SplitN(only, "/", 5)
	if len(parts) < 4 {
		return true
	}
	return parts[2] == fmt.Sprintf("d%d", dim) && strings.HasPrefix(fmt.Sprintf("n%d", n), parts[3])
}

// neighborCase is one line: run answers n queries or, if n is 0, builds a tree or a grid.
type neighborCase struct {
	name string
	n    int
	size int // points, for what builds
	run  func()
}

// floatsFor are the peers' points.
func floatsFor(dim, n int) []float32 {
	rng := peerSeed
	return rng.floats(n*dim, 1)
}

// reportCases times the cases whose names start with only.
func reportCases(r *report, only string, make func() ([]neighborCase, error)) error {
	cases, err := make()
	if err != nil {
		return err
	}
	for _, c := range cases {
		if !strings.HasPrefix(c.name, only) {
			continue
		}
		s := sample{c.name, c.n, "ns_per_query", 0}
		t := best(c.run)
		runtime.GC() // because best switches the collector off
		if s.Value = t / float64(max(c.n, 1)) * 1e9; c.n == 0 {
			s = sample{c.name, c.size, "ms", t * 1e3}
		}
		if err := r.add(s); err != nil {
			return err
		}
	}
	return nil
}

// Lines build_fresh build trees of so many clouds of that size in turn: a processor learns the branches by which the same few thousand
// points are split, and then builds their tree up to four times as fast as that of points that it has not seen.
const (
	smallCloud  = 4096
	freshClouds = 64
)

// treeCases are the lines of our tree.
func treeCases(x []float32, dim, n int, r30, r270 float32) ([]neighborCase, error) {
	name := fmt.Sprintf("kdtree/ours_tree/d%d/n%d/", dim, n)
	tree, err := neighbor.NewTree(x, dim, nil)
	if err != nil {
		return nil, err
	}
	queries := tree
	if n > peerQueries {
		if queries, err = neighbor.NewTree(x[:peerQueries*dim], dim, nil); err != nil {
			return nil, err
		}
	}
	one := neighbor.BulkOptions{Workers: 1}
	cases := []neighborCase{{name + "build", 0, n, func() {
		if _, err := neighbor.NewTree(x, dim, nil); err != nil {
			panic(err)
		}
	}}}
	if n == smallCloud {
		clouds, next := make([][]float32, freshClouds), 0
		rng := peerSeed
		for i := range clouds {
			clouds[i] = rng.floats(n*dim, 1)
		}
		cases = append(cases, neighborCase{name + "build_fresh", 0, n, func() {
			if _, err := neighbor.NewTree(clouds[next], dim, nil); err != nil {
				panic(err)
			}
			next = (next + 1) % freshClouds
		}})
	}
	for k, radius := range map[int]float32{30: r30, 270: r270} {
		cases = append(cases, neighborCase{fmt.Sprintf("%sradius%d", name, k), queries.Len(), 0,
			func() { balls(tree, queries, radius*radius, one) }})
		sorted := neighbor.BulkOptions{Workers: 1, Ascending: true}
		cases = append(cases, neighborCase{fmt.Sprintf("%sradius%d_ascending", name, k), queries.Len(), 0,
			func() { balls(tree, queries, radius*radius, sorted) }})
	}
	for _, k := range []int{8, 32} {
		cases = append(cases, neighborCase{fmt.Sprintf("%sknn%d", name, k), queries.Len(), 0, func() {
			if err := neighbor.EachNearest(tree, queries, k, float32(math.Inf(1)), one,
				func(int, *neighbor.Batch[float32]) {}); err != nil {
				panic(err)
			}
		}})
	}
	return sortCases(cases), nil
}

// gridCases are the lines of our grid.
func gridCases(x []float32, dim, n int, r30, r270 float32) ([]neighborCase, error) {
	name := fmt.Sprintf("kdtree/ours_grid/d%d/n%d/", dim, n)
	var cases []neighborCase
	for k, radius := range map[int]float32{30: r30, 270: r270} {
		grid, err := neighbor.NewGrid(x, dim, radius)
		if err != nil {
			return nil, err
		}
		queries := grid
		if n > peerQueries {
			if queries, err = neighbor.NewGrid(x[:peerQueries*dim], dim, radius); err != nil {
				return nil, err
			}
		}
		again, err := neighbor.NewGrid(x, dim, radius)
		if err != nil {
			return nil, err
		}
		cases = append(cases, neighborCase{fmt.Sprintf("%sbuild_radius%d", name, k), 0, n, func() {
			if err := again.Rebuild(x, radius); err != nil {
				panic(err)
			}
		}}, neighborCase{fmt.Sprintf("%sradius%d", name, k), queries.Len(), 0,
			func() { balls(grid, queries, radius*radius, neighbor.BulkOptions{Workers: 1}) }})
	}
	return sortCases(cases), nil
}

// sortCases sorts builds first, then queries by their number of neighbours.
func sortCases(cases []neighborCase) []neighborCase {
	var sorted []neighborCase
	for _, part := range []string{"build", "radius30", "radius270", "knn"} {
		for _, c := range cases {
			if last := c.name[strings.LastIndex(c.name, "/")+1:]; strings.HasPrefix(last, part) {
				sorted = append(sorted, c)
			}
		}
	}
	return sorted
}

// balls answers all queries and counts the neighbours.
func balls(points, queries neighbor.Cloud[float32], radius2 float32, opt neighbor.BulkOptions) (pairs int) {
	err := neighbor.EachBall(points, queries, radius2, opt, func(_ int, b *neighbor.Batch[float32]) { pairs += len(b.Index) })
	if err != nil {
		panic(err)
	}
	return pairs
}

// gonumCases are the lines of gonum's tree, in float64.
func gonumCases(x []float32, dim, n int, r30 float32) ([]neighborCase, error) {
	if n > 1<<16 {
		return nil, nil
	}
	cloud := func() kdtree.Points {
		points := make(kdtree.Points, n)
		for i := range points {
			points[i] = make(kdtree.Point, dim)
			for axis := range dim {
				points[i][axis] = float64(x[i*dim+axis])
			}
		}
		return points
	}
	queries, tree := cloud()[:min(n, gonumQueries)], kdtree.New(cloud(), false)
	name := fmt.Sprintf("kdtree/gonum/d%d/n%d/", dim, n)
	cases := []neighborCase{{name + "build", 0, n, func() { kdtree.New(cloud(), false) }}}
	cases = append(cases, neighborCase{name + "radius30", len(queries), 0, func() {
		for _, q := range queries {
			keep := kdtree.NewDistKeeper(float64(r30) * float64(r30))
			tree.NearestSet(keep, q)
		}
	}})
	for _, k := range []int{8, 32} {
		cases = append(cases, neighborCase{fmt.Sprintf("%sknn%d", name, k), len(queries), 0, func() {
			for _, q := range queries {
				keep := kdtree.NewNKeeper(k)
				tree.NearestSet(keep, q)
			}
		}})
	}
	return cases, nil
}

// largeCloud builds a tree over n points of space and streams the balls of all of them on all cores.
func largeCloud(r *report, n int) error {
	x := floatsFor(3, n)
	start := time.Now()
	tree, err := neighbor.NewTree(x, 3, nil)
	if err != nil {
		return err
	}
	x = nil
	build := time.Since(start)
	runtime.GC()
	radius := float32(math.Cbrt(30 / float64(n) * 8 * 3 / (4 * math.Pi)))
	pairs := make([]int, runtime.GOMAXPROCS(0)*16) // a cache line each
	start = time.Now()
	err = neighbor.EachBall(tree, tree, radius*radius, neighbor.BulkOptions{}, func(worker int, b *neighbor.Batch[float32]) {
		pairs[worker*16] += len(b.Index)
	})
	if err != nil {
		return err
	}
	took, total := time.Since(start), 0
	for _, p := range pairs {
		total += p
	}
	name := fmt.Sprintf("kdtree/ours_stream/d3/n%d/", n)
	lines := []sample{
		{name + "build", n, "ms", build.Seconds() * 1e3},
		{name + "radius30", n, "ns_per_query", float64(took.Nanoseconds()) / float64(n)},
		{name + "radius30", total, "ns_per_neighbour", float64(took.Nanoseconds()) / float64(total)},
	}
	if peak, ok := peakMemory(); ok {
		lines = append(lines, sample{name + "peak", n, "mb", peak / 1e6})
	}
	for _, s := range lines {
		if err := r.add(s); err != nil {
			return err
		}
	}
	return nil
}
