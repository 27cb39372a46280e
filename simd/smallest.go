package simd

// SmallestF32 stores the k smallest of some pairs of a squared distance and a number, ordered by (dist2, index), and returns
// how many that are: k or, if there are fewer pairs, all.
//
//   - Shape: len(dist2) == len(index). What is stored needs room for the result and TreeSlack more in outIndex and outDist2.
//   - Aliasing: none allowed.
//   - Errors: panics if a length is wrong or k is negative. Distances must not be negative nor NaN, numbers not negative;
//     otherwise the order is undefined.
func SmallestF32(outIndex []int32, outDist2 []float32, index []int32, dist2 []float32, k int) int {
	n := checkSmallest("SmallestF32", len(outIndex), len(outDist2), len(index), len(dist2), k)
	if n > 0 {
		smallestF32(outIndex, outDist2, index, dist2, n)
	}
	return n
}

// SmallestF64 is SmallestF32 for float64.
func SmallestF64(outIndex []int32, outDist2 []float64, index []int32, dist2 []float64, k int) int {
	n := checkSmallest("SmallestF64", len(outIndex), len(outDist2), len(index), len(dist2), k)
	if n > 0 {
		smallestGeneric(outIndex, outDist2, index, dist2, n)
	}
	return n
}

// Smallest stores the k smallest of some pairs; see SmallestF32.
func Smallest[T Float](outIndex []int32, outDist2 []T, index []int32, dist2 []T, k int) (n int) {
	switch d := any(dist2).(type) {
	case []float32:
		return SmallestF32(outIndex, any(outDist2).([]float32), index, d, k)
	case []float64:
		return SmallestF64(outIndex, any(outDist2).([]float64), index, d, k)
	default:
		unreachable("Smallest")
	}
	return
}

func checkSmallest(fn string, outIndex, outDist2, index, dist2, k int) (n int) {
	checkSize(fn, "k", k)
	checkLen(fn, "dist2", dist2, index)
	if n = min(k, index); n > 0 {
		checkRoom(fn, "outIndex", outIndex, n+TreeSlack)
		checkRoom(fn, "outDist2", outDist2, n+TreeSlack)
	}
	return n
}
