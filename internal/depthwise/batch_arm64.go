//go:build !purego

package depthwise

import (
	"unsafe"

	"github.com/equivcnp/equivcnp/internal/cpu"
)

// run calls the kernel of the level, which takes whole slices.
func (d *batchRun) run(call batchCall, copies int) {
	if level == cpu.Generic || d.n < poseLanes {
		d.generic(call, copies)
		return
	}
	o, f, w, code, blocks := unsafe.SliceData(d.out), unsafe.SliceData(d.f), unsafe.SliceData(d.w), &call.code[0], call.blocks
	stride, image, wstride := 4*d.stride, 4*d.image, 4*d.wstride
	switch d.images {
	case 4:
		depthwiseBatch4F32NEON(o, f, w, code, blocks, copies, stride, image, wstride)
	case 2:
		depthwiseBatch2F32NEON(o, f, w, code, blocks, copies, stride, image, wstride)
	default:
		depthwiseBatch1F32NEON(o, f, w, code, blocks, copies, stride, image, wstride)
	}
}
