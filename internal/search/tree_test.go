package search

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// treeCloud draws points on a coarse lattice, so that many distances tie with each other and with the radius, and numbers
// them.
func treeCloud[T Float](t *testing.T, seed uint64, dim, n int) (c []T, id []int32) {
	rng := testkit.Rand(seed)
	c, id = make([]T, dim*n), make([]int32, n)
	for i := range c {
		c[i] = T(rng.IntN(9)-4) / 4
		if rng.IntN(4) == 0 {
			c[i] = T(rng.NormFloat64())
		}
	}
	for j := range id {
		id[j] = int32(rng.IntN(1 << 30))
	}
	return testkit.CopyAtEnd(t, c), testkit.CopyAtEnd(t, id)
}

func TestTreeFilter(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		t.Run("F32", testTreeFilter[float32])
		t.Run("F64", testTreeFilter[float64])
	})
}

func testTreeFilter[T Float](t *testing.T) {
	rng := testkit.Rand(60)
	for dim := 1; dim <= MaxDim; dim++ {
		for _, n := range []int{0, 1, 5, 16, 33, 100} {
			c, id := treeCloud[T](t, uint64(dim), dim, n)
			var from, to []int32
			total := 0
			for lo := rng.IntN(3); lo <= n; {
				hi := min(lo+rng.IntN(40), n)
				from, to = append(from, int32(lo)), append(to, int32(hi))
				total += hi - lo
				lo = hi + rng.IntN(3)
				if hi == n {
					break
				}
			}
			box := make([]T, 2*dim)
			for a := range dim {
				box[2*a] = T(rng.IntN(5)-2) / 4
				box[2*a+1] = box[2*a] + T(rng.IntN(3))/4
			}
			for _, r2 := range []T{0, 0.25, 1, 4, T(math.Inf(1)), T(math.NaN())} {
				ld := total + Slack
				want, wantDist, wantID := make([]T, dim*ld), make([]T, ld), make([]int32, ld)
				m := treeFilterGeneric(want, ld, wantDist, wantID, c, n, id, from, to, box, r2, dim)
				out, dist2, outID := testkit.AtEnd[T](t, dim*ld), testkit.AtEnd[T](t, ld), testkit.AtEnd[int32](t, ld)
				require.Equal(t, m, Filter(out, ld, dist2, outID, c, n, id, from, to, box, r2), "dim=%d n=%d r2=%v", dim, n, r2)
				require.Equal(t, wantID[:m], outID[:m])
				require.True(t, testkit.SameBits(dist2[:m], wantDist[:m]))
				for a := range dim {
					require.True(t, testkit.SameBits(out[a*ld:a*ld+m], want[a*ld:a*ld+m]), "dim=%d n=%d axis=%d", dim, n, a)
				}
			}
		}
	}
}

func TestTreeBoxes(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		t.Run("F32", testTreeBoxes[float32])
		t.Run("F64", testTreeBoxes[float64])
	})
}

func testTreeBoxes[T Float](t *testing.T) {
	rng := testkit.Rand(62)
	for dim := 1; dim <= MaxDim; dim++ {
		for _, n := range []int{0, 1, 4, 15, 16, 33, 70} {
			boxes, from := treeCloud[T](t, uint64(dim), 2*dim, n)
			for a := range dim {
				for k := range n {
					boxes[(2*a+1)*n+k] = boxes[2*a*n+k] + T(rng.IntN(4))/4
				}
			}
			to := testkit.AtEnd[int32](t, n)
			for k := range to {
				to[k] = from[k] + 7
			}
			box := make([]T, 2*dim)
			for a := range dim {
				box[2*a] = T(rng.IntN(5)-2) / 4
				box[2*a+1] = box[2*a] + T(rng.IntN(3))/4
			}
			for _, r2 := range []T{0, 0.25, 1, 4, T(math.Inf(1)), T(math.NaN())} {
				wantFrom, wantTo := make([]int32, n+Slack), make([]int32, n+Slack)
				m := treeBoxesGeneric(wantFrom, wantTo, boxes, n, from, to, box, r2, dim)
				outFrom, outTo := testkit.AtEnd[int32](t, n+Slack), testkit.AtEnd[int32](t, n+Slack)
				require.Equal(t, m, Boxes(outFrom, outTo, boxes, n, from, to, box, r2), "dim=%d n=%d r2=%v", dim, n, r2)
				require.Equal(t, wantFrom[:m], outFrom[:m])
				require.Equal(t, wantTo[:m], outTo[:m])
			}
		}
	}
}

func TestTreeScan(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		t.Run("F32", testTreeScan[float32])
		t.Run("F64", testTreeScan[float64])
	})
}

func testTreeScan[T Float](t *testing.T) {
	for dim := 1; dim <= MaxDim; dim++ {
		for _, nc := range []int{0, 1, 7, 16, 17, 40} {
			for _, periodic := range []bool{false, true} {
				const nq = 5
				q, _ := treeCloud[T](t, uint64(dim), dim, nq)
				c, id := treeCloud[T](t, uint64(dim+99), dim, nc)
				var period []T
				if periodic {
					period = make([]T, dim)
					for a := range period {
						period[a] = []T{T(math.Inf(1)), 2, 2.5}[a%3]
					}
				}
				radius2 := []T{0.5, 0, 4, T(math.Inf(1)), T(math.NaN())}
				for _, r2 := range [][]T{radius2, radius2[:1]} {
					room := nq*nc + Slack
					wantIndex, wantDist, wantEnd, wantCount := make([]int32, room), make([]T, room), make([]int32, nq), make([]int32, nq)
					treeScanGeneric(wantIndex, wantDist, wantEnd, q, nq, c, nc, id, r2, period, dim)
					treeCountGeneric(wantCount, q, nq, c, nc, nc, r2, period, dim)
					index, dist2 := testkit.AtEnd[int32](t, room), testkit.AtEnd[T](t, room)
					end, count := testkit.AtEnd[int32](t, nq), testkit.AtEnd[int32](t, nq)
					m := Scan(index, dist2, end, q, nq, c, nc, id, r2, period, dim)
					Count(count, q, nq, c, nc, nc, r2, period, dim)
					name := fmt.Sprintf("dim=%d nc=%d periodic=%v", dim, nc, periodic)
					require.Equal(t, wantEnd, end, name)
					require.Equal(t, wantCount, count, name)
					require.Equal(t, wantIndex[:m], index[:m], name)
					require.True(t, testkit.SameBits(dist2[:m], wantDist[:m]), name)
				}
			}
		}
	}
}

// TestTreeScanPieces has more pairs than go to assembly at a time.
func TestTreeScanPieces(t *testing.T) {
	const nc, nq = 5000, 60
	c, id := treeCloud[float32](t, 1, 2, nc)
	q, _ := treeCloud[float32](t, 2, 2, nq)
	eachLevel(t, func(t *testing.T) {
		room := nq*nc + Slack
		index, dist2, end := make([]int32, room), make([]float32, room), make([]int32, nq)
		wantIndex, wantDist, wantEnd := make([]int32, room), make([]float32, room), make([]int32, nq)
		treeScanGeneric(wantIndex, wantDist, wantEnd, q, nq, c, nc, id, []float32{1}, nil, 2)
		m := Scan(index, dist2, end, q, nq, c, nc, id, []float32{1}, nil, 2)
		require.Equal(t, wantEnd, end)
		require.Equal(t, wantIndex[:m], index[:m])
		require.Equal(t, wantDist[:m], dist2[:m])
	})
}

func TestTreePartition(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		t.Run("F32", testTreePartition[float32])
		t.Run("F64", testTreePartition[float64])
	})
}

func testTreePartition[T Float](t *testing.T) {
	rng := testkit.Rand(61)
	sizes := append(lengths(), partitionColumns+77)
	for _, n := range sizes {
		for _, rows := range []int{1, 3} {
			const before = 3 // columns in front that must stay
			ld := n + before
			x := testkit.AtEnd[T](t, rows*ld)
			for i := range x {
				x[i] = T(rng.IntN(21) - 10)
			}
			key := rng.IntN(rows)
			pivot := T(rng.IntN(23) - 11)
			want := append([]T(nil), x...)
			at := before
			for _, less := range []bool{true, false} {
				for j := before; j < ld; j++ {
					if (x[key*ld+j] < pivot) == less {
						for r := range rows {
							want[r*ld+at] = x[r*ld+j]
						}
						at++
					}
				}
			}
			front := 0
			for j := before; j < ld; j++ {
				if x[key*ld+j] < pivot {
					front++
				}
			}
			scratch := testkit.AtEnd[T](t, rows*(n+Slack))
			require.Equal(t, front, Partition(x[before:], ld, rows, n, key, pivot, scratch), "n=%d rows=%d", n, rows)
			require.True(t, testkit.SameBits(x, want), "n=%d rows=%d key=%d pivot=%v", n, rows, key, pivot)
		}
	}
}

func TestTreeRefuses(t *testing.T) {
	f, i := make([]float32, 64), make([]int32, 64)
	for name, run := range map[string]func(){
		"search: Boxes: len(box) = 18, need two for each of 1 to 8 axes": func() { Boxes(i, i, f, 2, i[:2], i[:2], f[:18], 1) },
		"search: Boxes: len(to) = 1, need 2":                             func() { Boxes(i, i, f, 2, i[:2], i[:1], f[:4], 1) },
		"search: Boxes: len(outFrom) = 17, need at least 18":             func() { Boxes(i[:17], i, f, 2, i[:2], i[:2], f[:4], 1) },
		"search: Filter: len(box) = 3, need two for each of 1 to 8 axes": func() {
			Filter(f, 20, f, i, f, 4, i[:4], i[:1], i[:1],
				f[:3], 1)
		},
		"search: Filter: from[0] = 0, to[0] = 5, need 0 to 4": func() {
			Filter(f, 20, f, i, f, 4, i[:4], []int32{0},
				[]int32{5}, f[:4], 1)
		},
		"search: Filter: from[0] = 2, to[0] = 1, need 0 to 4": func() {
			Filter(f, 20, f, i, f, 4, i[:4], []int32{2},
				[]int32{1}, f[:4], 1)
		},
		"search: Filter: len(dist2) = 19, need at least 20": func() {
			Filter(f, 20, f[:19], i, f, 4, i[:4],
				[]int32{0}, []int32{4}, f[:4], 1)
		},
		"search: Filter: len(outID) = 19, need at least 20": func() {
			Filter(f, 20, f, i[:19], f, 4, i[:4],
				[]int32{0}, []int32{4}, f[:4], 1)
		},
		"search: Scan: len(index) = 23, need at least 24": func() {
			Scan(i[:23], f, i[:2], f, 2, f, 4, i[:4],
				f[:1], nil, 2)
		},
		"search: Scan: len(radius2) = 3, need 2":                 func() { Scan(i, f, i[:2], f, 2, f, 4, i[:4], f[:3], nil, 2) },
		"search: Count: len(period) = 1, need 2":                 func() { Count(i[:2], f, 2, f, 4, 4, f[:1], f[:1], 2) },
		"search: Count: dim = 0, need 1 to 8":                    func() { Count(i[:2], f, 2, f, 4, 4, f[:1], nil, 0) },
		"search: Partition: key = 2, need 0 to 1":                func() { Partition(f, 8, 2, 8, 2, 0, f) },
		"search: Partition: len(scratch) = 47, need at least 48": func() { Partition(f, 8, 2, 8, 1, 0, f[:47]) },
	} {
		require.PanicsWithValue(t, name, run)
	}
}
