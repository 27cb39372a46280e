//go:build !purego

package depthwise

import (
	"unsafe"

	"github.com/equivcnp/equivcnp/internal/cpu"
)

// run calls the kernel of the level. AVX2 has registers for one row of four images only.
func (d *batchRun) run(call batchCall, copies int) {
	if level == cpu.Generic {
		d.generic(call, copies)
		return
	}
	o, f, w, code, blocks := unsafe.SliceData(d.out), unsafe.SliceData(d.f), unsafe.SliceData(d.w), &call.code[0], call.blocks
	stride, image, wstride, n := 4*d.stride, 4*d.image, 4*d.wstride, d.n
	if level == cpu.AVX512 && copies == batchRows {
		depthwiseBatchFourKernel(d.images, o, f, w, code, blocks, stride, image, wstride, n)
		return
	}
	depthwiseBatchKernel(d.images, o, f, w, code, blocks, copies, stride, image, wstride, n)
}
