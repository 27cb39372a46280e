//go:build !purego

package simd

// momentsPiece is how many elements go to assembly at a time, in whole rows.
const momentsPiece = 1 << 16

// weightedMomentsF32 takes two passes. The first is relative to the first counted row, which is kept in variance until then.
func weightedMomentsF32(mean, variance []float64, x []float32, weight []int32, c int) (total float64) {
	if level == Generic || c == 0 {
		return weightedMomentsGeneric(mean, variance, x, weight, c)
	}
	raceRead(weight)
	raceRead(x)
	raceWrite(mean)
	raceWrite(variance)
	clear(mean)
	clear(variance)
	rows, first := len(x)/c, -1
	for i := range rows {
		w := rowWeight(weight, i)
		if w != 0 && first < 0 {
			first = i
		}
		total += w
	}
	if first < 0 {
		return 0
	}
	for j, v := range x[first*c : first*c+c] {
		variance[j] = float64(v)
	}
	momentPieces(mean, variance, x, weight, rows, c, false)
	for j := range mean {
		mean[j] = variance[j] + mean[j]/total
	}
	clear(variance)
	momentPieces(variance, mean, x, weight, rows, c, true)
	for j := range variance {
		variance[j] /= total
	}
	return total
}

// momentPieces adds weighted differences from center, or their squares, to sum, some rows at a time.
func momentPieces(sum, center []float64, x []float32, weight []int32, rows, c int, squares bool) {
	piece := max(1, momentsPiece/c)
	for lo := 0; lo < rows; lo += piece {
		n := min(piece, rows-lo)
		var w *int32
		if weight != nil {
			w = &weight[lo]
		}
		if squares {
			squaresF32NEON(&sum[0], &center[0], &x[lo*c], w, n, c)
		} else {
			momentF32NEON(&sum[0], &center[0], &x[lo*c], w, n, c)
		}
	}
}
