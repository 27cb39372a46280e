// Package reduce adds up over rows, by parts whose number does not depend on that of the goroutines.
package reduce

import (
	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/layers/internal/buffers"
	"github.com/equivcnp/equivcnp/simd"
)

// sumBlock is how many rows Columns adds up in T before it continues in float64. It adds pairs, then pairs of those and so on:
// six roundings.
const sumBlock = 64

// Columns adds the sums of the columns of x [rows, c] to sum [c].
func Columns[T simd.Float](sum []float64, x []T) {
	c := len(sum)
	if c == 0 {
		return
	}
	half := buffers.Rent[T](sumBlock / 2 * c)
	for len(x) > 0 {
		from := x[:min(sumBlock*c, len(x))]
		x = x[len(from):]
		for n := len(from) / c; n > 1; n = len(from) / c {
			to := half[:n/2*c]
			if n%2 == 1 {
				addRow(sum, from[(n-1)*c:])
			}
			simd.Add(to, from[:n/2*c], from[n/2*c:n/2*2*c])
			from = to
		}
		addRow(sum, from)
	}
	buffers.GiveBack(half)
}

// addRow adds a row to float64 sums.
func addRow[T simd.Float](sum []float64, x []T) {
	for j, v := range x[:len(sum)] {
		sum[j] += float64(v)
	}
}

// MaxParts bounds the partial sums of a reduction over rows, and with it their memory.
const MaxParts = 32

// PartRows is the number of rows of each partial sum, at least grain. It does not depend on the number of goroutines, so the bits
// of a sum do not either.
func PartRows(rows, grain int) int { return max(grain, (rows+MaxParts-1)/MaxParts) }

// Rows calls f for ranges of at least grain rows; f adds to its argument [width], which starts at zero. It returns the sum of
// these parts, added in order.
func Rows(rows, grain, width int, f func(sum []float64, lo, hi int)) []float64 {
	grain = PartRows(rows, grain)
	parts := make([]float64, (rows+grain-1)/grain*width)
	parallel.For(rows, grain, func(lo, hi int) {
		f(parts[lo/grain*width:][:width], lo, hi)
	})
	total := make([]float64, width)
	for i := 0; i < len(parts); i += width {
		for k, v := range parts[i : i+width] {
			total[k] += v
		}
	}
	return total
}

// AddTo adds float64 sums to a gradient; the gradient of a frozen parameter is nil and left out.
func AddTo[T simd.Float](dst []T, sum []float64) {
	for i := range dst {
		dst[i] += T(sum[i])
	}
}
