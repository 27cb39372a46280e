//go:build !purego

package simd

func sumF64(x []float64) float64 {
	if level == Generic || len(x) == 0 {
		return sumGeneric(x)
	}
	raceRead(x)
	return sumPairsF64(x)
}

// sumPairsF64 is pairwise summation over blocks.
func sumPairsF64(x []float64) float64 {
	if len(x) > neonSumBlock {
		h := neonSumSplit(len(x))
		return sumPairsF64(x[:h]) + sumPairsF64(x[h:])
	}
	return sumF64NEON(&x[0], len(x))
}

func dotF64(x, y []float64) float64 {
	if level == Generic || len(x) == 0 {
		return dotGeneric(x, y)
	}
	raceRead(x)
	raceRead(y)
	return dotPairsF64(x, y)
}

// dotPairsF64 is pairwise summation over blocks.
func dotPairsF64(x, y []float64) float64 {
	if len(x) > neonSumBlock {
		h := neonSumSplit(len(x))
		return dotPairsF64(x[:h], y[:h]) + dotPairsF64(x[h:], y[h:])
	}
	return dotF64NEON(&x[0], &y[0], len(x))
}

// sumSqF64 has the bits of dotF64(x, x): the same sum, widened once.
func sumSqF64(x []float64) float64 {
	if level == Generic || len(x) == 0 {
		return dotGeneric(x, x)
	}
	raceRead(x)
	return sumSqPairsF64(x)
}

// sumSqPairsF64 is pairwise summation over blocks.
func sumSqPairsF64(x []float64) float64 {
	if len(x) > neonSumBlock {
		h := neonSumSplit(len(x))
		return sumSqPairsF64(x[:h]) + sumSqPairsF64(x[h:])
	}
	return sumSqF64NEON(&x[0], len(x))
}

func sumAbsF64(x []float64) float64 {
	if level == Generic || len(x) == 0 {
		return sumAbsGeneric(x)
	}
	raceRead(x)
	return sumAbsPairsF64(x)
}

// sumAbsPairsF64 is pairwise summation over blocks.
func sumAbsPairsF64(x []float64) float64 {
	if len(x) > neonSumBlock {
		h := neonSumSplit(len(x))
		return sumAbsPairsF64(x[:h]) + sumAbsPairsF64(x[h:])
	}
	return sumAbsF64NEON(&x[0], len(x))
}

func minMaxF64(x []float64) (lo, hi float64) {
	if level == Generic {
		return minMaxGeneric(x)
	}
	raceRead(x)
	// The last element of an odd number, then the whole vectors.
	whole := len(x) &^ 1
	lo, hi = minMaxGeneric(x[whole:])
	for x = x[:whole]; len(x) > 0; {
		n := min(len(x), maxPiece)
		l, h := minMaxF64NEON(&x[0], n)
		lo, hi = min(lo, l), max(hi, h)
		x = x[n:]
	}
	return lo, hi
}
