package simd

import "math"

// sumBlock is the length up to which sums run in four float64 accumulators. Longer slices are halved, and the sums of the halves
// added (pairwise summation: Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 4.1), so the error grows
// with the logarithm of the length. Cuts are at multiples of the block.
const sumBlock = 256

// sumSplit returns where to cut a slice of n > sumBlock elements.
func sumSplit(n int) int { return (n/2 + sumBlock - 1) / sumBlock * sumBlock }

func sumGeneric[T Float](x []T) float64 {
	if len(x) > sumBlock {
		h := sumSplit(len(x))
		return sumGeneric(x[:h]) + sumGeneric(x[h:])
	}
	var s0, s1, s2, s3 float64
	for len(x) >= 4 {
		s0 += float64(x[0])
		s1 += float64(x[1])
		s2 += float64(x[2])
		s3 += float64(x[3])
		x = x[4:]
	}
	for _, v := range x {
		s0 += float64(v)
	}
	return (s0 + s1) + (s2 + s3)
}

// sumAbsGeneric is sumGeneric of magnitudes.
func sumAbsGeneric[T Float](x []T) float64 {
	if len(x) > sumBlock {
		h := sumSplit(len(x))
		return sumAbsGeneric(x[:h]) + sumAbsGeneric(x[h:])
	}
	var s0, s1, s2, s3 float64
	for len(x) >= 4 {
		s0 += math.Abs(float64(x[0]))
		s1 += math.Abs(float64(x[1]))
		s2 += math.Abs(float64(x[2]))
		s3 += math.Abs(float64(x[3]))
		x = x[4:]
	}
	for _, v := range x {
		s0 += math.Abs(float64(v))
	}
	return (s0 + s1) + (s2 + s3)
}

func dotGeneric[T Float](x, y []T) float64 {
	if len(x) > sumBlock {
		h := sumSplit(len(x))
		return dotGeneric(x[:h], y[:h]) + dotGeneric(x[h:], y[h:])
	}
	var s0, s1, s2, s3 float64
	for len(x) >= 4 && len(y) >= 4 {
		s0 += float64(x[0]) * float64(y[0])
		s1 += float64(x[1]) * float64(y[1])
		s2 += float64(x[2]) * float64(y[2])
		s3 += float64(x[3]) * float64(y[3])
		x, y = x[4:], y[4:]
	}
	y = y[:len(x)]
	for i, v := range x {
		s0 += float64(v) * float64(y[i])
	}
	return (s0 + s1) + (s2 + s3)
}

// dotSingleGeneric is dotGeneric in float32.
func dotSingleGeneric(x, y []float32) float32 {
	if len(x) > sumBlock {
		h := sumSplit(len(x))
		return dotSingleGeneric(x[:h], y[:h]) + dotSingleGeneric(x[h:], y[h:])
	}
	return shortDot(x, y)
}

// sumScale is the power of two by which sumScaled divides: no slice has as many elements.
const sumScale = 0x1p64

// sumScaled is sumGeneric for numbers whose partial sums may overflow. What the scaling makes subnormal is nothing beside the numbers that
// overflow.
func sumScaled(x []float64) float64 { return sumScaledParts(x) * sumScale }

func sumScaledParts(x []float64) float64 {
	if len(x) > sumBlock/4 {
		h := len(x) / 2
		return sumScaledParts(x[:h]) + sumScaledParts(x[h:])
	}
	s := 0.0
	for _, v := range x {
		s += v * (1 / sumScale)
	}
	return s
}

func minMaxGeneric[T Float](x []T) (lo, hi T) {
	lo, hi = T(math.Inf(1)), T(math.Inf(-1))
	for _, v := range x {
		lo, hi = min(lo, v), max(hi, v)
	}
	return lo, hi
}
