//go:build !purego

package simd

// neonSumBlock is the length up to which sums run in the 16 lanes of one call; 64 additions a lane, as in the portable kernel.
const neonSumBlock = 1024

// neonSumSplit returns where to cut a slice of n > neonSumBlock elements, at a multiple of the block.
func neonSumSplit(n int) int { return (n/2 + neonSumBlock - 1) / neonSumBlock * neonSumBlock }

func sumF32(x []float32) float64 {
	if level == Generic || len(x) == 0 {
		return sumGeneric(x)
	}
	raceRead(x)
	return sumPairs(x)
}

// sumPairs is pairwise summation over blocks.
func sumPairs(x []float32) float64 {
	if len(x) > neonSumBlock {
		h := neonSumSplit(len(x))
		return sumPairs(x[:h]) + sumPairs(x[h:])
	}
	return sumF32NEON(&x[0], len(x))
}

func dotF32(x, y []float32) float64 {
	if level == Generic || len(x) == 0 {
		return dotGeneric(x, y)
	}
	raceRead(x)
	raceRead(y)
	return dotPairs(x, y)
}

// dotPairs is pairwise summation over blocks.
func dotPairs(x, y []float32) float64 {
	if len(x) > neonSumBlock {
		h := neonSumSplit(len(x))
		return dotPairs(x[:h], y[:h]) + dotPairs(x[h:], y[h:])
	}
	return dotF32NEON(&x[0], &y[0], len(x))
}

// sumSqF32 has the bits of dotF32(x, x): the same sum, widened once.
func sumSqF32(x []float32) float64 {
	if level == Generic || len(x) == 0 {
		return dotGeneric(x, x)
	}
	raceRead(x)
	return sumSqPairs(x)
}

// sumSqPairs is pairwise summation over blocks.
func sumSqPairs(x []float32) float64 {
	if len(x) > neonSumBlock {
		h := neonSumSplit(len(x))
		return sumSqPairs(x[:h]) + sumSqPairs(x[h:])
	}
	return sumSqF32NEON(&x[0], len(x))
}

func sumAbsF32(x []float32) float64 {
	if level == Generic || len(x) == 0 {
		return sumAbsGeneric(x)
	}
	raceRead(x)
	return sumAbsPairs(x)
}

// sumAbsPairs is pairwise summation over blocks.
func sumAbsPairs(x []float32) float64 {
	if len(x) > neonSumBlock {
		h := neonSumSplit(len(x))
		return sumAbsPairs(x[:h]) + sumAbsPairs(x[h:])
	}
	return sumAbsF32NEON(&x[0], len(x))
}

// singleBlock is up to how many elements dotSingleF32 takes in one call.
const singleBlock = 4096

func dotSingleF32(x, y []float32) float32 {
	if level == Generic || len(x) == 0 {
		return dotSingleGeneric(x, y)
	}
	raceRead(x)
	raceRead(y)
	return dotSinglePairs(x, y)
}

// dotSinglePairs is pairwise summation over blocks.
func dotSinglePairs(x, y []float32) float32 {
	if len(x) > singleBlock {
		h := (len(x)/2 + singleBlock - 1) / singleBlock * singleBlock
		return dotSinglePairs(x[:h], y[:h]) + dotSinglePairs(x[h:], y[h:])
	}
	return dotRowF32NEON(&x[0], &y[0], len(x))
}

func minMaxF32(x []float32) (lo, hi float32) {
	if level == Generic {
		return minMaxGeneric(x)
	}
	raceRead(x)
	// The last one to three elements, then the whole vectors.
	whole := len(x) &^ 3
	lo, hi = minMaxGeneric(x[whole:])
	for x = x[:whole]; len(x) > 0; {
		n := min(len(x), maxPiece)
		l, h := minMaxF32NEON(&x[0], n)
		lo, hi = min(lo, l), max(hi, h)
		x = x[n:]
	}
	return lo, hi
}
