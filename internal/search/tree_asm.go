//go:build !purego && (amd64 || arm64)

package search

import "math"

// The kernels exist for two and for three axes that are not periodic, and for any axes.

// The periods of axes that have none.
var (
	aperiodicF32 = [MaxDim]float32{inf32, inf32, inf32, inf32, inf32, inf32, inf32, inf32}
	aperiodicF64 = [MaxDim]float64{inf64, inf64, inf64, inf64, inf64, inf64, inf64, inf64}

	inf32, inf64 = float32(math.Inf(1)), math.Inf(1)
)
