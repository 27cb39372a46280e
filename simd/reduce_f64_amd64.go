//go:build !purego

package simd

import "math"

// sumBlockF64 is up to how many elements sums of float64 run in assembly, in 64 or 32 accumulators with 64 additions each.
func sumBlockF64() int {
	if level == AVX512 {
		return 4096
	}
	return 2048
}

func sumF64(x []float64) float64 {
	if level == Generic || len(x) == 0 {
		return sumGeneric(x)
	}
	raceRead(x)
	return sumPairwiseF64(x, sumBlockF64())
}

func sumPairwiseF64(x []float64, block int) float64 {
	switch {
	case len(x) > block:
		h := sumCut(len(x), block)
		return sumPairwiseF64(x[:h], block) + sumPairwiseF64(x[h:], block)
	case level == AVX512:
		return sumF64AVX512(&x[0], len(x))
	}
	return sumF64AVX2(&x[0], len(x))
}

// sumSqF64 has the bits of dotF64(x, x): the same sum.
func sumSqF64(x []float64) float64 {
	if level == Generic || len(x) == 0 {
		return dotGeneric(x, x)
	}
	raceRead(x)
	return sumSqPairwiseF64(x, sumBlockF64())
}

func sumSqPairwiseF64(x []float64, block int) float64 {
	switch {
	case len(x) > block:
		h := sumCut(len(x), block)
		return sumSqPairwiseF64(x[:h], block) + sumSqPairwiseF64(x[h:], block)
	case level == AVX512:
		return sumSqF64AVX512(&x[0], len(x))
	}
	return sumSqF64AVX2(&x[0], len(x))
}

func dotF64(x, y []float64) float64 {
	if level == Generic || len(x) == 0 {
		return dotGeneric(x, y)
	}
	raceRead(x)
	raceRead(y)
	return dotPairwiseF64(x, y, sumBlockF64())
}

func dotPairwiseF64(x, y []float64, block int) float64 {
	switch {
	case len(x) > block:
		h := sumCut(len(x), block)
		return dotPairwiseF64(x[:h], y[:h], block) + dotPairwiseF64(x[h:], y[h:], block)
	case level == AVX512:
		return dotF64AVX512(&x[0], &y[0], len(x))
	}
	return dotF64AVX2(&x[0], &y[0], len(x))
}

func sumAbsF64(x []float64) float64 {
	if level == Generic || len(x) == 0 {
		return sumAbsGeneric(x)
	}
	raceRead(x)
	return sumAbsPairwiseF64(x, sumBlockF64())
}

func sumAbsPairwiseF64(x []float64, block int) float64 {
	switch {
	case len(x) > block:
		h := sumCut(len(x), block)
		return sumAbsPairwiseF64(x[:h], block) + sumAbsPairwiseF64(x[h:], block)
	case level == AVX512:
		return sumAbsF64AVX512(&x[0], len(x))
	}
	return sumAbsF64AVX2(&x[0], len(x))
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
