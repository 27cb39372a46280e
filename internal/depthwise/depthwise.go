// Package depthwise has the forms of a depthwise group convolution whose lists package schedule makes, for plans and
// for training. Forms that serve any neighbourhood are in package simd, whose DepthwiseF32 says what all of them
// compute.
//
//	form             for
//	OrbitsF32        rows in fours with the same poses, as under quarter turns
//	DotsF32          such rows, with features and weights in bfloat16
//	BatchF32         many poses, several images, slices of channels
//	PosesGradWF32    the gradient to the weights for a batch, any poses; half of simd.DepthwiseF32's pace
//	OrbitsGradF32    that gradient for rows in fours
package depthwise

import (
	"github.com/equivcnp/equivcnp/internal/cpu"
	"github.com/equivcnp/equivcnp/internal/dims"
)

// level is what the dispatchers switch on.
var level cpu.Level

func init() { cpu.Follow(&level) }

const check = dims.Of("depthwise")

// rowOf returns row i of a matrix with rows of c elements.
func rowOf[T any](x []T, i int32, c int) []T {
	return x[:len(x):len(x)][int(i)*c : int(i)*c+c]
}

// mulAdd adds f·w to out, element by element. f and w are as long as out.
func mulAdd(out, f, w []float32) {
	f, w = f[:len(out)], w[:len(out)]
	for j := range out {
		out[j] += f[j] * w[j]
	}
}
