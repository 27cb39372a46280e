//go:build !purego

package simd

// normLanes is the number of float32 of a vector at the level.
func normLanes() int {
	if level == AVX512 {
		return 16
	}
	return 8
}

// normPiece bounds the elements of one call, because the scheduler cannot preempt it.
const normPiece = 1 << 16

// normBlocks calls f for pieces of rows, and in each for blocks of one or two vectors of columns; the last vector has tail
// columns. A vector has that many lanes.
func normBlocks(size, c, lanes int, f func(at, j, vecs, rows, tail int)) {
	normPieces(size, c, lanes, max(1, normPiece/c), f)
}

// normChanges is normBlocks for what stores rows, too. Where the rows lie a multiple of half a page apart, loads would wait for stores of
// few rows before, whose addresses look the same, and nothing would be fetched ahead: then pieces are short. In place, 64 rows of 1024
// float32 take 0.41 of the time, of 512 0.52, on Zen 4; on Zen 5 0.22 and 0.48, and not in place 0.38 and 0.45.
func normChanges(size, c, lanes int, f func(at, j, vecs, rows, tail int)) {
	piece := max(1, normPiece/c)
	switch apart := c * 4 * normLanes() / lanes; { // bytes
	case apart%4096 == 0:
		piece = min(piece, 4)
	case apart%2048 == 0:
		piece = min(piece, 8)
	}
	normPieces(size, c, lanes, piece, f)
}

func normPieces(size, c, lanes, piece int, f func(at, j, vecs, rows, tail int)) {
	rows := size / c
	for lo := 0; lo < rows; lo += piece {
		n := min(piece, rows-lo)
		for j := 0; j < c; {
			vecs := min(2, (c-j+lanes-1)/lanes)
			columns := min(vecs*lanes, c-j)
			f(lo*c+j, j, vecs, n, columns-(vecs-1)*lanes)
			j += columns
		}
	}
}

func normF32(y, x, mean, low, scale, bias []float32, c int) {
	if level == Generic || c == 0 {
		normGeneric(y, x, mean, low, scale, bias, c)
		return
	}
	raceRead(x)
	raceRead(mean)
	raceRead(low)
	raceRead(scale)
	raceRead(bias)
	raceWrite(y)
	normChanges(len(x), c, normLanes(), func(at, j, vecs, rows, tail int) {
		switch {
		case level == AVX512 && vecs == 2:
			norm2F32AVX512(&y[at], &x[at], &mean[j], &low[j], &scale[j], &bias[j], rows, 4*c, tail)
		case level == AVX512:
			norm1F32AVX512(&y[at], &x[at], &mean[j], &low[j], &scale[j], &bias[j], rows, 4*c, tail)
		case vecs == 2:
			norm2F32AVX2(&y[at], &x[at], &mean[j], &low[j], &scale[j], &bias[j], rows, 4*c, tail)
		default:
			norm1F32AVX2(&y[at], &x[at], &mean[j], &low[j], &scale[j], &bias[j], rows, 4*c, tail)
		}
	})
}

func normSumsF32(sum, sumX []float64, dz, x, mean, low []float32, c int) {
	if level == Generic || c == 0 {
		normSumsGeneric(sum, sumX, dz, x, mean, low, c)
		return
	}
	raceRead(dz)
	raceRead(x)
	raceRead(mean)
	raceRead(low)
	raceWrite(sum)
	raceWrite(sumX)
	for lo := 0; lo < len(x); lo += normGroup * c {
		hi := min(lo+normGroup*c, len(x))
		normBlocks(hi-lo, c, normLanes(), func(at, j, vecs, rows, tail int) {
			at += lo
			var s, sx [32]float32 // two vectors
			switch {
			case level == AVX512 && vecs == 2:
				normSums2F32AVX512(&s[0], &sx[0], &dz[at], &x[at], &mean[j], &low[j], rows, 4*c, tail)
			case level == AVX512:
				normSums1F32AVX512(&s[0], &sx[0], &dz[at], &x[at], &mean[j], &low[j], rows, 4*c, tail)
			case vecs == 2:
				normSums2F32AVX2(&s[0], &sx[0], &dz[at], &x[at], &mean[j], &low[j], rows, 4*c, tail)
			default:
				normSums1F32AVX2(&s[0], &sx[0], &dz[at], &x[at], &mean[j], &low[j], rows, 4*c, tail)
			}
			for k := range (vecs-1)*normLanes() + tail {
				sum[j+k] += float64(s[k])
				sumX[j+k] += float64(sx[k])
			}
		})
	}
}

func normGradF32(dx, dz, x []float32, weight []int32, mean, low, a, p, q []float32, c int) {
	if level == Generic || c == 0 {
		normGradGeneric(dx, dz, x, weight, mean, low, a, p, q, c)
		return
	}
	raceRead(dz)
	raceRead(x)
	raceRead(weight)
	raceRead(mean)
	raceRead(low)
	raceRead(a)
	raceRead(p)
	raceRead(q)
	raceWrite(dx)
	normChanges(len(x), c, normLanes(), func(at, j, vecs, rows, tail int) {
		var w *int32
		if weight != nil {
			w = &weight[at/c]
		}
		switch {
		case level == AVX512 && vecs == 2:
			normGrad2F32AVX512(&dx[at], &dz[at], &x[at], w, &mean[j], &low[j], &a[j], &p[j], &q[j], rows, 4*c, tail)
		case level == AVX512:
			normGrad1F32AVX512(&dx[at], &dz[at], &x[at], w, &mean[j], &low[j], &a[j], &p[j], &q[j], rows, 4*c, tail)
		case vecs == 2:
			normGrad2F32AVX2(&dx[at], &dz[at], &x[at], w, &mean[j], &low[j], &a[j], &p[j], &q[j], rows, 4*c, tail)
		default:
			normGrad1F32AVX2(&dx[at], &dz[at], &x[at], w, &mean[j], &low[j], &a[j], &p[j], &q[j], rows, 4*c, tail)
		}
	})
}
