//go:build !purego

package simd

import "unsafe"

func pointConvGradFF32(df, dp, w []float32, offsets []int, index, pose []int32, ci, cm int) {
	pointConvGradFPairs("PointConvGradFF32", df, dp, w, offsets, index, pose, ci, cm)
}

func pointConvGradFF64(df, dp, w []float64, offsets []int, index, pose []int32, ci, cm int) {
	pointConvGradFPairs("PointConvGradFF64", df, dp, w, offsets, index, pose, ci, cm)
}

func pointConvGradWF32(dw, dp, f []float32, offsets []int, row, index []int32, ci, cm int) {
	pointConvGradWPairs("PointConvGradWF32", dw, dp, f, offsets, row, index, ci, cm)
}

func pointConvGradWF64(dw, dp, f []float64, offsets []int, row, index []int32, ci, cm int) {
	pointConvGradWPairs("PointConvGradWF64", dw, dp, f, offsets, row, index, ci, cm)
}

func pointConvGradFRow[T Float](df, dp, w *T, index, pose *int32, pairs, ci, cm, more int) {
	if unsafe.Sizeof(*df) == 8 {
		pointConvGradFRowF64NEON((*float64)(unsafe.Pointer(df)), (*float64)(unsafe.Pointer(dp)), (*float64)(unsafe.Pointer(w)),
			index, pose, pairs, ci, cm, more)
		return
	}
	pointConvGradFRowF32NEON((*float32)(unsafe.Pointer(df)), (*float32)(unsafe.Pointer(dp)), (*float32)(unsafe.Pointer(w)),
		index, pose, pairs, ci, cm, more)
}

func pointConvGradWRow[T Float](dw, dp, f *T, row, index *int32, pairs, ci, cm, more int) {
	if unsafe.Sizeof(*dw) == 8 {
		pointConvGradWRowF64NEON((*float64)(unsafe.Pointer(dw)), (*float64)(unsafe.Pointer(dp)), (*float64)(unsafe.Pointer(f)),
			row, index, pairs, ci, cm, more)
		return
	}
	pointConvGradWRowF32NEON((*float32)(unsafe.Pointer(dw)), (*float32)(unsafe.Pointer(dp)), (*float32)(unsafe.Pointer(f)),
		row, index, pairs, ci, cm, more)
}

func pointConvGradFPairs[T Float](fn string, df, dp, w []T, offsets []int, index, pose []int32, ci, cm int) {
	if level == Generic || ci == 0 || cm == 0 {
		pointConvGradFGeneric(df, dp, w, offsets, index, pose, ci, cm)
		return
	}
	checkIndex(fn, "index", index, 0, len(dp)/(ci*cm))
	checkIndex(fn, "pose", pose, 0, len(w)/cm)
	raceRead(dp)
	raceRead(w)
	raceRead(index)
	raceRead(pose)
	raceWrite(df)
	for x := range len(offsets) - 1 {
		lo, hi := offsets[x]-offsets[0], offsets[x+1]-offsets[0]
		row := df[x*ci : x*ci+ci]
		if lo == hi {
			clear(row)
			continue
		}
		more := 0
		for k := lo; k < hi; k += gatherPairs {
			pointConvGradFRow(&row[0], &dp[0], &w[0], &index[k], &pose[k], min(gatherPairs, hi-k), ci, cm, more)
			more = 1
		}
	}
}

func pointConvGradWPairs[T Float](fn string, dw, dp, f []T, offsets []int, row, index []int32, ci, cm int) {
	if level == Generic || ci == 0 || cm == 0 {
		pointConvGradWGeneric(dw, dp, f, offsets, row, index, ci, cm)
		return
	}
	checkIndex(fn, "row", row, 0, len(dp)/(ci*cm))
	checkIndex(fn, "index", index, 0, len(f)/ci)
	raceRead(dp)
	raceRead(f)
	raceRead(row)
	raceRead(index)
	raceWrite(dw)
	for q := range len(offsets) - 1 {
		lo, hi := offsets[q]-offsets[0], offsets[q+1]-offsets[0]
		out := dw[q*cm : q*cm+cm]
		if lo == hi {
			clear(out)
			continue
		}
		more := 0
		for k := lo; k < hi; k += gatherPairs {
			pointConvGradWRow(&out[0], &dp[0], &f[0], &row[k], &index[k], min(gatherPairs, hi-k), ci, cm, more)
			more = 1
		}
	}
}
