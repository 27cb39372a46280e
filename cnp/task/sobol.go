package task

import (
	"math/bits"
	"math/rand/v2"
)

// sobolLine writes the first len(dst) numbers of the Sobol sequence on [0, 1), moved by one random number modulo 1:
// in the first coordinate the
// sequence is van der Corput's in base 2, in Gray code order.
func sobolLine(dst []float64, rng *rand.Rand) {
	shift, x := rng.Float64(), uint64(0)
	for i := range dst {
		if i > 0 {
			x ^= 1 << (63 - bits.TrailingZeros64(uint64(i)))
		}
		v := float64(x>>11)/(1<<53) + shift
		if v >= 1 {
			v--
		}
		dst[i] = v
	}
}
