//go:build !purego

package depthwise

import (
	"unsafe"

	"github.com/equivcnp/equivcnp/internal/cpu"
)

// runPoses does what poseGeneric does, with the kernel of the level, which takes whole slices.
func runPoses(dw, dout, f []float32, code []int32, blocks, m, c, n int, more bool) {
	if level == cpu.Generic || n < poseLanes {
		poseGeneric(dw, dout, f, code, blocks, m, c, n, more)
		return
	}
	depthwisePoseF32NEON(&dw[0], unsafe.SliceData(dout), unsafe.SliceData(f), &code[0], blocks, 4*c, m, freshOf(more))
}

// runJoinedPoses does what joinedPoseGeneric does, with the kernel of the level, which takes whole slices.
func runJoinedPoses(dw, dout, f []float32, code []int32, blocks, m, c, n int, more bool) {
	if level == cpu.Generic || n < poseLanes {
		joinedPoseGeneric(dw, dout, f, code, blocks, m, c, n, more)
		return
	}
	depthwisePosesF32NEON(&dw[0], unsafe.SliceData(dout), unsafe.SliceData(f), &code[0], blocks, 4*c, m, freshOf(more))
}
