package simd

// PointConvF32 computes the outer products of a full group convolution: for every row i, input channel a and weight channel b
//
//	p[i, a*cm+b] = Σ_k f[index[k], a] · w[pose[k], b]
//
// over the pairs k of row i. The sums are not divided by the number of pairs: a linear map from ci·cm channels usually follows,
// and there the division is cheaper.
//
//   - Shape: rows = len(offsets)-1; p is [rows, ci·cm], f [points, ci], w [poses, cm]; offsets, index and pose as in
//     DepthwiseF32, chunks of rows too.
//   - Aliasing: p must not overlap f or w.
//   - Errors: panics if a length does not match, ci or cm is negative, offsets descend, or an index or pose names no row; p is
//     then written in part. A row without pairs gives 0.
//   - Accuracy: at most (n_i+8)·eps·Σ|f·w| from the exact value, n_i the number of pairs.
func PointConvF32(p, f, w []float32, offsets []int, index, pose []int32, ci, cm int) {
	checkPointConv("PointConvF32", len(p), len(f), len(w), offsets, index, pose, ci, cm)
	pointConvF32(p, f, w, offsets, index, pose, ci, cm)
}

// PointConvF64 is PointConvF32 for float64.
func PointConvF64(p, f, w []float64, offsets []int, index, pose []int32, ci, cm int) {
	checkPointConv("PointConvF64", len(p), len(f), len(w), offsets, index, pose, ci, cm)
	pointConvF64(p, f, w, offsets, index, pose, ci, cm)
}

func checkPointConv(fn string, lenP, lenF, lenW int, offsets []int, index, pose []int32, ci, cm int) {
	checkSize(fn, "ci", ci)
	checkSize(fn, "cm", cm)
	rows := checkCSR(fn, offsets, index, pose)
	checkElements(fn, "p", lenP, rows, ci, cm)
	checkRows(fn, "f", lenF, ci)
	checkRows(fn, "w", lenW, cm)
}
