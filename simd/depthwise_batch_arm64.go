//go:build !purego

package simd

import "unsafe"

// run calls the kernel of the level, which takes whole slices.
func (d *depthwiseBatchRun) run(call batchCall, copies int) {
	if level == Generic || d.n < poseLanes {
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
