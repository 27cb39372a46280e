//go:build goexperiment.simd && go1.27 && !purego

package simd

import "unsafe"

func depthwiseF32(out, f, w []float32, offsets []int, index, pose []int32, c int, mean bool) {
	if level == Generic || c == 0 {
		depthwiseGeneric(out, f, w, offsets, index, pose, c, mean)
		return
	}
	checkIndex("DepthwiseF32", "index", index, 0, len(f)/c)
	checkIndex("DepthwiseF32", "pose", pose, 0, len(w)/c)
	depthwiseCheckedF32(out, f, w, offsets, index, pose, c, mean)
}

func depthwiseRowsF32(out, f, w []float32, p *DepthwiseRows, c int, mean bool) {
	depthwiseCheckedF32(out, f, w, p.offsets, p.index, p.pose, c, mean)
}

// depthwiseCheckedF32 trusts the indices.
func depthwiseCheckedF32(out, f, w []float32, offsets []int, index, pose []int32, c int, mean bool) {
	if level == Generic || c == 0 {
		depthwiseGeneric(out, f, w, offsets, index, pose, c, mean)
		return
	}
	for i := range len(offsets) - 1 {
		lo, hi := offsets[i]-offsets[0], offsets[i+1]-offsets[0]
		ix, ps, divisor := index[lo:hi], pose[lo:hi], float32(1)
		if mean && hi-lo > 1 {
			divisor = float32(hi - lo)
		}
		row := out[i*c : i*c+c]
		depthwiseRowF32WASM128(&row[0], unsafe.SliceData(f), unsafe.SliceData(w), unsafe.SliceData(ix), unsafe.SliceData(ps),
			hi-lo, c, divisor)
	}
}

func depthwiseBF16F32(out, f []float32, w []BF16, offsets []int, index, pose []int32, c int, mean bool) {
	depthwiseBF16Generic(out, f, w, offsets, index, pose, c, mean)
}
