package search

// pairLess is the order by (dist2, index).
func pairLess[T Float](d T, i int32, e T, j int32) bool { return d < e || (d == e && i < j) }

// smallestGeneric keeps the k smallest pairs so far in a heap with the greatest on top, and sorts it in the end.
func smallestGeneric[T Float](outIndex []int32, outDist2 []T, index []int32, dist2 []T, k int) {
	outIndex, outDist2 = outIndex[:k], outDist2[:k]
	copy(outIndex, index)
	copy(outDist2, dist2)
	for at := k/2 - 1; at >= 0; at-- {
		sink(outIndex, outDist2, at, outIndex[at], outDist2[at])
	}
	for m := k; m < len(index); m++ {
		if pairLess(dist2[m], index[m], outDist2[0], outIndex[0]) {
			sink(outIndex, outDist2, 0, index[m], dist2[m])
		}
	}
	for m := k - 1; m > 0; m-- {
		i, d := outIndex[m], outDist2[m]
		outIndex[m], outDist2[m] = outIndex[0], outDist2[0]
		sink(outIndex[:m], outDist2[:m], 0, i, d)
	}
}

// sink puts a pair into the hole at a place of the heap or, while a child is greater, below.
func sink[T Float](index []int32, dist2 []T, at int, i int32, d T) {
	for {
		c := 2*at + 1
		if c >= len(index) {
			break
		}
		if c+1 < len(index) && pairLess(dist2[c], index[c], dist2[c+1], index[c+1]) {
			c++
		}
		if !pairLess(d, i, dist2[c], index[c]) {
			break
		}
		index[at], dist2[at] = index[c], dist2[c]
		at = c
	}
	index[at], dist2[at] = i, d
}
