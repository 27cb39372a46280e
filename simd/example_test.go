package simd_test

import (
	"fmt"

	"github.com/equivcnp/equivcnp/simd"
)

func ExampleSwish() {
	x := []float32{-100, -1, 0, 1, 100}
	simd.Swish(x, x)
	fmt.Printf("%.3g\n", x)
	// Output: [-3.72e-42 -0.269 0 0.731 100]
}

func ExampleGemmPacked() {
	// A Linear layer from 2 to 3 channels with its weight as PyTorch stores it, [out, in], on two points.
	weight := simd.PackTransposed([]float32{
		1, 0,
		0, 1,
		1, -1,
	}, 2, 2, 3)
	x := []float32{
		3, 4,
		-1, 5,
	}
	y := make([]float32, 2*3)
	simd.GemmPacked(y, 3, x, 2, weight, []float32{0, 0, 0.5}, simd.ActReLU, 2)
	fmt.Println(y)
	// Output: [3 4 0 0 5 0]
}

func ExampleDepthwise() {
	// Three points in a row with two channels each. Every point sees itself and its neighbours; pose 0 means "to my left", 1
	// "here" and 2 "to my right".
	f := []float32{1, 10, 2, 20, 3, 30}
	w := []float32{0.5, 0, 1, 1, 0.5, 0}
	offsets := []int{0, 2, 5, 7}
	index := []int32{0, 1, 0, 1, 2, 1, 2}
	pose := []int32{1, 2, 0, 1, 2, 0, 1}
	out := make([]float32, 6)
	simd.Depthwise(out, f, w, offsets, index, pose, 2, false)
	fmt.Println(out)
	// Output: [2 10 4 20 4 30]
}

func ExampleSetConv() {
	// A curve of two points, read in between and far away: density and signal, as the encoder of a ConvCNP sees them.
	x := []float64{-1, 1}
	phi := []float64{
		1, 5,
		1, 7,
	}
	t := []float64{0, 100}
	h := make([]float64, 2*2)
	const lengthScale = 1.0
	simd.SetConv(h, t, x, phi, 1, 2, 1/(2*lengthScale*lengthScale), 1)
	fmt.Printf("%.4f, mean %.1f\n", h[0], h[1]/h[0])
	fmt.Println(h[2:])
	// Output:
	// 1.2131, mean 6.0
	// [0 0]
}

func ExampleSetLevel() {
	if err := simd.LevelError(); err != nil { // what EQUIVCNP_SIMD asked for in vain
		fmt.Println(err)
	}
	if err := simd.SetLevel(simd.Generic); err != nil {
		fmt.Println(err)
	}
	fmt.Println(simd.CurrentLevel())
	// Output: generic
}
