// Package initial draws the parameters that layers begin with.
package initial

import (
	"math/rand/v2"

	"github.com/equivcnp/equivcnp/simd"
)

// Uniform sets dst to numbers drawn from -bound to bound.
func Uniform[T simd.Float](dst []T, bound float64, rng *rand.Rand) {
	for i := range dst {
		dst[i] = T((2*rng.Float64() - 1) * bound)
	}
}
