package simd

// DepthwiseF32 computes a depthwise group convolution: for every row i and channel j
//
//	out[i, j] = 1/n_i · Σ_k w[pose[k], j] · f[index[k], j]
//
// over the pairs k of row i, with n_i = max(1, number of pairs) if mean, else 1.
//
//   - Shape: rows = len(offsets)-1; out is [rows, c], f [points, c], w [poses, c], index and pose have one entry per pair. The
//     pairs of row i are k = offsets[i]-offsets[0] .. offsets[i+1]-offsets[0]-1, so that a caller passes a chunk of rows as
//     offsets[lo:hi+1], index[offsets[lo]:offsets[hi]], pose[offsets[lo]:offsets[hi]].
//   - Aliasing: out must not overlap f or w.
//   - Errors: panics if a length does not match, c is negative, offsets descend, or an index or pose names no row; out is then
//     written in part. A row without pairs gives 0, and NaN reaches only the rows whose pairs name it.
//   - Accuracy: at most (n_i+8)·eps·Σ|w·f| (divided by n_i if mean) from the exact value.
//   - Speed: rows that follow each other and have the same poses are computed together, fastest where their pairs are listed by index; for pairs in
//     another order see [NewDepthwiseRows]. Pairs are added as they are listed, so other rows do not change a row's bits.
//   - Memory: many pairs of many channels go over a copy of some channels, in a scratch of the size of the second-level cache at most,
//     which is kept for the next call. No other call allocates.
func DepthwiseF32(out, f, w []float32, offsets []int, index, pose []int32, c int, mean bool) {
	checkDepthwise("DepthwiseF32", len(out), len(f), len(w), offsets, index, pose, c)
	depthwiseF32(out, f, w, offsets, index, pose, c, mean)
}

// DepthwiseF64 is DepthwiseF32 for float64.
func DepthwiseF64(out, f, w []float64, offsets []int, index, pose []int32, c int, mean bool) {
	checkDepthwise("DepthwiseF64", len(out), len(f), len(w), offsets, index, pose, c)
	depthwiseF64(out, f, w, offsets, index, pose, c, mean)
}

// DepthwiseBF16F32 is DepthwiseF32 with weights in bfloat16, half the memory to read. Sums and features are float32; the accuracy
// is relative to the weights as they are given.
func DepthwiseBF16F32(out, f []float32, w []BF16, offsets []int, index, pose []int32, c int, mean bool) {
	checkDepthwise("DepthwiseBF16F32", len(out), len(f), len(w), offsets, index, pose, c)
	depthwiseBF16F32(out, f, w, offsets, index, pose, c, mean)
}

func checkDepthwise(fn string, lenOut, lenF, lenW int, offsets []int, index, pose []int32, c int) {
	checkSize(fn, "c", c)
	rows := checkCSR(fn, offsets, index, pose)
	checkLen(fn, "out", lenOut, rows*c)
	checkRows(fn, "f", lenF, c)
	checkRows(fn, "w", lenW, c)
}
