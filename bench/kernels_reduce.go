package main

import (
	"fmt"
	"runtime"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/equivcnp/equivcnp/simd"
)

// reduceCases are sums, moments and conversions at sizes that fit L1, L2 and no cache.
func reduceCases() []kernelCase {
	var cases []kernelCase
	sizes := []struct {
		where string
		n     int
	}{{"L1", 1 << 12}, {"L2", 1 << 17}, {"memory", 1 << 26}}
	vector := func(x []float32) blas32.Vector { return blas32.Vector{N: len(x), Data: x, Inc: 1} }
	for _, f := range []struct {
		name   string
		arrays int
		run    func(x, y []float32) float64
		gonum  func(x, y []float32) float64
	}{
		{"sum", 1, func(x, _ []float32) float64 { return simd.SumF32(x) }, nil},
		{"dot", 2, simd.DotF32, func(x, y []float32) float64 { return float64(blas32.Dot(vector(x), vector(y))) }},
		{"sumsq", 1, func(x, _ []float32) float64 { return simd.SumSqF32(x) },
			func(x, _ []float32) float64 { return float64(blas32.Dot(vector(x), vector(x))) }},
		{"minmax", 1, func(x, _ []float32) float64 { lo, hi := simd.MinMaxF32(x); return float64(lo + hi) }, nil},
	} {
		for _, s := range sizes {
			bytes := 4 * f.arrays * s.n
			cases = append(cases, kernelCase{f.name + "/" + s.where + "/ours", []metric{gbps(bytes)},
				work{bytes: bytes, footprint: bytes}, func() timed {
					rng := peerSeed
					x, y := rng.floats(s.n, 1), []float32(nil)
					if f.arrays > 1 {
						y = rng.floats(s.n, 1)
					}
					t := timed{ours: func() { runtime.KeepAlive(f.run(x, y)) }}
					if f.gonum != nil {
						t.gonum = func() { runtime.KeepAlive(f.gonum(x, y)) }
					}
					return t
				}})
		}
	}
	for _, s := range []struct{ rows, c int }{{273, 128}, {65536, 32}} {
		bytes := 4 * s.rows * (s.c + 1)
		cases = append(cases, kernelCase{fmt.Sprintf("moments/ours/%dx%d", s.rows, s.c), []metric{gbps(bytes)},
			work{bytes: bytes, footprint: bytes}, func() timed {
				rng := peerSeed
				x, weight := rng.floats(s.rows*s.c, 1), make([]int32, s.rows)
				for i := range weight {
					weight[i] = int32(rng.next() % 4096)
				}
				mean, variance := make([]float64, s.c), make([]float64, s.c)
				return timed{ours: func() { runtime.KeepAlive(simd.WeightedMomentsF32(mean, variance, x, weight, s.c)) }}
			}})
	}
	for _, s := range sizes {
		w := work{bytes: 6 * s.n, footprint: 6 * s.n}
		cases = append(cases,
			kernelCase{"bf16_from_f32/" + s.where + "/ours", []metric{gbps(6 * s.n)}, w, func() timed {
				rng := peerSeed
				x, b := rng.floats(s.n, 1), onHugePages[simd.BF16](s.n)
				return timed{ours: func() { simd.BF16FromF32(b, x) }}
			}},
			kernelCase{"f32_from_bf16/" + s.where + "/ours", []metric{gbps(6 * s.n)}, w, func() timed {
				rng := peerSeed
				x, b := rng.floats(s.n, 1), onHugePages[simd.BF16](s.n)
				simd.BF16FromF32(b, x)
				return timed{ours: func() { simd.F32FromBF16(x, b) }}
			}})
	}
	return cases
}
