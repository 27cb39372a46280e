package fuzz

import (
	"math"
	"sort"
	"testing"

	"github.com/equivcnp/equivcnp/internal/testkit"
	"github.com/equivcnp/equivcnp/neighbor"
	"github.com/equivcnp/equivcnp/simd"
)

// FuzzGemmI8 compares products of 8-bit integers, and searches by them, with plain sums, between pages that cannot be read.
func FuzzGemmI8(f *testing.F) {
	for i, b := range seedBytes() {
		f.Add(b, uint8(7*i), uint8(11*i), uint8(5*i), uint8(i), uint8(i))
	}
	f.Fuzz(func(t *testing.T, bytes []byte, um, un, uk, gap, by uint8) {
		m, n, k := int(um%60), int(un%80), int(uk%140)
		lda, ldb, ldc := k+int(gap%5), k+int(gap%3), n+int(gap%4)
		numbers := func(n, from int) []int8 {
			x := testkit.AtEnd[int8](t, n)
			for i := range x {
				if len(bytes) > 0 {
					x[i] = int8(bytes[(i*i/3+i+from)%len(bytes)])
				}
			}
			return x
		}
		a, b := numbers(max(0, (m-1)*lda+k), 0), numbers(max(0, (n-1)*ldb+k), 1)
		c := testkit.AtEnd[int32](t, max(0, (m-1)*ldc+n))
		atLevels(t, func(level simd.Level) {
			simd.GemmNTI8(c, ldc, a, lda, b, ldb, m, n, k)
			for i := range m {
				for j := range n {
					sum := int32(0)
					for p := range k {
						sum += int32(a[i*lda+p]) * int32(b[j*ldb+p])
					}
					if got := c[i*ldc+j]; got != sum {
						t.Fatalf("level=%v m=%d n=%d k=%d: C[%d,%d] = %d, want %d", level, m, n, k, i, j, got, sum)
					}
				}
			}
			if k > 0 && lda == k && ldb == k {
				searchI8(t, level, a, b, k, neighbor.Similarity(by%4), 1+int(gap)%7)
			}
		})
	})
}

// searchI8 wants the k best rows of every query in order.
func searchI8(t *testing.T, level simd.Level, rows, queries []int8, dim int, by neighbor.Similarity, k int) {
	v, err := neighbor.NewVectorsI8(rows, dim, by)
	if err != nil {
		t.Fatal(err)
	}
	n, q := len(rows)/dim, len(queries)/dim
	index, score := make([]int32, q*k), make([]float32, q*k)
	v.Search(index, score, queries, k)
	for i := range q {
		var want []int
		costs := make([]float64, n)
		for r := range n {
			dot, l1, a, b := 0, 0, 0, 0
			for p, x := range queries[i*dim:][:dim] {
				x, y := int(x), int(rows[r*dim+p])
				dot, l1, a, b = dot+x*y, l1+max(x-y, y-x), a+x*x, b+y*y
			}
			switch by {
			case neighbor.SquaredL2:
				costs[r] = float64(a + b - 2*dot)
			case neighbor.DotProduct:
				costs[r] = -float64(dot)
			case neighbor.Cosine:
				costs[r] = -float64(dot) / (math.Sqrt(float64(a)) * math.Sqrt(float64(b)))
			default:
				costs[r] = float64(l1)
			}
			if !math.IsNaN(costs[r]) {
				want = append(want, r)
			}
		}
		sort.SliceStable(want, func(x, y int) bool { return costs[want[x]] < costs[want[y]] })
		for j := range k {
			w := int32(-1)
			if j < len(want) {
				w = int32(want[j])
			}
			if index[i*k+j] != w {
				t.Fatalf("level=%v: %d rows of %d, by %d, query %d: number %d is row %d, want %d", level, n, dim, by, i, j, index[i*k+j], w)
			}
		}
	}
}
