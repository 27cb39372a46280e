package main

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"github.com/equivcnp/equivcnp/internal/bf16"
	"github.com/equivcnp/equivcnp/simd"
)

// gemmCases are products in the shapes that models have, with B packed beforehand, and the two products that gradients need. Names
// list M, N, K in this order, as the peers do.
func gemmCases() []kernelCase {
	var cases []kernelCase
	general := func(rows, cols int, x []float32) blas32.General {
		return blas32.General{Rows: rows, Cols: cols, Stride: cols, Data: x}
	}
	for _, s := range [][3]int{{4096, 128, 128}, {4096, 128, 256}, {1024, 32, 32}, {8192, 32, 32}, {8192, 128, 32},
		{273, 128, 32}, {16, 16, 50}, {50, 16, 25},
		{250000, 32, 2}, {250000, 32, 3}, {250000, 32, 4}, {250000, 32, 5}, {250000, 32, 6}, {250000, 32, 32}, {250000, 128, 32}} {
		m, n, k := s[0], s[1], s[2]
		flop := 2 * m * n * k
		cases = append(cases, kernelCase{fmt.Sprintf("gemm/ours/%dx%dx%d", m, n, k), []metric{gflops(flop)}, gemmWork(m, n, k),
			func() timed {
				rng := peerSeed
				a, b, c := rng.floats(m*k, 1), rng.floats(k*n, 1), onHugePages[float32](m*n)
				packed := simd.Pack(b, n, k, n)
				return timed{
					func() { simd.GemmPackedF32(c, n, a, k, packed, nil, simd.ActNone, m) },
					func() {
						blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, general(m, k, a), general(k, n, b), 0, general(m, n, c))
					},
				}
			}})
	}
	for _, s := range [][3]int{{4096, 128, 128}, {8192, 32, 32}} {
		m, n, k := s[0], s[1], s[2]
		if !bf16.HaveDots() {
			break
		}
		cases = append(cases, kernelCase{fmt.Sprintf("gemm/ours_bf16/%dx%dx%d", m, n, k), []metric{gflops(2 * m * n * k)},
			gemmWork(m, n, k), func() timed {
				rng := peerSeed
				a, c := make([]simd.BF16, bf16.DotsRows(m)*k), onHugePages[float32](m*n)
				simd.BF16FromF32(a[:m*k], rng.floats(m*k, 1))
				packed := bf16.PackDots(rng.floats(n*k, 1), k, k, n)
				return timed{ours: func() { bf16.GemmDots(c, n, a, packed, nil, simd.ActNone, m) }}
			}})
	}
	for _, s := range [][3]int{{4096, 128, 128}, {8192, 32, 32}} {
		m, n, k := s[0], s[1], s[2]
		flop, shape := 2*m*n*k, fmt.Sprintf("%dx%dx%d", m, n, k)
		draw := func() (a, b, c []float32) {
			rng := peerSeed
			return rng.floats(m*k, 1), rng.floats(k*n, 1), rng.floats(m*n, 1)
		}
		// The gradient to the input is C·Bᵀ, the one to the weights Aᵀ·C.
		cases = append(cases,
			kernelCase{"gemm_nt/ours/" + shape, []metric{gflops(flop)}, gemmWork(m, n, k), func() timed {
				a, b, c := draw()
				return timed{
					func() { simd.GemmNT(a, k, c, n, b, n, 1, 0, m, k, n) },
					func() {
						blas32.Gemm(blas.NoTrans, blas.Trans, 1, general(m, n, c), general(k, n, b), 0, general(m, k, a))
					},
				}
			}},
			kernelCase{"gemm_tn/ours/" + shape, []metric{gflops(flop)}, gemmWork(m, n, k), func() timed {
				a, b, c := draw()
				return timed{
					func() { simd.GemmTN(b, n, a, k, c, n, 1, 0, k, n, m) },
					func() {
						blas32.Gemm(blas.Trans, blas.NoTrans, 1, general(m, k, a), general(m, n, c), 0, general(k, n, b))
					},
				}
			}})
	}
	return cases
}

// gemmWork is the work of a product of m x k and k x n numbers, in any of its three forms.
func gemmWork(m, n, k int) work { return once(2*m*n*k, m*k+k*n+m*n) }

// vectorCases are the elementwise functions on 1M elements, as 16 passes over a block that stays in L2 and as one pass. Functions with
// little arithmetic are measured within L1 and on 16M elements too. Most of the others are limited by arithmetic other than
// multiply-adds, which the machine's limits do not cover; their percentage compares them with the speed of memory alone.
func vectorCases() []kernelCase {
	var cases []kernelCase
	for _, f := range vectorFunctions() {
		arrays, sizes := 2, vectorSizes[1:3]
		switch f.name {
		case "scale":
			arrays, sizes = 1, vectorSizes
		case "relu", "hypot", "add", "axpy", "relu_grad", "sigmoid_grad", "softplus_grad", "abs", "clip", "floor":
			sizes = vectorSizes
		case "max":
			arrays, sizes = 3, vectorSizes
		case "pow":
			arrays = 3
		}
		for _, size := range sizes {
			n, block, where := size.n, size.block, size.name
			footprint := 4 * arrays * block
			cases = append(cases, kernelCase{f.name + "/" + where + "/ours", []metric{nsPer(n)},
				work{bytes: 4 * f.moved * n, footprint: footprint}, func() timed {
					rng := peerSeed
					x, y := rng.floats(n, 1), onHugePages[float32](n)
					f.prep(x)
					over := func(run func(dst, x []float32)) func() {
						return func() {
							for range n / block {
								run(y[:block], x[:block])
							}
						}
					}
					t := timed{ours: over(f.run)}
					if f.gonum != nil {
						t.gonum = over(f.gonum)
					}
					return t
				}})
		}
	}
	const n, block = 1 << 20, 1 << 16
	return append(cases, kernelCase{"adam/L2/ours", []metric{nsPer(n)}, work{bytes: 7 * 4 * n, footprint: 4 * 4 * block}, func() timed {
		rng := peerSeed
		p, m, v, g := rng.floats(block, 1), onHugePages[float32](block), onHugePages[float32](block), rng.floats(block, 1)
		return timed{ours: func() {
			for range n / block {
				simd.AdamF32(p, m, v, g, 1e-6, 0.9, 0.999, 1, 1e-8)
			}
		}}
	}})
}

// vectorFunction is an elementwise function to measure.
type vectorFunction struct {
	name  string
	moved int // arrays read, and again those written
	prep  func(x []float32)
	run   func(dst, x []float32)
	gonum func(dst, x []float32)
}

func vectorFunctions() []vectorFunction {
	spare := make([]float32, 1<<20) // a second result
	positive := func(x []float32) {
		for i := range x {
			x[i] = float32(math.Exp(8 * float64(x[i])))
		}
	}
	var others []float32
	second := func(x []float32) []float32 { // another operand, in [-1, 1)
		if len(others) < len(x) {
			rng := peerSeed
			others = rng.floats(len(x), 1)
		}
		return others[:len(x)]
	}
	vector := func(x []float32) blas32.Vector { return blas32.Vector{N: len(x), Data: x, Inc: 1} }
	return []vectorFunction{
		{"swish", 2, scale8, simd.SwishF32, nil},
		{"exp", 2, scale8, simd.ExpF32, nil},
		{"log", 2, positive, simd.LogF32, nil},
		{"sigmoid", 2, scale8, simd.SigmoidF32, nil},
		{"softplus", 2, scale8, simd.SoftplusF32, nil},
		{"tanh", 2, scale8, simd.TanhF32, nil},
		{"relu", 2, scale8, simd.ReLUF32, nil},
		{"sincos", 3, scale8, func(dst, x []float32) { simd.SinCosF32(dst, spare[:len(x)], x) }, nil},
		{"atan2", 2, scale8, func(dst, x []float32) { simd.Atan2F32(dst, x, x[len(x)-len(dst):]) }, nil},
		{"hypot", 2, scale8, func(dst, x []float32) { simd.HypotF32(dst, x, x) }, nil},
		{"add", 2, scale8, func(dst, x []float32) { simd.AddF32(dst, x, x) }, nil},
		{"axpy", 3, scale8, func(dst, x []float32) { simd.AxpyF32(dst, 0x1p-30, x) },
			func(dst, x []float32) { blas32.Axpy(0x1p-30, vector(x), vector(dst)) }},
		{"scale", 2, scale8, func(dst, _ []float32) { simd.ScaleF32(dst, 1, dst) }, func(dst, _ []float32) { blas32.Scal(1, vector(dst)) }},
		{"swish_grad", 3, scale8, func(dst, x []float32) { simd.SwishGradF32(dst, x, x) }, nil},
		{"relu_grad", 3, scale8, func(dst, x []float32) { simd.ReLUGradF32(dst, x, x) }, nil},
		{"sigmoid_grad", 3, scale8, func(dst, x []float32) { simd.SigmoidGradF32(dst, x, x) }, nil},
		{"softplus_grad", 3, positive, func(dst, x []float32) { simd.SoftplusGradF32(dst, x, x) }, nil},
		{"erf", 2, scale4, simd.ErfF32, nil},
		{"gelu", 2, scale4, simd.GELUF32, nil},
		{"expm1", 2, scale4, simd.Expm1F32, nil},
		{"log1p", 2, positive, simd.Log1pF32, nil},
		{"pow", 3, positive, func(dst, x []float32) { simd.PowF32(dst, x, second(x)) }, nil},
		{"abs", 2, scale4, simd.AbsF32, nil},
		{"max", 3, scale4, func(dst, x []float32) { simd.MaxF32(dst, x, second(x)) }, nil},
		{"clip", 2, scale4, func(dst, x []float32) { simd.ClipF32(dst, x, -1, 2) }, nil},
		{"floor", 2, scale4, simd.FloorF32, nil},
	}
}

// vectorSizes are how many elements an elementwise function computes, and the length of the block that it passes over again and again.
var vectorSizes = []struct {
	name     string
	n, block int
}{{"L1", 1 << 20, 1 << 12}, {"L2", 1 << 20, 1 << 16}, {"stream", 1 << 20, 1 << 20}, {"memory", 1 << 24, 1 << 24}}

// softmaxCases are softmax of rows, as many as fit in the second-level cache.
func softmaxCases() (cases []kernelCase) {
	for _, c := range []int{10, 64, 1000} {
		n := 1 << 16 / c * c
		cases = append(cases, kernelCase{fmt.Sprintf("softmax/%d/ours", c), []metric{nsPer(n)}, work{}, func() timed {
			rng := peerSeed
			x, y := rng.floats(n, 4), onHugePages[float32](n)
			return timed{ours: func() { simd.SoftmaxF32(y, x, c) }}
		}})
	}
	return cases
}

func scale4(x []float32) { simd.ScaleF32(x, 4, x) }

func scale8(x []float32) {
	for i := range x {
		x[i] *= 8
	}
}

// weightNetCases are the MLP 2 -> 32 -> 32 -> 128 with swish after every layer on 65,536 rows.
func weightNetCases() []kernelCase {
	const rows, hidden, out = 65536, 32, 128
	flop := 2 * (2*hidden + hidden*hidden + hidden*out) * rows
	return []kernelCase{{"weightnet/ours", []metric{nsPer(rows), gflops(flop)}, once(flop, rows*(2+out)), func() timed {
		rng := peerSeed
		x := rng.floats(2*rows, 1)
		layer := func(in, out int) simd.Dense[float32] {
			w := rng.floats(in*out, float32(math.Sqrt(3/float64(in))))
			return simd.Dense[float32]{B: simd.Pack(w, out, in, out), Bias: rng.floats(out, 0.1)}
		}
		net := [3]simd.Dense[float32]{layer(2, hidden), layer(hidden, hidden), layer(hidden, out)}
		y, scratch := onHugePages[float32](rows*out), make([]float32, simd.WeightNetScratch(&net))
		return timed{ours: func() { simd.WeightNetF32(y, x, &net, rows, scratch) }}
	}}}
}
