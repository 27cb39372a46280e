//go:build goexperiment.simd && go1.27 && !purego

package simd

import "unsafe"

func pointConvF32(p, f, w []float32, offsets []int, index, pose []int32, ci, cm int) {
	if level == Generic || ci == 0 || cm == 0 {
		pointConvGeneric(p, f, w, offsets, index, pose, ci, cm)
		return
	}
	checkIndex("PointConvF32", "index", index, 0, len(f)/ci)
	checkIndex("PointConvF32", "pose", pose, 0, len(w)/cm)
	for i := range len(offsets) - 1 {
		lo, hi := offsets[i]-offsets[0], offsets[i+1]-offsets[0]
		ix, ps, row := index[lo:hi], pose[lo:hi], p[i*ci*cm:(i+1)*ci*cm]
		pointConvRowF32WASM128(&row[0], unsafe.SliceData(f), unsafe.SliceData(w), unsafe.SliceData(ix), unsafe.SliceData(ps), hi-lo, ci, cm)
	}
}

func pointConvGradFF32(df, dp, w []float32, offsets []int, index, pose []int32, ci, cm int) {
	pointConvGradFGeneric(df, dp, w, offsets, index, pose, ci, cm)
}

func pointConvGradWF32(dw, dp, f []float32, offsets []int, row, index []int32, ci, cm int) {
	pointConvGradWGeneric(dw, dp, f, offsets, row, index, ci, cm)
}
