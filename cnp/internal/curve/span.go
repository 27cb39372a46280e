package curve

import "math"

// Span returns the half-open range of the numbers of the lattice points that influence the prediction at u; reach is the
// sum of the layers' reaches.
func Span(u, density float64, reach int) [2]int {
	k := int(math.Floor(u * density))
	return [2]int{k - reach - 1, k + reach + 3}
}

// Counted returns x relative to origin.
func Counted(x []float64, origin float64) []float64 {
	if origin == 0 {
		return x
	}
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = v - origin
	}
	return out
}
