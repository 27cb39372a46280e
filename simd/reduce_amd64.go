//go:build !purego

package simd

import "math"

// Up to these lengths sums run in assembly, in 32 float64 accumulators with 64 additions each, as in the portable twin.
// Longer ones are summed pairwise, as there.
const (
	sumBlockAVX512 = 2048
	sumBlockAVX2   = 2048
)

// sumCut returns where to cut a slice that is longer than a block: half way, at a multiple of the block.
func sumCut(n, block int) int { return (n/2 + block - 1) / block * block }

func sumF32(x []float32) float64 {
	if level == Generic || len(x) == 0 {
		return sumGeneric(x)
	}
	raceRead(x)
	if level == AVX512 {
		return sumPairwiseAVX512(x)
	}
	return sumPairwiseAVX2(x)
}

func sumPairwiseAVX512(x []float32) float64 {
	if len(x) <= sumBlockAVX512 {
		return sumF32AVX512(&x[0], len(x))
	}
	h := sumCut(len(x), sumBlockAVX512)
	return sumPairwiseAVX512(x[:h]) + sumPairwiseAVX512(x[h:])
}

func sumPairwiseAVX2(x []float32) float64 {
	if len(x) <= sumBlockAVX2 {
		return sumF32AVX2(&x[0], len(x))
	}
	h := sumCut(len(x), sumBlockAVX2)
	return sumPairwiseAVX2(x[:h]) + sumPairwiseAVX2(x[h:])
}

// sumSqF32 has the bits of dotF32(x, x): the same sum, widened once.
func sumSqF32(x []float32) float64 {
	if level == Generic || len(x) == 0 {
		return dotGeneric(x, x)
	}
	raceRead(x)
	if level == AVX512 {
		return sumSqPairwiseAVX512(x)
	}
	return sumSqPairwiseAVX2(x)
}

func sumSqPairwiseAVX512(x []float32) float64 {
	if len(x) <= sumBlockAVX512 {
		return sumSqF32AVX512(&x[0], len(x))
	}
	h := sumCut(len(x), sumBlockAVX512)
	return sumSqPairwiseAVX512(x[:h]) + sumSqPairwiseAVX512(x[h:])
}

func sumSqPairwiseAVX2(x []float32) float64 {
	if len(x) <= sumBlockAVX2 {
		return sumSqF32AVX2(&x[0], len(x))
	}
	h := sumCut(len(x), sumBlockAVX2)
	return sumSqPairwiseAVX2(x[:h]) + sumSqPairwiseAVX2(x[h:])
}

func dotF32(x, y []float32) float64 {
	if level == Generic || len(x) == 0 {
		return dotGeneric(x, y)
	}
	raceRead(x)
	raceRead(y)
	if level == AVX512 {
		return dotPairwiseAVX512(x, y)
	}
	return dotPairwiseAVX2(x, y)
}

func dotPairwiseAVX512(x, y []float32) float64 {
	if len(x) <= sumBlockAVX512 {
		return dotF32AVX512(&x[0], &y[0], len(x))
	}
	h := sumCut(len(x), sumBlockAVX512)
	return dotPairwiseAVX512(x[:h], y[:h]) + dotPairwiseAVX512(x[h:], y[h:])
}

func dotPairwiseAVX2(x, y []float32) float64 {
	if len(x) <= sumBlockAVX2 {
		return dotF32AVX2(&x[0], &y[0], len(x))
	}
	h := sumCut(len(x), sumBlockAVX2)
	return dotPairwiseAVX2(x[:h], y[:h]) + dotPairwiseAVX2(x[h:], y[h:])
}

func minMaxF32(x []float32) (lo, hi float32) {
	if level == Generic || len(x) == 0 {
		return minMaxGeneric(x)
	}
	raceRead(x)
	least, most, top := int32(math.MaxInt32), int32(math.MinInt32), uint32(0)
	for len(x) > 0 {
		n := min(len(x), maxPiece)
		var a, b int32
		var c uint32
		if level == AVX512 {
			a, b, c = minMaxF32AVX512(&x[0], n)
		} else {
			a, b, c = minMaxF32AVX2(&x[0], n)
		}
		least, most, top = min(least, a), max(most, b), max(top, c)
		x = x[n:]
	}
	lo, hi = math.Float32frombits(uint32(least)), math.Float32frombits(uint32(most))
	if int32(top) < 0 { // a number is negative
		lo = math.Float32frombits(top)
	}
	if most < 0 { // all are
		hi = math.Float32frombits(uint32(least))
	}
	if lo != lo || hi != hi {
		nan := float32(math.NaN())
		return nan, nan
	}
	return lo, hi
}
