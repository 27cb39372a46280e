//go:build !purego

package simd

// run is generic by the level's kernel. AVX2 has registers for one row of four images.
func (d *depthwiseBatchRun) run(call batchCall, copies int) {
	if level == Generic {
		d.generic(call, copies)
		return
	}
	o, f, w, code, blocks := first(d.out), first(d.f), first(d.w), &call.code[0], call.blocks
	stride, image, wstride, n := 4*d.stride, 4*d.image, 4*d.wstride, d.n
	switch {
	case level == AVX512 && copies == batchRows && d.images == 4:
		depthwiseBatchFour4F32AVX512(o, f, w, code, blocks, stride, image, wstride, n)
	case level == AVX512 && copies == batchRows && d.images == 2:
		depthwiseBatchFour2F32AVX512(o, f, w, code, blocks, stride, image, wstride, n)
	case level == AVX512 && copies == batchRows:
		depthwiseBatchFour1F32AVX512(o, f, w, code, blocks, stride, image, wstride, n)
	case level == AVX512 && d.images == 4:
		depthwiseBatch4F32AVX512(o, f, w, code, blocks, copies, stride, image, wstride, n)
	case level == AVX512 && d.images == 2:
		depthwiseBatch2F32AVX512(o, f, w, code, blocks, copies, stride, image, wstride, n)
	case level == AVX512:
		depthwiseBatch1F32AVX512(o, f, w, code, blocks, copies, stride, image, wstride, n)
	case d.images == 4:
		depthwiseBatch4F32AVX2(o, f, w, code, blocks, copies, stride, image, wstride, n)
	case d.images == 2:
		depthwiseBatch2F32AVX2(o, f, w, code, blocks, copies, stride, image, wstride, n)
	default:
		depthwiseBatch1F32AVX2(o, f, w, code, blocks, copies, stride, image, wstride, n)
	}
}
