package main

import "github.com/equivcnp/equivcnp/simd"

// The case of a depthwise convolution that ONNX Runtime's own tests of speed have: 7 x 7, from 64 channels to 128, on 64 x 64.
const windowSide, windowChannels, windowWidth = 64, 64, 7

// windowNeighbours are the pixels of a window around every pixel of a square image, without those beyond its borders, which count as 0.
func windowNeighbours(side, width int) (offsets []int, index, pose []int32) {
	offsets = []int{0}
	for i := range side * side {
		for k := range width * width {
			r, c := i/side+k/width-width/2, i%side+k%width-width/2
			if r >= 0 && r < side && c >= 0 && c < side {
				index, pose = append(index, int32(r*side+c)), append(pose, int32(k))
			}
		}
		offsets = append(offsets, len(index))
	}
	return offsets, index, pose
}

// windowCases make two outputs of every channel, by two sets of weights: the even ones and the odd ones of ONNX Runtime's order. Operations
// are counted without regard to borders, for both sides.
func windowCases() []kernelCase {
	const n, c, taps = windowSide * windowSide, windowChannels, windowWidth * windowWidth
	const flop = 2 * n * taps * 2 * c
	draw := func() (out, f, w []float32) {
		rng := peerSeed
		return onHugePages[float32](2 * n * c), rng.floats(n*c, 1), rng.floats(2*taps*c, 1)
	}
	offsets, index, pose := windowNeighbours(windowSide, windowWidth)
	work := once(flop, 3*n*c+2*taps*c)
	return []kernelCase{
		{"depthwise7x7/ours_plan/64x64x64to128", []metric{gflops(flop)}, work, func() timed {
			out, f, w := draw()
			plan := simd.NewDepthwisePlan(offsets, index, pose, n, taps)
			return timed{ours: func() {
				simd.DepthwisePlanF32(out[:n*c], f, w[:taps*c], plan, 0, n, c, false)
				simd.DepthwisePlanF32(out[n*c:], f, w[taps*c:], plan, 0, n, c, false)
			}}
		}},
		{"depthwise7x7/ours_rows/64x64x64to128", []metric{gflops(flop)}, work, func() timed {
			out, f, w := draw()
			rows := simd.NewDepthwiseRows(offsets, index, pose, nil, n, taps)
			return timed{ours: func() {
				simd.DepthwiseRowsF32(out[:n*c], f, w[:taps*c], rows, c, false)
				simd.DepthwiseRowsF32(out[n*c:], f, w[taps*c:], rows, c, false)
			}}
		}},
	}
}
