// Command ours calls the kernels that it is told, for bench/arm64, which counts their instructions.
package main

import (
	"fmt"
	"os"

	"github.com/equivcnp/equivcnp/simd"
)

// The sizes are those of ../plain/kernels.c.
const n, side, rows, near, channels = 4096, 64, 64, 16, 128

func numbers(n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32((i*7919)%1000)/1000 + 0.01
	}
	return x
}

func kernels() map[string]func() {
	x, y, dst, m, v := numbers(n), numbers(n), make([]float32, n), numbers(n), numbers(n)
	a, b, c := numbers(side*side), numbers(side*side), make([]float32, side*side)
	packed := simd.Pack(b, side, side, side)
	f, w, out := numbers(rows*channels), numbers(near*channels), make([]float32, rows*channels)
	var offsets []int
	var index, pose []int32
	for i := range rows {
		offsets = append(offsets, i*near)
		for k := range near {
			index, pose = append(index, int32((i+k*5)%rows)), append(pose, int32(k))
		}
	}
	offsets = append(offsets, rows*near)
	return map[string]func(){
		"exp": func() { simd.ExpF32(dst, x) }, "log": func() { simd.LogF32(dst, x) }, "swish": func() { simd.SwishF32(dst, x) },
		"sincos": func() { simd.SinCosF32(dst, m, x) }, "relu": func() { simd.ReLUF32(dst, x) }, "add": func() { simd.AddF32(dst, x, y) },
		"axpy": func() { simd.AxpyF32(dst, 0.5, x) }, "dot": func() { simd.DotF32(x, y) },
		"adam":      func() { simd.AdamF32(x, m, v, y, 1e-3, 0.9, 0.999, 1, 1e-8) },
		"gemm":      func() { simd.GemmPackedF32(c, side, a, side, packed, nil, simd.ActNone, side) },
		"depthwise": func() { simd.DepthwiseF32(out, f, w, offsets, index, pose, channels, false) },
	}
}

// mark is called before and after a call that counts.
//
//go:noinline
func mark() {}

func main() {
	all := kernels()
	for _, name := range os.Args[1:] {
		run, ok := all[name]
		if !ok {
			fmt.Fprintln(os.Stderr, "ours: no such kernel:", name)
			os.Exit(2)
		}
		run() // what is done once is done
		mark()
		run()
		mark()
	}
}
