//go:build !purego

package simd

// normPiece is how many elements go to assembly at a time, in whole rows.
const normPiece = 1 << 16

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
	piece := max(1, normPiece/c) * c
	for lo := 0; lo < len(x); lo += piece {
		n := min(piece, len(x)-lo)
		normF32NEON(&y[lo], &x[lo], &mean[0], &low[0], &scale[0], &bias[0], n/c, c, 4*c)
	}
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
	// The sums of a group are kept on the stack, a block of columns at a time.
	const most = 32
	for lo := 0; lo < len(x); lo += normGroup * c {
		rows := min(normGroup, (len(x)-lo)/c)
		for j := 0; j < c; j += most {
			n := min(most, c-j)
			var s, sx [most]float32
			normSumsF32NEON(&s[0], &sx[0], &dz[lo+j], &x[lo+j], &mean[j], &low[j], rows, n, 4*c)
			for k := range n {
				sum[j+k] += float64(s[k])
				sumX[j+k] += float64(sx[k])
			}
		}
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
	piece := max(1, normPiece/c)
	for lo, rows := 0, len(x)/c; lo < rows; lo += piece {
		var w *int32
		if weight != nil {
			w = &weight[lo]
		}
		normGradF32NEON(&dx[lo*c], &dz[lo*c], &x[lo*c], w, &mean[0], &low[0], &a[0], &p[0], &q[0], min(piece, rows-lo), c, 4*c)
	}
}
