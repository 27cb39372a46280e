package neighbor

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// uniform draws n points of the unit cube.
func uniform[T Float](n, dim int) []T {
	rng := rand.New(rand.NewPCG(1, 1))
	x := make([]T, n*dim)
	for i := range x {
		x[i] = T(rng.Float32())
	}
	return x
}

func BenchmarkTreeBuild(b *testing.B) {
	for _, dim := range []int{2, 3} {
		for _, n := range []int{1 << 12, 1 << 16} {
			b.Run(fmt.Sprintf("type=float32/dim=%d/n=%d", dim, n), func(b *testing.B) {
				x := uniform[float32](n, dim)
				for b.Loop() {
					if _, err := NewTree(x, dim, nil); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run(fmt.Sprintf("type=float64/dim=%d/n=%d", dim, n), func(b *testing.B) {
				x := uniform[float64](n, dim)
				for b.Loop() {
					if _, err := NewTree(x, dim, nil); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// benchRadii are squared radii with about 30 and 270 neighbours among uniform points of the unit cube.
func benchRadius2(dim, n int, neighbours float64) float64 {
	volume := map[int]float64{2: math.Pi, 3: 4 * math.Pi / 3}[dim]
	return math.Pow(neighbours/float64(n)/volume, 2/float64(dim))
}

func BenchmarkBulkBall(b *testing.B) {
	for _, dim := range []int{2, 3} {
		for _, n := range []int{1 << 16} {
			x := uniform[float32](n, dim)
			tree, err := NewTree(x, dim, nil)
			if err != nil {
				b.Fatal(err)
			}
			for _, nb := range []float64{30, 270} {
				r2 := float32(benchRadius2(dim, n, nb))
				for _, order := range []string{"cloud", "ascending", "rows", "count"} {
					b.Run(fmt.Sprintf("dim=%d/n=%d/nb=%g/order=%s", dim, n, nb, order), func(b *testing.B) {
						opt := BulkOptions{Ascending: order == "ascending", Workers: 1}
						for b.Loop() {
							switch order {
							case "rows":
								if _, err := Balls(tree, tree, r2, opt); err != nil {
									b.Fatal(err)
								}
							case "count":
								if _, err := BallCounts(tree, tree, r2, opt); err != nil {
									b.Fatal(err)
								}
							default:
								pairs := 0
								if err := EachBall(tree, tree, r2, opt,
									func(_ int, b *Batch[float32]) { pairs += len(b.Index) }); err != nil {
									b.Fatal(err)
								}
							}
						}
						b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/query")
					})
				}
			}
		}
	}
}

func BenchmarkBulkNearest(b *testing.B) {
	const n = 1 << 16
	for _, dim := range []int{2, 3} {
		tree, err := NewTree(uniform[float32](n, dim), dim, nil)
		if err != nil {
			b.Fatal(err)
		}
		for _, k := range []int{8, 32} {
			b.Run(fmt.Sprintf("dim=%d/n=%d/k=%d", dim, n, k), func(b *testing.B) {
				for b.Loop() {
					if err := EachNearest(tree, tree, k, float32(math.Inf(1)), BulkOptions{Workers: 1},
						func(int, *Batch[float32]) {}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/query")
			})
		}
	}
}

// BenchmarkOneByOne asks a tree for what is near each of its points, one by one and all at once, with and without
// periodic axes: the package comment says what the latter gains.
func BenchmarkOneByOne(b *testing.B) {
	const n = 1 << 16
	for _, dim := range []int{2, 3} {
		x := uniform[float32](n, dim)
		for _, period := range [][]float32{nil, slices.Repeat([]float32{1}, dim)} {
			tree, err := NewTree(x, dim, period)
			if err != nil {
				b.Fatal(err)
			}
			at := func(i int) []float32 { return x[i*dim : (i+1)*dim] }
			report := func(b *testing.B) { b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/query") }
			for _, nb := range []float64{30, 270} {
				r2 := float32(benchRadius2(dim, n, nb))
				name := fmt.Sprintf("op=ball/dim=%d/periodic=%v/nb=%g/by=", dim, period != nil, nb)
				b.Run(name+"one", func(b *testing.B) {
					var found []int32
					for b.Loop() {
						for i := range n {
							found = tree.Ball(found[:0], at(i), r2)
						}
					}
					report(b)
				})
				b.Run(name+"all", func(b *testing.B) {
					for b.Loop() {
						if err := EachBall(tree, tree, r2, BulkOptions{Workers: 1}, func(int, *Batch[float32]) {}); err != nil {
							b.Fatal(err)
						}
					}
					report(b)
				})
				b.Run(name+"lists", func(b *testing.B) {
					for b.Loop() {
						if _, err := Balls[float32](tree, tree, r2, BulkOptions{Workers: 1}); err != nil {
							b.Fatal(err)
						}
					}
					report(b)
				})
			}
			for _, k := range []int{8, 32} {
				name := fmt.Sprintf("op=nearest/dim=%d/periodic=%v/k=%d/by=", dim, period != nil, k)
				b.Run(name+"one", func(b *testing.B) {
					var index []int32
					var dist2 []float32
					var w NearestWorkspace
					for b.Loop() {
						for i := range n {
							index, dist2 = tree.KNearestWithin(index[:0], dist2[:0], at(i), k, float32(math.Inf(1)), &w)
						}
					}
					report(b)
				})
				b.Run(name+"all", func(b *testing.B) {
					for b.Loop() {
						if err := EachNearest(tree, tree, k, float32(math.Inf(1)), BulkOptions{Workers: 1},
							func(int, *Batch[float32]) {}); err != nil {
							b.Fatal(err)
						}
					}
					report(b)
				})
			}
		}
	}
}

func BenchmarkGrid(b *testing.B) {
	const n = 1 << 16
	for _, dim := range []int{2, 3} {
		x := uniform[float32](n, dim)
		for _, nb := range []float64{30, 270} {
			r2 := float32(benchRadius2(dim, n, nb))
			r := float32(math.Sqrt(float64(r2)))
			b.Run(fmt.Sprintf("op=build/dim=%d/n=%d/nb=%g", dim, n, nb), func(b *testing.B) {
				g, err := NewGrid(x, dim, r)
				if err != nil {
					b.Fatal(err)
				}
				for b.Loop() {
					if err := g.Rebuild(x, r); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/query")
			})
			b.Run(fmt.Sprintf("op=ball/dim=%d/n=%d/nb=%g", dim, n, nb), func(b *testing.B) {
				g, err := NewGrid(x, dim, r)
				if err != nil {
					b.Fatal(err)
				}
				for b.Loop() {
					if err := EachBall(g, g, r2, BulkOptions{Workers: 1}, func(int, *Batch[float32]) {}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/query")
			})
		}
	}
}

// BenchmarkFewQueries asks for the balls around a tenth of the points: about one query stands in a cell.
func BenchmarkFewQueries(b *testing.B) {
	const n, m = 1000000, 100000
	for _, dim := range []int{2, 3} {
		x := uniform[float32](n, dim)
		for _, nb := range []float64{30, 270} {
			r2 := float32(benchRadius2(dim, n, nb))
			r := float32(math.Sqrt(float64(r2)))
			b.Run(fmt.Sprintf("dim=%d/n=%d/nb=%g", dim, n, nb), func(b *testing.B) {
				g, err := NewGrid(x, dim, r)
				if err != nil {
					b.Fatal(err)
				}
				q, err := NewGrid(x[:m*dim], dim, r)
				if err != nil {
					b.Fatal(err)
				}
				for b.Loop() {
					if err := EachBall(g, q, r2, BulkOptions{Workers: 1}, func(int, *Batch[float32]) {}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/m, "ns/query")
			})
		}
	}
}

// BenchmarkFlat compares a scan of all points with a look-up in a tree and in a grid, around the size up to which the former
// is used.
func BenchmarkFlat(b *testing.B) {
	for _, dim := range []int{2, 3} {
		for _, n := range []int{64, 128, 256, 512, 1024} {
			x := uniform[float32](n, dim)
			for _, nb := range []float64{8, 30, 0.5 * float64(n)} {
				r2 := float32(benchRadius2(dim, n, nb))
				tree, err := NewTree(x, dim, nil)
				if err != nil {
					b.Fatal(err)
				}
				grid, err := NewGrid(x, dim, float32(math.Sqrt(float64(r2))))
				if err != nil {
					b.Fatal(err)
				}
				for _, c := range []struct {
					name string
					p    Cloud[float32]
					flat bool
				}{{"flat", grid, true}, {"grid", grid, false}, {"tree", tree, false}} {
					b.Run(fmt.Sprintf("op=count/dim=%d/n=%d/nb=%g/by=%s", dim, n, nb, c.name), func(b *testing.B) {
						count := make([]int32, n)
						for b.Loop() {
							countBalls(c.p, c.p, r2, BulkOptions{Workers: 1}, c.flat, count)
						}
						b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/query")
					})
					for _, ascending := range []bool{false, true} {
						b.Run(fmt.Sprintf("op=find/dim=%d/n=%d/nb=%g/asc=%v/by=%s", dim, n, nb, ascending, c.name), func(b *testing.B) {
							for b.Loop() {
								scanBalls(c.p, c.p, r2, BulkOptions{Workers: 1, Ascending: ascending}, c.flat,
									func(int, *Batch[float32]) {})
							}
							b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/query")
						})
					}
				}
			}
		}
	}
}
