//go:build goexperiment.simd && go1.27 && amd64

// Command archsimd measures kernels written in Go with simd/archsimd beside the assembly of this library: whether assembly could go one
// day. Sums and products are in float32 on both sides; exp has no care for subnormal results, NaN or infinity where ours has.
//
//	cd bench/peers && GOTOOLCHAIN=go1.27.0 GOEXPERIMENT=simd go run ./archsimd
package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/equivcnp/equivcnp/bench/peers/internal/timing"
	"github.com/equivcnp/equivcnp/simd"
)

// A line is one operation: ours and the same with vectors of 256 and 512 bits, which write to out.
type line struct {
	name string
	out  []float32
	tol  float64 // largest difference allowed, relative to 1 + |value|
	by   [3]func()
}

func lines() (all []line) {
	for _, n := range []int{1024, 16384} {
		x, y, out := timing.Numbers(n, 1), timing.Numbers(n, 2), make([]float32, n)
		all = append(all,
			line{fmt.Sprintf("add %d", n), out, 0, [3]func(){
				func() { simd.AddF32(out, x, y) }, func() { add8(out, x, y) }, func() { add16(out, x, y) }}},
			line{fmt.Sprintf("axpy %d", n), out, 1e-5, [3]func(){
				func() { simd.AxpyF32(out, 1e-9, x) }, func() { axpy8(out, 1e-9, x) }, func() { axpy16(out, 1e-9, x) }}},
			line{fmt.Sprintf("relu %d", n), out, 0, [3]func(){
				func() { simd.ReLUF32(out, x) }, func() { relu8(out, x) }, func() { relu16(out, x) }}},
			line{fmt.Sprintf("exp %d", n), out, 1e-6, [3]func(){
				func() { simd.ExpF32(out, x) }, func() { exp8(out, x) }, func() { exp16(out, x) }}})
	}
	const rows, taps, c = 256, 317, 128
	f, w, sums := timing.Numbers(rows*c, 3), timing.Numbers(taps*c, 4), make([]float32, rows*c)
	offsets, index, pose := make([]int, rows+1), make([]int32, rows*taps), make([]int32, rows*taps)
	rng := rand.New(rand.NewPCG(5, 1))
	for i := range rows {
		offsets[i+1] = (i + 1) * taps
		for k := range taps {
			index[i*taps+k], pose[i*taps+k] = int32(rng.IntN(rows)), int32(k)
		}
	}
	all = append(all, line{"depthwise 256 rows of 317 pairs, 128 channels, as given", sums, 1e-4, [3]func(){
		func() { simd.DepthwiseF32(sums, f, w, offsets, index, pose, c, false) },
		func() { depthwise8(sums, f, w, offsets, index, pose, c) },
		func() { depthwise16(sums, f, w, offsets, index, pose, c) }}})
	for _, n := range []int{64, 128} {
		a, b, out := timing.Numbers(n*n, 6), timing.Numbers(n*n, 7), make([]float32, n*n)
		all = append(all, line{fmt.Sprintf("product %d x %d x %d", n, n, n), out, 1e-4, [3]func(){
			func() { simd.GemmF32(out, n, a, n, b, n, 1, 0, n, n, n) }, func() { gemm8(out, a, b, n) }, func() { gemm16(out, a, b, n) }}})
	}
	return all
}

func run() error {
	runtime.GOMAXPROCS(1)
	fmt.Printf("Times of %s, simd/archsimd over ours (level %v), median of 9 turns (least to most): above 1 ours is faster.\n\n",
		runtime.Version(), simd.CurrentLevel())
	fmt.Println("| line | ours, ns | 256 bits | 512 bits |\n|---|---:|---:|---:|")
	for _, l := range lines() {
		var want []float32
		for i, f := range l.by {
			clear(l.out)
			f()
			if i == 0 {
				want = slices.Clone(l.out)
			}
			for j, v := range l.out {
				if d := math.Abs(float64(v - want[j])); !(d <= l.tol*(1+math.Abs(float64(want[j])))) {
					return fmt.Errorf("%s, way %d: element %d is %v, need %v", l.name, i, j, v, want[j])
				}
			}
		}
		var ours []float64
		var ratios [3][]float64
		for turn := range 9 {
			var took [3]float64
			for i := range took {
				k := i
				if turn%2 == 1 {
					k = 2 - i
				}
				took[k] = timing.Best(l.by[k], 50*time.Millisecond)
			}
			ours = append(ours, took[0]*1e9)
			for k := range took {
				ratios[k] = append(ratios[k], took[k]/took[0])
			}
		}
		slices.Sort(ours)
		fmt.Printf("| %s | %.4g |", l.name, ours[4])
		for _, r := range ratios[1:] {
			slices.Sort(r)
			fmt.Printf(" %.2f (%.2f to %.2f) |", r[4], r[0], r[8])
		}
		fmt.Println()
	}
	return nil
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "archsimd:", err)
		os.Exit(1)
	}
}
