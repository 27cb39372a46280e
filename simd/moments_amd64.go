//go:build !purego

package simd

import "unsafe"

// momentsPiece bounds the numbers that a call reads, because the scheduler cannot preempt it.
const momentsPiece = 1 << 16

func weightedMomentsF32(mean, variance []float64, x []float32, weight []int32, c int) float64 {
	return weightedMoments(mean, variance, x, weight, c)
}

func weightedMomentsF64(mean, variance []float64, x []float64, weight []int32, c int) float64 {
	return weightedMoments(mean, variance, x, weight, c)
}

func weightedMoments[T Float](mean, variance []float64, x []T, weight []int32, c int) float64 {
	if level == Generic || c == 0 {
		return weightedMomentsGeneric(mean, variance, x, weight, c)
	}
	raceRead(x)
	raceRead(weight)
	raceWrite(mean)
	raceWrite(variance)
	rows := len(x) / c
	total, first := float64(rows), 0
	if weight != nil {
		total, first = 0, -1
		for i, w := range weight {
			if w != 0 && first < 0 {
				first = i
			}
			total += float64(w)
		}
	}
	clear(mean)
	if total == 0 {
		clear(variance)
		return 0
	}
	// The first counted row is kept, as float64, where the variance will be.
	start := x[first*c : first*c+c]
	for j, v := range start {
		variance[j] = float64(v)
	}
	momentsPasses(mean, variance, x, weight, c, false)
	for j, v := range start {
		mean[j] = float64(v) + mean[j]/total
	}
	clear(variance)
	momentsPasses(variance, mean, x, weight, c, true)
	for j := range variance {
		variance[j] /= total
	}
	return total
}

// momentsPasses adds up one of the two sums. Rows that all count once and fill half of the vectors of a block or less are taken several at
// a time, as one row of as many columns.
func momentsPasses[T Float](sum, center []float64, x []T, weight []int32, c int, squares bool) {
	lanes, most := momentsVectors[T]()
	if wide := lanes * most / c * c; weight == nil && wide > c && len(x) >= 2*wide {
		whole := len(x) / wide * wide
		momentsTogether(sum, center, x[:whole], c, wide, squares)
		x = x[whole:]
	}
	momentsBlocks(sum, center, x, weight, c, squares)
}

// momentsTogether takes rows of c columns as rows of as many as wide.
func momentsTogether[T Float](sum, center []float64, x []T, c, wide int, squares bool) {
	var sums, centers [momentsColumns]float64
	for j := range wide {
		centers[j] = center[j%c]
	}
	momentsBlocks(sums[:wide], centers[:wide], x, nil, wide, squares)
	for j, s := range sums[:wide] {
		sum[j%c] += s
	}
}

// momentsColumns is the largest number of columns of a block.
const momentsColumns = 32

// momentsVectors returns the width of a vector and how many the largest block has.
func momentsVectors[T Float]() (lanes, most int) {
	lanes, most = 8, 4
	if level == AVX2 {
		lanes, most = 4, 8
	}
	if unsafe.Sizeof(T(0)) == 8 {
		most = 2
	}
	return lanes, most
}

// momentsBlocks goes by blocks of columns and pieces of rows.
func momentsBlocks[T Float](sum, center []float64, x []T, weight []int32, c int, squares bool) {
	lanes, most := momentsVectors[T]()
	double := unsafe.Sizeof(T(0)) == 8
	rows := len(x) / c
	piece := max(1, momentsPiece/c)
	for lo := 0; lo < rows; lo += piece {
		n := min(piece, rows-lo)
		var w *int32
		if weight != nil {
			w = &weight[lo]
		}
		for j := 0; j < c; {
			vecs := most
			for vecs > (c-j+lanes-1)/lanes {
				vecs /= 2
			}
			columns := min(vecs*lanes, c-j)
			at, tail := unsafe.Pointer(&x[lo*c+j]), columns-(vecs-1)*lanes
			if double {
				momentsBlockF64(vecs, squares, &sum[j], &center[j], (*float64)(at), w, n, 8*c, tail)
			} else {
				momentsBlock(vecs, squares, &sum[j], &center[j], (*float32)(at), w, n, 4*c, tail)
			}
			j += columns
		}
	}
}

// momentsBlock calls the kernel for that many vectors.
func momentsBlock(vecs int, squares bool, sum, center *float64, x *float32, w *int32, rows, stride, tail int) {
	if level == AVX512 {
		switch {
		case vecs == 4 && squares:
			momentsSquares4F32AVX512(sum, center, x, w, rows, stride, tail)
		case vecs == 4:
			momentsShifted4F32AVX512(sum, center, x, w, rows, stride, tail)
		case vecs == 2 && squares:
			momentsSquares2F32AVX512(sum, center, x, w, rows, stride, tail)
		case vecs == 2:
			momentsShifted2F32AVX512(sum, center, x, w, rows, stride, tail)
		case squares:
			momentsSquares1F32AVX512(sum, center, x, w, rows, stride, tail)
		default:
			momentsShifted1F32AVX512(sum, center, x, w, rows, stride, tail)
		}
		return
	}
	switch {
	case vecs == 8 && squares:
		momentsSquares8F32AVX2(sum, center, x, w, rows, stride, tail)
	case vecs == 8:
		momentsShifted8F32AVX2(sum, center, x, w, rows, stride, tail)
	case vecs == 4 && squares:
		momentsSquares4F32AVX2(sum, center, x, w, rows, stride, tail)
	case vecs == 4:
		momentsShifted4F32AVX2(sum, center, x, w, rows, stride, tail)
	case vecs == 2 && squares:
		momentsSquares2F32AVX2(sum, center, x, w, rows, stride, tail)
	case vecs == 2:
		momentsShifted2F32AVX2(sum, center, x, w, rows, stride, tail)
	case squares:
		momentsSquares1F32AVX2(sum, center, x, w, rows, stride, tail)
	default:
		momentsShifted1F32AVX2(sum, center, x, w, rows, stride, tail)
	}
}

// momentsBlockF64 is momentsBlock for float64.
func momentsBlockF64(vecs int, squares bool, sum, center, x *float64, w *int32, rows, stride, tail int) {
	wide := level == AVX512
	switch {
	case wide && vecs == 2 && squares:
		momentsSquares2F64AVX512(sum, center, x, w, rows, stride, tail)
	case wide && vecs == 2:
		momentsShifted2F64AVX512(sum, center, x, w, rows, stride, tail)
	case wide && vecs == 1 && squares:
		momentsSquares1F64AVX512(sum, center, x, w, rows, stride, tail)
	case wide && vecs == 1:
		momentsShifted1F64AVX512(sum, center, x, w, rows, stride, tail)
	case vecs == 2 && squares:
		momentsSquares2F64AVX2(sum, center, x, w, rows, stride, tail)
	case vecs == 2:
		momentsShifted2F64AVX2(sum, center, x, w, rows, stride, tail)
	case squares:
		momentsSquares1F64AVX2(sum, center, x, w, rows, stride, tail)
	default:
		momentsShifted1F64AVX2(sum, center, x, w, rows, stride, tail)
	}
}
