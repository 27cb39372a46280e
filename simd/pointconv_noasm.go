//go:build purego || !(amd64 || arm64 || (wasm && goexperiment.simd && go1.27))

package simd

func pointConvF32(p, f, w []float32, offsets []int, index, pose []int32, ci, cm int) {
	pointConvGeneric(p, f, w, offsets, index, pose, ci, cm)
}

func pointConvGradFF32(df, dp, w []float32, offsets []int, index, pose []int32, ci, cm int) {
	pointConvGradFGeneric(df, dp, w, offsets, index, pose, ci, cm)
}

func pointConvGradWF32(dw, dp, f []float32, offsets []int, row, index []int32, ci, cm int) {
	pointConvGradWGeneric(dw, dp, f, offsets, row, index, ci, cm)
}
