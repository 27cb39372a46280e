//go:build !purego

package search

import (
	"github.com/equivcnp/equivcnp/internal/cpu"
	"github.com/equivcnp/equivcnp/internal/race"
)

func extentF32(low, high, x []float32) bool { return extent(low, high, x, 4) }

func extentF64(low, high, x []float64) bool { return extent(low, high, x, 2) }

// extent cuts the points into vectors: of period vectors in a row, which the kernels take three or four at a time, number k has the
// axes of number k of the next.
func extent[T Float](low, high, x []T, lanes int) bool {
	dim := len(low)
	vectors, period := 4, max(dim, 4)
	switch {
	case dim%3 == 0:
		vectors, period = 3, dim
	case period%4 != 0:
		period *= 4
	}
	stride := period * lanes
	if level == cpu.Generic || len(x) < 2*stride {
		return extentGeneric(low, high, x)
	}
	race.Read(x)
	copy(low, x[:dim])
	copy(high, x[:dim])
	for n := len(x) / stride; n > 0; n = len(x) / stride {
		n = min(n, gridPiece/stride+1)
		for k := 0; k < period; k += vectors {
			first := x[k*lanes:]
			var lo, hi [16]T
			copy(lo[:vectors*lanes], first)
			copy(hi[:vectors*lanes], first)
			widenLanes(&lo, &hi, first, vectors, stride, n)
			for lane := range vectors * lanes {
				axis := (k*lanes + lane) % dim
				low[axis], high[axis] = min(low[axis], lo[lane]), max(high[axis], hi[lane])
			}
		}
		x = x[n*stride:]
	}
	finite := widenGeneric(low, high, x)
	for axis := range dim {
		finite = finite && low[axis]-low[axis] == 0 && high[axis]-high[axis] == 0
	}
	return finite
}

// widenLanes widens lo and hi by n times three or four vectors that are stride apart.
func widenLanes[T Float](lo, hi *[16]T, x []T, vectors, stride, n int) {
	switch x := any(x).(type) {
	case []float32:
		lo, hi := any(lo).(*[16]float32), any(hi).(*[16]float32)
		if vectors == 3 {
			gridExtent3F32NEON(&lo[0], &hi[0], &x[0], stride, n)
		} else {
			gridExtent4F32NEON(&lo[0], &hi[0], &x[0], stride, n)
		}
	case []float64:
		lo, hi := any(lo).(*[16]float64), any(hi).(*[16]float64)
		if vectors == 3 {
			gridExtent3F64NEON(&lo[0], &hi[0], &x[0], stride, n)
		} else {
			gridExtent4F64NEON(&lo[0], &hi[0], &x[0], stride, n)
		}
	default:
		unreachable("Extent")
	}
}

// NEON has no gather: one number at a time is as fast.

func gridCellsF32(at []int32, x []float32, stride int, low, inv float32, last, width int32) {
	gridCellsGeneric(at, x, stride, low, inv, last, width)
}

func gridCellsF64(at []int32, x []float64, stride int, low, inv float64, last, width int32) {
	gridCellsGeneric(at, x, stride, low, inv, last, width)
}
