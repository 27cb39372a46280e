package simd

// A depthwise group convolution multiplies the features of a row's neighbours, channel by channel, with a weight for each pose,
// and adds the products up. It is most of the work of an image model, so it has several forms. The table says which form serves
// which purpose, and how many multiply-adds it does in the time of one by DepthwiseF32 (128 channels, 273 neighbours a row, 4096
// points, one core; raw numbers in bench/results):
//
//	form                               for                                                        pace
//	DepthwiseF32, F64                  any neighbourhood of which nothing is known                1
//	DepthwiseBF16F32                   a row of weights for each pair, from memory                1.8
//	DepthwiseRowsF32                   the same neighbourhood again and again                     1 (neighbours by distance: 1.3 to 1.6)
//	DepthwisePlanF32                   few poses, on a grid: eight rows at a time                 2 to 2.4
//	DepthwiseF32 by pose               the gradient to the weights, a short list of pairs         1 where poses share outputs, else 0.3
//	DepthwisePlanGradWF32              that gradient for few poses on a grid                      2
//
// The gradients of the first form are DepthwiseF32 itself, over other lists:
//
//   - to the features: df = Depthwise(dout, w) over the transposed neighbourhood, which lists for each point the outputs that used it, and
//     each pair's pose;
//   - to the weights: dw = Depthwise(f, dout) over the pairs listed by pose: of each pose, index has the points and pose the outputs. Where
//     several poses have the same outputs, as on a periodic grid, their rows are computed together.
//
// Where the convolution took the mean, dout is divided by the number of pairs of its row first.

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
//   - Speed: rows that follow each other and have the same poses are computed together, fastest where their pairs are
//     listed by index; for pairs in
//     another order see [NewDepthwiseRows]. Pairs are added as they are listed, so other rows do not change a row's bits.
//   - Memory: many pairs of many channels go over a copy of some channels, in a scratch of the size of the second-level cache and ten
//     megabytes at most, which is kept for the next call. No other call allocates.
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
	checkElements(fn, "out", lenOut, rows, c)
	checkRows(fn, "f", lenF, c)
	checkRows(fn, "w", lenW, c)
}
