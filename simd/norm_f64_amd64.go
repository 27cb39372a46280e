//go:build !purego

package simd

func normF64(y, x, mean, low, scale, bias []float64, c int) {
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
	normChanges(len(x), c, normLanes()/2, func(at, j, vecs, rows, tail int) {
		switch {
		case level == AVX512 && vecs == 2:
			norm2F64AVX512(&y[at], &x[at], &mean[j], &low[j], &scale[j], &bias[j], rows, 8*c, tail)
		case level == AVX512:
			norm1F64AVX512(&y[at], &x[at], &mean[j], &low[j], &scale[j], &bias[j], rows, 8*c, tail)
		case vecs == 2:
			norm2F64AVX2(&y[at], &x[at], &mean[j], &low[j], &scale[j], &bias[j], rows, 8*c, tail)
		default:
			norm1F64AVX2(&y[at], &x[at], &mean[j], &low[j], &scale[j], &bias[j], rows, 8*c, tail)
		}
	})
}

func normSumsF64(sum, sumX []float64, dz, x, mean, low []float64, c int) {
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
		normBlocks(hi-lo, c, normLanes()/2, func(at, j, vecs, rows, tail int) {
			at += lo
			var s, sx [16]float64 // two vectors
			switch {
			case level == AVX512 && vecs == 2:
				normSums2F64AVX512(&s[0], &sx[0], &dz[at], &x[at], &mean[j], &low[j], rows, 8*c, tail)
			case level == AVX512:
				normSums1F64AVX512(&s[0], &sx[0], &dz[at], &x[at], &mean[j], &low[j], rows, 8*c, tail)
			case vecs == 2:
				normSums2F64AVX2(&s[0], &sx[0], &dz[at], &x[at], &mean[j], &low[j], rows, 8*c, tail)
			default:
				normSums1F64AVX2(&s[0], &sx[0], &dz[at], &x[at], &mean[j], &low[j], rows, 8*c, tail)
			}
			for k := range (vecs-1)*normLanes()/2 + tail {
				sum[j+k] += s[k]
				sumX[j+k] += sx[k]
			}
		})
	}
}

func normGradF64(dx, dz, x []float64, weight []int32, mean, low, a, p, q []float64, c int) {
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
	normChanges(len(x), c, normLanes()/2, func(at, j, vecs, rows, tail int) {
		var w *int32
		if weight != nil {
			w = &weight[at/c]
		}
		switch {
		case level == AVX512 && vecs == 2:
			normGrad2F64AVX512(&dx[at], &dz[at], &x[at], w, &mean[j], &low[j], &a[j], &p[j], &q[j], rows, 8*c, tail)
		case level == AVX512:
			normGrad1F64AVX512(&dx[at], &dz[at], &x[at], w, &mean[j], &low[j], &a[j], &p[j], &q[j], rows, 8*c, tail)
		case vecs == 2:
			normGrad2F64AVX2(&dx[at], &dz[at], &x[at], w, &mean[j], &low[j], &a[j], &p[j], &q[j], rows, 8*c, tail)
		default:
			normGrad1F64AVX2(&dx[at], &dz[at], &x[at], w, &mean[j], &low[j], &a[j], &p[j], &q[j], rows, 8*c, tail)
		}
	})
}
