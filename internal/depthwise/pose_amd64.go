//go:build !purego

package depthwise

import (
	"unsafe"

	"github.com/equivcnp/equivcnp/internal/cpu"
)

// runPoses does what poseGeneric does, with the kernel of the level.
func runPoses(dw, dout, f []float32, code []int32, blocks, m, c, n int, more bool) {
	if level == cpu.Generic {
		poseGeneric(dw, dout, f, code, blocks, m, c, n, more)
		return
	}
	depthwisePoseKernel(m, unsafe.SliceData(dw), unsafe.SliceData(dout), unsafe.SliceData(f), &code[0], blocks, 4*c, n, freshOf(more))
}

// runJoinedPoses does what joinedPoseGeneric does, with the kernel of the level.
func runJoinedPoses(dw, dout, f []float32, code []int32, blocks, m, c, n int, more bool) {
	if level == cpu.Generic {
		joinedPoseGeneric(dw, dout, f, code, blocks, m, c, n, more)
		return
	}
	depthwisePosesKernel(m, unsafe.SliceData(dw), unsafe.SliceData(dout), unsafe.SliceData(f), &code[0], blocks, 4*c, n, freshOf(more))
}
