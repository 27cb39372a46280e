//go:build !purego

package simd

func pointConvGradFF32(df, dp, w []float32, offsets []int, index, pose []int32, ci, cm int) {
	if level == Generic || ci == 0 || cm == 0 {
		pointConvGradFGeneric(df, dp, w, offsets, index, pose, ci, cm)
		return
	}
	checkIndex("PointConvGradFF32", "index", index, 0, len(dp)/(ci*cm))
	checkIndex("PointConvGradFF32", "pose", pose, 0, len(w)/cm)
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
			pointConvGradFRowF32NEON(&row[0], &dp[0], &w[0], &index[k], &pose[k], min(gatherPairs, hi-k), ci, cm, more)
			more = 1
		}
	}
}

func pointConvGradWF32(dw, dp, f []float32, offsets []int, row, index []int32, ci, cm int) {
	if level == Generic || ci == 0 || cm == 0 {
		pointConvGradWGeneric(dw, dp, f, offsets, row, index, ci, cm)
		return
	}
	checkIndex("PointConvGradWF32", "row", row, 0, len(dp)/(ci*cm))
	checkIndex("PointConvGradWF32", "index", index, 0, len(f)/ci)
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
			pointConvGradWRowF32NEON(&out[0], &dp[0], &f[0], &row[k], &index[k], min(gatherPairs, hi-k), ci, cm, more)
			more = 1
		}
	}
}
