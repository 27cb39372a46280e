//go:build !purego

package simd

import "math"

// Up to these lengths sums of float64 run in assembly, in 64 and 32 accumulators with 64 additions each.
const (
	sumBlockF64AVX512 = 4096
	sumBlockF64AVX2   = 2048
)

func sumF64(x []float64) float64 {
	if level == Generic || len(x) == 0 {
		return sumGeneric(x)
	}
	raceRead(x)
	if level == AVX512 {
		return sumPairwiseF64AVX512(x)
	}
	return sumPairwiseF64AVX2(x)
}

func sumPairwiseF64AVX512(x []float64) float64 {
	if len(x) <= sumBlockF64AVX512 {
		return sumF64AVX512(&x[0], len(x))
	}
	h := sumCut(len(x), sumBlockF64AVX512)
	return sumPairwiseF64AVX512(x[:h]) + sumPairwiseF64AVX512(x[h:])
}

func sumPairwiseF64AVX2(x []float64) float64 {
	if len(x) <= sumBlockF64AVX2 {
		return sumF64AVX2(&x[0], len(x))
	}
	h := sumCut(len(x), sumBlockF64AVX2)
	return sumPairwiseF64AVX2(x[:h]) + sumPairwiseF64AVX2(x[h:])
}

// sumSqF64 has the bits of dotF64(x, x): the same sum, widened once.
func sumSqF64(x []float64) float64 {
	if level == Generic || len(x) == 0 {
		return dotGeneric(x, x)
	}
	raceRead(x)
	if level == AVX512 {
		return sumSqPairwiseF64AVX512(x)
	}
	return sumSqPairwiseF64AVX2(x)
}

func sumSqPairwiseF64AVX512(x []float64) float64 {
	if len(x) <= sumBlockF64AVX512 {
		return sumSqF64AVX512(&x[0], len(x))
	}
	h := sumCut(len(x), sumBlockF64AVX512)
	return sumSqPairwiseF64AVX512(x[:h]) + sumSqPairwiseF64AVX512(x[h:])
}

func sumSqPairwiseF64AVX2(x []float64) float64 {
	if len(x) <= sumBlockF64AVX2 {
		return sumSqF64AVX2(&x[0], len(x))
	}
	h := sumCut(len(x), sumBlockF64AVX2)
	return sumSqPairwiseF64AVX2(x[:h]) + sumSqPairwiseF64AVX2(x[h:])
}

func dotF64(x, y []float64) float64 {
	if level == Generic || len(x) == 0 {
		return dotGeneric(x, y)
	}
	raceRead(x)
	raceRead(y)
	if level == AVX512 {
		return dotPairwiseF64AVX512(x, y)
	}
	return dotPairwiseF64AVX2(x, y)
}

func dotPairwiseF64AVX512(x, y []float64) float64 {
	if len(x) <= sumBlockF64AVX512 {
		return dotF64AVX512(&x[0], &y[0], len(x))
	}
	h := sumCut(len(x), sumBlockF64AVX512)
	return dotPairwiseF64AVX512(x[:h], y[:h]) + dotPairwiseF64AVX512(x[h:], y[h:])
}

func dotPairwiseF64AVX2(x, y []float64) float64 {
	if len(x) <= sumBlockF64AVX2 {
		return dotF64AVX2(&x[0], &y[0], len(x))
	}
	h := sumCut(len(x), sumBlockF64AVX2)
	return dotPairwiseF64AVX2(x[:h], y[:h]) + dotPairwiseF64AVX2(x[h:], y[h:])
}

func minMaxF64(x []float64) (lo, hi float64) {
	if level == Generic || len(x) == 0 {
		return minMaxGeneric(x)
	}
	raceRead(x)
	least, most := int64(math.MaxInt64), int64(math.MinInt64)
	for len(x) > 0 {
		n := min(len(x), maxPiece)
		var a, b int64
		if level == AVX512 {
			a, b = minMaxF64AVX512(&x[0], n)
		} else {
			a, b = minMaxF64AVX2(&x[0], n)
		}
		least, most = min(least, a), max(most, b)
		x = x[n:]
	}
	lo, hi = fromOrdered64(least), fromOrdered64(most)
	if lo != lo || hi != hi {
		nan := math.NaN()
		return nan, nan
	}
	return lo, hi
}

// fromOrdered64 returns the float64 that has the same place in the order of floats as i has in the order of integers.
func fromOrdered64(i int64) float64 {
	return math.Float64frombits(uint64(i) ^ uint64(i>>63)>>1)
}
