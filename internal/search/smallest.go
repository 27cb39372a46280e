package search

// Smallest stores the k smallest of some pairs of a squared distance and a number, ordered by (dist2, index), and returns
// how many that are: k or, if there are fewer pairs, all.
//
//   - Shape: len(dist2) == len(index). What is stored needs room for the result and Slack more in outIndex and outDist2.
//   - Aliasing: none allowed.
//   - Errors: panics if a length is wrong or k is negative. Distances must not be negative nor NaN, numbers not negative;
//     otherwise the order is undefined.
func Smallest[T Float](outIndex []int32, outDist2 []T, index []int32, dist2 []T, k int) int {
	const fn = "Smallest"
	checkSize(fn, "k", k)
	checkLen(fn, "dist2", len(dist2), len(index))
	n := min(k, len(index))
	if n == 0 {
		return 0
	}
	checkRoom(fn, "outIndex", len(outIndex), n+Slack)
	checkRoom(fn, "outDist2", len(outDist2), n+Slack)
	switch d := any(dist2).(type) {
	case []float32:
		smallestF32(outIndex, any(outDist2).([]float32), index, d, n)
	case []float64:
		smallestGeneric(outIndex, any(outDist2).([]float64), index, d, n)
	default:
		unreachable(fn)
	}
	return n
}
