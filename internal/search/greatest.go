package search

// GreatestColumns is how many columns Greatest has.
const GreatestColumns = 32

// Greatest sets dst[j] to the largest x[i, j] + add[i], modulo 2³², over the rows of x [len(add), GreatestColumns], of which there must be
// one. It panics on a wrong length. A call cannot be interrupted, so x should not have more than some thousand rows.
func Greatest(dst, x, add []int32) {
	checkLen("Greatest", "dst", len(dst), GreatestColumns)
	checkRoom("Greatest", "add", len(add), 1)
	checkLen("Greatest", "x", len(x), GreatestColumns*len(add))
	greatest(dst, x, add)
}

func greatestGeneric(dst, x, add []int32) {
	for i, v := range add {
		for j, s := range x[i*GreatestColumns:][:GreatestColumns] {
			if s += v; i == 0 || s > dst[j] {
				dst[j] = s
			}
		}
	}
}
