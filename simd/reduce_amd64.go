//go:build !purego

package simd

import "math"

// Up to sumBlockAsm elements sums run in assembly, in 32 float64 accumulators with 64 additions each, as in the portable twin. Longer
// ones are summed pairwise, as there.
const sumBlockAsm = 2048

// sumFarAsm is from how many elements on a sum fetches ahead at AVX2. In the first-level cache that would cost a tenth.
const sumFarAsm = 4096

func sumFar(n int) int {
	if n > sumFarAsm {
		return 1
	}
	return 0
}

// sumCut returns where to cut a slice that is longer than a block: half way, at a multiple of the block.
func sumCut(n, block int) int { return (n/2 + block - 1) / block * block }

func sumF32(x []float32) float64 {
	if level == Generic || len(x) == 0 {
		return sumGeneric(x)
	}
	raceRead(x)
	return sumPairwise(x, sumFar(len(x)))
}

func sumPairwise(x []float32, far int) float64 {
	switch {
	case len(x) > sumBlockAsm:
		h := sumCut(len(x), sumBlockAsm)
		return sumPairwise(x[:h], far) + sumPairwise(x[h:], far)
	case level == AVX512:
		return sumF32AVX512(&x[0], len(x))
	}
	return sumF32AVX2(&x[0], len(x), far)
}

// sumSqF32 has the bits of dotF32(x, x): the same sum, widened once.
func sumSqF32(x []float32) float64 {
	if level == Generic || len(x) == 0 {
		return dotGeneric(x, x)
	}
	raceRead(x)
	return sumSqPairwise(x, sumFar(len(x)))
}

func sumSqPairwise(x []float32, far int) float64 {
	switch {
	case len(x) > sumBlockAsm:
		h := sumCut(len(x), sumBlockAsm)
		return sumSqPairwise(x[:h], far) + sumSqPairwise(x[h:], far)
	case level == AVX512:
		return sumSqF32AVX512(&x[0], len(x))
	}
	return sumSqF32AVX2(&x[0], len(x), far)
}

func dotF32(x, y []float32) float64 {
	if level == Generic || len(x) == 0 {
		return dotGeneric(x, y)
	}
	raceRead(x)
	raceRead(y)
	return dotPairwise(x, y, sumFar(len(x)))
}

func dotPairwise(x, y []float32, far int) float64 {
	switch {
	case len(x) > sumBlockAsm:
		h := sumCut(len(x), sumBlockAsm)
		return dotPairwise(x[:h], y[:h], far) + dotPairwise(x[h:], y[h:], far)
	case level == AVX512:
		return dotF32AVX512(&x[0], &y[0], len(x))
	}
	return dotF32AVX2(&x[0], &y[0], len(x), far)
}

func sumAbsF32(x []float32) float64 {
	if level == Generic || len(x) == 0 {
		return sumAbsGeneric(x)
	}
	raceRead(x)
	return sumAbsPairwise(x, sumFar(len(x)))
}

func sumAbsPairwise(x []float32, far int) float64 {
	switch {
	case len(x) > sumBlockAsm:
		h := sumCut(len(x), sumBlockAsm)
		return sumAbsPairwise(x[:h], far) + sumAbsPairwise(x[h:], far)
	case level == AVX512:
		return sumAbsF32AVX512(&x[0], len(x))
	}
	return sumAbsF32AVX2(&x[0], len(x), far)
}

// singleBlock is up to how many elements dotSingleF32 runs in 32 or 64 accumulators.
const singleBlock = 8192

func dotSingleF32(x, y []float32) float32 {
	if level == Generic || len(x) == 0 {
		return dotSingleGeneric(x, y)
	}
	raceRead(x)
	raceRead(y)
	return dotSinglePairwise(x, y)
}

func dotSinglePairwise(x, y []float32) float32 {
	switch {
	case len(x) > singleBlock:
		h := sumCut(len(x), singleBlock)
		return dotSinglePairwise(x[:h], y[:h]) + dotSinglePairwise(x[h:], y[h:])
	case level == AVX512:
		return dotSingleF32AVX512(&x[0], &y[0], len(x))
	}
	return dotSingleF32AVX2(&x[0], &y[0], len(x))
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
