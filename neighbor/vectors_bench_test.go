package neighbor

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/equivcnp/equivcnp/simd"
)

// BenchmarkVectors searches 100,000 rows of 384 numbers, of each type, for the ten best of one, eight and 64 queries at once.
func BenchmarkVectors(b *testing.B) {
	const n, dim, k = 100_000, 384, 10
	rng := rand.New(rand.NewPCG(20, 1))
	rows, queries := make([]float32, n*dim), make([]float32, 64*dim)
	for _, x := range [][]float32{rows, queries} {
		for i := range x {
			x[i] = float32(rng.NormFloat64())
		}
	}
	half, bytes, byteQueries := make([]simd.BF16, len(rows)), make([]int8, len(rows)), make([]int8, len(queries))
	simd.BF16FromF32(half, rows)
	for i, x := range rows {
		bytes[i] = int8(max(-127, min(127, 32*x)))
	}
	for i, x := range queries {
		byteQueries[i] = int8(max(-127, min(127, 32*x)))
	}
	for _, by := range []Similarity{SquaredL2, DotProduct, Cosine} {
		wide, err := NewVectors(rows, dim, by)
		if err != nil {
			b.Fatal(err)
		}
		narrow, err := NewVectorsBF16(half, dim, by)
		if err != nil {
			b.Fatal(err)
		}
		narrowest, err := NewVectorsI8(bytes, dim, by)
		if err != nil {
			b.Fatal(err)
		}
		for _, q := range []int{1, 8, 64} {
			index, score := make([]int32, q*k), make([]float32, q*k)
			for _, c := range []struct {
				name   string
				search func()
			}{
				{"float32", func() { wide.Search(index, score, queries[:q*dim], k) }},
				{"bfloat16", func() { narrow.Search(index, score, queries[:q*dim], k) }},
				{"int8", func() { narrowest.Search(index, score, byteQueries[:q*dim], k) }},
			} {
				b.Run(fmt.Sprintf("%s/%s/%d", []string{"l2", "dot", "cosine", "l1"}[by], c.name, q), func(b *testing.B) {
					for b.Loop() {
						c.search()
					}
					b.ReportMetric(float64(q*b.N)/b.Elapsed().Seconds(), "queries/s")
				})
			}
		}
	}
}
