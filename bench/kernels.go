package main

import (
	"fmt"
	"math"
	"sort"
	"strings"

	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/simd"
)

func kernelsCommand() *cobra.Command {
	var (
		asJSON bool
		only   string
		all    bool
	)
	cmd := &cobra.Command{
		Use:   "kernels",
		Short: "Time the kernels of simd on the peers' inputs, on one core",
		Long: `Time the kernels of simd on the inputs of the peers' programs, on one core, and name the lines as they do, so that
compare.py lays both side by side. Lines named ours are at the best level of this machine (or EQUIVCNP_SIMD's),
ours_generic and so on at the others (--levels). PEER_SECONDS sets the time per line.`,
		Example: "  go run ./bench kernels --json > ours.jsonl\n  go run ./bench kernels --only gemm --levels",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r := &report{cmd.OutOrStdout(), asJSON}
			top := simd.CurrentLevel()
			levels := []simd.Level{top}
			if all {
				levels = simd.Levels()
			}
			defer simd.SetLevel(top)
			for _, k := range kernelCases() {
				if !strings.HasPrefix(k.name, only) {
					continue
				}
				run := k.make()
				for _, l := range levels {
					if err := simd.SetLevel(l); err != nil {
						return err
					}
					who := "ours"
					if l != top {
						who += "_" + l.String()
					}
					t := best(run)
					name := strings.Replace(k.name, "ours", who, 1)
					for _, m := range k.metrics {
						if err := r.add(sample{name, m.n, m.metric, m.value(t)}); err != nil {
							return err
						}
					}
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one object a line")
	cmd.Flags().StringVar(&only, "only", "", "kernels whose names start with this")
	cmd.Flags().BoolVar(&all, "levels", false, "every instruction set level of this machine, not the best alone")
	return cmd
}

// metric turns a time into the number that is reported.
type metric struct {
	metric string
	n      int
	value  func(seconds float64) float64
}

func gflops(flop int) metric {
	return metric{"gflops", flop, func(t float64) float64 { return float64(flop) / t * 1e-9 }}
}

func gbps(bytes int) metric {
	return metric{"gbps", bytes, func(t float64) float64 { return float64(bytes) / t * 1e-9 }}
}

func nsPer(n int) metric {
	return metric{"ns_per_elem", n, func(t float64) float64 { return t / float64(n) * 1e9 }}
}

// kernelCase is one line: make draws the inputs and returns what is timed.
type kernelCase struct {
	name    string
	metrics []metric
	make    func() func()
}

func kernelCases() []kernelCase {
	var cases []kernelCase
	// M, N, K as the peers order them.
	for _, s := range [][3]int{{4096, 128, 128}, {4096, 128, 256}, {1024, 32, 32}, {8192, 32, 32}, {8192, 128, 32}, {273, 128, 32}, {16, 16, 50}, {50, 16, 25}} {
		m, n, k := s[0], s[1], s[2]
		cases = append(cases, kernelCase{fmt.Sprintf("gemm/ours/%dx%dx%d", m, n, k), []metric{gflops(2 * m * n * k)}, func() func() {
			rng := peerSeed
			a := rng.floats(m*k, 1)
			b := simd.Pack(rng.floats(k*n, 1), n, k, n)
			c := make([]float32, m*n)
			return func() { simd.GemmPacked(c, n, a, k, b, nil, simd.ActNone, m) }
		}})
	}
	return append(append(append(cases, vectorCases()...), weightNetCase()), depthwiseCases()...)
}

// vectorCases are the elementwise functions: 1M elements as 16 passes over a block that stays in L2, and straight.
func vectorCases() []kernelCase {
	const n, block = 1 << 20, 1 << 16
	var cases []kernelCase
	for _, f := range []struct {
		name string
		prep func(x []float32)
		run  func(dst, x []float32)
	}{
		{"swish", scale8, simd.SwishF32},
		{"exp", scale8, simd.ExpF32},
		{"log", func(x []float32) {
			for i := range x {
				x[i] = float32(math.Exp(8 * float64(x[i])))
			}
		}, simd.LogF32},
		{"sigmoid", scale8, simd.SigmoidF32},
		{"softplus", scale8, simd.SoftplusF32},
		{"tanh", scale8, simd.TanhF32},
		{"atan2", scale8, func(dst, x []float32) { simd.Atan2F32(dst, x, x[len(x)-len(dst):]) }},
	} {
		for _, where := range []string{"L2", "stream"} {
			cases = append(cases, kernelCase{f.name + "/" + where + "/ours", []metric{nsPer(n)}, func() func() {
				rng := peerSeed
				x, y := rng.floats(n, 1), make([]float32, n)
				f.prep(x)
				if where == "stream" {
					return func() { f.run(y, x) }
				}
				return func() {
					for range n / block {
						f.run(y[:block], x[:block])
					}
				}
			}})
		}
	}
	return cases
}

func scale8(x []float32) {
	for i := range x {
		x[i] *= 8
	}
}

// weightNetCase is the MLP 2 -> 32 -> 32 -> 128 with swish after every layer on 65,536 rows, in tiles of 128.
func weightNetCase() kernelCase {
	const rows, tile, hidden, out = 65536, 128, 32, 128
	flop := 2 * (2*hidden + hidden*hidden + hidden*out) * rows
	return kernelCase{"weightnet/ours", []metric{nsPer(rows), gflops(flop)}, func() func() {
		rng := peerSeed
		layer := func(in, out int) (*simd.Packed[float32], []float32) {
			w := rng.floats(in*out, float32(math.Sqrt(3/float64(in))))
			return simd.Pack(w, out, in, out), rng.floats(out, 0.1)
		}
		x := rng.floats(2*rows, 1)
		w1, b1 := layer(2, hidden)
		w2, b2 := layer(hidden, hidden)
		w3, b3 := layer(hidden, out)
		h1, h2, y := make([]float32, tile*hidden), make([]float32, tile*hidden), make([]float32, rows*out)
		return func() {
			for r := 0; r < rows; r += tile {
				simd.GemmPacked(h1, hidden, x[2*r:2*(r+tile)], 2, w1, b1, simd.ActSwish, tile)
				simd.GemmPacked(h2, hidden, h1, hidden, w2, b2, simd.ActSwish, tile)
				simd.GemmPacked(y[r*out:(r+tile)*out], out, h2, hidden, w3, b3, simd.ActSwish, tile)
			}
		}
	}}
}

// depthwiseCases are 4096 points with 273 neighbours and 128 channels: one weight row per neighbour, shared by all points
// (the weights stay in L2) or each pair's own (573 MB streamed); neighbours at random, or the nearest of a periodic grid.
func depthwiseCases() []kernelCase {
	const n, j, c = 4096, 273, 128
	var cases []kernelCase
	for _, own := range []bool{false, true} {
		for _, where := range []string{"local", "rand"} {
			name, metrics := "depthwise/shared_w/ours/"+where, []metric{gflops(2 * n * j * c)}
			if own {
				name, metrics = "depthwise/own_w/ours/"+where, append(metrics, gbps(4*n*j*c))
			}
			cases = append(cases, kernelCase{name, metrics, func() func() {
				rng := peerSeed
				f, w := rng.floats(n*c, 1), rng.floats(j*c, 1)
				index, pose, offsets := make([]int32, n*j), make([]int32, n*j), make([]int, n+1)
				for i := range index {
					index[i] = int32(rng.next() % n)
				}
				if own {
					w = rng.floats(n*j*c, 1)
				}
				if where == "local" {
					nearestOnGrid(index, j)
				}
				for i := range n {
					offsets[i+1] = (i + 1) * j
				}
				for k := range pose {
					pose[k] = int32(k % j)
					if own {
						pose[k] = int32(k)
					}
				}
				out := make([]float32, n*c)
				return func() { simd.Depthwise(out, f, w, offsets, index, pose, c, false) }
			}})
		}
	}
	return cases
}

// nearestOnGrid fills index [64·64, j] with the j nearest offsets of a periodic 64 x 64 grid.
func nearestOnGrid(index []int32, j int) {
	var off [][2]int
	for a := -12; a <= 12; a++ {
		for b := -12; b <= 12; b++ {
			off = append(off, [2]int{a, b})
		}
	}
	sort.SliceStable(off, func(p, q int) bool {
		return off[p][0]*off[p][0]+off[p][1]*off[p][1] < off[q][0]*off[q][0]+off[q][1]*off[q][1]
	})
	for i := range 64 * 64 {
		for k := range j {
			index[i*j+k] = int32((i/64+off[k][0])&63*64 + (i+off[k][1])&63)
		}
	}
}
