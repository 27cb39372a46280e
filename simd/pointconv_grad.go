package simd

// PointConvGradFF32 computes the gradient of PointConvF32 to its features, through the transposed neighbourhood: for every point x
// and input channel a
//
//	df[x, a] = Σ_k Σ_b w[pose[k], b] · dp[index[k], a·cm+b]
//
// over the pairs k of point x. Every row of df is written by one caller, so points may be divided among goroutines.
//
//   - Shape: df is [points, ci], dp [rows, ci·cm], w [poses, cm]. offsets, index and pose are the transposed neighbourhood:
//     they list, for each point, the outputs that used it and the pose of each pair, in the form that DepthwiseF32 documents.
//   - Aliasing: df must not overlap dp or w.
//   - Errors: panics if a length does not match, ci or cm is negative, offsets descend, or an index or pose names no row.
//   - Accuracy: at most (n·cm+8)·eps·Σ|terms| from the exact value, n the number of pairs.
func PointConvGradFF32(df, dp, w []float32, offsets []int, index, pose []int32, ci, cm int) {
	checkPointConvGradF("PointConvGradFF32", len(df), len(dp), len(w), offsets, index, pose, ci, cm)
	pointConvGradFF32(df, dp, w, offsets, index, pose, ci, cm)
}

// PointConvGradFF64 is PointConvGradFF32 for float64.
func PointConvGradFF64(df, dp, w []float64, offsets []int, index, pose []int32, ci, cm int) {
	checkPointConvGradF("PointConvGradFF64", len(df), len(dp), len(w), offsets, index, pose, ci, cm)
	pointConvGradFF64(df, dp, w, offsets, index, pose, ci, cm)
}

// PointConvGradWF32 computes the gradient of PointConvF32 to its weights, from the pairs sorted by pose: for every pose q and
// weight channel b
//
//	dw[q, b] = Σ_k Σ_a f[index[k], a] · dp[row[k], a·cm+b]
//
// over the pairs k of pose q. Every row of dw is written by one caller, so poses may be divided among goroutines.
//
//   - Shape: dw is [poses, cm], dp [rows, ci·cm], f [points, ci]. offsets, row and index list, for each pose, the output and the
//     point of every pair that has it, in the form of a neighbourhood.
//   - Aliasing: dw must not overlap dp or f.
//   - Errors: as PointConvGradFF32.
//   - Accuracy: at most (n·ci+8)·eps·Σ|terms| from the exact value, n the number of pairs.
func PointConvGradWF32(dw, dp, f []float32, offsets []int, row, index []int32, ci, cm int) {
	checkPointConvGradW("PointConvGradWF32", len(dw), len(dp), len(f), offsets, row, index, ci, cm)
	pointConvGradWF32(dw, dp, f, offsets, row, index, ci, cm)
}

// PointConvGradWF64 is PointConvGradWF32 for float64.
func PointConvGradWF64(dw, dp, f []float64, offsets []int, row, index []int32, ci, cm int) {
	checkPointConvGradW("PointConvGradWF64", len(dw), len(dp), len(f), offsets, row, index, ci, cm)
	pointConvGradWF64(dw, dp, f, offsets, row, index, ci, cm)
}

func checkPointConvGradF(fn string, lenDF, lenDP, lenW int, offsets []int, index, pose []int32, ci, cm int) {
	checkSize(fn, "ci", ci)
	checkSize(fn, "cm", cm)
	checkElements(fn, "df", lenDF, checkCSR(fn, offsets, index, pose), ci)
	checkRows(fn, "dp", lenDP, ci*cm)
	checkRows(fn, "w", lenW, cm)
}

func checkPointConvGradW(fn string, lenDW, lenDP, lenF int, offsets []int, row, index []int32, ci, cm int) {
	checkSize(fn, "ci", ci)
	checkSize(fn, "cm", cm)
	checkElements(fn, "dw", lenDW, checkCSR(fn, offsets, row, index), cm)
	checkRows(fn, "dp", lenDP, ci*cm)
	checkRows(fn, "f", lenF, ci)
}
