//go:build !purego

package simd

// run calls the kernel of the level. AVX2 has registers for one row of four images only.
func (d *depthwiseBatchRun) run(call batchCall, copies int) {
	if level == Generic {
		d.generic(call, copies)
		return
	}
	o, f, w, code, blocks := first(d.out), first(d.f), first(d.w), &call.code[0], call.blocks
	stride, image, wstride, n := 4*d.stride, 4*d.image, 4*d.wstride, d.n
	if level == AVX512 && copies == batchRows {
		depthwiseBatchFourKernel(d.images, o, f, w, code, blocks, stride, image, wstride, n)
		return
	}
	depthwiseBatchKernel(d.images, o, f, w, code, blocks, copies, stride, image, wstride, n)
}
