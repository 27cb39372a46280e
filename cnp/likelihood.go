package cnp

import (
	"fmt"
	"math"
)

// LogLikelihood is the sum over all values of log N(y; mean, std²), in float64. Where mask is false (nil: nowhere) a
// value does not count. It panics if the lengths differ.
func LogLikelihood[T Float](mean, std, y []T, mask []bool) (sum float64, n int) {
	if len(std) != len(mean) || len(y) != len(mean) || (mask != nil && len(mask) != len(mean)) {
		panic(fmt.Sprintf("cnp: LogLikelihood: len(mean) = %d, len(std) = %d, len(y) = %d, len(mask) = %d",
			len(mean), len(std), len(y), len(mask)))
	}
	for i := range mean {
		if mask == nil || mask[i] {
			s := float64(std[i])
			z := (float64(y[i]) - float64(mean[i])) / s
			sum -= 0.5*z*z + math.Log(s) + 0.5*math.Log(2*math.Pi)
			n++
		}
	}
	return sum, n
}
