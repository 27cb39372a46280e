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
	fresh := 1 << 31
	if more {
		fresh = 0
	}
	depthwisePoseKernel(m, unsafe.SliceData(dw), unsafe.SliceData(dout), unsafe.SliceData(f), &code[0], blocks, 4*c, n, fresh)
}
