package simd

// DepthwiseGradFF32 computes the gradient of DepthwiseF32 to its features, through the transposed neighbourhood: for every point
// x and channel j
//
//	df[x, j] = Σ_k scale[index[k]] · w[pose[k], j] · dout[index[k], j]
//
// over the pairs k of point x. Every row of df is written by one caller, so points may be divided among goroutines.
//
//   - Shape: df is [points, c], dout [rows, c], w [poses, c]. offsets, index and pose are the transposed neighbourhood: they
//     list, for each point, the outputs that used it and the pose of each pair, in the form that DepthwiseF32 documents.
//     scale has one factor per output, 1/n_i if DepthwiseF32 took the mean; nil means 1.
//   - Aliasing: df must not overlap dout or w.
//   - Errors: panics if a length does not match, c is negative, offsets descend, or an index or pose names no row.
//   - Accuracy: at most (n+8)·eps·Σ|terms| from the exact value, n the number of pairs.
func DepthwiseGradFF32(df, dout, w []float32, offsets []int, index, pose []int32, scale []float32, c int) {
	checkDepthwiseGrad("DepthwiseGradFF32", "df", "w", len(df), len(dout), len(w), offsets, index, pose, len(scale), scale == nil, c)
	depthwiseScaledF32("DepthwiseGradFF32", df, dout, w, offsets, index, pose, scale, c)
}

// DepthwiseGradFF64 is DepthwiseGradFF32 for float64.
func DepthwiseGradFF64(df, dout, w []float64, offsets []int, index, pose []int32, scale []float64, c int) {
	checkDepthwiseGrad("DepthwiseGradFF64", "df", "w", len(df), len(dout), len(w), offsets, index, pose, len(scale), scale == nil, c)
	depthwiseScaledGeneric(df, dout, w, offsets, index, pose, scale, c)
}

// DepthwiseGradWF32 computes the gradient of DepthwiseF32 to its weights, from the pairs sorted by pose: for every pose q and
// channel j
//
//	dw[q, j] = Σ_k scale[row[k]] · f[index[k], j] · dout[row[k], j]
//
// over the pairs k of pose q. Every row of dw is written by one caller, so poses may be divided among goroutines.
//
//   - Shape: dw is [poses, c], dout [rows, c], f [points, c]. offsets, row and index list, for each pose, the output and the
//     point of every pair that has it, in the form of a neighbourhood. scale as in DepthwiseGradFF32.
//   - Aliasing: dw must not overlap dout or f.
//   - Errors and accuracy: as DepthwiseGradFF32.
func DepthwiseGradWF32(dw, dout, f []float32, offsets []int, row, index []int32, scale []float32, c int) {
	checkDepthwiseGrad("DepthwiseGradWF32", "dw", "f", len(dw), len(dout), len(f), offsets, row, index, len(scale), scale == nil, c)
	depthwiseScaledF32("DepthwiseGradWF32", dw, dout, f, offsets, row, index, scale, c)
}

// DepthwiseGradWF64 is DepthwiseGradWF32 for float64.
func DepthwiseGradWF64(dw, dout, f []float64, offsets []int, row, index []int32, scale []float64, c int) {
	checkDepthwiseGrad("DepthwiseGradWF64", "dw", "f", len(dw), len(dout), len(f), offsets, row, index, len(scale), scale == nil, c)
	depthwiseScaledGeneric(dw, dout, f, offsets, row, index, scale, c)
}

func checkDepthwiseGrad(fn, dst, other string, lenDst, lenOut, lenOther int, offsets []int, a, b []int32, lenScale int, noScale bool, c int) {
	checkSize(fn, "c", c)
	rows := checkCSR(fn, offsets, a, b)
	checkLen(fn, dst, lenDst, rows*c)
	outs := checkRows(fn, "dout", lenOut, c)
	checkRows(fn, other, lenOther, c)
	if !noScale && c > 0 {
		checkLen(fn, "scale", lenScale, outs)
	}
}
