package main

import (
	"fmt"
	"math"

	"github.com/coder/hnsw"
	kyroy "github.com/kyroy/kdtree"
	"github.com/kyroy/kdtree/points"
	"github.com/viterin/vek/vek32"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
	"gonum.org/v1/gonum/spatial/kdtree"

	"github.com/equivcnp/equivcnp/bench/peers/internal/timing"
	ourblas "github.com/equivcnp/equivcnp/linalg/blas"
	"github.com/equivcnp/equivcnp/neighbor"
	"github.com/equivcnp/equivcnp/simd"
)

// allLines are vectors, products and searches. Each way is checked against ours before it is timed.
func allLines() ([]line, error) {
	lines := vectorLines()
	products, err := productLines()
	if err != nil {
		return nil, err
	}
	lines = append(lines, products...)
	for _, n := range []int{4096, 65536} {
		some, err := searchLines(n)
		if err != nil {
			return nil, err
		}
		lines = append(lines, some...)
	}
	return lines, nil
}

var sink float64

func vectorLines() (lines []line) {
	for _, n := range []int{64, 1024, 65536} {
		x, y, dst := timing.Numbers(n, 1), timing.Numbers(n, 2), make([]float32, n)
		positive := make([]float32, n)
		simd.ExpF32(positive, x)
		g := gonum.Implementation{}
		lines = append(lines,
			line{"f32/dot/%s", n, 1, map[string]func(){
				"ours": func() { sink += simd.DotF32(x, y) },
				// Ours adds in float64, these in float32.
				"gonum_f32": func() { sink += float64(g.Sdot(n, x, 1, y, 1)) },
				"vek_f32":   func() { sink += float64(vek32.Dot(x, y)) }}},
			line{"f32/dot_single/%s", n, 1, map[string]func(){
				"ours":  func() { sink += float64(simd.DotSingleF32(x, y)) },
				"gonum": func() { sink += float64(g.Sdot(n, x, 1, y, 1)) },
				"vek":   func() { sink += float64(vek32.Dot(x, y)) }}},
			line{"f32/sum/%s", n, 1, map[string]func(){
				"ours":    func() { sink += simd.SumF32(x) },
				"vek_f32": func() { sink += float64(vek32.Sum(x)) }}},
			line{"f32/add/%s", n, 1, map[string]func(){
				"ours": func() { simd.AddF32(dst, x, y) },
				"vek":  func() { vek32.Add_Into(dst, x, y) }}},
			line{"f32/scale/%s", n, 1, map[string]func(){
				"ours": func() { simd.ScaleF32(dst, 1.5, x) },
				"vek":  func() { vek32.MulNumber_Into(dst, x, 1.5) }}},
			line{"f32/axpy/%s", n, 1, map[string]func(){
				"ours":  func() { simd.AxpyF32(dst, 1e-9, x) },
				"gonum": func() { g.Saxpy(n, 1e-9, x, 1, dst, 1) }}},
			line{"f32/exp/%s", n, 1, map[string]func(){
				"ours": func() { simd.ExpF32(dst, x) },
				"vek":  func() { vek32.Exp_Into(dst, x) }}},
			line{"f32/pow/%s", n, 1, map[string]func(){
				"ours": func() { simd.PowF32(dst, positive, y) },
				"vek":  func() { vek32.Pow_Into(dst, positive, y) }}},
			line{"f32/abs/%s", n, 1, map[string]func(){
				"ours": func() { simd.AbsF32(dst, x) },
				"vek":  func() { vek32.Abs_Into(dst, x) }}},
			line{"f32/max/%s", n, 1, map[string]func(){
				"ours": func() { simd.MaxF32(dst, x, y) },
				"vek":  func() { vek32.Maximum_Into(dst, x, y) }}},
			line{"f32/floor/%s", n, 1, map[string]func(){
				"ours": func() { simd.FloorF32(dst, x) },
				"vek":  func() { vek32.Floor_Into(dst, x) }}},
			line{"f32/argmax/%s", n, 1, map[string]func(){
				"ours": func() { sink += float64(simd.ArgMaxF32(x)) },
				"vek":  func() { sink += float64(vek32.ArgMax(x)) }}})
	}
	return lines
}

func productLines() (lines []line, err error) {
	for _, n := range []int{16, 128, 512} {
		a, b, c := timing.Numbers(n*n, 3), timing.Numbers(n*n, 4), make([]float32, n*n)
		const no = blas.NoTrans
		by := map[string]func(){
			"ours":  func() { ourblas.Implementation{}.Sgemm(no, no, n, n, n, 1, a, n, b, n, 0, c, n) },
			"gonum": func() { gonum.Implementation{}.Sgemm(no, no, n, n, n, 1, a, n, b, n, 0, c, n) },
			"vek":   func() { vek32.MatMul_Into(c, a, b, n) },
		}
		by["ours"]()
		want := append([]float32(nil), c...)
		for who, f := range by {
			clear(c)
			f()
			for i := range c {
				if d := math.Abs(float64(c[i] - want[i])); !(d <= 1e-4*float64(n)) {
					return nil, fmt.Errorf("%s: product of %d x %d: entry %d is %v, need %v", who, n, n, i, c[i], want[i])
				}
			}
		}
		lines = append(lines, line{"f32/gemm/%s", n, 1, by})
	}
	return lines, nil
}

// searchLines build a tree over n points in space, and find the 8 nearest points of a thousand of them. Ours keeps float32, as hnsw does;
// gonum and kyroy keep float64. hnsw finds most of the nearest points, not all: it is a lower bound of what an exact search must do.
func searchLines(n int) ([]line, error) {
	const k, asked = 8, 1000
	x := timing.Numbers(3*n, 5)
	queries := x[:3*asked]
	tree, err := neighbor.NewTree(x, 3, nil)
	if err != nil {
		return nil, err
	}
	cloud, err := neighbor.NewTree(queries, 3, nil)
	if err != nil {
		return nil, err
	}
	flat := make(kdtree.Points, n)
	theirs, nodes := make([]kyroy.Point, n), make([]hnsw.Node[int], n)
	for i := range n {
		p := x[3*i : 3*i+3]
		a, b, c := float64(p[0]), float64(p[1]), float64(p[2])
		flat[i] = kdtree.Point{a, b, c}
		theirs[i] = &points.Point3D{X: a, Y: b, Z: c}
		nodes[i] = hnsw.MakeNode(i, p)
	}
	own := append(kdtree.Points(nil), flat...)
	gonumTree, kyroyTree := kdtree.New(own, false), kyroy.New(append([]kyroy.Point(nil), theirs...))
	if err := sameNearest(tree, gonumTree, kyroyTree, cloud, flat[:asked], theirs[:asked], k); err != nil {
		return nil, err
	}
	nearest := map[string]func(){
		"ours": func() {
			if _, _, err := neighbor.Nearest(tree, cloud, k, float32(math.Inf(1)), neighbor.BulkOptions{}); err != nil {
				panic(err) // it was asked before
			}
		},
		"gonum": func() {
			for _, q := range flat[:asked] {
				keep := kdtree.NewNKeeper(k)
				gonumTree.NearestSet(keep, q)
			}
		},
		"kyroy": func() {
			for _, q := range theirs[:asked] {
				kyroyTree.KNN(q, k)
			}
		}}
	if n <= 4096 { // it takes minutes to build larger ones
		graph := hnsw.NewGraph[int]()
		graph.Distance = hnsw.EuclideanDistance
		graph.Add(nodes...)
		nearest["hnsw"] = func() {
			for i := range asked {
				graph.Search(nodes[i].Value, k)
			}
		}
	}
	return []line{{"points3/knn8/%s", n, asked, nearest}, {"points3/build/%s", n, 1, map[string]func(){
		"ours":  func() { sink += float64(must(neighbor.NewTree(x, 3, nil)).Len()) },
		"gonum": func() { kdtree.New(append(kdtree.Points(nil), flat...), false) },
		"kyroy": func() { kyroy.New(append([]kyroy.Point(nil), theirs...)) }}}}, nil
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

// sameNearest compares the distances that all exact searches find.
func sameNearest(tree *neighbor.KDTree[float32], g *kdtree.Tree, y *kyroy.KDTree, cloud neighbor.Cloud[float32], flat kdtree.Points,
	theirs []kyroy.Point, k int) error {
	_, dist2, err := neighbor.Nearest(tree, cloud, k, float32(math.Inf(1)), neighbor.BulkOptions{})
	if err != nil {
		return err
	}
	for i := range 10 {
		keep := kdtree.NewNKeeper(k)
		g.NearestSet(keep, flat[i])
		most := 0.0
		for _, c := range keep.Heap {
			most = max(most, c.Dist)
		}
		found := y.KNN(theirs[i], k)
		last := found[len(found)-1]
		d := 0.0
		for axis := range 3 {
			e := last.Dimension(axis) - theirs[i].Dimension(axis)
			d += e * e
		}
		ours := float64(dist2[i*k+k-1])
		if !(math.Abs(most-ours) <= 1e-5*ours+1e-12) || !(math.Abs(d-ours) <= 1e-5*ours+1e-12) {
			return fmt.Errorf("query %d: the %dth nearest point is at squared distance %v, gonum says %v, kyroy %v", i, k, ours, most, d)
		}
	}
	return nil
}
