package simd

// PointConvGradFF32 computes the gradient of PointConvF32 to its features: for every point j and input channel a
//
//	df[j, a] = Σ_k Σ_b dp[query[k], a*cm+b] · w[pose[k], b]
//
// over the pairs k of point j.
//
//   - Shape: points = len(offsets)-1; df is [points, ci], dp [queries, ci·cm], w [poses, cm]; query and pose have one entry per
//     pair of the transposed neighbourhood, and chunks of rows are passed as to DepthwiseF32.
//   - Aliasing: df must not overlap dp or w.
//   - Errors: panics if a length does not match, ci or cm is negative, or offsets descend. The caller guarantees valid indices.
//   - Accuracy: at most (n_j·cm+8)·eps·Σ|dp·w| from the exact value.
func PointConvGradFF32(df, dp, w []float32, offsets []int, query, pose []int32, ci, cm int) {
	checkPointConvGradF("PointConvGradFF32", len(df), len(dp), len(w), offsets, query, pose, ci, cm)
	pointConvGradFF32(df, dp, w, offsets, query, pose, ci, cm)
}

// PointConvGradFF64 is PointConvGradFF32 for float64.
func PointConvGradFF64(df, dp, w []float64, offsets []int, query, pose []int32, ci, cm int) {
	checkPointConvGradF("PointConvGradFF64", len(df), len(dp), len(w), offsets, query, pose, ci, cm)
	pointConvGradFF64(df, dp, w, offsets, query, pose, ci, cm)
}

// PointConvGradWF32 computes the gradient of PointConvF32 to its weights: for every pose p and weight channel b
//
//	dw[p, b] = Σ_k Σ_a dp[query[k], a*cm+b] · f[point[k], a]
//
// over the pairs k of pose p.
//
//   - Shape: poses = len(offsets)-1; dw is [poses, cm], dp [queries, ci·cm], f [points, ci]; query and point have one entry per
//     pair, sorted by pose, and chunks of poses are passed as to DepthwiseF32.
//   - Aliasing: dw must not overlap dp or f.
//   - Errors: panics if a length does not match, ci or cm is negative, or offsets descend. The caller guarantees valid indices.
//   - Accuracy: at most (n_p·ci+8)·eps·Σ|dp·f| from the exact value.
func PointConvGradWF32(dw, dp, f []float32, offsets []int, query, point []int32, ci, cm int) {
	checkPointConvGradW("PointConvGradWF32", len(dw), len(dp), len(f), offsets, query, point, ci, cm)
	pointConvGradWF32(dw, dp, f, offsets, query, point, ci, cm)
}

// PointConvGradWF64 is PointConvGradWF32 for float64.
func PointConvGradWF64(dw, dp, f []float64, offsets []int, query, point []int32, ci, cm int) {
	checkPointConvGradW("PointConvGradWF64", len(dw), len(dp), len(f), offsets, query, point, ci, cm)
	pointConvGradWF64(dw, dp, f, offsets, query, point, ci, cm)
}

func checkPointConvGradF(fn string, lenDF, lenDP, lenW int, offsets []int, query, pose []int32, ci, cm int) {
	checkSize(fn, "ci", ci)
	checkSize(fn, "cm", cm)
	rows := checkCSR(fn, offsets, query, pose)
	checkLen(fn, "df", lenDF, rows*ci)
	checkRows(fn, "dp", lenDP, ci*cm)
	checkRows(fn, "w", lenW, cm)
}

func checkPointConvGradW(fn string, lenDW, lenDP, lenF int, offsets []int, query, point []int32, ci, cm int) {
	checkSize(fn, "ci", ci)
	checkSize(fn, "cm", cm)
	rows := checkCSR(fn, offsets, query, point)
	checkLen(fn, "dw", lenDW, rows*cm)
	checkRows(fn, "dp", lenDP, ci*cm)
	checkRows(fn, "f", lenF, ci)
}
