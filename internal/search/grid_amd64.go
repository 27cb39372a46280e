//go:build !purego

package search

import (
	"github.com/equivcnp/equivcnp/internal/cpu"
	"github.com/equivcnp/equivcnp/internal/race"
)

func extentF32(low, high, x []float32) bool {
	if level == cpu.AVX512 {
		return extent(low, high, x, 16)
	}
	return extent(low, high, x, 8)
}

func extentF64(low, high, x []float64) bool {
	if level == cpu.AVX512 {
		return extent(low, high, x, 8)
	}
	return extent(low, high, x, 4)
}

// extent cuts the points into vectors: number k of any dim vectors in a row has the axes of number k of the next.
func extent[T Float](low, high, x []T, lanes int) bool {
	dim := len(low)
	stride := dim * lanes
	if level == cpu.Generic || len(x) < 2*stride {
		return extentGeneric(low, high, x)
	}
	race.Read(x)
	copy(low, x[:dim])
	copy(high, x[:dim])
	finite := true
	for n := len(x) / stride; n > 0; n = len(x) / stride {
		n = min(n, gridPiece/stride+1)
		for k := range dim {
			first := x[k*lanes:]
			var lo, hi, check [16]T
			copy(lo[:lanes], first)
			copy(hi[:lanes], first)
			widenLanes(&lo, &hi, &check, first, stride, n)
			for lane := range lanes {
				axis := (k*lanes + lane) % dim
				low[axis], high[axis] = min(low[axis], lo[lane]), max(high[axis], hi[lane])
				finite = finite && check[lane] == 0
			}
		}
		x = x[n*stride:]
	}
	return widenGeneric(low, high, x) && finite
}

// widenLanes widens lo and hi by n vectors that are stride apart.
func widenLanes[T Float](lo, hi, check *[16]T, x []T, stride, n int) {
	switch x := any(x).(type) {
	case []float32:
		lo, hi, check := any(lo).(*[16]float32), any(hi).(*[16]float32), any(check).(*[16]float32)
		if level == cpu.AVX512 {
			gridExtentF32AVX512(&lo[0], &hi[0], &check[0], &x[0], stride, n)
		} else {
			gridExtentF32AVX2(&lo[0], &hi[0], &check[0], &x[0], stride, n)
		}
	case []float64:
		lo, hi, check := any(lo).(*[16]float64), any(hi).(*[16]float64), any(check).(*[16]float64)
		if level == cpu.AVX512 {
			gridExtentF64AVX512(&lo[0], &hi[0], &check[0], &x[0], stride, n)
		} else {
			gridExtentF64AVX2(&lo[0], &hi[0], &check[0], &x[0], stride, n)
		}
	default:
		unreachable("Extent")
	}
}

func gridCellsF32(at []int32, x []float32, stride int, low, inv float32, last, width int32) {
	if level == cpu.Generic || stride > gridMaxStride {
		gridCellsGeneric(at, x, stride, low, inv, last, width)
		return
	}
	raceReadEvery(x, stride, len(at))
	race.Write(at)
	if stride == 2 || stride == 3 {
		// Whole vectors, but for the last point: the kernels read on to where it begins.
		lanes := 16
		if level == cpu.AVX2 {
			lanes = 8
		}
		if n := (len(at) - 1) / lanes * lanes; n > 0 {
			gridCellsNearF32(at, x, stride, n, low, inv, last, width)
			at, x = at[n:], x[n*stride:]
		}
	}
	if level == cpu.AVX512 {
		gridCellsF32AVX512(&at[0], &x[0], stride, len(at), low, inv, last, width)
	} else {
		gridCellsF32AVX2(&at[0], &x[0], stride, len(at), low, inv, last, width)
	}
}

func gridCellsNearF32(at []int32, x []float32, stride, n int, low, inv float32, last, width int32) {
	switch {
	case level == cpu.AVX512 && stride == 2:
		gridCells2F32AVX512(&at[0], &x[0], n, low, inv, last, width)
	case level == cpu.AVX512:
		gridCells3F32AVX512(&at[0], &x[0], n, low, inv, last, width)
	case stride == 2:
		gridCells2F32AVX2(&at[0], &x[0], n, low, inv, last, width)
	default:
		gridCells3F32AVX2(&at[0], &x[0], n, low, inv, last, width)
	}
}

func gridCellsF64(at []int32, x []float64, stride int, low, inv float64, last, width int32) {
	if level == cpu.Generic || stride > gridMaxStride {
		gridCellsGeneric(at, x, stride, low, inv, last, width)
		return
	}
	raceReadEvery(x, stride, len(at))
	race.Write(at)
	if level == cpu.AVX512 {
		gridCellsF64AVX512(&at[0], &x[0], stride, len(at), low, inv, last, width)
	} else {
		gridCellsF64AVX2(&at[0], &x[0], stride, len(at), low, inv, last, width)
	}
}

// raceReadEvery tells the race detector of n elements that are stride apart, and of none between.
func raceReadEvery[T Float](x []T, stride, n int) {
	for i := 0; race.Enabled && i < n; i++ {
		race.Read(x[i*stride:][:1])
	}
}
