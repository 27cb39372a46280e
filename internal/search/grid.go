package search

import "fmt"

// Extent sets low[a] and high[a] to the least and the greatest coordinate a of some points, and reports whether all
// coordinates are finite; if not, low and high are undefined.
//
//   - Shape: x [n, dim], n ≥ 1, len(low) == len(high) == dim ≤ MaxDim. A zero may have either sign.
//   - Aliasing: none allowed.
//   - Errors: panics if a length is wrong.
func Extent[T Float](low, high, x []T) (finite bool) {
	const fn = "Extent"
	dim := len(low)
	checkAxes(fn, dim)
	checkLen(fn, "high", len(high), dim)
	if len(x) < dim || len(x)%dim != 0 {
		panic(fmt.Sprintf("search: %s: len(x) = %d, need a positive multiple of %d", fn, len(x), dim))
	}
	switch x := any(x).(type) {
	case []float32:
		finite = extentF32(any(low).([]float32), any(high).([]float32), x)
	case []float64:
		finite = extentF64(any(low).([]float64), any(high).([]float64), x)
	default:
		unreachable(fn)
	}
	return finite
}

const (
	// gridPiece bounds the coordinates of one call of assembly: some tens of microseconds.
	gridPiece = 1 << 14
	// gridMaxStride is the largest stride that the kernels take: the offsets of a vector's lanes are int32.
	gridMaxStride = 1 << 26
)

// Cells adds to at[i] what one axis contributes to the number of the cell that coordinate x[i·stride] lies in:
// width times min(int((x - low)·inv), cells-1).
//
//   - Shape: len(x) > (len(at)-1)·stride; stride ≥ 1, cells ≥ 1.
//   - Values: difference and product are rounded, and the product loses its fraction. NaN, and products that are -1 or less
//     or that no int32 holds, count as the last cell.
//   - Errors: panics if a length is too small.
func Cells[T Float](at []int32, x []T, stride int, low, inv T, cells, width int32) {
	const fn = "Cells"
	if stride < 1 || cells < 1 {
		panic(fmt.Sprintf("search: %s: stride = %d, cells = %d, need at least 1", fn, stride, cells))
	}
	if n := len(at); n > 0 && (len(x) == 0 || (len(x)-1)/stride < n-1) {
		panic(fmt.Sprintf("search: %s: len(x) = %d is too short for %d numbers %d apart", fn, len(x), n, stride))
	}
	for len(at) > 0 {
		n := min(len(at), gridPiece)
		switch x := any(x).(type) {
		case []float32:
			gridCellsF32(at[:n], x, stride, float32(low), float32(inv), cells-1, width)
		case []float64:
			gridCellsF64(at[:n], x, stride, float64(low), float64(inv), cells-1, width)
		default:
			unreachable(fn)
		}
		if at = at[n:]; len(at) > 0 {
			x = x[n*stride:]
		}
	}
}
