package simd

// The gradients of a depthwise group convolution are sums over the same pairs, sorted differently: by point for the gradient
// to the features, by pose for the gradient to the weights. Every sum gathers, so that no two goroutines add to one place.

// DepthwiseGradFF32 computes the gradient of DepthwiseF32 to its features: for every point j and channel
//
//	df[j, ch] = Σ_k w[pose[k], ch] · dout[query[k], ch]
//
// over the pairs k of point j. Where the convolution took means, dout has been divided by the sizes of the rows.
//
//   - Shape: points = len(offsets)-1; df is [points, c], dout [queries, c], w [poses, c]; query and pose have one entry per pair
//     of the transposed neighbourhood, and chunks of rows are passed as to DepthwiseF32.
//   - Aliasing: df must not overlap dout or w.
//   - Errors: panics if a length does not match, c is negative, or offsets descend. The caller guarantees valid indices. A
//     point in nobody's row gets 0.
//   - Accuracy: at most (n_j+8)·eps·Σ|w·dout| from the exact value.
func DepthwiseGradFF32(df, dout, w []float32, offsets []int, query, pose []int32, c int) {
	checkDepthwiseGrad("DepthwiseGradFF32", "df", len(df), "dout", len(dout), "w", len(w), offsets, query, pose, c)
	depthwiseGradFF32(df, dout, w, offsets, query, pose, c)
}

// DepthwiseGradFF64 is DepthwiseGradFF32 for float64.
func DepthwiseGradFF64(df, dout, w []float64, offsets []int, query, pose []int32, c int) {
	checkDepthwiseGrad("DepthwiseGradFF64", "df", len(df), "dout", len(dout), "w", len(w), offsets, query, pose, c)
	depthwiseGradFF64(df, dout, w, offsets, query, pose, c)
}

// DepthwiseGradWF32 computes the gradient of DepthwiseF32 to its weights: for every pose p and channel
//
//	dw[p, ch] = Σ_k dout[query[k], ch] · f[point[k], ch]
//
// over the pairs k of pose p. Where the convolution took means, dout has been divided by the sizes of the rows.
//
//   - Shape: poses = len(offsets)-1; dw is [poses, c], dout [queries, c], f [points, c]; query and point have one entry per pair,
//     sorted by pose, and chunks of poses are passed as to DepthwiseF32.
//   - Aliasing: dw must not overlap dout or f.
//   - Errors: panics if a length does not match, c is negative, or offsets descend. The caller guarantees valid indices. A
//     pose without pairs gets 0.
//   - Accuracy: at most (n_p+8)·eps·Σ|dout·f| from the exact value.
func DepthwiseGradWF32(dw, dout, f []float32, offsets []int, query, point []int32, c int) {
	checkDepthwiseGrad("DepthwiseGradWF32", "dw", len(dw), "dout", len(dout), "f", len(f), offsets, query, point, c)
	depthwiseGradWF32(dw, dout, f, offsets, query, point, c)
}

// DepthwiseGradWF64 is DepthwiseGradWF32 for float64.
func DepthwiseGradWF64(dw, dout, f []float64, offsets []int, query, point []int32, c int) {
	checkDepthwiseGrad("DepthwiseGradWF64", "dw", len(dw), "dout", len(dout), "f", len(f), offsets, query, point, c)
	depthwiseGradWF64(dw, dout, f, offsets, query, point, c)
}

// checkDepthwiseGrad checks an output and two inputs of c channels, given by name and length, and the pairs.
func checkDepthwiseGrad(fn, out string, lenOut int, a string, lenA int, b string, lenB int, offsets []int, first, second []int32, c int) {
	checkSize(fn, "c", c)
	rows := checkCSR(fn, offsets, first, second)
	checkLen(fn, out, lenOut, rows*c)
	checkRows(fn, a, lenA, c)
	checkRows(fn, b, lenB, c)
}
